//! Python: which, and what it has. Also whether an activated environment is there at all.

use crate::doctor::Finding;
use camino::Utf8PathBuf;
use kiln_core::{Fault, Report};
use kiln_run::Python;

const ID: &str = "python";
const WHY: &str =
    "targets, baselines, references and functions that fill inputs may be in Python, and need NumPy; nothing else does";
/// What names an interpreter, and what an activated environment sets.
const NAMED: &str = "KILN_PYTHON";
const ACTIVATED: &str = "VIRTUAL_ENV";

/// A warning where the environment that is activated has no interpreter, so that another one is used.
pub(crate) fn without_environment() -> Option<Report> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let folder = variable(ACTIVATED).filter(|_| variable(NAMED).is_none())?;
    unused(&Utf8PathBuf::from(folder))
}

fn unused(folder: &camino::Utf8Path) -> Option<Report> {
    let report =
        Report::warning(format!("{ACTIVATED} names {folder}, which has no bin/python: another Python is used"));
    (!folder.join("bin/python").is_file())
        .then(|| report.hint(format!("activate an environment, or unset {ACTIVATED}")))
}

/// Says what was found of it and of its packages, none of which was imported.
pub(crate) fn look(found: &Result<Python, Fault>) -> Finding {
    let python = match found {
        Ok(python) => python,
        Err(fault) => {
            let fix = fault.hint.clone().unwrap_or("install Python 3.9 or later".into());
            return Finding::warn(ID, WHY, format!("{}: {}", fault.what, fault.why), fix);
        }
    };
    if let Some(report) = without_environment() {
        let fix = report.hint.unwrap_or_default();
        return Finding::warn(ID, WHY, format!("{}; {}", python.version, report.message), fix);
    }
    let torch = python.torch.as_ref().map_or("no PyTorch".into(), |v| format!("PyTorch {v}"));
    match &python.numpy {
        Some(numpy) => Finding::ok(ID, WHY, format!("{}, NumPy {numpy}, {torch}", python.version)),
        None => {
            let fix = format!("{} -m pip install numpy", python.interpreter);
            Finding::warn(ID, WHY, format!("{}, no NumPy, {torch}", python.version), fix)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_that_is_not_there_is_warned_of() {
        let folder = tempfile::tempdir().unwrap();
        let folder = camino::Utf8Path::from_path(folder.path()).unwrap();
        let warned = unused(folder).unwrap();
        assert!(warned.message.contains("has no bin/python") && warned.hint.is_some(), "{warned}");
        fs_err::create_dir(folder.join("bin")).unwrap();
        fs_err::write(folder.join("bin/python"), "").unwrap();
        assert_eq!(unused(folder), None);
    }
}
