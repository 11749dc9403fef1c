//! A case instead of a workload, as `kiln fuzz` prints it: `S=65,D=64; inputs=spike; seed=3`. In: what was typed, the workload that
//! dimensions are taken from which were left out, and the selection. Out: the case and its shape as a workload. Refuses dimensions that are not the
//! kernel's and inputs that do not exist.

use kiln_core::{Config, Report, Workload};
use kiln_judge::{FuzzCase, Room, workload_of};
use kiln_spec::Selection;

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
pub(crate) fn given(
    typed: &str,
    usual: Option<&Workload>,
    (selection, config): (&Selection<'_>, &Config),
) -> Result<Option<Given>, Report> {
    if typed.trim().is_empty() {
        return Ok(None);
    }
    let usual = usual.map(|workload| workload.dims.clone()).unwrap_or_default();
    let case = FuzzCase::parse(typed.trim(), (&usual, &Room::of(selection).scalars), config.clone())?;
    Ok(Some(Given { workload: workload_of(&case.shape), case }))
}
