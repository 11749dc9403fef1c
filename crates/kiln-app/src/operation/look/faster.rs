//! Candidates that looked better than the winner. In: a study's trials and duels. Out: every configuration whose time while searching was shorter
//! than the winner's, and what became of it: refused later, slower side by side, or never looked at again.

use kiln_core::Refusal;
use kiln_store::{Late, PhaseId, Study, Trial};

use super::duels::Duel;
use super::{searched, winners};

/// A configuration that was faster while searching.
#[derive(Debug, Clone)]
pub struct FasterCandidate {
    /// Its place among the trials.
    pub place: usize,
    /// Its time over the winner's, both while searching: below 1.
    pub ratio: f64,
    /// Why it did not win.
    pub why: WhyNot,
}

/// Why a faster configuration did not win.
#[derive(Debug, Clone)]
pub enum WhyNot {
    /// A later phase refused it.
    Refused {
        /// In which phase.
        phase: String,
        /// Why.
        refusal: Refusal,
    },
    /// Side by side it took this many times as long as the winner.
    Slower {
        /// In which phase.
        phase: String,
        /// The ratio of its time to the winner's, over all workloads.
        ratio: f64,
    },
    /// It was not among the finalists.
    NotAFinalist,
}

/// Every one of them, the fastest first, each configuration once.
pub(super) fn of(study: &Study, trials: &[Trial], duels: &[Duel]) -> Vec<FasterCandidate> {
    let mut found: Vec<FasterCandidate> = Vec::new();
    let summary = study.summary.as_ref().and_then(|summary| summary.read().ok());
    let late = summary.map(|summary| summary.late.clone()).unwrap_or_default();
    for (workload, winner) in winners(study) {
        let words = winner.to_string();
        let searching = searched(trials).into_iter().find(|(own, _)| *own == workload.as_deref());
        let mut tried = searching.map(|(_, tried)| tried).unwrap_or_default();
        let own = tried.iter().filter(|(_, trial, _)| trial.config == words).map(|(.., cost)| *cost);
        let cost = own.fold(f64::INFINITY, f64::min);
        tried.retain(|(_, trial, time)| *time < cost && trial.config != words && cost.is_finite());
        tried.sort_by(|a, b| a.2.total_cmp(&b.2));
        let first = found.len();
        for (place, trial, time) in tried {
            if found[first..].iter().any(|one| trials[one.place].config == trial.config) {
                continue;
            }
            let why = why(trial, (workload.as_deref(), &words), &late, trials, duels);
            found.push(FasterCandidate { place, ratio: time / cost, why });
        }
    }
    found
}

fn why(
    trial: &Trial,
    (workload, winner): (Option<&str>, &str),
    late: &[Late],
    trials: &[Trial],
    duels: &[Duel],
) -> WhyNot {
    let refused = late.iter().find(|late| late.config.to_string() == trial.config);
    if let Some(Late { phase, refusal, .. }) = refused {
        return WhyNot::Refused { phase: phase.clone(), refusal: refusal.clone() };
    }
    // A study that did not end has no summary. What a duel's record names is the first of its subjects, whoever was refused.
    let alone = |other: &&Trial| {
        let phase = other.phase_id();
        phase.workload == workload && phase.name == "final" && other.config == trial.config
    };
    let refused = trials.iter().filter(alone).find_map(|other| Some((other, other.refusal.clone()?)));
    if let Some((other, refusal)) = refused {
        return WhyNot::Refused { phase: other.phase.clone(), refusal };
    }
    let own = |duel: &&Duel| PhaseId::parse(&duel.phase).workload == workload;
    let side_by_side = |duel: &Duel| {
        let logs: Vec<f64> = duel
            .workloads
            .iter()
            .map(|all| {
                let middle = |name: &str| kiln_stats::median(&all.side(name)?.rounds.concat()).ok();
                Some((middle(&trial.config)? / middle(winner)?).ln())
            })
            .collect::<Option<_>>()?;
        let ratio = (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp();
        (!logs.is_empty() && ratio.is_finite()).then(|| WhyNot::Slower { phase: duel.phase.clone(), ratio })
    };
    duels.iter().rev().filter(own).find_map(side_by_side).unwrap_or(WhyNot::NotAFinalist)
}
