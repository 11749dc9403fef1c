//! Numbers that kernels forget: zeros of both signs, a row of zeros, one integer everywhere, the ends of stated ranges,
//! numbers below the smallest normal one. In: a signature and a distribution. Out: the special numbers that belong to it,
//! and inputs with them in place.

use kiln_spec::{Init, Role};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::described::signature::{Signature, Slot};
use crate::drawn::distribution::Distribution;
use crate::drawn::element::{round_to, roundoff};
use crate::drawn::interval::Interval;
use crate::drawn::magnitude::smallest;
use crate::right::tensor::Tensor;

/// One element in so many is special, of each kind; at least one.
const ONE_IN: u32 = 16;
/// Inputs with fewer elements have no zeros: nothing else would be left.
const FEWEST: usize = 4;

/// Special numbers of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Special {
    /// The argument's number.
    pub(crate) slot: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Zeros,
    ZeroRow,
    Same,
    Lowest,
    Highest,
    Denormals,
}

impl Special {
    /// All that a distribution has for these arguments.
    pub(crate) fn all(signature: &Signature, distribution: Distribution) -> Vec<Special> {
        let kinds: &[Kind] = match distribution {
            Distribution::Few => &[Kind::Zeros, Kind::ZeroRow, Kind::Same],
            Distribution::Lowest => &[Kind::Lowest],
            Distribution::Highest => &[Kind::Highest],
            Distribution::Denormals => &[Kind::Denormals],
            _ => &[],
        };
        let fits = |slot: &Slot, kind: Kind| match kind {
            Kind::Zeros => slot.may_be_zero() && slot.elements() >= FEWEST,
            Kind::ZeroRow => slot.may_be_zero() && slot.shape.len() > 1 && slot.elements() > width(slot),
            Kind::Same => slot.is_ranged_integer(),
            Kind::Lowest | Kind::Highest => slot.has_ends(),
            Kind::Denormals => slot.is_plain() && slot.elements() >= FEWEST,
        };
        let slots = signature.slots.iter().enumerate();
        let each = slots.flat_map(|(i, slot)| kinds.iter().map(move |kind| (i, slot, *kind)));
        each.filter(|(_, slot, kind)| fits(slot, *kind)).map(|(slot, _, kind)| Special { slot, kind }).collect()
    }

    /// What a scalar becomes.
    pub(crate) fn scalar(self, slot: &Slot) -> Option<f64> {
        Some(round_to(slot.dtype, self.end(slot)?.0))
    }

    /// Puts it into a tensor.
    pub(crate) fn put(self, slot: &Slot, tensor: &mut Tensor, rng: &mut ChaCha8Rng) {
        match self.kind {
            // The negative one only where negative numbers are.
            Kind::Zeros if slot.may_be_negative() => {
                scattered(tensor, (-0.0, 0), rng);
                scattered(tensor, (0.0, 0), rng);
            }
            Kind::Zeros => scattered(tensor, (0.0, 0), rng),
            Kind::ZeroRow => {
                let width = width(slot).max(1);
                let rows = (tensor.data.len() / width).max(1);
                tensor.data.chunks_mut(width).nth(rng.next_u64() as usize % rows).into_iter().for_each(|r| r.fill(0.0));
            }
            // Counters and tables that hold a few of each key do not hold all of one.
            Kind::Same => {
                let one = rng.next_u64() as usize % tensor.data.len().max(1);
                if let Some(value) = tensor.data.get(one).copied() {
                    tensor.data.fill(value);
                }
                if let Some(all) = &mut tensor.exact
                    && let Some(value) = all.get(one).copied()
                {
                    all.fill(value);
                }
            }
            Kind::Denormals => {
                let most = smallest(slot.dtype);
                let sign = if slot.may_be_negative() { -1.0 } else { 1.0 };
                // The largest and the smallest of them.
                scattered(tensor, (round_to(slot.dtype, 0.75 * most), 0), rng);
                scattered(tensor, (sign * 2.0 * roundoff(slot.dtype) * most, 0), rng);
            }
            Kind::Lowest | Kind::Highest => {
                if let Some((value, exact)) = self.end(slot) {
                    scattered(tensor, (round_to(slot.dtype, value), exact), rng);
                }
            }
        }
    }

    /// The end of the argument's range, as a number and as an integer.
    fn end(self, slot: &Slot) -> Option<(f64, i128)> {
        let (low, high) = match slot.range? {
            Interval::Real(low, high) => ((low, 0), (high, 0)),
            Interval::Whole(low, high) | Interval::Assumed(low, high) => ((low as f64, low), (high as f64, high)),
        };
        match self.kind {
            Kind::Lowest => Some(low),
            Kind::Highest => Some(high),
            _ => None,
        }
    }
}

/// Elements of a row.
fn width(slot: &Slot) -> usize {
    slot.shape.last().copied().unwrap_or(1)
}

/// Puts a value in some places.
fn scattered(tensor: &mut Tensor, (value, exact): (f64, i128), rng: &mut ChaCha8Rng) {
    let count = tensor.data.len();
    let sure = if count == 0 { 0 } else { rng.next_u64() as usize % count };
    for at in 0..count {
        if at == sure || rng.next_u32().is_multiple_of(ONE_IN) {
            tensor.data[at] = value;
            if let Some(all) = &mut tensor.exact {
                all[at] = exact;
            }
        }
    }
}

impl Slot {
    /// Whether it is an input with fractions, drawn from a stated range.
    pub(crate) fn has_real_range(&self) -> bool {
        self.is_input() && self.function.is_none() && matches!(self.range, Some(Interval::Real(..)))
    }

    /// Whether it is an input with integers, drawn from a stated range.
    pub(crate) fn is_ranged_integer(&self) -> bool {
        self.is_input() && self.function.is_none() && matches!(self.range, Some(Interval::Whole(..)))
    }

    /// Whether zero is as good a number as any for it.
    fn may_be_zero(&self) -> bool {
        match self.range {
            Some(Interval::Real(low, high)) => self.has_real_range() && low <= 0.0 && 0.0 <= high,
            _ => self.is_plain(),
        }
    }

    fn may_be_negative(&self) -> bool {
        match self.range {
            Some(Interval::Real(low, _)) => low < 0.0,
            _ => self.init == Init::Normal,
        }
    }

    /// Whether it is drawn from a stated range.
    pub(crate) fn has_ends(&self) -> bool {
        self.range.is_some() && self.function.is_none() && (self.is_input() || self.role == Role::Scalar)
    }
}
