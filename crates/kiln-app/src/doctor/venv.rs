//! An environment of kiln's own for Python, `.kiln/venv`, where the interpreter that would be used has no NumPy. In: a project.
//! Out: what was made, or why it could not be; half of one is not left behind. An interpreter that the user has chosen, by
//! name or by an activated environment, is the user's to complete.

use std::process::Command;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_run::{Python, find_python};

use crate::doctor::Finding;
use crate::doctor::program::ask;
use crate::project::Project;

const ID: &str = "fix";
const WHY: &str = "baselines and references in Python need NumPy";
/// Packages are fetched over a network.
const PATIENCE: Duration = Duration::from_secs(300);

/// Makes it where it is needed; none where it is not.
pub(crate) fn make(project: &Project) -> Option<Result<String, Finding>> {
    let chosen = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if chosen("KILN_PYTHON") || chosen("VIRTUAL_ENV") {
        return None;
    }
    let python = find_python().ok().filter(|python| python.numpy.is_none())?;
    let folder = project.folder().join("venv");
    // One that is there and lacks NumPy is completed; it is not ours to remove.
    let new = !folder.exists();
    let made = completed(&python, &folder, new).map(|()| format!("installed NumPy into {folder}"));
    Some(made.map_err(|why| {
        if new {
            let _ = fs_err::remove_dir_all(&folder);
        }
        let hint = format!("{} -m pip install numpy, or activate an environment that has it", python.interpreter);
        Finding::fail(ID, WHY, format!("making {folder}: {why}"), hint)
    }))
}

fn completed(python: &Python, folder: &Utf8Path, new: bool) -> Result<(), String> {
    if new {
        run(Utf8Path::new(&python.interpreter), &["-m", "venv", folder.as_str()])?;
    }
    let own: Utf8PathBuf = folder.join("bin/python");
    run(&own, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "numpy"])
}

fn run(program: &Utf8Path, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(arguments);
    ask(command, PATIENCE).map(|_| ())
}
