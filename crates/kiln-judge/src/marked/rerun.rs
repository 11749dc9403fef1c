//! Two calls on the same inputs. In: the bytes of the outputs of both. Out: pass when they are equal, or, where the kernel
//! file allows differences, when they differ by no more than what is allowed; else a refusal.

use kiln_core::{Gate, Outcome, Refusal};

use crate::described::signature::Slot;
use crate::drawn::element::{decode, is_float};
use crate::drawn::whole::{is_wide, read};
use crate::right::answer::RightAnswer;
use crate::right::tensor::place;

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
            measured: format!("{}{:?} is {a}, then {b}", slot.name, place(&slot.shape, at)),
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
