//! How large and how small inputs may become. In: what is computed, and one set of ordinary inputs. Out: the powers of two
//! they may be multiplied with so that the correct answer, and what a plain program computes on the way, still fits its types
//! and still says something. Operations kiln knows grow as powers of their inputs, so that a few rows tell; expressions are
//! tried, part by part.

use kiln_core::Value;
use kiln_expr::{Expr, Expression};
use kiln_spec::Dtype;

use crate::described::rules::Rules;
use crate::described::signature::{Signature, Slot};
use crate::drawn::distribution::Reach;
use crate::drawn::element::is_float;
use crate::drawn::inputs::Inputs;
use crate::right::allowed::Allowed;
use crate::right::answer::jobs;
use crate::right::elementwise::Elements;
use crate::right::reference::{Builtin, Job};

/// Scores of a softmax beyond this leave one weight of 1; exponentials overflow from 88 on.
const LARGEST_SCORE: f64 = 1024.0;
/// Rows, and elements of an expression, that are looked at.
const ROWS: usize = 4;
const ELEMENTS: usize = 64;
/// Room that is left to the largest and smallest number of a type: nobody has looked at all rows.
const ROOM: f64 = 4.0;
/// The same where a type has room to spare: honest kernels add up, or scale, before they divide.
const MUCH_ROOM: f64 = 4096.0;
/// Parts of an expression may be so much larger than the answer before it is all rounding.
const CANCELLED: f64 = 256.0;

/// The types that say how far one may go.
struct Types {
    /// The largest and smallest power of two for the inputs themselves.
    up: i32,
    down: i32,
    output: Dtype,
    /// What sums are taken in.
    sums: Dtype,
}

/// How far the inputs of a kernel may go; none where nobody can say.
pub(crate) fn reach(signature: &Signature, rules: &Rules, base: &Inputs) -> Option<Reach> {
    let plain: Vec<&Slot> = signature.slots.iter().filter(|slot| slot.is_plain()).collect();
    let outputs: Vec<&Slot> = signature.outputs().map(|(_, slot)| slot).collect();
    let output = outputs.first().map(|slot| slot.dtype).filter(|d| is_float(*d) && d.bytes() > 1)?;
    let narrow = plain.iter().map(|slot| slot.dtype).min_by(|a, b| largest(*a).total_cmp(&largest(*b)))?;
    let is_plain = |name: &str| plain.iter().any(|slot| slot.name == name);
    let numbers = base.tensors().filter(|(name, _)| is_plain(name)).flat_map(|(_, tensor)| &tensor.data);
    let size = numbers.fold(1.0, |most: f64, v| most.max(v.abs()));
    let double = output == Dtype::F64 || plain.iter().any(|slot| slot.dtype == Dtype::F64);
    let types = Types {
        up: (roomy(narrow) / size).log2().floor() as i32,
        down: (smallest(narrow).log2() as i32) + if narrow == Dtype::F16 { 4 } else { 8 },
        output,
        sums: if double { Dtype::F64 } else { Dtype::F32 },
    };
    match rules.builtin {
        Some(builtin) => {
            let jobs = jobs(builtin, signature, base, outputs.len()).ok()?;
            of_job(builtin, jobs.first()?, &types)
        }
        None if rules.expressions.len() == 1 => {
            of_expression(signature, base, outputs[0], &rules.expressions[0].1, &types)
        }
        None => None,
    }
}

/// The largest number of a type.
fn largest(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::F64 => f64::MAX,
        Dtype::F32 | Dtype::BF16 => f64::from(f32::MAX),
        Dtype::F16 => 65504.0,
        Dtype::F8E5M2 => 57344.0,
        _ => 448.0,
    }
}

/// How large numbers of a type may be here.
fn roomy(dtype: Dtype) -> f64 {
    largest(dtype) / if largest(dtype) > 1e30 { MUCH_ROOM } else { ROOM }
}

/// The smallest normal number of a type.
pub(crate) fn smallest(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::F64 => f64::MIN_POSITIVE,
        Dtype::F32 | Dtype::BF16 => f64::from(f32::MIN_POSITIVE),
        Dtype::F16 | Dtype::F8E5M2 => 2f64.powi(-14),
        _ => 2f64.powi(-6),
    }
}

/// Answers below this lose bits; where sums are narrower than the range, what is flushed to zero on the way stays unseen.
fn least_answer(types: &Types) -> f64 {
    smallest(types.output) * if types.output == Dtype::F16 { 16.0 } else { 2f64.powi(26) }
}

fn of_job(builtin: Builtin, job: &Job<'_>, types: &Types) -> Option<Reach> {
    let rows: Vec<usize> =
        (0..job.rows()).step_by(job.rows().div_ceil(ROWS).max(1)).filter(|r| !job.is_free(*r)).collect();
    let mut out = vec![0.0; job.width()];
    let (mut most, mut sum, mut squares, mut count) = (0.0f64, 0.0f64, 0.0, 0usize);
    for row in &rows {
        job.exact(*row, &mut out);
        most = out.iter().fold(most, |most, v| most.max(v.abs()));
        squares += out.iter().map(|v| v * v).sum::<f64>();
        count += out.len();
        sum = sum.max(job.magnitude(*row));
    }
    if !(most.is_finite() && most > 0.0) || count == 0 {
        return None;
    }
    let length = (squares / count as f64).sqrt();
    let powers = |ratio: f64, degree: i32| (ratio.log2() / f64::from(degree)).floor() as i32;
    let up = |degree: i32| {
        let answer = roomy(types.output) / most;
        let sums = roomy(types.sums) / sum.max(most);
        types.up.min(powers(answer.min(sums), degree))
    };
    let down = |degree: i32| {
        let answer = -powers(length / least_answer(types), degree);
        // Products that are flushed to zero must stay below the rounding of the rest.
        let products = -powers(1.0 / (smallest(types.sums) * 2f64.powi(26)), degree);
        types.down.max(answer).max(products)
    };
    Some(match (builtin, job) {
        (Builtin::Softmax, _) => Reach { up: Some(types.up.min(powers(LARGEST_SCORE / job.size(), 1))), down: None },
        (Builtin::Attention, Job::Attention(of)) => {
            let score = rows.iter().map(|row| of.largest_score(*row)).fold(f64::MIN_POSITIVE, f64::max);
            Reach { up: Some(up(1).min(powers(LARGEST_SCORE / score, 2))), down: Some(down(1)) }
        }
        (Builtin::Matmul, _) => Reach { up: Some(up(2)), down: Some(down(2)) },
        _ => Reach { up: Some(up(1)), down: Some(down(1)) },
    })
}

fn of_expression(
    signature: &Signature,
    base: &Inputs,
    output: &Slot,
    expression: &Expression,
    types: &Types,
) -> Option<Reach> {
    let mut parts = Vec::new();
    collect(expression.root(), expression.text(), &mut parts);
    let elements = Elements::new(signature, base, output, expression).ok()?;
    let step = output.elements().div_ceil(ELEMENTS).max(1);
    let sensible = |power: i32| {
        let factor = 2f64.powi(power);
        let mut answers = Vec::with_capacity(ELEMENTS);
        let mut largest_part = 0.0f64;
        for index in (0..output.elements()).step_by(step) {
            for part in &parts {
                let value = number(&elements.at(part, index, factor)?)?;
                let fits =
                    value == 0.0 || (value.abs() <= roomy(types.sums) && value.abs() >= smallest(types.sums) * ROOM);
                if !fits {
                    return None;
                }
                largest_part = largest_part.max(value.abs());
            }
            answers.push(number(&elements.at(expression, index, factor)?)?);
        }
        let most = answers.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let length = (answers.iter().map(|v| v * v).sum::<f64>() / answers.len().max(1) as f64).sqrt();
        let (low, high) = answers.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        let told_apart = high - low > 4.0 * Allowed::by_default(types.output).rel * most;
        let fits = most <= roomy(types.output) && length >= least_answer(types).min(smallest(types.output) * 64.0);
        (told_apart && fits && largest_part <= CANCELLED * most).then_some(power)
    };
    // In steps that a search over all exponents of doubles can afford.
    let stride = if types.sums == Dtype::F64 { 16 } else { 1 };
    Some(Reach {
        up: (1..=types.up).rev().step_by(stride).find_map(sensible),
        down: (types.down..0).step_by(stride).find_map(sensible),
    })
}

/// Every part of an expression that is worth looking at by itself.
fn collect(expr: &Expr, text: &str, parts: &mut Vec<Expression>) {
    for child in expr.children() {
        parts.extend(text.get(child.span.clone()).and_then(|part| Expression::parse(part).ok()));
        collect(child, text, parts);
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(v) => Some(*v).filter(|v| v.is_finite()),
        Value::Int(v) => Some(*v as f64),
        Value::Bool(v) => Some(f64::from(u8::from(*v))),
        Value::Str(_) => None,
    }
}
