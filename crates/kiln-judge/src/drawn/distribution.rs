//! What inputs look like. In: a distribution, a slot and its stream of random numbers. Out: numbers, not yet rounded. Inputs
//! that are not plain floating-point data (integers, and those the kernel file wants as zeros, ones, counted up, from a
//! range or a function) keep their declared filling in every distribution: they have a meaning.

use std::fmt;

use kiln_spec::Init;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::described::signature::Slot;
use crate::drawn::element::is_float;
use crate::drawn::normal::normal;

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
    /// Declared times a power of two, so large that the answer just fits. Exponentials without their maximum subtracted,
    /// and sums in too narrow a type, overflow.
    Large,
    /// So small that products come near the smallest normal numbers.
    Tiny,
    /// As declared, but a few elements are as large as in [`Distribution::Large`]: the first and the last along every
    /// dimension, and some between them, so few that each of them shows in a sum of all. What is left over at an end is
    /// easily forgotten.
    Spike,
    /// Exponents evenly from a wide range, positive and negative.
    Mixed,
    /// Few different values, so that equal ones meet within and across inputs, with zeros of both signs among them and a row
    /// of zeros.
    Few,
    /// As declared, with scalars that have a range at its lowest, and elements of such tensors too.
    Lowest,
    /// The same with the highest.
    Highest,
    /// As declared, with numbers among them below the smallest normal one of their type: some of them are flushed to zero,
    /// others are not, and neither may hurt the rest.
    Denormals,
    /// As declared, with integers of at most 4 where the file does not state their range: not a question of its own, but
    /// the one that shows whether an answer is wrong only for integers the kernel was not made for.
    Small,
}

/// How far powers of two may go, up and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reach {
    pub(crate) up: Option<i32>,
    pub(crate) down: Option<i32>,
}

/// The widest range of exponents that [`Distribution::Mixed`] draws from, to both sides.
const WIDEST: i32 = 12;
/// Dimensions up to this size have no ends where another is longer.
const SHORT: usize = 8;

impl Distribution {
    /// Those the whole suite goes through.
    pub const ALL: [Distribution; 14] = [
        Distribution::Declared,
        Distribution::Scaled(4),
        Distribution::Scaled(8),
        Distribution::Constant,
        Distribution::Spikes,
        Distribution::Increasing,
        Distribution::Decreasing,
        Distribution::Large,
        Distribution::Tiny,
        Distribution::Spike,
        Distribution::Mixed,
        Distribution::Few,
        Distribution::Lowest,
        Distribution::Highest,
    ];

    /// Those that fuzzing goes through.
    pub const FUZZED: [Distribution; 15] = {
        let mut fuzzed = [Distribution::Denormals; 15];
        let mut i = 0;
        while i < Distribution::ALL.len() {
            fuzzed[i] = Distribution::ALL[i];
            i += 1;
        }
        fuzzed
    };

    /// Whether it depends on how large numbers may become.
    pub(crate) fn needs_reach(self) -> bool {
        matches!(self, Distribution::Large | Distribution::Tiny | Distribution::Spike | Distribution::Mixed)
    }

    /// Whether only the correct answer shows that it makes sense: where it is NaN or infinite, it does not.
    pub(crate) fn is_tentative(self) -> bool {
        matches!(self, Distribution::Few | Distribution::Lowest | Distribution::Highest | Distribution::Denormals)
    }

    /// The power of two it works with; none where that is not far enough to ask anything new.
    pub(crate) fn power(self, reach: Reach) -> Option<i32> {
        match self {
            Distribution::Tiny => reach.down.filter(|power| *power < 0),
            Distribution::Mixed => reach.up.map(|power| power.min(WIDEST)).filter(|power| *power > 0),
            _ => reach.up.filter(|power| *power > 0),
        }
    }

    /// The distribution of that name.
    pub fn named(name: &str) -> Option<Distribution> {
        Some(match name {
            "declared" => Distribution::Declared,
            "constant" => Distribution::Constant,
            "spikes" => Distribution::Spikes,
            "increasing" => Distribution::Increasing,
            "decreasing" => Distribution::Decreasing,
            "large" => Distribution::Large,
            "tiny" => Distribution::Tiny,
            "spike" => Distribution::Spike,
            "mixed" => Distribution::Mixed,
            "few" => Distribution::Few,
            "lowest" => Distribution::Lowest,
            "highest" => Distribution::Highest,
            "denormals" => Distribution::Denormals,
            "small" => Distribution::Small,
            _ => Distribution::Scaled(name.strip_prefix("scaled_")?.parse().ok()?),
        })
    }

    /// The numbers of a slot. Values move along the dimension `keys`, by `rise` in all; large ones are 2 to the `power`.
    pub(crate) fn fill(self, slot: &Slot, keys: usize, rise: f64, power: i32, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let count = slot.elements();
        let plain = slot.is_plain();
        let mut declared = |factor: f64| match slot.init {
            Init::Normal => normal(rng, count, factor),
            Init::Uniform => (0..count).map(|_| factor * uniform(rng)).collect(),
            Init::Zeros => vec![0.0; count],
            Init::Ones => vec![1.0; count],
            Init::Arange => (0..count).map(|i| i as f64).collect(),
        };
        match self {
            _ if !plain => declared(1.0),
            Distribution::Declared
            | Distribution::Small
            | Distribution::Lowest
            | Distribution::Highest
            | Distribution::Denormals => declared(1.0),
            // Every type holds these. Zero is put among them afterwards, where the answer allows it.
            Distribution::Few => {
                let one = |word: u32| match slot.init {
                    Init::Normal => f64::from(word % 8 + 1) / 4.0 * if word & 8 == 0 { 1.0 } else { -1.0 },
                    _ => f64::from(word % 7 + 1) / 8.0,
                };
                (0..count).map(|_| one(rng.next_u32())).collect()
            }
            Distribution::Large | Distribution::Tiny => declared(2f64.powi(power)),
            Distribution::Spike => {
                let mut values = declared(1.0);
                let first = if values.is_empty() { 0 } else { rng.next_u64() as usize % values.len() };
                let rare = rarity(&slot.shape);
                for (i, value) in values.iter_mut().enumerate() {
                    let end = is_end(&slot.shape, i);
                    // One that is nearly zero would show as little as before.
                    if end && value.abs() < 0.5 {
                        *value = if value.is_sign_negative() { -0.5 } else { 0.5 };
                    }
                    let large = rng.next_u64().is_multiple_of(rare) || end || i == first;
                    *value *= if large { 2f64.powi(power) } else { 1.0 };
                }
                values
            }
            Distribution::Mixed => {
                // Only positive where the file wants it so.
                let sign = |rng: &mut ChaCha8Rng| {
                    if slot.init == Init::Normal && rng.next_u32() & 1 == 0 { -1.0 } else { 1.0 }
                };
                let mut one = || sign(rng) * (f64::from(power) * (2.0 * uniform(rng) - 1.0)).exp2();
                (0..count).map(|_| one()).collect()
            }
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

impl Slot {
    /// Whether it is an input that is filled with the same numbers for every question.
    pub fn is_fixed(&self) -> bool {
        let drawn = self.range.is_some() || self.function.is_some();
        self.is_input() && !drawn && matches!(self.init, Init::Zeros | Init::Ones | Init::Arange)
    }

    /// Whether it holds plain floating-point data, which may look like anything.
    pub(crate) fn is_plain(&self) -> bool {
        let drawn =
            self.range.is_none() && self.function.is_none() && matches!(self.init, Init::Normal | Init::Uniform);
        self.is_input() && is_float(self.dtype) && drawn
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
            Distribution::Large => "large",
            Distribution::Tiny => "tiny",
            Distribution::Spike => "spike",
            Distribution::Mixed => "mixed",
            Distribution::Few => "few",
            Distribution::Lowest => "lowest",
            Distribution::Highest => "highest",
            Distribution::Denormals => "denormals",
            Distribution::Small => "small",
        })
    }
}

/// One element in so many is a spike by chance: about eight at most along the longest dimension.
fn rarity(shape: &[usize]) -> u64 {
    shape.iter().map(|size| *size as u64 / 8).max().unwrap_or(0).max(1024)
}

/// Whether an element is the first or the last along a dimension; short ones have too few for that to be special, unless no
/// dimension is longer.
fn is_end(shape: &[usize], index: usize) -> bool {
    let least = shape.iter().copied().max().unwrap_or(0).min(SHORT + 1);
    let mut rest = index;
    shape.iter().rev().any(|size| {
        let at = rest % (*size).max(1);
        rest /= (*size).max(1);
        *size >= least && (at == 0 || at + 1 == *size)
    })
}

/// In [0, 1), from the upper 53 bits.
pub(crate) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
