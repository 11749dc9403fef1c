//! The winner of a study against who else there was. In: the duels of a study, and what was measured while searching. Out: for the baseline, the
//! runner-up and the default the speedup with its interval, and whether both were measured in turns or apart.

use kiln_core::{Config, MeasuredWorkload};
use kiln_stats::{Apart, Block, Comparison, Estimate, Interval, Verdict, compare_blocks, compare_runs, overall};
use kiln_store::{Confirmed, Measurement, Store, Study, Trial};

use super::duels::{Duel, Grain, coarsest};
use super::succession::{self, Succession};
use super::{searched, winners};
use crate::failure::Failure;

/// Who the winner is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RivalKind {
    /// The baseline of the study.
    Baseline,
    /// The next best in the run-off.
    RunnerUp,
    /// Who won until the ablation found the winner.
    Replaced,
    /// The configuration that the kernel file states.
    Default,
}

impl RivalKind {
    /// As it is shown.
    pub fn name(self) -> &'static str {
        match self {
            RivalKind::Baseline => "baseline",
            RivalKind::RunnerUp => "runner-up",
            RivalKind::Replaced => "winner that it replaced",
            RivalKind::Default => "default",
        }
    }
}

/// The winner against one of them.
#[derive(Debug, Clone)]
pub struct Against {
    /// Who that is.
    pub rival: RivalKind,
    /// The workload, where each has its own winner.
    pub workload: Option<String>,
    /// The rival's configuration, or the baseline's name.
    pub what: String,
    /// The winner.
    pub winner: Config,
    /// Where both were measured.
    pub phase: String,
    /// Whether they took turns. Apart, a drift of the machine counts as a difference.
    pub paired: bool,
    /// By workload.
    pub workloads: Vec<PairedWorkload>,
    /// Over all workloads, where there are several.
    pub overall: Option<Estimate>,
}

/// One workload of it.
#[derive(Debug, Clone)]
pub struct PairedWorkload {
    /// The workload.
    pub name: String,
    /// The rival's time over the winner's: above 1 the winner is faster.
    pub speedup: f64,
    /// Its 95 % interval.
    pub speedup_ci95: Interval,
    /// The winner's median in seconds.
    pub winner_s: f64,
    /// The rival's median in seconds.
    pub rival_s: f64,
    /// The verdict on the winner.
    pub verdict: Verdict,
    /// Samples on each side.
    pub samples: usize,
}

/// The winner of each search against whoever was measured.
pub(super) fn against(
    store: &Store,
    study: &Study,
    trials: &[Trial],
    (duels, successions): (&[Duel], &[Succession]),
) -> Result<Vec<Against>, Failure> {
    let mut found = Vec::new();
    for (workload, winner) in winners(study) {
        let words = winner.to_string();
        let of_workload = |duel: &&Duel| kiln_store::PhaseId::parse(&duel.phase).workload == workload.as_deref();
        let own: Vec<&Duel> = duels.iter().filter(of_workload).collect();
        let named = |name: &'static str| {
            own.iter().rev().filter(move |duel| kiln_store::PhaseId::parse(&duel.phase).name == name)
        };
        let against = |rival, what: String, phase: &str, paired, workloads: Vec<PairedWorkload>| Against {
            rival,
            workload: workload.clone(),
            what,
            winner: winner.clone(),
            phase: phase.into(),
            paired,
            overall: together(&workloads).filter(|_| workloads.len() > 1),
            workloads,
        };
        if let Some(duel) = named("confirm").find(|duel| duel.config == words) {
            let baseline = duel.workloads.iter().flat_map(|w| &w.sides).find(|side| side.name.starts_with("baseline:"));
            if let Some(side) = baseline.map(|side| side.name.clone()) {
                let workloads = as_said(study, &workload, &words, in_turns(duel, &side, "candidate"));
                let name = side.trim_start_matches("baseline:").to_string();
                let mut one = against(RivalKind::Baseline, name, &duel.phase, true, workloads);
                // As the study said it: holdouts do not count, and workloads have weights.
                if workload.is_none() && one.overall.is_some() {
                    one.overall = overall_said(study).or(one.overall);
                }
                found.push(one);
            }
        }
        let sides_with = |duel: &Duel| duel.workloads.iter().flat_map(|w| &w.sides).any(|side| side.name == words);
        let succession = succession::find(successions, workload.as_deref());
        if let Some((succession, duel)) = succession.and_then(|own| Some((own, own.proof(duels, &words)?))) {
            let workloads = in_turns(duel, "winner", "candidate");
            found.push(against(RivalKind::Replaced, succession.last().into(), &duel.phase, true, workloads));
        }
        // Who came in by the ablation did not win the run-off: nobody is second to it there.
        if let (None, Some(duel)) = (succession, named("run-off").find(|duel| sides_with(duel))) {
            found.extend(
                runner_up(duel, &words)
                    .map(|(what, workloads)| against(RivalKind::RunnerUp, what, &duel.phase, true, workloads)),
            );
        }
        let searching = searched(trials).into_iter().find(|(own, _)| *own == workload.as_deref());
        let tried = searching.map(|(_, tried)| tried).unwrap_or_default();
        let default = tried.iter().find(|(_, trial, _)| trial.phase_id().is_default());
        let best = tried.iter().find(|(_, trial, _)| trial.config == words);
        let default = default.map(|(_, trial, _)| trial).filter(|trial| trial.config != words);
        if let (Some(default), None) = (default, best)
            && let Some(duel) = set_back_to(&default.config, &own, &words)
        {
            let workloads = in_turns(duel, "candidate", "winner");
            found.push(against(RivalKind::Default, default.config.clone(), &duel.phase, true, workloads));
        }
        if let (Some(default), Some((_, best, _))) = (default, best) {
            let measured = |trial: &Trial| store.measurements_of(&study.id, &trial.phase, trial.number);
            let grain = coarsest(own.iter().copied());
            let workloads = apart(&measured(default)?, &measured(best)?, &grain);
            let phase = format!("{} and {}", default.phase, best.phase);
            found.push(against(RivalKind::Default, default.config.clone(), &phase, false, workloads));
        }
    }
    found.retain(|one| !one.workloads.is_empty());
    Ok(found)
}

/// Where the ablation set the winner back to the default: they differ in one tunable. Before its own confirmation the side
/// `winner` was another's.
fn set_back_to<'d>(default: &str, duels: &[&'d Duel], winner: &str) -> Option<&'d Duel> {
    let named = |duel: &Duel, name: &str| kiln_store::PhaseId::parse(&duel.phase).name == name;
    let confirmed = duels.iter().rposition(|duel| named(duel, "confirm") && duel.config == winner)?;
    duels[confirmed..].iter().copied().find(|duel| named(duel, "ablation") && duel.config == default)
}

/// The winner over its baseline as the study said it. It drew its resamples from another seed, and one figure has one interval.
fn as_said(study: &Study, apart: &Option<String>, winner: &str, found: Vec<PairedWorkload>) -> Vec<PairedWorkload> {
    let Some(summary) = study.summary.as_ref().and_then(|summary| summary.read().ok()) else { return found };
    let said = |one: PairedWorkload| {
        let own = |row: &&Confirmed| {
            let config = row.config.as_ref().map(Config::to_string);
            row.name == one.name && (apart.is_none() || config.as_deref() == Some(winner))
        };
        let mut rows = summary.workloads.iter().filter(own);
        match (rows.next(), rows.next()) {
            (Some(row), None) => PairedWorkload {
                name: one.name,
                speedup: row.speedup,
                speedup_ci95: row.speedup_ci95,
                winner_s: row.best_ms / 1e3,
                rival_s: row.baseline_ms / 1e3,
                verdict: row.verdict,
                samples: row.samples,
            },
            _ => one,
        }
    };
    found.into_iter().map(said).collect()
}

/// The speedup over all tuned workloads that a study's summary has.
fn overall_said(study: &Study) -> Option<Estimate> {
    let summary = study.summary.as_ref()?.read().ok()?;
    Some(Estimate { value: summary.speedup?, interval: summary.speedup_ci95? })
}

/// The next best of a run-off, by what its time is over the winner's.
fn runner_up(duel: &Duel, winner: &str) -> Option<(String, Vec<PairedWorkload>)> {
    let names = duel.workloads.first()?.sides.iter().map(|side| side.name.clone());
    let rivals = names.filter(|name| name != winner);
    let compared = rivals.map(|name| {
        let found = in_turns(duel, &name, winner);
        (name, found)
    });
    let behind = |found: &[PairedWorkload]| found.iter().map(|one| one.speedup.ln()).sum::<f64>();
    compared.filter(|(_, found)| !found.is_empty()).min_by(|(_, a), (_, b)| behind(a).total_cmp(&behind(b)))
}

/// Two sides that took turns.
pub(super) fn in_turns(duel: &Duel, rival: &str, winner: &str) -> Vec<PairedWorkload> {
    let compared = |workload: &MeasuredWorkload| {
        let (own, other) = (workload.side(winner)?, workload.side(rival)?);
        let blocks: Vec<Block> = own
            .rounds
            .iter()
            .zip(&other.rounds)
            .map(|(candidate, baseline)| Block { baseline: baseline.clone(), candidate: candidate.clone() })
            .collect();
        let found = compare_blocks(&blocks, &duel.grain.limits(&blocks), 0).ok()?;
        Some(paired(&workload.name, &duel.grain.judged(&workload.name, found)))
    };
    duel.workloads.iter().filter_map(compared).collect()
}

/// Two trials that were measured apart.
fn apart(rival: &[Measurement], winner: &[Measurement], grain: &Grain) -> Vec<PairedWorkload> {
    let compared = |own: &Measurement| {
        let other = rival.iter().find(|other| other.workload == own.workload)?;
        let (base, candidate) = ([other.samples.clone()], [own.samples.clone()]);
        let side = |rounds| Apart { rounds, yardstick: None };
        let block = Block { baseline: other.samples.clone(), candidate: own.samples.clone() };
        let found = compare_runs(side(&base), side(&candidate), &grain.limits(&[block]), 0).ok()?;
        Some(paired(&own.workload, &grain.judged(&own.workload, found)))
    };
    winner.iter().filter_map(compared).collect()
}

fn paired(name: &str, found: &Comparison) -> PairedWorkload {
    PairedWorkload {
        name: name.into(),
        speedup: found.speedup,
        speedup_ci95: found.speedup_ci95,
        winner_s: found.candidate.median,
        rival_s: found.baseline.median,
        verdict: found.verdict,
        samples: found.candidate.n,
    }
}

/// Over all workloads; of one, its own.
pub(super) fn together(workloads: &[PairedWorkload]) -> Option<Estimate> {
    let estimate = |one: &PairedWorkload| Estimate { value: one.speedup, interval: one.speedup_ci95 };
    match workloads {
        [] => None,
        [one] => Some(estimate(one)),
        all => overall(&all.iter().map(|one| (1.0, estimate(one))).collect::<Vec<_>>()).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_core::MeasuredSide;

    fn duel(hidden: f64) -> Duel {
        let times = |scale: f64| -> Vec<Vec<f64>> {
            (0..6)
                .map(|round| (0..9).map(|at| scale * (1.0 + 1e-3 * f64::from((at * 5 + round) % 7))).collect())
                .collect()
        };
        let side =
            |name: &str, scale| MeasuredSide { name: name.into(), rounds: times(scale), ..MeasuredSide::default() };
        let sides = vec![side("candidate", 1.0), side("baseline:naive", 1.05)];
        Duel {
            phase: "confirm".into(),
            number: 0,
            config: "A=1".into(),
            workloads: vec![MeasuredWorkload { name: "small".into(), shape: None, sides }],
            grain: Grain { on_gpu: false, hidden: vec![("small".into(), hidden)] },
        }
    }

    #[test]
    fn a_gain_that_the_clock_could_hide_is_none() {
        let verdict = |hidden| in_turns(&duel(hidden), "baseline:naive", "candidate")[0].verdict;
        assert_eq!((verdict(0.0), verdict(0.06)), (Verdict::Faster, Verdict::TooNoisy));
        let run = |scale: f64| Measurement {
            phase: "search".into(),
            trial: 0,
            workload: "small".into(),
            subject: "candidate".into(),
            block: 0,
            samples: (0..20).map(|at| scale * (1.0 + 1e-3 * f64::from(at % 7))).collect(),
            calls: 1,
            cache: "warm".into(),
        };
        let verdict = |hidden| apart(&[run(1.05)], &[run(1.0)], &coarsest([&duel(hidden)]))[0].verdict;
        assert_ne!(verdict(0.06), Verdict::Faster);
    }

    #[test]
    fn the_ablation_measures_the_default_beside_the_winner_it_is_one_tunable_from() {
        let of = |phase: &str, number, config: &str| Duel {
            phase: phase.into(),
            number,
            config: config.into(),
            ..duel(0.0)
        };
        let duels = [
            of("confirm", 0, "A=1,B=1"),
            of("ablation", 0, "A=0,B=0"),
            of("ablation", 1, "A=1,B=0"),
            of("confirm", 1, "A=1,B=0"),
            of("ablation", 2, "A=0,B=0"),
        ];
        let all: Vec<&Duel> = duels.iter().collect();
        // The first of them was measured beside the one that was replaced.
        assert_eq!(set_back_to("A=0,B=0", &all, "A=1,B=0").map(|duel| duel.number), Some(2));
        assert!(set_back_to("A=0,B=0", &all[..4], "A=1,B=0").is_none());
        assert!(set_back_to("A=9,B=9", &all, "A=1,B=0").is_none());
    }

    #[test]
    fn the_baseline_is_held_against_as_the_study_said() {
        let mut study = crate::operation::watch::tests::study("1@here".into());
        let rows = |config: serde_json::Value| {
            serde_json::json!({
                "name": "small", "best_ms": 1000.0, "best_ci95_ms": [990.0, 1010.0], "baseline_ms": 1050.0,
                "baseline_ci95_ms": [1040.0, 1060.0], "speedup": 1.05, "speedup_ci95": [1.02, 1.07], "cliffs_delta": 1.0,
                "p_value": 1e-9, "verdict": "too_noisy", "samples": 54, "warnings": [], "holdout": false, "config": config,
            })
        };
        let mut summary = serde_json::json!({
            "verdict": "reached", "reason": "", "config": null, "speedup": 1.05, "speedup_ci95": [1.02, 1.07],
            "target_speedup": 1.1, "baseline": "naive", "trials": 5, "refused": {}, "ablation": [], "seed": 7, "seconds": 1.0,
            "study": "x", "workloads": [rows(serde_json::json!({ "A": 1 })), rows(serde_json::json!({ "A": 2 }))],
        });
        study.summary = Some(kiln_store::Kept::found(summary.clone()));
        let measured = in_turns(&duel(0.0), "baseline:naive", "candidate");
        let said = as_said(&study, &Some("small".into()), "A=1", measured.clone());
        assert_eq!((said[0].speedup_ci95.low, said[0].verdict), (1.02, Verdict::TooNoisy));
        // Of which configuration a row is, is not known here: what was measured stands.
        let said = as_said(&study, &None, "A=1", measured.clone());
        assert_eq!(said[0].speedup_ci95.low, measured[0].speedup_ci95.low);
        summary["workloads"] = serde_json::json!([rows(serde_json::Value::Null)]);
        study.summary = Some(kiln_store::Kept::found(summary));
        assert_eq!(as_said(&study, &None, "A=1", measured)[0].speedup_ci95.high, 1.07);
    }
}
