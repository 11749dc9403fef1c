//! Two calls on the same inputs. In: the bytes of the outputs of both. Out: pass when they are equal, or, where the kernel
//! file allows differences, when they differ by no more than what is allowed; else a refusal.

use kiln_core::{Gate, Outcome, Refusal};

use crate::described::signature::Slot;
use crate::drawn::element::{decode, is_float};
use crate::drawn::whole::{is_wide, read};
use crate::marked::sum::summed;
use crate::right::answer::RightAnswer;
use crate::right::solution::agree;

pub(crate) fn rerun<'a>(
    outputs: impl Iterator<Item = (&'a Slot, &'a RightAnswer)>,
    first: &[u8],
    second: &[u8],
    deterministic: bool,
) -> Outcome<()> {
    if first == second {
        return Outcome::Passed(());
    }
    let mut from = 0;
    for (slot, answer) in outputs {
        let size = slot.dtype.bytes() as usize;
        let to = from + slot.elements() * size;
        let (Some(a), Some(b)) = (first.get(from..to), second.get(from..to)) else { break };
        from = to;
        if slot.summed && !deterministic {
            // Who adds what to which share may change from call to call; what they give together may not.
            match sums(slot, answer, a, b) {
                None => continue,
                Some(refusal) => return Outcome::Refused(refusal),
            }
        }
        let pairs = || a.chunks_exact(size).zip(b.chunks_exact(size)).enumerate();
        let differs = |(_, (a, b)): &(usize, (&[u8], &[u8]))| {
            if a == b || deterministic {
                return a != b;
            }
            if is_wide(slot.dtype) {
                let (a, b) = (read(slot.dtype, a)[0], read(slot.dtype, b)[0]);
                return (a - b).unsigned_abs() as f64 > answer.bound.allowed.at(a as f64);
            }
            let (a, b) = (decode(slot.dtype, a)[0], decode(slot.dtype, b)[0]);
            // Two NaN, or infinities of different sign, are no agreement.
            a != b && ((a - b).abs() > answer.bound.allowed.at(a) || !(a - b).is_finite())
        };
        let Some((at, (a, b))) = pairs().find(differs) else { continue };
        let count = pairs().filter(differs).count();
        let allowed = match deterministic {
            true => "the same bytes on the same inputs".to_owned(),
            false => format!("a difference of {:.3e}", answer.bound.allowed.at(decode(slot.dtype, a)[0])),
        };
        let words = |bytes: &[u8]| match is_float(slot.dtype) {
            true => format!("{:e}", decode(slot.dtype, bytes)[0]),
            false => read(slot.dtype, bytes)[0].to_string(),
        };
        let (a, b) = (words(a), words(b));
        return Outcome::Refused(Refusal {
            gate: Gate::Nondeterministic,
            rule: slot.name.clone(),
            measured: format!("{}{:?} is {a}, then {b}", slot.name, slot.index(at)),
            limit: allowed,
            evidence: format!("{count} of {} elements differ", slot.elements()),
            hint: deterministic.then(|| {
                "a race, or memory read before it is written; atomic sums need [reference] deterministic = false".into()
            }),
        });
    }
    if first.len() == second.len() {
        return Outcome::Passed(());
    }
    Outcome::Refused(Refusal {
        gate: Gate::Nondeterministic,
        rule: "outputs".into(),
        measured: format!("{} bytes, then {}", first.len(), second.len()),
        limit: "as many".into(),
        evidence: String::new(),
        hint: None,
    })
}

/// Why the sums of two calls, elements one after another, are not the same.
fn sums(slot: &Slot, answer: &RightAnswer, first: &[u8], second: &[u8]) -> Option<Refusal> {
    let slot = &Slot { summed: true, ..Slot::packed(&slot.name, slot.role, slot.dtype, &slot.shape) };
    if agree(&answer.bound, (slot, first), (slot, second)) {
        return None;
    }
    let sum = |bytes: &[u8]| {
        let (slot, sum) = summed(slot, bytes);
        if is_float(slot.dtype) {
            format!("{:e}", decode(slot.dtype, &sum)[0])
        } else {
            read(slot.dtype, &sum)[0].to_string()
        }
    };
    Some(Refusal {
        gate: Gate::Nondeterministic,
        rule: slot.name.clone(),
        measured: format!("the sum of {} is {}, then {}", slot.name, sum(first), sum(second)),
        limit: "a difference within the tolerance".into(),
        evidence: String::new(),
        hint: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::element::encode;
    use crate::right::allowed::{Allowed, Bound, Source};
    use crate::right::expected::Expected;
    use crate::right::tensor::Tensor;
    use kiln_spec::{Dtype, Role};

    #[test]
    fn shares_of_a_sum_may_change_from_call_to_call_and_the_sum_may_not() {
        // Elements come one after another, however they lay.
        let slot = Slot { summed: true, strides: vec![2], ..Slot::packed("sums", Role::Out, Dtype::F32, &[2]) };
        let bound = Bound { allowed: Allowed { abs: 1e-3, rel: 0.0 }, rel_l2: None, source: Source::Derived };
        let expected = Expected::whole(Tensor::new(&[1], vec![10.0]));
        let answer = RightAnswer { name: "sums".into(), expected, bound, outside: true, projection: None };
        let rerun = |one: &[f64], other: &[f64], deterministic: bool| {
            let (one, other) = (encode(Dtype::F32, one), encode(Dtype::F32, other));
            matches!(rerun([(&slot, &answer)].into_iter(), &one, &other, deterministic), Outcome::Passed(()))
        };
        assert!(rerun(&[3.0, 7.0], &[4.0, 6.0], false));
        assert!(!rerun(&[3.0, 7.0], &[4.0, 6.5], false));
        assert!(!rerun(&[3.0, 7.0], &[4.0, 6.0], true));
    }
}
