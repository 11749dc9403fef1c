//! What every phase of a campaign goes by: the record, the budget, and the workload's name before those of phases.

use crate::budget::Budget;
use crate::record::Record;

/// One campaign's way through its phases.
#[derive(Clone, Copy)]
pub(crate) struct Course<'c> {
    pub(crate) record: &'c Record<'c>,
    pub(crate) budget: &'c Budget,
    /// `workload/` where each workload has its own campaign, else empty.
    pub(crate) prefix: &'c str,
}

impl Course<'_> {
    /// A phase's name in the record.
    pub(crate) fn phase(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}
