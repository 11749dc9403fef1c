//! Two calls on the same inputs. In: the bytes of the outputs of both. Out: pass when they are equal, or, where the kernel
//! file allows differences, when they differ by no more than what is allowed; else a refusal.

use kiln_core::{Gate, Outcome, Refusal};

use crate::answer::Answer;
use crate::element::decode;
use crate::signature::Slot;
use crate::tensor::place;

pub(crate) fn rerun<'a>(
    outputs: impl Iterator<Item = (&'a Slot, &'a Answer)>,
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
        let (a, b) = (decode(slot.dtype, a)[0], decode(slot.dtype, b)[0]);
        return Outcome::Refused(Refusal {
            gate: Gate::Nondeterministic,
            rule: slot.name.clone(),
            measured: format!("{}{:?} is {a:e}, then {b:e}", slot.name, place(&slot.shape, at)),
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
