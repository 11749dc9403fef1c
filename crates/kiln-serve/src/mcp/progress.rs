//! What happens during an operation, for a client that asked to be told. In: events. Out: a line for each that is worth one.

use kiln_app::{Event, What};
use kiln_show::remark;

/// A line; none for what says nothing new.
pub(super) fn words(event: &Event) -> Option<String> {
    Some(match &event.what {
        What::Study { kernel, configurations, .. } => format!("study of {kernel}: {} configurations", configurations.0),
        What::Phase { phase, planned } => format!("{phase}: up to {planned} steps"),
        What::Baseline { name, workload, median_ms, .. } => format!("baseline {name} on {workload}: {median_ms:.4} ms"),
        What::Trial { phase, number, state, best, .. } => {
            format!("{phase} {number}: {}{}", state.name(), if *best { ", the best so far" } else { "" })
        }
        What::Step { phase, done, planned } => format!("{phase}: {done} of {planned}"),
        What::FirstLook { baseline, workload, ratio } => {
            format!("first look on {workload}: {ratio:.2}x of {baseline}, not a verdict")
        }
        What::Ablation { tunable, .. } => format!("without {tunable}"),
        What::Silence { doing, seconds } => format!("{doing}: nothing said for {seconds:.0} s"),
        What::Warning { .. } | What::Note { .. } => return remark(event),
        What::PhaseEnd | What::End { .. } => return None,
    })
}
