//! What every phase of a campaign goes by: the record, the budget, and the workload where each has its own campaign.

use std::time::Duration;

use kiln_bench::Apparatus;
use kiln_judge::Level;
use kiln_store::PhaseId;

use crate::budget::Budget;
use crate::recording::record::Record;

/// One campaign's way through its phases.
#[derive(Clone, Copy)]
pub(crate) struct Course<'c> {
    pub(crate) record: &'c Record<'c>,
    pub(crate) budget: &'c Budget,
    /// The workload, where each has its own campaign.
    pub(crate) workload: Option<&'c str>,
}

impl Course<'_> {
    /// A phase's name in the record.
    pub(crate) fn phase(&self, name: &str) -> String {
        PhaseId { workload: self.workload, name }.to_string()
    }

    /// About how long questions after the finals take: inputs for the confirmation, and the suite.
    pub(crate) fn rest_takes<A: Apparatus>(&self, bench: &A) -> Duration {
        bench.proving_takes(self.workload.is_none()) + bench.level_takes(Level::Suite)
    }

    /// What its draws are named by, so that each campaign has its own.
    pub(crate) fn purpose(&self) -> String {
        self.workload.map_or(String::new(), |workload| format!("{workload}/"))
    }
}
