//! What was measured against each other in a study: confirmation, run-off, ablation. In: the store. Out: each duel with its samples by
//! workload, side and round; and intervals of times.

use kiln_core::{MeasuredSide, MeasuredWorkload};
use kiln_stats::{Block, Bootstrap, Comparison, Interval, Thresholds, series_median};
use kiln_store::{Measurement, Store, Study, Trial};
use kiln_study::{believed, limits};

use crate::failure::Failure;

/// Phases in which several subjects take turns.
const DUELS: [&str; 3] = ["run-off", "confirm", "ablation"];

/// Several subjects that took turns.
#[derive(Debug, Clone)]
pub struct Duel {
    /// The phase, as trials have it.
    pub phase: String,
    /// Its number within the phase.
    pub number: u64,
    /// The configuration it was about.
    pub config: String,
    /// Samples by workload. Sides are `candidate`, `winner`, `baseline:NAME`, or in a run-off configurations.
    pub workloads: Vec<MeasuredWorkload>,
    /// How finely its times can be told apart.
    pub grain: Grain,
}

/// How finely times can be told apart: a gain that is no larger is none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grain {
    /// Whether they were taken on a GPU.
    pub on_gpu: bool,
    /// The share of the times that could be hidden from the system's accounts, by workload.
    pub hidden: Vec<(String, f64)>,
}

impl Grain {
    /// A verdict, as a study would reach it.
    pub(super) fn judged(&self, workload: &str, found: Comparison) -> Comparison {
        let hidden = self.hidden.iter().filter(|(name, _)| name == workload).map(|(_, share)| *share);
        believed(found, hidden.fold(0.0, f64::max))
    }

    /// The limits of a verdict on times like these.
    pub(super) fn limits(&self, blocks: &[Block]) -> Thresholds {
        limits(&Thresholds::default(), self.on_gpu, blocks)
    }
}

/// Of all duels together: whoever was measured elsewhere is known no better.
pub(super) fn coarsest<'d>(duels: impl IntoIterator<Item = &'d Duel>) -> Grain {
    duels.into_iter().fold(Grain::default(), |mut all, duel| {
        all.on_gpu |= duel.grain.on_gpu;
        all.hidden.extend(duel.grain.hidden.iter().cloned());
        all
    })
}

/// Every duel that ended with samples, in the order recorded.
pub(super) fn of(store: &Store, study: &Study, trials: &[Trial]) -> Result<Vec<Duel>, Failure> {
    let mut found = Vec::new();
    for trial in trials.iter().filter(|trial| DUELS.contains(&trial.phase_id().name) && trial.refusal.is_none()) {
        let workloads = gathered(store.measurements_of(&study.id, &trial.phase, trial.number)?);
        let (phase, config) = (trial.phase.clone(), trial.config.clone());
        let checks = trial.details.read().ok().and_then(|details| details.scrutiny.as_ref());
        let hidden = |one: &MeasuredWorkload| Some((one.name.clone(), checks?.get(&one.name)?.hidden));
        let hidden = workloads.iter().filter_map(hidden).collect();
        let grain = Grain { on_gpu: study.arch.is_some(), hidden };
        found.push(Duel { phase, number: trial.number, config, workloads, grain });
    }
    Ok(found)
}

/// Samples by workload and side, in the order recorded.
fn gathered(measured: Vec<Measurement>) -> Vec<MeasuredWorkload> {
    let mut found: Vec<MeasuredWorkload> = Vec::new();
    for Measurement { workload, subject, samples, calls, .. } in measured {
        let place = found.iter().position(|one| one.name == workload).unwrap_or_else(|| {
            found.push(MeasuredWorkload { name: workload, shape: None, sides: Vec::new() });
            found.len() - 1
        });
        let sides = &mut found[place].sides;
        let side = sides.iter().position(|one| one.name == subject).unwrap_or_else(|| {
            sides.push(MeasuredSide { name: subject, ..MeasuredSide::default() });
            sides.len() - 1
        });
        sides[side].rounds.push(samples);
        sides[side].calls.push(calls);
    }
    found
}

/// The 95 % interval of the median of samples, wide enough for drift within them.
pub fn interval_of(samples: &[f64]) -> Option<Interval> {
    // Views are drawn often, and draw an interval two pixels wide.
    let bootstrap = Bootstrap { resamples: 1000, ..Bootstrap::default() };
    if samples.len() < 3 { None } else { series_median(samples, &bootstrap).ok().map(|estimate| estimate.interval) }
}

/// The interval of a trial's cost, where it is made of several workloads: as wide as theirs together.
pub(super) fn cost_interval(measured: &[Measurement], cost: f64) -> Option<Interval> {
    let relative = |one: &Measurement| {
        let middle = kiln_stats::median(&one.samples).ok()?;
        let interval = interval_of(&one.samples)?;
        Some(((interval.low / middle).ln(), (interval.high / middle).ln()))
    };
    let all: Vec<(f64, f64)> = measured.iter().map(relative).collect::<Option<_>>()?;
    let count = all.len() as f64;
    // Errors of workloads are independent: of a geometric mean they add up as squares.
    let root = |part: fn(&(f64, f64)) -> f64| all.iter().map(|one| part(one).powi(2)).sum::<f64>().sqrt() / count;
    let interval = Interval { low: cost * (-root(|one| one.0)).exp(), high: cost * root(|one| one.1).exp() };
    (!all.is_empty() && interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(workload: &str, samples: Vec<f64>) -> Measurement {
        let (phase, subject, cache) = ("search".into(), "candidate".into(), "warm".into());
        Measurement { phase, trial: 0, workload: workload.into(), subject, block: 0, samples, calls: 1, cache }
    }

    #[test]
    fn the_interval_of_a_cost_holds_it_and_is_narrower_of_several_workloads() {
        let noisy: Vec<f64> = (0..20).map(|at| 1.0 + 0.1 * f64::from((at * 7) % 11 - 5) / 5.0).collect();
        let one = cost_interval(&[measured("a", noisy.clone())], 2.0).unwrap();
        assert!(one.low <= 2.0 && 2.0 <= one.high && one.high - one.low > 0.0, "{one:?}");
        let two = cost_interval(&[measured("a", noisy.clone()), measured("b", noisy)], 2.0).unwrap();
        assert!(two.high - two.low < one.high - one.low, "{one:?} {two:?}");
        assert_eq!(cost_interval(&[], 1.0), None);
        assert_eq!(cost_interval(&[measured("a", vec![1.0])], 1.0), None);
    }

    #[test]
    fn samples_are_gathered_by_workload_and_side() {
        let of = |subject: &str, at: f64| Measurement { subject: subject.into(), ..measured("a", vec![at]) };
        let found = gathered(vec![of("candidate", 1.0), of("winner", 2.0), of("candidate", 3.0)]);
        assert_eq!((found.len(), found[0].sides.len()), (1, 2));
        assert_eq!(found[0].sides[0].rounds, [[1.0], [3.0]]);
    }
}
