//! Winners that the ablation replaced. In: a study's trials and notes. Out: for each search whose first winner did not stay, who won before, and what the
//! study noted of it.
//!
//! Ablation sets the winner's tunables back one by one. A configuration that is faster so, and confirmed, takes the winner's place. It need not have been tried while
//! searching, and the run-off was decided without it.

use kiln_core::Config;
use kiln_store::{Note, PhaseId, Study, Trial};

use super::duels::Duel;
use super::{searched, winners};

/// The kind of the notes that say what became of a challenger.
pub const CHALLENGER: &str = "challenger";

/// A winner that took another's place.
#[derive(Debug, Clone, PartialEq)]
pub struct Succession {
    /// The workload, where each has its own winner.
    pub workload: Option<String>,
    /// Who won in the end.
    pub winner: String,
    /// Who won before, the first of them by the search and its finals; never empty.
    pub before: Vec<String>,
    /// What the study noted when each was replaced; empty where it did not.
    pub notes: Vec<String>,
    /// Whether the winner was tried while searching, too.
    pub searched: bool,
}

impl Succession {
    /// Whom the search and its finals found.
    pub fn first(&self) -> &str {
        self.before.first().map_or("", String::as_str)
    }

    /// Whose place the winner took.
    pub fn last(&self) -> &str {
        self.before.last().map_or("", String::as_str)
    }

    /// Who took the place of one that won before.
    pub(super) fn heir(&self, config: &str) -> Option<&str> {
        let place = self.before.iter().position(|own| own == config)?;
        Some(self.before.get(place + 1).map_or(&*self.winner, String::as_str))
    }

    /// Where a configuration was found faster than the one it replaced: its side is `candidate`, the other `winner`.
    pub fn proof<'d>(&self, duels: &'d [Duel], winner: &str) -> Option<&'d Duel> {
        duels.iter().rev().find(|duel| {
            let phase = PhaseId::parse(&duel.phase);
            phase.name == "ablation" && phase.workload == self.workload.as_deref() && duel.config == winner
        })
    }
}

/// Every search whose first winner was replaced.
pub(super) fn of(study: &Study, trials: &[Trial], notes: &[Note]) -> Vec<Succession> {
    let one = |(workload, winner): (Option<String>, Config)| {
        let winner = winner.to_string();
        let in_phase = |trial: &&Trial, name: &str| {
            let phase = trial.phase_id();
            phase.name == name && phase.workload == workload.as_deref()
        };
        let refused = |config: &str| {
            let suites = trials.iter().filter(|trial| in_phase(trial, "suite"));
            suites.filter(|trial| trial.refusal.is_some()).any(|trial| trial.config == config)
        };
        let confirmed = trials.iter().filter(|trial| in_phase(trial, "confirm") && trial.refusal.is_none());
        let mut won: Vec<String> =
            confirmed.map(|trial| trial.config.clone()).filter(|config| !refused(config)).collect();
        // One that does not take the winner's place ends the phase: it is the last.
        won.truncate(won.iter().rposition(|config| *config == winner)?);
        if won.is_empty() {
            return None;
        }
        let heirs = won.iter().skip(1).chain([&winner]);
        let told = |heir: &String| {
            let on = workload.as_ref().map_or(String::new(), |workload| format!(" on {workload}"));
            let about = |on: &str| format!("measured {heir} as faster than the winner{on}:");
            let find = |about: &str| notes.iter().find(|note| note.kind == CHALLENGER && note.text.contains(about));
            // Older studies did not say on which workload.
            find(&about(&on)).or_else(|| find(&about("")))
        };
        let notes = heirs.filter_map(told).map(|note| note.text.clone()).collect();
        let tried = searched(trials).into_iter().find(|(own, _)| *own == workload.as_deref());
        let searched = tried.is_some_and(|(_, tried)| tried.iter().any(|(_, trial, _)| trial.config == winner));
        Some(Succession { workload, winner, before: won, notes, searched })
    };
    winners(study).into_iter().filter_map(one).collect()
}

/// That of one search.
pub(super) fn find<'s>(all: &'s [Succession], workload: Option<&str>) -> Option<&'s Succession> {
    all.iter().find(|one| one.workload.as_deref() == workload)
}

#[cfg(test)]
mod tests {
    use super::super::duels::Grain;
    use super::super::faster::{self, WhyNot};
    use super::*;
    use crate::record::sample;
    use kiln_core::{MeasuredSide, MeasuredWorkload};
    use kiln_store::Kept;

    fn trial(phase: &str, config: &str, cost: f64) -> Trial {
        Trial { phase: phase.into(), config: config.into(), ..sample::trial(Some(cost)) }
    }

    fn won(config: serde_json::Value) -> Study {
        let mut study = crate::operation::watch::tests::study("1@here".into());
        study.summary = Some(Kept::found(serde_json::json!({
            "verdict": "reached", "reason": "", "config": config, "speedup": 1.05, "speedup_ci95": [1.02, 1.07],
            "target_speedup": 1.1, "baseline": "naive", "trials": 5, "refused": {}, "ablation": [], "seed": 7, "seconds": 1.0,
            "study": "x", "workloads": [],
        })));
        study
    }

    fn duel(phase: &str, config: &str, sides: [(&str, f64); 2]) -> Duel {
        let times = |scale: f64| -> Vec<Vec<f64>> {
            (0..6)
                .map(|round| (0..9).map(|at| scale * (1.0 + 1e-3 * f64::from((at * 5 + round) % 7))).collect())
                .collect()
        };
        let side = |(name, scale): (&str, f64)| MeasuredSide {
            name: name.into(),
            rounds: times(scale),
            ..MeasuredSide::default()
        };
        let workloads = vec![MeasuredWorkload { name: "w".into(), shape: None, sides: sides.map(side).into() }];
        Duel { phase: phase.into(), number: 0, config: config.into(), workloads, grain: Grain::default() }
    }

    #[test]
    fn a_winner_that_ablation_found_has_predecessors() {
        let study = won(serde_json::json!({ "A": 1, "B": 1 }));
        let mut trials = vec![
            trial("search", "A=2,B=2", 1.0),
            trial("search", "A=3,B=2", 0.9),
            trial("search", "A=4,B=2", 0.8),
            trial("search", "A=5,B=2", 0.7),
            trial("run-off", "A=2,B=2", 0.0),
            trial("confirm", "A=9,B=2", 0.0),
            trial("suite", "A=9,B=2", 0.0),
            trial("confirm", "A=2,B=2", 0.0),
            trial("ablation", "A=1,B=2", 0.0),
            trial("confirm", "A=1,B=2", 0.0),
            trial("ablation", "A=1,B=1", 0.0),
            trial("confirm", "A=1,B=1", 0.0),
            // It did not replace the winner.
            trial("confirm", "A=1,B=0", 0.0),
        ];
        let wrong = serde_json::json!({ "gate": "numerics", "rule": "", "measured": "", "limit": "", "evidence": "", "hint": null });
        trials[6].refusal = Some(serde_json::from_value(wrong).unwrap());
        let text = "ablation measured A=1,B=1 as faster than the winner: confirmed".to_string();
        let notes = [Note { at_ms: 0, kind: "challenger".into(), text }];
        let found = of(&study, &trials, &notes);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].before, ["A=2,B=2", "A=1,B=2"]);
        assert_eq!((found[0].notes.len(), found[0].searched), (1, false));
        assert_eq!((found[0].heir("A=2,B=2"), found[0].heir("A=1,B=2")), (Some("A=1,B=2"), Some("A=1,B=1")));

        let duels = [
            duel("run-off", "A=2,B=2", [("A=2,B=2", 1.0), ("A=3,B=2", 1.2)]),
            duel("ablation", "A=1,B=2", [("candidate", 1.0), ("winner", 1.1)]),
            duel("ablation", "A=1,B=1", [("candidate", 1.0), ("winner", 1.05)]),
        ];
        let faster = faster::of(&study, &trials, (&duels, &found));
        let about = |config: &str| {
            let one = faster.iter().find(|one| trials[one.place].config == config).unwrap();
            (one.over.as_deref(), one.why.clone())
        };
        // The winner has no time of the search: whom it replaced stands for it.
        let (over, why) = about("A=3,B=2");
        assert_eq!(over, Some("A=2,B=2"));
        assert!(matches!(why, WhyNot::Behind { ahead, .. } if ahead == "A=2,B=2"));
        assert!(matches!(about("A=4,B=2").1, WhyNot::NotAFinalist));
        assert_eq!(faster.len(), 3);

        trials.push(trial("search", "A=1,B=1", 1.5));
        let found = of(&study, &trials, &notes);
        assert!(found[0].searched);
        let faster = faster::of(&study, &trials, (&duels, &found));
        let first = faster.iter().find(|one| trials[one.place].config == "A=2,B=2").unwrap();
        let WhyNot::Replaced { by, ratio: Some(ratio) } = &first.why else { panic!("{:?}", first.why) };
        assert_eq!(by, "A=1,B=2");
        assert!((ratio.value - 1.1).abs() < 0.01, "{ratio:?}");

        assert!(of(&won(serde_json::json!({ "A": 2, "B": 2 })), &trials, &notes).is_empty());
    }
}
