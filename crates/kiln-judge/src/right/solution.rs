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

/// An output as the side that wrote it has it, and its bytes, padding included. How many elements a summed output has is a
/// matter of the configuration.
pub type Written<'a> = (&'a Slot, &'a [u8]);

/// What one call should have written.
#[derive(Debug, Clone)]
pub struct Solution {
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
        Ok(Solution { answers: answers(&signature, rules, &inputs, outside)? })
    }

    /// Judges each output, in order.
    pub fn judge(&self, written: &[Written<'_>]) -> Outcome<Marks> {
        let outputs = written.iter().zip(&self.answers);
        check(outputs.map(|((slot, bytes), answer)| (*slot, gather(slot, bytes), answer)).collect())
    }

    /// How far each output may be off.
    pub fn bounds(&self) -> Vec<Bound> {
        self.answers.iter().map(|answer| answer.bound).collect()
    }
}

/// Whether two outputs are as near to each other as two right ones must be: each may be off by as much as is allowed.
pub fn agree(bound: &Bound, one: Written<'_>, other: Written<'_>) -> bool {
    let slot = one.0;
    if slot.shape == other.0.shape && one.1 == other.1 {
        // Two that both left a float unwritten agree on nothing.
        return !is_float(slot.dtype) || finite_or_infinite(slot, one.1);
    }
    if slot.summed {
        return same_sum(bound, one, other);
    }
    if !is_float(slot.dtype) && bound.allowed.at(1.0) == 0.0 {
        return false;
    }
    let (one, other): (Cow<'_, [u8]>, Cow<'_, [u8]>) = (gather(slot, one.1), gather(other.0, other.1));
    if one.len() != other.len() {
        return false;
    }
    let (one, other) = (decode(slot.dtype, &one), decode(slot.dtype, &other));
    one.iter().zip(&other).all(|(a, b)| near(bound, *a, *b))
}

fn near(bound: &Bound, a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 2.0 * bound.allowed.at(a).max(bound.allowed.at(b))
}

/// Whether the sums of two outputs agree; how many numbers share each is no matter.
fn same_sum(bound: &Bound, one: Written<'_>, other: Written<'_>) -> bool {
    let sum = |(slot, bytes): Written<'_>| summed(slot, &gather(slot, bytes));
    let ((slot, a), (_, b)) = (sum(one), sum(other));
    let number = |bytes: &[u8]| decode(slot.dtype, bytes).pop().unwrap_or(f64::NAN);
    // Doubles do not hold every integer: those are equal that are so to the last bit.
    let exact = !is_float(slot.dtype) && bound.allowed.at(1.0) == 0.0;
    if exact { a == b } else { near(bound, number(&a), number(&b)) }
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

    fn sums(dtype: Dtype, shape: &[usize]) -> Slot {
        Slot { summed: true, ..Slot::packed("sums", Role::Out, dtype, shape) }
    }

    fn within(abs: f64) -> Bound {
        Bound { allowed: Allowed { abs, rel: 0.0 }, rel_l2: None, source: Source::Derived }
    }

    #[test]
    fn sums_agree_however_they_are_shared() {
        let (slot, two) = (sums(Dtype::F32, &[4]), sums(Dtype::F32, &[2]));
        let bytes = |values: &[f64]| encode(Dtype::F32, values);
        let four = bytes(&[1.0, 2.0, 3.0, 4.0]);
        let agrees = |values: &[f64]| agree(&within(1e-3), (&slot, &four), (&two, &bytes(values)));
        assert!(agrees(&[6.0, 4.0]));
        assert!(agree(&within(1e-3), (&slot, &four), (&slot, &four)));
        assert!(!agrees(&[6.0, 4.01]));
        assert!(!agrees(&[10.0, f64::NAN]));
    }

    #[test]
    fn integer_sums_agree_to_the_last_bit() {
        let slot = sums(Dtype::I64, &[2]);
        let bytes = |values: &[i128]| crate::drawn::whole::write(Dtype::I64, values);
        let large = 1i128 << 60;
        let one = bytes(&[large, 1]);
        assert!(agree(&within(0.0), (&slot, &one), (&slot, &bytes(&[1, large]))));
        assert!(!agree(&within(0.0), (&slot, &one), (&slot, &bytes(&[large, 2]))));
    }

    #[test]
    fn each_side_of_a_sum_is_read_as_it_lies() {
        // The second of two columns, of three rows and of one: what lies between belongs to nobody.
        let column = |rows: usize| Slot { strides: vec![2, 1], ..sums(Dtype::F32, &[rows, 1]) };
        let (three, one) = (column(3), column(1));
        let bytes = encode(Dtype::F32, &[1.0, f64::NAN, 2.0, f64::NAN, 3.0]);
        let six = encode(Dtype::F32, &[6.0]);
        assert!(agree(&within(1e-3), (&three, &bytes), (&one, &six)));
        let answer = RightAnswer {
            name: "sums".into(),
            expected: crate::right::expected::Expected::whole(Tensor::new(&[1], vec![6.0])),
            bound: within(1e-3),
            outside: true,
            projection: None,
        };
        let solution = Solution { answers: vec![answer] };
        assert!(matches!(solution.judge(&[(&three, &bytes)]), Outcome::Passed(_)));
        assert!(matches!(solution.judge(&[(&one, &six)]), Outcome::Passed(_)));
        assert!(matches!(solution.judge(&[(&one, &encode(Dtype::F32, &[5.0]))]), Outcome::Refused(_)));
    }
}
