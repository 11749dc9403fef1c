//! Python workers: which interpreter, what it has, and the command that makes a worker of it. The worker's source is part
//! of this program; the interpreter needs nothing but its standard library to run it.

use std::process::{Command, Stdio};

use kiln_core::Fault;
use serde::Deserialize;

/// The worker's side, in Python.
const SOURCE: &str = include_str!("worker.py");
/// Names the interpreter to use.
const VARIABLE: &str = "KILN_PYTHON";
/// Packages are looked for but not imported: importing some takes seconds.
const LOOK: &str = "
import sys
sys.path[:] = [p for p in sys.path if p]
import importlib.util, importlib.metadata, json
def version(name):
    if importlib.util.find_spec(name) is None:
        return None
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return 'of unknown version'
print(json.dumps({
    'executable': sys.executable or None,
    'version': '.'.join(map(str, sys.version_info[:3])),
    'new_enough': sys.version_info >= (3, 9),
    'numpy': version('numpy'),
    'torch': version('torch'),
}))
";

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
}

#[derive(Deserialize)]
struct Looked {
    executable: Option<String>,
    version: String,
    new_enough: bool,
    numpy: Option<String>,
    torch: Option<String>,
}

/// The command of a Python worker, of an interpreter as [`find_python`] gives it.
pub fn python_command(interpreter: &str) -> Command {
    let mut command = Command::new(interpreter);
    // No compiled files beside the user's sources.
    command.args(["-B", "-c", SOURCE]);
    command
}

/// The interpreter that `$KILN_PYTHON` names, else `python3`.
pub fn find_python() -> Result<Python, Fault> {
    let named = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty());
    look_at(named.unwrap_or_else(|| "python3".into()))
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
    let Looked { executable, version, new_enough, numpy, torch } = looked;
    if !new_enough {
        return Err(fault(format!("it is version {version}")));
    }
    let interpreter = executable.unwrap_or(interpreter);
    Ok(Python { interpreter, version, numpy, torch })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_interpreter_is_a_fault_with_a_hint() {
        for (name, words) in [("/nowhere/python3", "No such file"), ("true", "did not say")] {
            let fault = look_at(name.into()).unwrap_err();
            assert!(fault.why.contains(words) && fault.hint.is_some_and(|h| h.contains(VARIABLE)), "{}", fault.why);
        }
    }
}
