//! Whether every workload has the dimensions that expressions use. In: the workloads and the uses. Out: an entry in the
//! log for each workload that lacks some, with what uses them.

use std::collections::HashSet;

use kiln_core::Report;

use crate::names::usage::Uses;
use crate::reading::draft::Draft;
use crate::reading::log::{Log, shortened};

/// How many dimensions are explained.
const MOST_USES: usize = 4;

pub(crate) fn check_coverage(log: &Log, draft: &Draft, uses: &Uses) {
    let mut used: Vec<_> = uses.iter().collect();
    used.sort_by_key(|(name, (_, at))| (*at, (*name).clone()));
    for draft in draft.workloads.iter().filter(|w| !w.incomplete) {
        let named: HashSet<&str> = draft.dims.iter().map(|(name, _)| &**name).collect();
        let lacking: Vec<_> = used.iter().filter(|(name, _)| !named.contains(&***name)).collect();
        if lacking.is_empty() {
            continue;
        }
        let names: Vec<&str> = lacking.iter().map(|(name, _)| &***name).collect();
        let used_by = lacking.iter().take(MOST_USES).map(|(name, (path, at))| {
            let line = log.line(*at);
            format!("{name} is used by {path} in line {line}")
        });
        let report = Report::error(format!("workload {} lacks {}", draft.workload.name, shortened(&names, ", ")))
            .label("expected every dimension that is used")
            .hint(used_by.collect::<Vec<_>>().join("; "));
        log.add(draft.dims_span.clone(), report);
    }
}
