//! Outputs against right answers. In: the bytes of each output and its answer. Out: marks, or the refusal that is trusted
//! most: an element never written, NaN or infinity where none is right, numbers too far off.

use std::borrow::Cow;
use std::ops::Range;

use kiln_core::{Gate, Outcome, Refusal};
use kiln_spec::{Dtype, Role};

use crate::described::signature::Slot;
use crate::drawn::element::{decode, decode_into, encode, is_float, surely_finite};
use crate::drawn::whole;
use crate::marked::memory::poison;
use crate::marked::parallel::in_parallel;
use crate::marked::sum::summed;
use crate::marked::tally::Tally;
use crate::right::allowed::Bound;
use crate::right::answer::RightAnswer;
use crate::right::tensor::place;

/// How good the outputs were.
#[derive(Debug, Clone, PartialEq)]
pub struct Marks {
    /// The largest share of the allowed error that any output used; 1 is all of it.
    pub worst: f64,
    /// The largest length of an error over the length of the correct answer.
    pub rel_l2: f64,
    /// Each output, in order.
    pub outputs: Vec<Mark>,
}

/// How good one output was.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Its name.
    pub name: String,
    /// The share of the allowed error it used.
    pub worst: f64,
    /// The largest error.
    pub max_abs: f64,
    /// The mean error of the elements that were compared.
    pub mean_abs: f64,
    /// What it was held to.
    pub bound: Bound,
    /// The length of the error over the length of the correct answer.
    pub rel_l2: f64,
}

type Output<'a> = (&'a Slot, Cow<'a, [u8]>, &'a RightAnswer);

pub(crate) fn check(outputs: Vec<Output<'_>>) -> Outcome<Marks> {
    // What is added up must all be there.
    let parts = outputs.iter().filter(|(slot, _, _)| slot.summed);
    if let Some(refusal) = parts.clone().find_map(|(slot, bytes, answer)| unwritten(slot, bytes, answer)) {
        return Outcome::Refused(refusal);
    }
    let sums: Vec<(Slot, Vec<u8>)> = parts.map(|(slot, bytes, _)| summed(slot, bytes)).collect();
    let mut sums = sums.iter();
    let mut outputs = outputs;
    for output in outputs.iter_mut().filter(|(slot, _, _)| slot.summed) {
        if let Some((slot, bytes)) = sums.next() {
            (output.0, output.1) = (slot, Cow::Borrowed(bytes.as_slice()));
        }
    }
    let tallies: Vec<Tally> = outputs.iter().map(|(slot, bytes, answer)| tally(slot, bytes, answer)).collect();
    // Unwritten floats are NaN, so that the others need no second look.
    for ((slot, bytes, answer), tally) in outputs.iter().zip(&tallies) {
        if (tally.nonfinite.is_some() || !is_float(slot.dtype))
            && let Some(refusal) = unwritten(slot, bytes, answer)
        {
            return Outcome::Refused(refusal);
        }
    }
    if let Some(refusal) = outputs.iter().find_map(|(slot, bytes, _)| no_bool(slot, bytes)) {
        return Outcome::Refused(refusal);
    }
    for ((slot, bytes, answer), tally) in outputs.iter().zip(&tallies) {
        if let Some(at) = tally.nonfinite {
            let right = known(answer, at);
            let limit = right.map_or("a number".into(), |right| format!("{right:.6e}"));
            return Outcome::Refused(refuse(Gate::Nonfinite, slot, bytes, at, limit));
        }
    }
    for ((slot, bytes, answer), tally) in outputs.iter().zip(&tallies) {
        if let Some(refusal) = off(slot, bytes, answer, tally) {
            return Outcome::Refused(refusal);
        }
    }
    for (slot, bytes, answer) in &outputs {
        if let Some(refusal) = missed(slot, bytes, answer) {
            return Outcome::Refused(refusal);
        }
    }
    let mark = |((slot, _, answer), tally): (&Output<'_>, &Tally)| Mark {
        name: slot.name.clone(),
        worst: tally.worst,
        max_abs: tally.max_abs,
        mean_abs: tally.mean_abs(),
        bound: answer.bound,
        rel_l2: tally.rel_l2(),
    };
    let outputs: Vec<Mark> = outputs.iter().zip(&tallies).map(mark).collect();
    let worst = |of: fn(&Mark) -> f64| outputs.iter().map(of).fold(0.0, f64::max);
    Outcome::Passed(Marks { worst: worst(|m| m.worst), rel_l2: worst(|m| m.rel_l2), outputs })
}

/// A whole output, in shares that several processors may look at.
fn tally(slot: &Slot, bytes: &[u8], answer: &RightAnswer) -> Tally {
    const SHARE: usize = 1 << 17;
    if let Some(exact) = &answer.expected.exact {
        let mut tally = Tally::new(answer.bound.allowed);
        let (width, size) = (answer.expected.width().max(1), slot.dtype.bytes() as usize);
        for ((row, _), right) in answer.expected.known().zip(exact.chunks(width)) {
            let found = whole::read(slot.dtype, &bytes[row * width * size..][..right.len() * size]);
            tally.add_integers(&found, right, row * width);
        }
        return tally;
    }
    let mut shares: Vec<(usize, Vec<Stretch<'_>>)> = Vec::new();
    for (range, right) in answer.expected.stretches() {
        for from in range.clone().step_by(SHARE) {
            let to = range.end.min(from + SHARE);
            let stretch = (from..to, right.map(|right| &right[from - range.start..to - range.start]));
            // Short rows go together.
            match shares.last_mut() {
                Some((elements, share)) if *elements + (to - from) <= SHARE => {
                    *elements += to - from;
                    share.push(stretch);
                }
                _ => shares.push((to - from, vec![stretch])),
            }
        }
    }
    let parts = in_parallel(&shares, |(_, share)| {
        let mut tally = Tally::new(answer.bound.allowed);
        share.iter().for_each(|stretch| add(&mut tally, slot, bytes, stretch));
        tally
    });
    parts.into_iter().fold(Tally::new(answer.bound.allowed), Tally::and)
}

/// Elements and what is right there, where that is known.
type Stretch<'a> = (Range<usize>, Option<&'a [f64]>);

/// Decodes piece by piece, so that numbers stay in the first cache.
fn add(tally: &mut Tally, slot: &Slot, bytes: &[u8], (range, right): &Stretch<'_>) {
    const PIECE: usize = 1024;
    let mut buffer = [0.0; PIECE];
    let size = slot.dtype.bytes() as usize;
    for from in range.clone().step_by(PIECE) {
        let to = range.end.min(from + PIECE);
        let (bytes, found) = (&bytes[from * size..to * size], &mut buffer[..to - from]);
        // Of most outputs only a few rows are known, and all the rest need only be numbers.
        if right.is_none() && surely_finite(slot.dtype, bytes) {
            continue;
        }
        decode_into(slot.dtype, bytes, found);
        match right {
            Some(right) => tally.add(found, &right[from - range.start..to - range.start], from),
            None => tally.add_unknown(found, from),
        }
    }
}

/// Elements that still hold the pattern they were filled with. Of an inout nothing can be said; an integer may be that
/// number by right.
fn unwritten(slot: &Slot, bytes: &[u8], answer: &RightAnswer) -> Option<Refusal> {
    if slot.role == Role::Inout {
        return None;
    }
    let size = slot.dtype.bytes() as usize;
    let pattern = poison(slot.dtype);
    let by_right = |at: usize, element: &[u8]| {
        // Of the elements of a sum nobody knows what is right.
        let right = || match integer(answer, at) {
            _ if slot.summed => None,
            Some(right) => Some(whole::write(slot.dtype, &[right])),
            None => known(answer, at).map(|right| encode(slot.dtype, &[right])),
        };
        !is_float(slot.dtype) && right().map_or(size < 4, |right| right == *element)
    };
    let is_unwritten =
        |(at, element): &(usize, &[u8])| element.iter().all(|b| *b == pattern) && !by_right(*at, element);
    let mut found = bytes.chunks_exact(size).enumerate().filter(is_unwritten).map(|(at, _)| at);
    let first = found.next()?;
    let (count, at) = (1 + found.count(), slot.index(first));
    Some(Refusal {
        gate: Gate::UnwrittenOutput,
        rule: slot.name.clone(),
        measured: format!("{count} of {} elements of {} were never written", slot.elements(), slot.name),
        limit: "every element written".into(),
        evidence: format!("the first is {}{at:?}", slot.name),
        hint: Some(
            "write every element; an output is not zero before the call, so what is added to it stays unwritten".into(),
        ),
    })
}

/// A byte that is not a bool: who reads it as one may find neither true nor false.
fn no_bool(slot: &Slot, bytes: &[u8]) -> Option<Refusal> {
    let wrong = |byte: &u8| *byte > 1;
    let at = if slot.dtype == Dtype::Bool { bytes.iter().position(wrong)? } else { return None };
    let count = bytes.iter().filter(|byte| wrong(byte)).count();
    Some(Refusal {
        gate: Gate::Numerics,
        rule: slot.name.clone(),
        measured: format!("{}{:?} is the byte {}", slot.name, slot.index(at), bytes[at]),
        limit: "a bool is the byte 0 or 1".into(),
        evidence: format!("{count} of {} elements are neither", slot.elements()),
        hint: Some("write 1 for true: a mask or a count is no bool".into()),
    })
}

/// Numbers too far off: one of them, or all together.
fn off(slot: &Slot, bytes: &[u8], answer: &RightAnswer, tally: &Tally) -> Option<Refusal> {
    let bound = answer.bound;
    if tally.worst > 1.0 {
        let right = known(answer, tally.at).unwrap_or(f64::NAN);
        let limit = match right.is_finite() {
            true if !is_float(slot.dtype) && bound.allowed.at(right) == 0.0 => {
                integer(answer, tally.at).map_or(format!("{right}"), |right| right.to_string())
            }
            true => {
                let allowed = bound.allowed.at(right);
                format!("{right:.*e} within {allowed:.3e}", digits(right, allowed))
            }
            false => format!("{right}"),
        };
        let shown = digits(right, bound.allowed.at(right));
        let mut refusal = refuse_with(Gate::Numerics, slot, bytes, tally.at, limit, shown);
        let size = slot.dtype.bytes() as usize;
        // Finite numbers against infinity are off by infinitely much, and so is what would be allowed.
        let is_off = |found: f64, right: f64| {
            found != right && (right.is_infinite() || (found - right).abs() > bound.allowed.at(right))
        };
        let (mut wrong, mut seen) = (0, 0);
        let width = answer.expected.width().max(1);
        let mut exact = answer.expected.exact.iter().flat_map(|exact| exact.chunks(width));
        for (row, right) in answer.expected.known() {
            let width = right.len();
            if let Some(right) = exact.next() {
                let found = whole::read(slot.dtype, &bytes[row * width * size..(row + 1) * width * size]);
                let off = |(found, right): (&i128, &i128)| {
                    (found - right).unsigned_abs() as f64 > bound.allowed.at(*right as f64)
                };
                wrong += found.iter().zip(right).filter(|pair| off(*pair)).count();
                seen += width;
                continue;
            }
            let found = decode(slot.dtype, &bytes[row * width * size..(row + 1) * width * size]);
            wrong += found.iter().zip(right).filter(|(found, right)| is_off(**found, **right)).count();
            seen += width;
        }
        refusal.hint = tolerance(slot, answer, tally);
        let verb = if wrong == 1 { "is" } else { "are" };
        refusal.evidence =
            format!("{wrong} of {seen} elements {verb} off; error over answer is {:.2e}", tally.rel_l2());
        return Some(refusal);
    }
    let limit = bound.rel_l2.filter(|limit| tally.rel_l2() > *limit)?;
    Some(Refusal {
        gate: Gate::Numerics,
        rule: slot.name.clone(),
        measured: format!("the length of {}'s error over that of the answer is {:.2e}", slot.name, tally.rel_l2()),
        limit: format!("{limit:.2e}"),
        evidence: format!("the largest single error is {:.2e}", tally.max_abs),
        hint: Some("no element is far off, but all are a little: is an intermediate result too narrow?".into()),
    })
}

/// What to state where a reference of the user's own says nothing of precision, and the error is not plainly one.
fn tolerance(slot: &Slot, answer: &RightAnswer, tally: &Tally) -> Option<String> {
    let near = tally.max_abs <= 0.05 * answer.expected.largest();
    let needed = 1.25 * tally.max_abs;
    // Rounded up to two digits.
    let power = 10f64.powf(needed.log10().floor() - 1.0);
    let needed = (needed / power).ceil() * power;
    (answer.outside && is_float(slot.dtype) && near && needed.is_finite()).then(|| {
        let name = &slot.name;
        format!(
            "if the kernel may be so far off, state it: [reference] tolerance = {{ {name} = {{ abs = {needed:.1e} }} }}"
        )
    })
}

/// Rows that were not computed, by sums over all elements.
fn missed(slot: &Slot, bytes: &[u8], answer: &RightAnswer) -> Option<Refusal> {
    let miss = answer.projection.as_ref()?.miss(slot, bytes, answer.bound, answer.expected.largest())?;
    let (row, columns) = (place(&slot.shape[..slot.shape.len() - 1], miss.row), miss.columns);
    let shown = digits(miss.right, miss.allowed);
    Some(Refusal {
        gate: Gate::Numerics,
        rule: slot.name.clone(),
        measured: format!(
            "elements {} to {} of {}{row:?}, added up with random signs, give {:.shown$e}",
            columns.start,
            columns.end - 1,
            slot.name,
            miss.found
        ),
        limit: format!("{:.shown$e} within {:.3e}", miss.right, miss.allowed),
        evidence: format!("the {} rows that were computed one by one are right", answer.expected.known().count()),
        hint: Some("a tile or an edge that only some rows have?".into()),
    })
}

/// The correct answer of an element, if it was computed.
fn known(answer: &RightAnswer, at: usize) -> Option<f64> {
    let width = answer.expected.width().max(1);
    answer.expected.row(at / width).map(|row| row[at % width])
}

/// The same of a 64-bit integer.
fn integer(answer: &RightAnswer, at: usize) -> Option<i128> {
    let (width, exact) = (answer.expected.width().max(1), answer.expected.exact.as_ref()?);
    let place = answer.expected.known().position(|(row, _)| row == at / width)?;
    exact.get(place * width + at % width).copied()
}

/// Digits behind the point of a number beside which so much is allowed: enough to see what is more than that.
fn digits(right: f64, allowed: f64) -> usize {
    let needed = (right.abs() / allowed).log10().ceil() + 1.0;
    // A double has no more than 17, of which one is before the point.
    if needed.is_nan() { DIGITS } else { needed.clamp(DIGITS as f64, 16.0) as usize }
}

/// Digits behind the point, usually.
const DIGITS: usize = 6;

fn refuse(gate: Gate, slot: &Slot, bytes: &[u8], at: usize, limit: String) -> Refusal {
    refuse_with(gate, slot, bytes, at, limit, DIGITS)
}

fn refuse_with(gate: Gate, slot: &Slot, bytes: &[u8], at: usize, limit: String, digits: usize) -> Refusal {
    let size = slot.dtype.bytes() as usize;
    let found = &bytes[at * size..(at + 1) * size];
    let found = match is_float(slot.dtype) {
        true => format!("{:.digits$e}", decode(slot.dtype, found)[0]),
        false => whole::read(slot.dtype, found)[0].to_string(),
    };
    Refusal {
        gate,
        rule: slot.name.clone(),
        measured: match slot.summed {
            true => format!("the sum of {} is {found}", slot.name),
            false => format!("{}{:?} is {found}", slot.name, slot.index(at)),
        },
        limit,
        evidence: String::new(),
        hint: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_a_sum_may_be_the_byte_it_was_filled_with() {
        let slot = Slot { summed: true, ..Slot::packed("counts", Role::Out, Dtype::U8, &[3]) };
        let allowed = crate::right::allowed::Allowed { abs: 0.0, rel: 0.0 };
        let sum = crate::right::tensor::Tensor::new(&[1], vec![200.0]);
        let mut expected = crate::right::expected::Expected::whole(sum);
        expected.exact = Some(vec![200]);
        let source = crate::right::allowed::Source::Assumed;
        let bound = Bound { allowed, rel_l2: None, source };
        let answer = RightAnswer { name: "counts".into(), expected, bound, outside: true, projection: None };
        let judge = |bytes: Vec<u8>| check(vec![(&slot, Cow::Owned(bytes), &answer)]);
        assert!(matches!(judge(vec![0xA5, 30, 5]), Outcome::Passed(_)));
        assert!(matches!(judge(vec![0xA5, 30, 6]), Outcome::Refused(_)));
        // Four bytes that are all so are no number that anybody counted.
        let wide = Slot { summed: true, ..Slot::packed("counts", Role::Out, Dtype::I32, &[2]) };
        let bytes = [[0xA5; 4], 200i32.to_le_bytes()].concat();
        let Outcome::Refused(refusal) = check(vec![(&wide, Cow::Owned(bytes), &answer)]) else { panic!("accepted") };
        assert_eq!(refusal.gate, Gate::UnwrittenOutput);
    }

    #[test]
    fn numbers_are_shown_with_digits_enough_to_see_the_difference() {
        let (found, right, allowed) = (2.034_641_000_9, 2.034_641_000_1, 2.045e-10);
        let shown = digits(right, allowed);
        assert_ne!(format!("{found:.shown$e}"), format!("{right:.shown$e}"));
        let usual = [(1.0, 1e-3), (0.0, 1e-3), (0.0, 0.0), (f64::INFINITY, f64::INFINITY)];
        assert!(usual.iter().all(|(right, allowed)| digits(*right, *allowed) == DIGITS));
        assert_eq!(digits(1.0, 0.0), 16);
    }
}
