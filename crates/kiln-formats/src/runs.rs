//! Measured runs: kiln's own run files, and what nvbench, Google Benchmark and hyperfine write, or plain lists of times. In: the
//! bytes of a file. Out: a [`RunFile`], with everything in seconds and what a format does not say left empty. Refuses other
//! schema versions, times that are not positive numbers, and files without a single sample.

mod google;
mod hyperfine;
mod nvbench;
mod plain;
mod run_file;

use kiln_core::Report;

use crate::{json, plain_bytes};
pub use run_file::{RUN_FILE, RunFile};

/// Gives the bytes of a file that lies beside the one being read; none where it cannot be read.
pub type Beside<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

/// Reads a run, whatever wrote it.
pub fn read_run(name: &str, bytes: &[u8], beside: Beside<'_>) -> Result<RunFile, Vec<Report>> {
    let bytes = &*plain_bytes(name, bytes)?;
    let start = bytes.trim_ascii_start();
    let run = if start.starts_with(b"{") {
        let mended = json::without_nan(bytes);
        let value: serde_json::Value = serde_json::from_slice(mended.as_deref().unwrap_or(bytes)).map_err(|e| {
            let cut =
                json::is_cut_off(bytes, &e).then(|| "the file ends too early: write or copy it again".to_string());
            vec![json::report(name, bytes, &e).maybe_hint(cut)]
        })?;
        let has = |key: &str| value.get(key).is_some();
        if has(RUN_FILE) {
            run_file::read(name, &value)
        } else if has("results") {
            hyperfine::read(name, &value)
        } else if has("benchmarks") && has("devices") {
            nvbench::read(name, &value, beside)
        } else if has("benchmarks") {
            google::read(name, &value)
        } else {
            Err(unknown(name))
        }
    } else {
        plain::read(name, bytes)
    };
    run.and_then(RunFile::checked).map_err(|report| match report.message.contains(name) {
        true => vec![report],
        false => vec![Report { message: format!("{name}: {}", report.message), ..report }],
    })
}

fn unknown(name: &str) -> Report {
    Report::error(format!("{name} is not a run")).hint(
        "kiln reads its own run files (kiln bench --save FILE), JSON of nvbench, Google Benchmark and hyperfine, and plain \
         lists of times",
    )
}

/// A number that JSON has as a number, or as nvbench does in a string.
fn number(value: &serde_json::Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// Seconds in a unit of time.
pub(crate) fn unit(name: &str) -> Option<f64> {
    Some(match name {
        "s" | "sec" | "second" | "seconds" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" | "μs" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
