//! Python: which, and what it has.

use kiln_run::find_python;
use kiln_show::Finding;

const ID: &str = "python";
const WHY: &str = "baselines in Python (NumPy, PyTorch) and targets in Python need it; nothing else does";

/// Looks for it and for its packages, importing none.
pub(crate) fn look() -> Finding {
    let python = match find_python() {
        Ok(python) => python,
        Err(fault) => {
            let fix = fault.hint.unwrap_or("install Python 3.9 or later".into());
            return Finding::warn(ID, WHY, format!("{}: {}", fault.what, fault.why), fix);
        }
    };
    let torch = python.torch.map_or("no PyTorch".into(), |v| format!("PyTorch {v}"));
    match python.numpy {
        Some(numpy) => Finding::ok(ID, WHY, format!("{}, NumPy {numpy}, {torch}", python.version)),
        None => {
            let fix = format!("{} -m pip install numpy", python.interpreter);
            Finding::warn(ID, WHY, format!("{}, no NumPy, {torch}", python.version), fix)
        }
    }
}
