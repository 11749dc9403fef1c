//! Candidates that looked better than the winner. In: a study's trials and duels. Out: every configuration whose time while searching was shorter
//! than the winner's, and what became of it: refused later, measured side by side, replaced by what the ablation found, or never looked at again.

use kiln_core::Refusal;
use kiln_stats::Estimate;
use kiln_store::{Late, PhaseId, Study, Trial};

use super::duels::Duel;
use super::succession::{self, Succession};
use super::winner::{in_turns, together};
use super::{searched, winners};

/// A configuration that was faster while searching.
#[derive(Debug, Clone)]
pub struct FasterCandidate {
    /// Its place among the trials.
    pub place: usize,
    /// Its time over the winner's, both while searching: below 1.
    pub ratio: f64,
    /// The replaced winner whose time stands for the winner's, where that was not tried while searching.
    pub over: Option<String>,
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
    /// Side by side the winner's median was shorter. Whether that is more than noise the interval says.
    SideBySide {
        /// In which phase.
        phase: String,
        /// Its time over the winner's, sample by sample of the same rounds, over all workloads.
        ratio: Estimate,
    },
    /// It won until the ablation found a faster one.
    Replaced {
        /// Which.
        by: String,
        /// Its time over that one's, side by side in the ablation.
        ratio: Option<Estimate>,
    },
    /// In the run-off another was ahead, whose place the winner took later.
    Behind {
        /// In which phase.
        phase: String,
        /// Who.
        ahead: String,
        /// Its time over that one's, sample by sample of the same rounds.
        ratio: Estimate,
    },
    /// It was not among the finalists.
    NotAFinalist,
}

/// Every one of them, the fastest first, each configuration once.
pub(super) fn of(
    study: &Study,
    trials: &[Trial],
    (duels, successions): (&[Duel], &[Succession]),
) -> Vec<FasterCandidate> {
    let mut found: Vec<FasterCandidate> = Vec::new();
    let summary = study.summary.as_ref().and_then(|summary| summary.read().ok());
    let late = summary.map(|summary| summary.late.clone()).unwrap_or_default();
    for (workload, winner) in winners(study) {
        let winner = winner.to_string();
        let searching = searched(trials).into_iter().find(|(own, _)| *own == workload.as_deref());
        let mut tried = searching.map(|(_, tried)| tried).unwrap_or_default();
        let succession = succession::find(successions, workload.as_deref());
        // The ablation may come upon a winner that the search did not try.
        let has = |config: &&String| tried.iter().any(|(_, trial, _)| trial.config == **config);
        let over = succession.filter(|own| !own.searched).and_then(|own| own.before.iter().rev().find(has)).cloned();
        let words = over.clone().unwrap_or(winner.clone());
        let own = tried.iter().filter(|(_, trial, _)| trial.config == words).map(|(.., cost)| *cost);
        let cost = own.fold(f64::INFINITY, f64::min);
        tried.retain(|(_, trial, time)| *time < cost && trial.config != words && cost.is_finite());
        tried.sort_by(|a, b| a.2.total_cmp(&b.2));
        let first = found.len();
        for (place, trial, time) in tried {
            if found[first..].iter().any(|one| trials[one.place].config == trial.config) {
                continue;
            }
            let why = why(trial, (workload.as_deref(), &winner), &late, trials, (duels, succession));
            found.push(FasterCandidate { place, ratio: time / cost, over: over.clone(), why });
        }
    }
    found
}

fn why(
    trial: &Trial,
    (workload, winner): (Option<&str>, &str),
    late: &[Late],
    trials: &[Trial],
    (duels, succession): (&[Duel], Option<&Succession>),
) -> WhyNot {
    // Of workloads tuned apart, one may refuse what another takes.
    let own = |late: &&Late| PhaseId::parse(&late.phase).workload == workload;
    let refused = late.iter().filter(own).find(|late| late.config.to_string() == trial.config);
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
    if let Some((succession, heir)) = succession.and_then(|own| Some((own, own.heir(&trial.config)?))) {
        let ratio = succession.proof(duels, heir).and_then(|duel| together(&in_turns(duel, "winner", "candidate")));
        return WhyNot::Replaced { by: heir.into(), ratio };
    }
    let own = |duel: &&Duel| PhaseId::parse(&duel.phase).workload == workload;
    let whole = |duel: &Duel, ahead: &str| {
        let compared = in_turns(duel, &trial.config, ahead);
        together(&compared).filter(|_| compared.len() == duel.workloads.len())
    };
    if let Some(ahead) = succession.map(Succession::first) {
        let behind = |duel: &Duel| {
            let (phase, ahead, ratio) = (duel.phase.clone(), ahead.to_string(), whole(duel, ahead)?);
            Some(WhyNot::Behind { phase, ahead, ratio })
        };
        return duels.iter().rev().filter(own).find_map(behind).unwrap_or(WhyNot::NotAFinalist);
    }
    let side_by_side = |duel: &Duel| {
        let (phase, ratio) = (duel.phase.clone(), whole(duel, winner)?);
        Some(WhyNot::SideBySide { phase, ratio })
    };
    duels.iter().rev().filter(own).find_map(side_by_side).unwrap_or(WhyNot::NotAFinalist)
}

#[cfg(test)]
mod tests {
    use super::super::duels::Grain;
    use super::*;
    use crate::record::sample;
    use kiln_core::{MeasuredSide, MeasuredWorkload};

    fn trial(config: &str) -> Trial {
        Trial { phase: "search".into(), config: config.into(), ..sample::trial(Some(1.0)) }
    }

    /// A run-off on a machine that gets slower: of two sides, the second is measured in its slow part.
    #[test]
    fn one_statistic_answers_both_tables() {
        let times = |scale: f64| -> Vec<Vec<f64>> {
            (0..6).map(|round| (0..9).map(|at| scale * f64::from(1 + round + (at * 5 + round) % 7)).collect()).collect()
        };
        let side =
            |name: &str, scale| MeasuredSide { name: name.into(), rounds: times(scale), ..MeasuredSide::default() };
        let sides = vec![side("A=1", 1.0), side("A=2", 1.5)];
        let on = |name: &str| MeasuredWorkload { name: name.into(), shape: None, sides: sides.clone() };
        for workloads in [vec![on("small")], vec![on("small"), on("large")]] {
            let duel =
                Duel { phase: "run-off".into(), number: 0, config: "A=1".into(), workloads, grain: Grain::default() };
            let table = in_turns(&duel, "A=2", "A=1");
            let why = why(&trial("A=2"), (None, "A=1"), &[], &[], (&[duel], None));
            let WhyNot::SideBySide { phase, ratio } = why else { panic!("{why:?}") };
            assert_eq!(phase, "run-off");
            assert_eq!(Some(ratio), together(&table));
            assert!(table.len() > 1 || (ratio.value, ratio.interval) == (table[0].speedup, table[0].speedup_ci95));
        }
    }
}
