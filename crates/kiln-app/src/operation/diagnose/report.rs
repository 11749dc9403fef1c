//! Pages of a report (`.ncu-rep`), by ncu itself. In: a report and the flags of a page. Out: what reads the page makes of it. Refuses where ncu is not
//! installed or cannot read the report, with what it said.

use std::io::{BufReader, Read};
use std::process::{ChildStdout, Command, Stdio};

use camino::Utf8Path;
use kiln_core::Fault;
use kiln_diagnose::decoded;

use crate::failure::Failure;

/// Whether a file is a report, by its name.
pub(super) fn is_report(file: &Utf8Path) -> bool {
    file.extension() == Some("ncu-rep")
}

/// Flags for the page of every metric.
pub(super) const RAW_PAGE: [&str; 5] = ["--csv", "--page", "raw", "--print-units", "base"];
/// Flags for the page of sections and rules.
pub(super) const DETAILS_PAGE: [&str; 5] = ["--csv", "--page", "details", "--print-details", "all"];
/// Flags for the page of lines.
pub(super) const SOURCE_PAGE: [&str; 5] = ["--csv", "--page", "source", "--print-source", "cuda,sass"];

/// What ncu says on its standard error, at most.
const MOST_SAID: u64 = 1 << 16;

/// A page of a report, from ncu.
pub(super) fn import<T>(
    file: &Utf8Path,
    flags: &[&str],
    read: impl FnOnce(BufReader<ChildStdout>) -> std::io::Result<T>,
) -> Result<T, Failure> {
    fs_err::metadata(file)?;
    let fault = |why: String| {
        let hint = format!("export it where ncu is installed: ncu --import {file} {} > page.csv", flags.join(" "));
        Failure::Fault(Fault { what: format!("ncu cannot read {file}"), why, hint: Some(hint) })
    };
    let mut command = Command::new("ncu");
    command.arg("--import").arg(file).args(flags).env("LC_ALL", "C");
    command.stdin(Stdio::null()).stderr(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        fault(match error.kind() {
            std::io::ErrorKind::NotFound => "ncu is not installed here, or not in PATH".into(),
            _ => error.to_string(),
        })
    })?;
    // Read beside the page: a full pipe would stop ncu.
    let said = child.stderr.take().map(|error| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let mut error = error;
            let _ = error.by_ref().take(MOST_SAID).read_to_end(&mut text);
            let _ = std::io::copy(&mut error, &mut std::io::sink());
            decoded(&text)
        })
    });
    let page = child.stdout.take().map(|output| read(BufReader::new(output)));
    let status = child.wait()?;
    let said = said.and_then(|thread| thread.join().ok()).unwrap_or_default();
    match page {
        Some(page) if status.success() => Ok(page?),
        _ => {
            let line = said.lines().map(str::trim).find(|line| !line.is_empty());
            Err(fault(line.map_or_else(|| format!("ncu ended with {status}"), String::from)))
        }
    }
}
