//! Workloads from a real program. In: the program as it would be typed, and the options of `python -m kiln.capture`. The Python package is
//! part of this program; it is written to a folder of the project, and the program's own interpreter runs it. Out: the program's exit
//! code. Refuses what is no Python program.

use std::process::{Command, ExitStatus};

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Fault, Report};
use kiln_run::find_python;
use kiln_study::write_whole;

use crate::failure::Failure;
use crate::project::Project;

macro_rules! package {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("../../../../python/kiln/", $name))),)*] };
}

/// The package, file by file.
const PACKAGE: [(&str, &str); 21] = package![
    "__init__.py" "applying.py" "distance.py" "errors.py" "expressions.py" "shapes.py" "staleness.py" "table.py"
    "capture/__init__.py" "capture/__main__.py" "capture/functions.py" "capture/kernel_file.py" "capture/kernels.py"
    "capture/kinds.py" "capture/operations.py" "capture/program.py" "capture/recorder.py" "capture/report.py"
    "capture/values.py" "capture/workloads.py" "capture/writing.py"
];

/// What to capture.
#[derive(Debug, Clone)]
pub struct CaptureRequest {
    /// Options of `python -m kiln.capture`, as they would be typed.
    pub options: Vec<String>,
    /// The program: `python train.py --steps 10`.
    pub program: Vec<String>,
}

/// Runs a program, and gives its exit code; what was captured, the package reports and writes.
pub fn capture(project: &Project, request: &CaptureRequest) -> Result<u8, Failure> {
    let typed = Typed::of(&request.program)?;
    let interpreter = match typed.interpreter {
        Some(named) => named.to_string(),
        None => find_python()?.interpreter,
    };
    let folder = package(&project.folder().join("python"))?;
    let before = std::env::var_os("PYTHONPATH").filter(|path| !path.is_empty());
    let path = std::env::join_paths(
        std::iter::once(folder.into_std_path_buf()).chain(before.iter().flat_map(std::env::split_paths)),
    );
    let fault = |why: String| {
        Fault::new(format!("starting {interpreter}"), why).hint("write the program after --: python train.py")
    };
    let path = path.map_err(|e| fault(e.to_string()))?;
    // From now on Ctrl-C is the program's, which writes what was captured.
    project.stopped();
    let mut command = Command::new(&interpreter);
    command.args(typed.flags).args(["-m", "kiln.capture"]).args(&request.options).arg("--").args(typed.program);
    let status = command.env("PYTHONPATH", path).status().map_err(|e| fault(e.to_string()))?;
    Ok(code(status))
}

/// A command line of Python in its parts.
#[derive(Debug, PartialEq)]
struct Typed<'w> {
    /// The interpreter; none where the line begins with a script.
    interpreter: Option<&'w str>,
    /// What is for the interpreter itself.
    flags: &'w [String],
    /// The script or `-m module`, and its words.
    program: &'w [String],
}

impl<'w> Typed<'w> {
    fn of(words: &'w [String]) -> Result<Typed<'w>, Report> {
        let refuse = |why: &str| Err(Report::error(why.to_string()).label("expected python SCRIPT ARGS... after --"));
        let Some(first) = words.first() else { return refuse("there is no program to run") };
        let name = Utf8Path::new(first).file_name().unwrap_or_default();
        if name.ends_with(".py") {
            return Ok(Typed { interpreter: None, flags: &[], program: words });
        }
        if !name.starts_with("python") && !name.starts_with("pypy") {
            return refuse(&format!("`{first}` is no Python interpreter"));
        }
        let mut at = 1;
        while let Some(flag) = words.get(at).filter(|word| word.starts_with('-') && *word != "-m") {
            if flag == "-c" || flag == "-" {
                return refuse(&format!("{first} {flag} runs no file"));
            }
            // These two have a value behind them.
            at += if flag == "-X" || flag == "-W" { 2 } else { 1 };
        }
        match words.get(at) {
            None => refuse(&format!("{first} has no script to run")),
            Some(_) => Ok(Typed { interpreter: Some(first), flags: &words[1..at], program: &words[at..] }),
        }
    }
}

/// The folder with the package, as Python looks for it; files that differ are written.
fn package(folder: &Utf8Path) -> Result<Utf8PathBuf, Fault> {
    let fault = |e: std::io::Error| Fault::new(format!("writing the Python package into {folder}"), e);
    fs_err::create_dir_all(folder.join("kiln/capture")).map_err(fault)?;
    for (name, text) in PACKAGE {
        let file = folder.join("kiln").join(name);
        if fs_err::read(&file).ok().as_deref() != Some(text.as_bytes()) {
            write_whole(&file, text.as_bytes())?;
        }
    }
    // The program may change its folder.
    folder.canonicalize_utf8().map_err(fault)
}

/// The code a shell would give.
fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;

    let code = status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1);
    u8::try_from(code & 0xff).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(String::from).collect()
    }

    #[test]
    fn the_interpreter_and_its_flags_are_found() {
        for (line, interpreter, flags, program) in [
            ("python train.py --steps 3", Some("python"), "", "train.py --steps 3"),
            ("/opt/bin/python3.12 -u -X dev train.py -u", Some("/opt/bin/python3.12"), "-u -X dev", "train.py -u"),
            ("python -m train x", Some("python"), "", "-m train x"),
            ("folder/train.py x", None, "", "folder/train.py x"),
        ] {
            let typed = words(line);
            let found = Typed::of(&typed).unwrap();
            assert_eq!(
                (found.interpreter, found.flags.join(" "), found.program.join(" ")),
                (interpreter, flags.into(), program.into())
            );
        }
        for line in ["torchrun train.py", "python", "python -u", "python -c pass", "python -"] {
            assert!(Typed::of(&words(line)).is_err(), "{line}");
        }
    }

    #[test]
    fn every_file_of_the_package_is_part_of_this_program() {
        let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/kiln");
        let mut there: Vec<String> = ["", "capture/"]
            .iter()
            .flat_map(|folder| {
                let files =
                    root.join(folder).read_dir_utf8().unwrap().map(|file| file.unwrap().file_name().to_string());
                files
                    .filter(|name| name.ends_with(".py"))
                    .map(move |name| format!("{folder}{name}"))
                    .collect::<Vec<_>>()
            })
            .collect();
        there.sort();
        let mut ours: Vec<&str> = PACKAGE.iter().map(|(name, _)| *name).collect();
        ours.sort();
        assert_eq!(there, ours);
    }
}
