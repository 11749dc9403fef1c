//! The trials of one search: all of a study's, or those of one workload where workloads are tuned apart (their phases then
//! bear its name).

use kiln_store::{Trial, TrialState};

use crate::words::number::duration;
use crate::words::table::{Align, lines};

/// Configurations shown as the fastest.
const FASTEST: usize = 5;

/// One search.
pub(crate) struct Campaign<'a> {
    /// The workload it is for; empty when it is for all.
    pub(crate) workload: &'a str,
    /// What was measured to the end while searching, in order, with its time.
    pub(crate) measured: Vec<(&'a Trial, f64)>,
}

/// The searches of a study, in the order begun.
pub(crate) fn campaigns(trials: &[Trial]) -> Vec<Campaign<'_>> {
    let mut found: Vec<Campaign<'_>> = Vec::new();
    for trial in trials {
        let phase = trial.phase_id();
        let (true, TrialState::Passed, Some(cost)) = (phase.is_searching(), trial.state, trial.cost) else { continue };
        let workload = phase.workload.unwrap_or_default();
        match found.iter_mut().find(|c| c.workload == workload) {
            Some(campaign) => campaign.measured.push((trial, cost)),
            None => found.push(Campaign { workload, measured: vec![(trial, cost)] }),
        }
    }
    found
}

impl Campaign<'_> {
    /// ` on WORKLOAD`, where it is for one.
    pub(crate) fn place(&self) -> String {
        if self.workload.is_empty() { String::new() } else { format!(" on {}", self.workload) }
    }

    /// The fastest configurations of the search, each once.
    pub(crate) fn fastest(&self) -> String {
        let mut ranked = self.measured.clone();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        let Some((_, best)) = ranked.first().copied() else { return String::new() };
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (trial, cost) in ranked {
            if rows.len() < FASTEST && !rows.iter().any(|row| row[2] == trial.config) {
                rows.push(vec![duration(cost), format!("{:.2}x", cost / best), trial.config.clone()]);
            }
        }
        let table = lines(&rows, &[Align::Right, Align::Right, Align::Left]);
        format!("\nfastest while searching{}, before finals and confirmation\n{table}", self.place())
    }
}
