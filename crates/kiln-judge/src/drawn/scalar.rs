//! Scalars that may vary. In: a slot with a value and a range. Out: a number for a question, one in four times the value that the
//! file gives: no other question would ask about it, and kernels have shortcuts for it.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::described::signature::Slot;
use crate::drawn::distribution::uniform;
use crate::drawn::integers::evenly;
use crate::drawn::interval::Interval;

/// One question in so many has the usual value.
const USUAL_IN: u32 = 4;

impl Interval {
    /// Whether a number lies in it.
    pub(crate) fn holds(&self, value: f64) -> bool {
        match *self {
            Interval::Real(low, high) => (low..=high).contains(&value),
            Interval::Whole(low, high) | Interval::Assumed(low, high) => {
                value.fract() == 0.0 && (low as f64..=high as f64).contains(&value)
            }
        }
    }
}

/// A scalar of one question.
pub(crate) fn varied(slot: &Slot, range: &Interval, rng: &mut ChaCha8Rng) -> f64 {
    let usual = slot.scalar.filter(|value| range.holds(*value));
    match usual {
        Some(value) if rng.next_u32().is_multiple_of(USUAL_IN) => value,
        _ => match *range {
            Interval::Real(low, high) => low + (high - low) * uniform(rng),
            other => {
                let (low, high) = other.whole();
                evenly(low, high, rng) as f64
            }
        },
    }
}
