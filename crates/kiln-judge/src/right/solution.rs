//! The correct answers to one timed call. In: what the call read, as bytes. Out: a judge of what it wrote; and, without right
//! answers, whether two calls on the same inputs agree as well as two right ones must.

use std::borrow::Cow;

use kiln_core::{Fault, Outcome};

use crate::described::rules::Rules;
use crate::described::signature::{Signature, Slot};
use crate::drawn::distribution::Distribution;
use crate::drawn::element::{decode, is_float};
use crate::drawn::fresh::Fresh;
use crate::drawn::inputs::Inputs;
use crate::exam::Outside;
use crate::marked::check::{Marks, check};
use crate::marked::strides::gather;
use crate::marked::sum::summed;
use crate::right::allowed::Bound;
use crate::right::answer::{RightAnswer, answers};
use crate::right::tensor::Tensor;

/// What one call should have written.
#[derive(Debug, Clone)]
pub struct Solution {
    outputs: Vec<Slot>,
    answers: Vec<RightAnswer>,
}

impl Solution {
    /// Computes it.
    pub fn of(
        signature: &Signature,
        rules: &Rules,
        fresh: &Fresh,
        outside: Option<Outside<'_>>,
    ) -> Result<Solution, Fault> {
        // Scalars are those of the call.
        let read = |slot: &Slot| slot.is_input() || slot.scalar.is_some();
        let given = signature.slots.iter().zip(&fresh.slots).enumerate().filter(|(_, (slot, _))| read(slot));
        let given: Vec<(usize, &[u8])> = given.map(|(number, (_, bytes))| (number, bytes.as_slice())).collect();
        let signature = signature.given(&given)?;
        let read = signature.slots.iter().zip(&fresh.slots).filter(|(slot, _)| slot.is_input());
        let tensors = read.map(|(slot, bytes)| (slot, Tensor::read(slot.dtype, &slot.shape, &gather(slot, bytes))));
        let inputs = Inputs::known(Distribution::Declared, 0, tensors, signature.slots.iter());
        let answers = answers(&signature, rules, &inputs, outside)?;
        let outputs = signature.outputs().map(|(_, slot)| slot.clone()).collect();
        Ok(Solution { outputs, answers })
    }

    /// Judges the bytes of each output, in order, padding included.
    pub fn judge(&self, written: &[&[u8]]) -> Outcome<Marks> {
        let outputs = self.outputs.iter().zip(written).zip(&self.answers);
        check(outputs.map(|((slot, bytes), answer)| (slot, gather(slot, bytes), answer)).collect())
    }

    /// How far each output may be off.
    pub fn bounds(&self) -> Vec<Bound> {
        self.answers.iter().map(|answer| answer.bound).collect()
    }
}

/// Whether two outputs are as near to each other as two right ones must be: each may be off by as much as is allowed.
pub fn agree(slot: &Slot, bound: &Bound, one: &[u8], other: &[u8]) -> bool {
    if one == other {
        // Two that both left a float unwritten agree on nothing.
        return !is_float(slot.dtype) || finite_or_infinite(slot, one);
    }
    if slot.summed {
        return same_sum(slot, bound, one, other);
    }
    if !is_float(slot.dtype) && bound.allowed.at(1.0) == 0.0 {
        return false;
    }
    let (one, other): (Cow<'_, [u8]>, Cow<'_, [u8]>) = (gather(slot, one), gather(slot, other));
    if one.len() != other.len() {
        return false;
    }
    let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= 2.0 * bound.allowed.at(*a).max(bound.allowed.at(*b));
    let (one, other) = (decode(slot.dtype, &one), decode(slot.dtype, &other));
    one.iter().zip(&other).all(near)
}

/// Whether the sums of two outputs agree; how many numbers share each is no matter.
fn same_sum(slot: &Slot, bound: &Bound, one: &[u8], other: &[u8]) -> bool {
    let sum = |bytes: &[u8]| {
        let (slot, sum) = summed(slot, bytes);
        decode(slot.dtype, &sum).pop().unwrap_or(f64::NAN)
    };
    let (a, b) = (sum(one), sum(other));
    a == b || (a - b).abs() <= 2.0 * bound.allowed.at(a).max(bound.allowed.at(b))
}

fn finite_or_infinite(slot: &Slot, bytes: &[u8]) -> bool {
    crate::drawn::element::surely_finite(slot.dtype, bytes)
        || decode(slot.dtype, &gather(slot, bytes)).iter().all(|value| !value.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::element::encode;
    use crate::right::allowed::{Allowed, Source};
    use kiln_spec::{Dtype, Role};

    #[test]
    fn sums_agree_however_they_are_shared() {
        let slot = Slot { summed: true, ..Slot::packed("sums", Role::Out, Dtype::F32, &[4]) };
        let bound = Bound { allowed: Allowed { abs: 1e-3, rel: 0.0 }, rel_l2: None, source: Source::Derived };
        let bytes = |values: &[f64]| encode(Dtype::F32, values);
        let four = bytes(&[1.0, 2.0, 3.0, 4.0]);
        assert!(agree(&slot, &bound, &four, &bytes(&[6.0, 4.0])));
        assert!(agree(&slot, &bound, &four, &four));
        assert!(!agree(&slot, &bound, &four, &bytes(&[6.0, 4.01])));
        assert!(!agree(&slot, &bound, &four, &bytes(&[10.0, f64::NAN])));
    }
}
