//! The variants of a kernel, to be tuned one after another. In: a kernel file and what was selected of it. Out: every
//! combination of dtypes, as it would be typed, in the order of the file. Refuses a kernel without type variables.

use kiln_core::Report;

use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting, runnable};

/// Every variant of the target that a study would tune.
pub fn variants(file: &KernelFile, selecting: &Selecting) -> Result<Vec<String>, Failure> {
    let (selection, _) = runnable(file, selecting)?;
    let variables = &selection.target.variants;
    if variables.is_empty() {
        let report = Report::error(format!("{} has no variants", selection.spec.name));
        return Err(report.label("expected `variants` under [kernel]").hint("omit --all-variants").into());
    }
    Ok(selection.target.dtype_combinations())
}
