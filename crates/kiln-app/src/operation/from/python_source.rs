//! A kernel from a Python file. In: the file. Out: a [`Reading`]: of Triton, a plain function, or the kernel that a script of Kernel
//! Tuner tunes. The user's interpreter reads the file's syntax; nothing of it is run or imported.

use std::io::Write;
use std::process::{Command, Stdio};

use camino::Utf8Path;
use kiln_core::{Fault, Place, Report};
use kiln_formats::source::{PythonFile, READER, call_py, launch_py, named, read_python};
use kiln_run::find_python;

use crate::failure::Failure;
use crate::operation::from::{Reading, relative, script};

/// Reads the kernel of a Python file.
pub(crate) fn read(file: &Utf8Path, text: &str, folder: &Utf8Path, entry: Option<&str>) -> Result<Reading, Failure> {
    let name = file.as_str();
    let source = relative(file, folder)?;
    let (inside, module) = source.rsplit_once('/').unwrap_or(("", &source));
    match read_python(&answer(text)?)? {
        PythonFile::Broken { message, line } => {
            let start: usize = text.lines().take(line.saturating_sub(1)).map(|l| l.len() + 1).sum();
            let width = text.lines().nth(line.saturating_sub(1)).map_or(0, str::len);
            let report = Report::error(format!("{name} is no Python: {message}"));
            Err(report.at(Place::of(name, text, start..start + width)).label("expected Python").into())
        }
        PythonFile::KernelTuner { calls } => script::read(file, text, folder, entry, &calls),
        PythonFile::Triton { kernels } => {
            let kernel = named(name, &kernels, |k| &k.name, entry, "kernel")?;
            let found = kernel.describe();
            let launch = launch_py(kernel, &found, inside, module);
            Ok(Reading { found, beside: vec![("launch.py".into(), launch)], stage: None })
        }
        PythonFile::Functions { functions, torch } => {
            let function = named(name, &functions, |f| &f.name, entry, "kernel")?;
            let found = function.describe(&source, torch);
            let beside = match found.entry.starts_with("launch.py") {
                true => vec![("launch.py".to_owned(), call_py(function, &found, inside, module))],
                false => vec![],
            };
            Ok(Reading { found, beside, stage: None })
        }
    }
}

/// What the reader says of a text.
fn answer(text: &str) -> Result<String, Failure> {
    let python = find_python()?;
    let fault = |why: String| Fault::new(format!("reading Python with {}", python.interpreter), why);
    let mut command = Command::new(&python.interpreter);
    command.args(["-I", "-B", "-c", READER]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| fault(e.to_string()))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(text.as_bytes()).map_err(|e| fault(e.to_string()))?;
    }
    let output = child.wait_with_output().map_err(|e| fault(e.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(fault(said.trim().lines().last().unwrap_or("it ended").to_owned()).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
