//! Searching on a recorded space, again and again. In: a [`Recorded`] space, a [`Plan`] (strategy, knowledge, budget), seeds.
//! Out: a [`Curve`] for each repeat, what was the best after every evaluation, and a [`Score`] over repeats at a budget:
//! the share of the optimum found (optimum / best) with its mean, standard error and 10th percentile. An evaluation is a
//! configuration never tried before; a failed one costs an evaluation too. Nothing is measured: the only clock read is the
//! one that times the strategy itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::kind::Kind;
use crate::known::knowledge::Knowledge;
use crate::known::observation::Observation;
use crate::known::seen::Seen;
use crate::proposing::draw::Draws;
use crate::replay::recorded::Recorded;
use crate::strategy::strategy_with;

/// How a recorded space is searched.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The strategy.
    pub kind: Kind,
    /// Priors, default, static score, constants.
    pub knowledge: Knowledge,
    /// Evaluations of each repeat.
    pub budget: usize,
    /// Answer with one raw sample, drawn anew, instead of the time.
    pub noise: bool,
}

/// One repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// After each evaluation the time of the configuration that looks best so far; infinite while everything failed. With
    /// noise it is the recorded time of the one whose sample was best, which may be worse than an earlier one's.
    pub bests: Vec<f64>,
    /// Evaluations that failed.
    pub failed: usize,
    /// Seconds spent in the strategy, in all.
    pub thinking: f64,
}

/// Repeats summed up at one budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Evaluations.
    pub budget: usize,
    /// The mean share of the optimum; 0 for a repeat in which everything failed.
    pub mean: f64,
    /// The standard error of that mean.
    pub se: f64,
    /// The share that nine of ten repeats reach.
    pub p10: f64,
}

/// One search with one seed. Ends early when the space is used up; the curve then stays as it is.
pub fn simulate(recorded: &Recorded, plan: &Plan, seed: u64) -> Curve {
    const PURPOSE: u64 = 9;
    let start = Instant::now();
    let mut search = strategy_with(plan.kind, recorded.space().clone(), seed, &plan.knowledge);
    let mut thinking = start.elapsed().as_secs_f64();
    let mut draws = Draws::new(seed, PURPOSE, &Seen::default());
    let mut curve = Curve { bests: Vec::with_capacity(plan.budget), failed: 0, thinking: 0.0 };
    let (mut seen_best, mut true_best) = (f64::INFINITY, f64::INFINITY);
    while curve.bests.len() < plan.budget {
        let start = Instant::now();
        let asked = search.ask(1).pop();
        thinking += start.elapsed().as_secs_f64();
        let Some(point) = asked else {
            curve.bests.resize(plan.budget, true_best);
            break;
        };
        let answer = recorded.answer(&point);
        let time = answer.and_then(|answer| answer.time);
        let observed = match answer {
            Some(answer) if plan.noise && time.is_some() && !answer.samples.is_empty() => {
                Observation::Time(answer.samples[draws.position(answer.samples.len())])
            }
            _ => time.map_or(Observation::Failed, Observation::Time),
        };
        match (observed.cost(), time) {
            (Some(cost), Some(time)) if cost < seen_best => (seen_best, true_best) = (cost, time),
            (Some(_), Some(_)) => {}
            _ => curve.failed += 1,
        }
        curve.bests.push(true_best);
        let start = Instant::now();
        search.tell(&point, observed);
        thinking += start.elapsed().as_secs_f64();
    }
    curve.thinking = thinking;
    curve
}

/// `repeats` searches with the seeds `seed`, `seed + 1` and so on, on `threads` threads; in the order of the seeds, whatever
/// the threads do. `done` is called after each, from the thread that ran it, with the number finished so far, and says
/// whether to go on; none when it did not want to.
pub fn repeat(
    recorded: &Recorded,
    plan: &Plan,
    seed: u64,
    repeats: usize,
    threads: usize,
    done: &(dyn Fn(usize) -> bool + Sync),
) -> Option<Vec<Curve>> {
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut curves = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= repeats {
                return curves;
            }
            curves.push((number, simulate(recorded, plan, seed.wrapping_add(number as u64))));
            if !done(finished.fetch_add(1, Ordering::Relaxed) + 1) {
                next.store(repeats, Ordering::Relaxed);
            }
        }
    };
    let mut curves: Vec<(usize, Curve)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (1..threads.clamp(1, repeats.max(1))).map(|_| scope.spawn(work)).collect();
        let mut curves = work();
        for handle in handles {
            match handle.join() {
                Ok(more) => curves.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        curves
    });
    curves.sort_by_key(|(number, _)| *number);
    (curves.len() == repeats).then(|| curves.into_iter().map(|(_, curve)| curve).collect())
}

/// The share of the optimum that each curve has after `budget` evaluations (0 before the first and while all failed).
pub fn shares(curves: &[Curve], optimum: f64, budget: usize) -> Vec<f64> {
    let share =
        |curve: &Curve| budget.checked_sub(1).and_then(|last| curve.bests.get(last)).map_or(0.0, |b| optimum / b);
    curves.iter().map(share).collect()
}

/// The curves summed up at a budget.
pub fn score(curves: &[Curve], optimum: f64, budget: usize) -> Score {
    let mut shares = shares(curves, optimum, budget);
    let count = shares.len().max(1) as f64;
    let mean = shares.iter().sum::<f64>() / count;
    let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    shares.sort_by(f64::total_cmp);
    let p10 = shares.get((shares.len().saturating_sub(1) as f64 * 0.1) as usize).copied().unwrap_or(0.0);
    Score { budget, mean, se: (variance / count).sqrt(), p10 }
}
