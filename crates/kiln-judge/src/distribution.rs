//! What inputs look like. In: a distribution, a slot and its stream of random numbers. Out: numbers, not yet rounded. Inputs
//! that are not plain floating-point data (integers, and those the kernel file wants as zeros, ones or counted up) keep
//! their declared filling in every distribution: they may be indices.

use std::fmt;

use kiln_spec::Init;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::element::is_float;
use crate::normal::normal;
use crate::signature::Slot;

/// Distributions; the names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// As the kernel file says.
    Declared,
    /// The same times a factor: large values exercise what small ones do not.
    Scaled(u32),
    /// One value everywhere.
    Constant,
    /// As declared, but one element in 64 is eight times as large.
    Spikes,
    /// Values grow along the keys, so that an online softmax finds a new maximum in every block.
    Increasing,
    /// Values fall along the keys: the first block holds the maximum.
    Decreasing,
}

impl Distribution {
    /// Those the whole suite goes through.
    pub const ALL: [Distribution; 7] = [
        Distribution::Declared,
        Distribution::Scaled(4),
        Distribution::Scaled(8),
        Distribution::Constant,
        Distribution::Spikes,
        Distribution::Increasing,
        Distribution::Decreasing,
    ];

    /// The distribution of that name.
    pub fn named(name: &str) -> Option<Distribution> {
        Some(match name {
            "declared" => Distribution::Declared,
            "constant" => Distribution::Constant,
            "spikes" => Distribution::Spikes,
            "increasing" => Distribution::Increasing,
            "decreasing" => Distribution::Decreasing,
            _ => Distribution::Scaled(name.strip_prefix("scaled_")?.parse().ok()?),
        })
    }

    /// The numbers of a slot. Values move along the dimension `keys`, by `rise` in all.
    pub(crate) fn fill(self, slot: &Slot, keys: usize, rise: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let count = slot.elements();
        let plain = is_float(slot.dtype) && matches!(slot.init, Init::Normal | Init::Uniform);
        let mut declared = |factor: f64| match slot.init {
            Init::Normal => normal(rng, count, factor),
            Init::Uniform => (0..count).map(|_| factor * uniform(rng)).collect(),
            Init::Zeros => vec![0.0; count],
            Init::Ones => vec![1.0; count],
            Init::Arange => (0..count).map(|i| i as f64).collect(),
        };
        match self {
            _ if !plain => declared(1.0),
            Distribution::Declared => declared(1.0),
            Distribution::Scaled(factor) => declared(f64::from(factor)),
            Distribution::Constant => vec![0.5 + uniform(rng); count],
            Distribution::Spikes => {
                let mut values = declared(1.0);
                values.iter_mut().for_each(|v| *v *= if rng.next_u32().is_multiple_of(64) { 8.0 } else { 1.0 });
                values
            }
            Distribution::Increasing | Distribution::Decreasing => {
                let mut values = declared(0.5);
                let size = slot.shape.get(keys).copied().unwrap_or(1);
                let inner: usize = slot.shape.iter().skip(keys + 1).product();
                for (i, value) in values.iter_mut().enumerate() {
                    let at = i / inner.max(1) % size.max(1);
                    let at = if self == Distribution::Increasing { at } else { size - 1 - at };
                    *value += rise * at as f64 / (size - 1).max(1) as f64;
                }
                values
            }
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Distribution::Declared => "declared",
            Distribution::Scaled(factor) => return write!(f, "scaled_{factor}"),
            Distribution::Constant => "constant",
            Distribution::Spikes => "spikes",
            Distribution::Increasing => "increasing",
            Distribution::Decreasing => "decreasing",
        })
    }
}

/// In [0, 1), from the upper 53 bits.
fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
