//! Timings of an imaginary machine with the vices of real ones: skewed, correlated, drifting, spiky, in ticks. Both sides
//! are interleaved in pairs, the order within a pair drawn at random, as the measurement does it.

// Each test uses a part of it.
#![allow(dead_code)]

use kiln_stats::Block;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// What the machine is like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noise {
    /// Standard deviation of a sample relative to its level, without drift and spikes.
    pub(crate) cv: f64,
    /// Share of the variance that both sides see alike, being the machine's: neighbours in time see nearly the same.
    pub(crate) shared: f64,
    /// How much of the machine's state is left one sample later.
    pub(crate) shared_memory: f64,
    /// How much of a side's own state is left at its next sample. Does not cancel between the sides.
    pub(crate) own_memory: f64,
    /// Relative change over the whole run.
    pub(crate) drift: f64,
    /// Share of samples that are 10 to 60 % slower for no reason.
    pub(crate) spikes: f64,
    /// Standard deviation of what a worker adds to all of its samples: where its memory happened to lie.
    pub(crate) worker: f64,
    /// Resolution of the timer, relative; 0 for a perfect one.
    pub(crate) tick: f64,
}

impl Noise {
    /// Skewed and independent.
    pub(crate) fn plain(cv: f64) -> Noise {
        Noise { cv, shared: 0.0, shared_memory: 0.0, own_memory: 0.0, drift: 0.0, spikes: 0.0, worker: 0.0, tick: 0.0 }
    }

    /// What a machine does: half of the noise is its own slow state, it warms up, it is interrupted now and then.
    pub(crate) fn machine(cv: f64) -> Noise {
        Noise { shared: 0.5, shared_memory: 0.9, drift: 0.05, spikes: 0.01, ..Noise::plain(cv) }
    }

    /// `workers` pairs of fresh workers with `each` interleaved samples of each side.
    pub(crate) fn blocks(&self, workers: usize, each: usize, slowdown: f64, dice: &mut Dice) -> Vec<Block> {
        let (baseline, candidate) = self.samples(workers * each, slowdown, dice);
        let mut of_worker = |samples: &[f64]| {
            let bias = 1.0 + self.worker * dice.normal();
            samples.iter().map(|v| v * bias).collect()
        };
        let pairs = baseline.chunks(each).zip(candidate.chunks(each));
        pairs.map(|(b, c)| Block { baseline: of_worker(b), candidate: of_worker(c) }).collect()
    }

    /// `n` interleaved samples of each side; the candidate takes `1 + slowdown` times as long.
    pub(crate) fn samples(&self, n: usize, slowdown: f64, dice: &mut Dice) -> (Vec<f64>, Vec<f64>) {
        let mut sides = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut machine = dice.normal();
        let mut own = [dice.normal(), dice.normal()];
        for pair in 0..n {
            let order = if dice.unit() < 0.5 { [0, 1] } else { [1, 0] };
            for (slot, side) in order.into_iter().enumerate() {
                machine = dice.next(machine, self.shared_memory);
                own[side] = dice.next(own[side], self.own_memory);
                let wobble = self.shared.sqrt() * skewed(machine) + (1.0 - self.shared).sqrt() * skewed(own[side]);
                let level = if side == 0 { 1.0 } else { 1.0 + slowdown };
                let drift = 1.0 + self.drift * (2 * pair + slot) as f64 / (2 * n) as f64;
                let spike = if dice.unit() < self.spikes { 1.1 + 0.5 * dice.unit() } else { 1.0 };
                let time = level * drift * spike * (1.0 + self.cv * wobble);
                let time = if self.tick > 0.0 { (time / self.tick).round() * self.tick } else { time };
                if side == 0 { sides.0.push(time) } else { sides.1.push(time) }
            }
        }
        sides
    }
}

/// A normal value made right-skewed (log-normal, skewness 2.3), mean 0, variance 1, at least -1.5.
fn skewed(z: f64) -> f64 {
    let s: f64 = 0.6;
    let mean = (s * s / 2.0).exp();
    ((s * z).exp() - mean) / (mean * ((s * s).exp() - 1.0).sqrt())
}

/// Seeded random numbers.
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn normal(&mut self) -> f64 {
        let (radius, turn) = (1.0 - self.unit(), self.unit());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
    }

    /// The next state of a process that keeps its variance of 1.
    fn next(&mut self, state: f64, memory: f64) -> f64 {
        memory * state + (1.0 - memory * memory).sqrt() * self.normal()
    }
}
