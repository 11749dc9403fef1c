//! What numbers are drawn from: what the kernel file states, or for integers the whole type where it states nothing.

use kiln_spec::Dtype;

use crate::drawn::whole::extremes;

/// The lowest and the highest number, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Interval {
    /// Integers that the file states.
    Whole(i128, i128),
    /// Numbers with fractions that the file states.
    Real(f64, f64),
    /// Integers of which the file says nothing.
    Assumed(i128, i128),
}

impl Interval {
    /// The whole type; none where numbers have fractions.
    pub(crate) fn of_type(dtype: Dtype) -> Option<Interval> {
        extremes(dtype).map(|(low, high)| Interval::Assumed(low, high))
    }

    /// Whether the file states it.
    pub(crate) fn stated(&self) -> bool {
        !matches!(self, Interval::Assumed(..))
    }

    /// Its ends, as integers.
    pub(crate) fn whole(&self) -> (i128, i128) {
        match *self {
            Interval::Whole(low, high) | Interval::Assumed(low, high) => (low, high),
            Interval::Real(low, high) => (low.ceil() as i128, high.floor() as i128),
        }
    }

    /// Those of so many bits at most.
    pub(crate) fn of_bits(&self, bits: u32) -> Interval {
        let (low, high) = self.whole();
        let most = (1i128 << bits.min(100)) - 1;
        Interval::Assumed(low.max(-most), high.min(most))
    }
}
