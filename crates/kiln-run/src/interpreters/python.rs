//! Python workers: which interpreter, what it has, and the command that makes a worker of it. The worker's source is part
//! of this program; the interpreter needs nothing but its standard library to run it.

use std::path::Path;
use std::process::{Command, Stdio};

use kiln_core::Fault;
use serde::Deserialize;

/// The worker's side, in Python: pieces of one program.
const SOURCE: &str = concat!(
    include_str!("worker_tensors.py"),
    "\n\n",
    include_str!("worker_device.py"),
    "\n\n",
    include_str!("worker_cuda.py"),
    "\n\n",
    include_str!("worker_confine.py"),
    "\n\n",
    include_str!("worker_answers.py"),
    "\n\n",
    include_str!("worker_backend.py"),
    "\n\n",
    include_str!("worker_ahead.py"),
    "\n\n",
    include_str!("worker_forks.py"),
    "\n\n",
    include_str!("worker.py"),
);
/// Names the interpreter to use.
const VARIABLE: &str = "KILN_PYTHON";
/// An environment of kiln's own, under the folder it is run in.
const OWN_ENVIRONMENT: &str = ".kiln/venv";
/// Packages are looked for but not imported: importing some takes seconds.
const LOOK: &str = r#"
import sys
sys.path[:] = [p for p in sys.path if p]
import importlib.util, importlib.metadata, json, os, re
def version(name):
    if importlib.util.find_spec(name) is None:
        return None
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return 'of unknown version'
def torch_cuda():
    spec = importlib.util.find_spec('torch')
    if spec is None or not spec.origin:
        return None
    try:
        with open(os.path.join(os.path.dirname(spec.origin), 'version.py'), encoding='utf-8') as file:
            text = file.read()
    except (OSError, ValueError):
        return None
    found = re.search(r'^cuda\s*(?::[^=]*)?=\s*[\'\"]([^\'\"]+)', text, re.MULTILINE)
    return found and found.group(1)
print(json.dumps({
    'executable': sys.executable or None,
    'version': '.'.join(map(str, sys.version_info[:3])),
    'new_enough': sys.version_info >= (3, 9),
    'numpy': version('numpy'),
    'torch': version('torch'),
    'torch_cuda': torch_cuda(),
    'triton': version('triton'),
}))
"#;

/// A Python interpreter and what it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Python {
    /// The program itself. A script that stands in front of it would hide its memory and its parent from it.
    pub interpreter: String,
    /// Its version, such as `3.12.1`.
    pub version: String,
    /// NumPy's version, when it is installed.
    pub numpy: Option<String>,
    /// PyTorch's version, when it is installed.
    pub torch: Option<String>,
    /// The CUDA that PyTorch is built for, such as `13.0`; none when it is built for processors alone.
    pub torch_cuda: Option<String>,
    /// Triton's version, when it is installed.
    pub triton: Option<String>,
}

#[derive(Deserialize)]
struct Looked {
    executable: Option<String>,
    version: String,
    new_enough: bool,
    numpy: Option<String>,
    torch: Option<String>,
    torch_cuda: Option<String>,
    triton: Option<String>,
}

/// The command of a Python worker, of an interpreter as [`find_python`] gives it.
pub fn python_command(interpreter: &str) -> Command {
    let mut command = Command::new(interpreter);
    // No compiled files beside the user's sources.
    command.args(["-B", "-c", SOURCE]);
    command
}

/// The worker's side, for whoever must know when it changes.
pub fn worker_source() -> &'static str {
    SOURCE
}

/// The interpreter that `$KILN_PYTHON` names, else that of the activated environment (`$VIRTUAL_ENV`), else that of
/// `.kiln/venv`, else `python3`.
pub fn find_python() -> Result<Python, Fault> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    look_at(chosen(variable, |path| Path::new(path).is_file()))
}

/// The one place that decides which interpreter it is.
fn chosen(variable: impl Fn(&str) -> Option<String>, is_there: impl Fn(&str) -> bool) -> String {
    let within = |folder: String| Some(format!("{folder}/bin/python")).filter(|path| is_there(path));
    let activated = || variable("VIRTUAL_ENV").and_then(within);
    let own = || within(OWN_ENVIRONMENT.into());
    variable(VARIABLE).or_else(activated).or_else(own).unwrap_or_else(|| "python3".into())
}

fn look_at(interpreter: String) -> Result<Python, Fault> {
    let fault = |why: String| {
        Fault::new(format!("looking for Python ({interpreter})"), why)
            .hint(format!("set {VARIABLE} to an interpreter of Python 3.9 or later"))
    };
    let output = Command::new(&interpreter).args(["-c", LOOK]).stdin(Stdio::null()).output();
    let output = output.map_err(|e| fault(e.to_string()))?;
    let looked: Looked = serde_json::from_slice(&output.stdout).map_err(|_| {
        let said = String::from_utf8_lossy(&output.stderr);
        fault(said.trim().lines().last().unwrap_or("it did not say its version").to_string())
    })?;
    let Looked { executable, version, new_enough, numpy, torch, torch_cuda, triton } = looked;
    if !new_enough {
        return Err(fault(format!("it is version {version}")));
    }
    let interpreter = executable.unwrap_or(interpreter);
    Ok(Python { interpreter, version, numpy, torch, torch_cuda, triton })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_known_without_being_imported() {
        let Ok(found) = find_python() else {
            println!("skipped: no Python");
            return;
        };
        let folder = std::env::temp_dir().join(format!("kiln-packages-{}", std::process::id()));
        let package = |name: &str, version: &str| {
            std::fs::create_dir_all(folder.join(name)).unwrap();
            std::fs::write(folder.join(name).join("__init__.py"), "raise SystemExit('imported')").unwrap();
            std::fs::write(folder.join(name).join("version.py"), version).unwrap();
        };
        package("triton", "");
        let look = || {
            let mut command = Command::new(&found.interpreter);
            let output = command.args(["-c", LOOK]).env("PYTHONPATH", &folder).output().unwrap();
            serde_json::from_slice::<Looked>(&output.stdout).unwrap()
        };
        for (line, cuda) in [
            ("cuda: Optional[str] = '13.0'", Some("13.0")),
            ("cuda = \"12.8\"", Some("12.8")),
            ("cuda: Optional[str] = None\nhip = '6.0'", None),
        ] {
            package("torch", &format!("__version__ = '2.11.0'\n{line}\n"));
            let looked = look();
            assert!(looked.torch.is_some() && looked.triton.is_some());
            assert_eq!(looked.torch_cuda.as_deref(), cuda, "{line}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_named_goes_before_what_is_activated_and_that_before_kilns_own() {
        let named = |name: &str| match name {
            "KILN_PYTHON" => Some("mine".to_string()),
            _ => Some("/env".to_string()),
        };
        let activated = |name: &str| (name == "VIRTUAL_ENV").then(|| "/env".to_string());
        assert_eq!(chosen(named, |_| true), "mine");
        assert_eq!(chosen(activated, |_| true), "/env/bin/python");
        // An environment that is gone is none.
        assert_eq!(chosen(activated, |path| path.starts_with(".kiln")), ".kiln/venv/bin/python");
        assert_eq!(chosen(|_| None, |_| true), ".kiln/venv/bin/python");
        assert_eq!(chosen(|_| None, |_| false), "python3");
    }

    #[test]
    fn what_is_no_interpreter_is_a_fault_with_a_hint() {
        for (name, words) in [("/nowhere/python3", "No such file"), ("true", "did not say")] {
            let fault = look_at(name.into()).unwrap_err();
            assert!(fault.why.contains(words) && fault.hint.is_some_and(|h| h.contains(VARIABLE)), "{}", fault.why);
        }
    }
}
