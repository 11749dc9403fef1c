//! Python: which, and what it has.

use crate::doctor::Finding;
use kiln_core::Fault;
use kiln_run::Python;

const ID: &str = "python";
const WHY: &str = "baselines in Python (NumPy, PyTorch) and targets in Python need it; nothing else does";

/// Says what was found of it and of its packages, none of which was imported.
pub(crate) fn look(found: &Result<Python, Fault>) -> Finding {
    let python = match found {
        Ok(python) => python,
        Err(fault) => {
            let fix = fault.hint.clone().unwrap_or("install Python 3.9 or later".into());
            return Finding::warn(ID, WHY, format!("{}: {}", fault.what, fault.why), fix);
        }
    };
    let torch = python.torch.as_ref().map_or("no PyTorch".into(), |v| format!("PyTorch {v}"));
    match &python.numpy {
        Some(numpy) => Finding::ok(ID, WHY, format!("{}, NumPy {numpy}, {torch}", python.version)),
        None => {
            let fix = format!("{} -m pip install numpy", python.interpreter);
            Finding::warn(ID, WHY, format!("{}, no NumPy, {torch}", python.version), fix)
        }
    }
}
