//! Partial pooling: a normal model with crossed effects. In: values, each with what is known of its own variance and with its level in every grouping
//! (which cause, which kernel). Out: a [`Pool`]: how far groupings matter, and what to expect of the next value, of levels that were seen
//! or not. A level with few values is drawn towards the mean of all, one with many stands for itself. Levels of the last grouping may be many: they
//! are eliminated, so that a fit costs the cube of the others alone.
//!
//! value = mean + effect of each level + noise, all normal. Effects and mean follow in closed form from the variances; these are found by
//! expectation-maximisation with a prior that weighs as much as a few values.

mod system;

use system::System;

/// A value and where it belongs.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledValue {
    /// The value.
    pub value: f64,
    /// What is known of its own variance, such as that of a measurement; 0 where nothing is.
    pub variance: f64,
    /// Its level in each grouping, from 0; none where it is not known.
    pub levels: Vec<Option<usize>>,
}

/// Standard deviations: of the mean, of the levels of each grouping, of the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Spreads {
    /// How far the mean may be from 0.
    pub mean: f64,
    /// How far the levels of each grouping are apart.
    pub groupings: Vec<f64>,
    /// What is left.
    pub noise: f64,
}

/// What is expected of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expectation {
    /// The most likely value.
    pub mean: f64,
    /// The standard deviation of a new value around it.
    pub spread: f64,
}

/// A fitted model.
#[derive(Debug, Clone)]
pub struct Pool {
    spreads: Spreads,
    system: System,
    widening: f64,
}

/// The most rounds of the fixed point, and the change of a standard deviation that ends it.
const ROUNDS: usize = 60;
const SETTLED: f64 = 1e-3;

impl Pool {
    /// Fits spreads and effects. `prior` is what spreads are without values, and counts as much as `weight` values.
    pub fn fit(values: &[PooledValue], prior: &Spreads, weight: f64) -> Pool {
        Pool::fit_from(values, prior, weight, prior.clone())
    }

    /// The same, where spreads are known that these are likely close to: it takes fewer rounds.
    pub fn fit_from(values: &[PooledValue], prior: &Spreads, weight: f64, near: Spreads) -> Pool {
        let mut pool = Pool::with(values, near);
        for _ in 0..ROUNDS {
            let next = pool.improved(values, prior, weight);
            let change = next.all().zip(pool.spreads.all()).map(|(new, old)| (new / old - 1.0).abs());
            let settled = change.fold(0.0, f64::max) < SETTLED;
            pool = Pool::with(values, next);
            if settled {
                break;
            }
        }
        pool.widening = pool.widened(values, weight);
        pool
    }

    /// Fits the effects alone: the spreads are given.
    pub fn with(values: &[PooledValue], spreads: Spreads) -> Pool {
        let system = System::solve(values, &spreads);
        Pool { spreads, system, widening: 1.0 }
    }

    /// How far each value is from what the others say of it, in standard deviations, on average: fitted spreads are too small by this. With S the covariance of
    /// all values, that distance is (S^-1 z)_i / sqrt((S^-1)_ii).
    fn widened(&self, values: &[PooledValue], weight: f64) -> f64 {
        let distance = |value: &PooledValue| {
            let (fitted, variance, missing) = self.system.at(&value.levels);
            let missing: f64 = missing.map(|grouping| square(self.spreads.groupings[grouping])).sum();
            let precision = 1.0 / (square(self.spreads.noise) + value.variance + missing);
            let left = precision - square(precision) * variance;
            square(precision * (value.value - fitted)) / left.max(f64::MIN_POSITIVE)
        };
        let sum: f64 = values.iter().map(distance).sum();
        ((sum + weight) / (values.len() as f64 + weight)).sqrt().max(1.0)
    }

    /// How far groupings matter.
    pub fn spreads(&self) -> &Spreads {
        &self.spreads
    }

    /// What to expect of a value with these levels. One that is none or was not seen adds the spread of its grouping.
    pub fn expect(&self, levels: &[Option<usize>]) -> Expectation {
        let (mean, variance, missing) = self.system.at(levels);
        let missing: f64 = missing.map(|grouping| square(self.spreads.groupings[grouping])).sum();
        Expectation { mean, spread: self.widening * (variance + missing + square(self.spreads.noise)).sqrt() }
    }

    /// One round: each spread becomes what the effects and their uncertainty come to, drawn towards the prior.
    fn improved(&self, values: &[PooledValue], prior: &Spreads, weight: f64) -> Spreads {
        let spread = |(grouping, prior): (usize, &f64)| {
            let (sum, count) = self.system.second_moment(grouping);
            ((sum + weight * square(*prior)) / (count as f64 + weight)).sqrt()
        };
        let groupings = prior.groupings.iter().enumerate().map(spread).collect();
        let own = square(self.spreads.noise);
        let noise = |value: &PooledValue| {
            let (fitted, variance, missing) = self.system.at(&value.levels);
            let missing: f64 = missing.map(|grouping| square(self.spreads.groupings[grouping])).sum();
            let others = value.variance + missing;
            // Of what is left, the noise has its share; the rest is the measurement's and that of levels nobody knows.
            let share = own / (own + others);
            square(share) * (square(value.value - fitted) + variance) + share * others
        };
        let sum: f64 = values.iter().map(noise).sum();
        let noise = ((sum + weight * square(prior.noise)) / (values.len() as f64 + weight)).sqrt();
        Spreads { mean: prior.mean, groupings, noise }
    }
}

impl Spreads {
    fn all(&self) -> impl Iterator<Item = f64> {
        self.groupings.iter().copied().chain([self.noise])
    }
}

fn square(value: f64) -> f64 {
    value * value
}
