//! Does the correct answer depend on what a kernel is given? In: a question. Out: the inputs that may be drawn anew, each alone,
//! without the answer changing: a kernel that ignores them would pass, and nobody would see it.

use kiln_core::Fault;

use crate::described::rules::Rules;
use crate::described::signature::{Signature, Slot};
use crate::drawn::element::roundoff;
use crate::drawn::inputs::{Filler, Inputs};
use crate::exam::{Exam, Outside, Precision};
use crate::right::answer::jobs;
use crate::right::elementwise::elementwise;
use crate::right::expected::Expected;

/// Multiply-adds spent on one answer.
const BUDGET: usize = 10_000_000;
/// How often an input is drawn anew before it is taken for one that does not matter.
const DRAWN: u64 = 8;
/// Elements of an expression beyond which it is not looked at: its names can be read.
const MOST: usize = 1 << 20;

/// The names of the inputs the correct answer does not depend on.
pub fn ignored(
    signature: &Signature,
    rules: &Rules,
    exam: &Exam,
    outside: Option<Outside<'_>>,
    filler: Option<Filler<'_>>,
) -> Result<Vec<String>, Fault> {
    let largest = signature.outputs().map(|(_, slot)| slot.elements()).max().unwrap_or(0);
    if !rules.expressions.is_empty() && largest > MOST {
        return Ok(Vec::new());
    }
    let inputs = exam.inputs();
    let mut right = None;
    let mut left: Vec<&Slot> = signature.slots.iter().filter(|s| s.is_input() || s.range.is_some()).collect();
    // A few numbers may be alike by chance: an input counts as ignored when nothing that is drawn for it makes a difference.
    for number in 0..DRAWN {
        let seed = !inputs.seed ^ number;
        if left.is_empty() {
            break;
        }
        let Some(others) = Inputs::question(signature, rules, inputs.distribution, seed, filler)? else {
            return Ok(Vec::new());
        };
        let mut still = Vec::new();
        for slot in left {
            let Some(changed) = inputs.with(&slot.name, &others) else { continue };
            let before = match right.take() {
                Some(right) => right,
                None => answer(signature, rules, &inputs, outside)?,
            };
            // Inputs somebody drew anew may be ones the reference is not made for.
            if let Ok(after) = answer(signature, rules, &changed, outside)
                && signature.outputs().zip(before.iter().zip(&after)).all(|((_, slot), (a, b))| same(slot, a, b))
            {
                still.push(slot);
            }
            right = Some(before);
        }
        left = still;
    }
    Ok(left.into_iter().map(|slot| slot.name.clone()).collect())
}

/// The correct answers, of large ones a few rows: the same for the same seed.
fn answer(
    signature: &Signature,
    rules: &Rules,
    inputs: &Inputs,
    outside: Option<Outside<'_>>,
) -> Result<Vec<Expected>, Fault> {
    let signature = &signature.with(inputs.scalars());
    let tensors = match (rules.builtin, outside) {
        (Some(builtin), _) => {
            let jobs = jobs(builtin, signature, inputs, signature.outputs().count());
            let jobs = jobs.map_err(|unfit| Fault::new("computing the correct answer", unfit))?;
            return Ok(jobs.iter().map(|job| Expected::sample(job, BUDGET, inputs.seed)).collect());
        }
        (None, _) if !rules.expressions.is_empty() => elementwise(signature, inputs, &rules.expressions)?,
        (None, Some(outside)) => outside(signature, inputs, Precision::Double)?,
        (None, None) => Vec::new(),
    };
    Ok(tensors.into_iter().map(Expected::whole).collect())
}

/// Whether two answers are the same but for rounding.
fn same(slot: &Slot, a: &Expected, b: &Expected) -> bool {
    let unit = 4.0 * roundoff(slot.dtype).max(1e-15);
    let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= unit * a.abs().max(b.abs());
    a.exact == b.exact && a.data.len() == b.data.len() && a.data.iter().zip(&b.data).all(near)
}
