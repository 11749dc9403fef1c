//! A case instead of a workload, as `kiln fuzz` prints it: `S=65,D=64; inputs=spike; seed=3`. In: what was typed, and the workload that
//! dimensions are taken from which were left out. Out: the case and its shape as a workload. Refuses dimensions that are not the
//! kernel's and inputs that do not exist.

use kiln_core::{Config, Report, Workload};
use kiln_judge::{FuzzCase, workload_of};

/// What stands for the name of a workload that has none.
pub(crate) const CASE: &str = "case";

/// A case that was typed.
pub(crate) struct Given {
    /// Its shape.
    pub(crate) workload: Workload,
    /// All of it.
    pub(crate) case: FuzzCase,
}

/// Reads a case; none where nothing was typed.
pub(crate) fn given(typed: &str, usual: Option<&Workload>, config: &Config) -> Result<Option<Given>, Report> {
    if typed.trim().is_empty() {
        return Ok(None);
    }
    let usual = usual.map(|workload| workload.dims.clone()).unwrap_or_default();
    let case = FuzzCase::parse(typed.trim(), &usual, config.clone())?;
    Ok(Some(Given { workload: workload_of(&case.shape), case }))
}
