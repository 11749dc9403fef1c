//! From a promise to an expectation. In: outcomes. Out: for any promise, cause, fix, kernel and chip the speedup to expect and an 80 % interval.
//!
//! With p the promised and m the measured speedup, the model is of z = (ln m - ln p) / sqrt(1 + ln p): the doubt of a promise grows with it. z is the
//! sum of a mean and of effects of the cause, of the fix for it, of the chip and of the kernel, and noise; all are normal, and pooled (see
//! [`kiln_stats::Pool`]). Without outcomes every effect is 0, and the promise itself is expected.

use std::collections::BTreeMap;

use kiln_stats::{Pool, PooledValue, Spreads, normal};
use serde::{Deserialize, Serialize};

use super::outcome::Outcome;
use crate::profile::Bottleneck;

/// What is asked of the model.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The speedup that the diagnosis promises.
    pub promised: f64,
    /// Its cause.
    pub cause: &'a str,
    /// What is to be changed, in the words of the diagnosis.
    pub fix: Option<&'a str>,
    /// The kernel, where it has a name.
    pub kernel: Option<&'a str>,
    /// The chip.
    pub chip: Option<&'a str>,
}

/// What to expect of a fix.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// The speedup: as likely exceeded as missed.
    pub speedup: f64,
    /// The lower end of the 80 % interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How many outcomes of the same cause this rests on.
    pub outcomes: usize,
}

/// What the promises of a cause are worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CauseFactor {
    /// The cause.
    pub cause: String,
    /// How many outcomes it has.
    pub outcomes: usize,
    /// What was promised, the geometric mean.
    pub promised: f64,
    /// What was measured, the geometric mean.
    pub measured: f64,
    /// What the model expects of that promise on a kernel and with a fix it has not seen.
    pub expected: Expected,
}

/// The chance that a measured speedup lies within an expectation's interval.
const LEVEL: f64 = 0.8;

/// Groupings: the cause, the fix for it, the chip, the kernel. The last may have many levels.
const GROUPINGS: usize = 4;

/// What is believed before any outcome: promises are right on average (within e^0.3), fixes of one cause are alike, and two thirds of promises are
/// within a factor of 1.4 or so.
fn prior() -> Spreads {
    Spreads { mean: 0.3, groupings: vec![0.15, 0.1, 0.1, 0.1], noise: 0.25 }
}

/// The prior counts as much as this many outcomes.
const WEIGHT: f64 = 2.0;

/// How the gain of fixes is expected to be.
#[derive(Debug, Clone)]
pub struct GainModel {
    pool: Pool,
    levels: [BTreeMap<String, usize>; GROUPINGS],
    /// Outcomes by cause: how many, and the sums of the logarithms of promises and measurements.
    causes: BTreeMap<String, (usize, f64, f64)>,
    used: usize,
}

impl GainModel {
    /// Fits the model. Outcomes without a promise above 1, and those of coarse causes, whose promises are upper bounds, are left out.
    pub fn fit<'o>(outcomes: impl IntoIterator<Item = &'o Outcome>) -> GainModel {
        Self::made(outcomes, |values| Pool::fit(values, &prior(), WEIGHT))
    }

    /// The same for a part of the outcomes of this model: it begins with the spreads of all.
    pub(super) fn fit_part<'o>(&self, outcomes: impl IntoIterator<Item = &'o Outcome>) -> GainModel {
        Self::made(outcomes, |values| Pool::fit_from(values, &prior(), WEIGHT, self.pool.spreads().clone()))
    }

    /// The same with the spreads of another fit: effects alone follow these outcomes.
    pub(super) fn refit<'o>(&self, outcomes: impl IntoIterator<Item = &'o Outcome>) -> GainModel {
        Self::made(outcomes, |values| Pool::with(values, self.pool.spreads().clone()))
    }

    fn made<'o>(
        outcomes: impl IntoIterator<Item = &'o Outcome>,
        fit: impl FnOnce(&[PooledValue]) -> Pool,
    ) -> GainModel {
        let mut levels: [BTreeMap<String, usize>; GROUPINGS] = Default::default();
        let mut values: Vec<PooledValue> = Vec::new();
        let mut causes: BTreeMap<String, (usize, f64, f64)> = BTreeMap::new();
        for outcome in outcomes {
            let Some(promise) = usable(outcome) else { continue };
            let names = names(&outcome.cause, outcome.fix.as_deref(), Some(&outcome.chip), Some(&outcome.kernel));
            let mut level = |(grouping, name): (usize, Option<String>)| {
                let next = levels[grouping].len();
                name.map(|name| *levels[grouping].entry(name).or_insert(next))
            };
            let own = causes.entry(outcome.cause.clone()).or_default();
            *own = (own.0 + 1, own.1 + promise, own.2 + outcome.log_measured());
            values.push(PooledValue {
                value: (outcome.log_measured() - promise) / scale(promise),
                variance: outcome.measured.log_variance() / (1.0 + promise),
                levels: names.into_iter().enumerate().map(&mut level).collect(),
            });
        }
        GainModel { used: values.len(), pool: fit(&values), levels, causes }
    }

    /// What to expect.
    pub fn expect(&self, asked: &Asked<'_>) -> Expected {
        let promise = asked.promised.max(f64::MIN_POSITIVE).ln().max(0.0);
        let names = names(asked.cause, asked.fix, asked.chip, asked.kernel);
        let level = |(grouping, name): (usize, Option<String>)| self.levels[grouping].get(&name?).copied();
        let levels: Vec<Option<usize>> = names.into_iter().enumerate().map(level).collect();
        let found = self.pool.expect(&levels);
        let wide = normal::quantile(0.5 + LEVEL / 2.0) * found.spread;
        let at = |z: f64| (promise + scale(promise) * z).exp();
        Expected {
            speedup: at(found.mean),
            low: at(found.mean - wide),
            high: at(found.mean + wide),
            outcomes: self.causes.get(asked.cause).map_or(0, |own| own.0),
        }
    }

    /// Whether a diagnosis of this cause can be asked about.
    pub fn knows(cause: &str) -> bool {
        Bottleneck::of_id(cause).is_some_and(|cause| !crate::profile::at_roofline(cause))
    }

    /// How many outcomes it was fitted to.
    pub fn outcomes(&self) -> usize {
        self.used
    }

    /// How far causes, fixes, chips and kernels matter, and what is left: standard deviations of z.
    pub fn spreads(&self) -> &Spreads {
        self.pool.spreads()
    }

    /// What the promises of each cause are worth, the most frequent cause first.
    pub fn causes(&self) -> Vec<CauseFactor> {
        let factor = |(cause, (outcomes, promised, measured)): (&String, &(usize, f64, f64))| {
            let mean = |sum: f64| (sum / *outcomes as f64).exp();
            let asked = Asked { promised: mean(*promised), cause, fix: None, kernel: None, chip: None };
            let (promised, measured, expected) = (mean(*promised), mean(*measured), self.expect(&asked));
            CauseFactor { cause: cause.clone(), outcomes: *outcomes, promised, measured, expected }
        };
        let mut all: Vec<CauseFactor> = self.causes.iter().map(factor).collect();
        all.sort_by_key(|own| std::cmp::Reverse(own.outcomes));
        all
    }
}

/// The logarithm of the promise of an outcome that the model learns from.
pub(super) fn usable(outcome: &Outcome) -> Option<f64> {
    outcome.log_promise().filter(|_| GainModel::knows(&outcome.cause))
}

fn scale(promise: f64) -> f64 {
    (1.0 + promise).sqrt()
}

/// The names of the levels. A fix is one for its cause: "use smaller blocks" for another one is another.
fn names(cause: &str, fix: Option<&str>, chip: Option<&str>, kernel: Option<&str>) -> [Option<String>; GROUPINGS] {
    let fix = fix.map(|fix| format!("{cause}: {fix}"));
    [Some(cause.into()), fix, chip.map(String::from), kernel.map(String::from)]
}

#[cfg(test)]
mod tests;
