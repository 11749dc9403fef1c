//! Answers that take no work: zeros, a constant, a copy of an input, the mean of each row. A check that one of them passes
//! proves nothing. In: an output's right answer. Out: for each such answer whether it would pass, and whether it really is
//! the right one, which small or constant inputs can make it.

use kiln_core::Fault;

use crate::described::signature::Slot;
use crate::drawn::element::{decode, round_all, roundoff};
use crate::drawn::whole::{extremes, read};
use crate::marked::strides::gather;
use crate::marked::tally::Tally;
use crate::right::allowed::Source;
use crate::right::answer::RightAnswer;

/// A constant is no answer to fewer numbers than these.
const FEWEST: usize = 8;

/// One such answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Null {
    /// `zeros`, `constant`, `input_copy`, `row_mean` or `another_question`.
    pub name: &'static str,
    /// The output it was tried for.
    pub output: String,
    /// Whether the check would let it through.
    pub passes: bool,
    /// Whether it is the correct answer, up to rounding.
    pub equals: bool,
    words: String,
    hint: &'static str,
}

impl Null {
    /// Why the check is worthless: an answer without work passes that is not right.
    pub fn fault(&self) -> Option<Fault> {
        let what = format!("checking {}", self.output);
        (self.passes && !self.equals).then(|| Fault::new(what, &self.words).hint(self.hint))
    }

    /// What to say when it passes because it is right.
    pub fn note(&self) -> Option<String> {
        if self.name == "another_question" {
            return (self.passes && self.equals)
                .then(|| format!("{} is the same for other inputs, so this checks little", self.output));
        }
        let name = self.name.replace('_', " ");
        (self.passes && self.equals)
            .then(|| format!("{} is just {name} on these inputs, so this checks little", self.output))
    }
}

/// The answer of another question of the same shape, on the rows that both know.
pub(crate) fn of_another(slot: &Slot, answer: &RightAnswer, other: &RightAnswer) -> Option<Null> {
    let common = answer.expected.common(&other.expected)?;
    let theirs = other.expected.common(&answer.expected)?;
    let answer = RightAnswer { expected: common, projection: None, ..answer.clone() };
    Some(judge("another_question", theirs.data, theirs.exact, slot, &answer))
}

/// `inputs` are slots and their bytes.
pub(crate) fn nulls<'a>(
    slot: &Slot,
    answer: &RightAnswer,
    inputs: impl Iterator<Item = (&'a Slot, &'a [u8])>,
) -> Vec<Null> {
    let expected = &answer.expected;
    let (right, width) = (&expected.data, expected.width());
    let mut nulls = Vec::new();
    let mut put = |name, values| nulls.push(judge(name, values, None, slot, answer));
    if right.is_empty() {
        return nulls;
    }
    put("zeros", vec![0.0; right.len()]);
    // One number is its own mean, and a few may lie near each other by chance.
    if right.len() >= FEWEST {
        put("constant", vec![mean(right); right.len()]);
    }
    for (input, bytes) in inputs.filter(|(input, _)| input.elements() == expected.elements()) {
        let (bytes, size) = (gather(input, bytes), input.dtype.bytes() as usize);
        let at = |row: usize, count: usize| &bytes[row * width * size..][..count * size];
        let row = |(row, data): (usize, &[f64])| decode(input.dtype, at(row, data.len()));
        let copy: Vec<f64> = expected.known().flat_map(row).collect();
        let exact = (expected.exact.is_some() && extremes(input.dtype).is_some())
            .then(|| expected.known().flat_map(|(row, data)| read(input.dtype, at(row, data.len()))).collect());
        nulls.push(judge("input_copy", copy, exact, slot, answer));
    }
    if width > 1 {
        let mut put = |name, values| nulls.push(judge(name, values, None, slot, answer));
        put("row_mean", right.chunks(width).flat_map(|row| vec![mean(row); row.len()]).collect());
    }
    nulls
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn judge(
    name: &'static str,
    mut values: Vec<f64>,
    exact: Option<Vec<i128>>,
    slot: &Slot,
    answer: &RightAnswer,
) -> Null {
    let (right, bound) = (&answer.expected.data, answer.bound);
    round_all(slot.dtype, &mut values);
    let mut tally = Tally::new(bound.allowed);
    let exact = answer
        .expected
        .exact
        .as_ref()
        .map(|right| (exact.unwrap_or_else(|| values.iter().map(|v| *v as i128).collect::<Vec<_>>()), right));
    match &exact {
        Some((found, right)) => tally.add_integers(found, right, 0),
        None => tally.add(&values, right, 0),
    }
    let passes =
        tally.nonfinite.is_none() && tally.worst <= 1.0 && bound.rel_l2.is_none_or(|limit| tally.rel_l2() <= limit);
    // Two roundings of the type, and what the reference's own sums may leave.
    let near = |(value, right): (&f64, &f64)| {
        value == right || (value - right).abs() <= 2.0 * roundoff(slot.dtype).max(1e-15) * right.abs()
    };
    let equals = match &exact {
        Some((found, right)) => found == *right,
        None => values.iter().zip(right).all(near),
    };
    let (allowed, largest) = (bound.allowed.at(answer.expected.largest()), answer.expected.largest());
    let said = name.replace('_', " ");
    let words = match name {
        "zeros" => format!(
            "zeros would pass this check: the tolerance {allowed:.2e} is larger than the outputs (max {largest:.2e})"
        ),
        "another_question" => format!(
            "the answer to other inputs would pass this check: it is off by {:.2e}, and the tolerance is {allowed:.2e}",
            tally.max_abs
        ),
        _ => format!(
            "{said} would pass this check: it is off by {:.2e}, and the tolerance is {allowed:.2e}",
            tally.max_abs
        ),
    };
    let hint = match bound.source {
        Source::Stated => "tighten [reference.tolerance]",
        Source::Derived | Source::Assumed => "state a [reference.tolerance], or choose inputs with larger answers",
    };
    Null { name, output: slot.name.clone(), passes, equals, words, hint }
}
