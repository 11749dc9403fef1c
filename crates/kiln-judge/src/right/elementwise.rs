//! Operations a kernel file writes down itself, element by element. In: an expression for each output, in the names of inputs
//! and scalars. Out: the right outputs, in double precision. Inputs are stretched as NumPy does: dimensions are matched
//! from the last, and one of size 1, or one that is missing, stands for all. Refuses shapes that do not match, and elements
//! for which the expression has no number.

use kiln_core::{Fault, Value};
use kiln_expr::Expression;
use kiln_spec::Dtype;

use crate::described::signature::{Signature, Slot};
use crate::drawn::element::is_float;
use crate::drawn::inputs::Inputs;
use crate::drawn::whole::is_wide;
use crate::marked::parallel::compute_in_parallel;
use crate::right::tensor::Tensor;

/// Elements one processor computes at a time.
const PART: usize = 4096;

/// The right outputs, in the order of the kernel's arguments.
pub(crate) fn elementwise(
    signature: &Signature,
    inputs: &Inputs,
    expressions: &[(String, Expression)],
) -> Result<Vec<Tensor>, Fault> {
    let one = |(_, slot): (usize, &Slot)| {
        let found = expressions.iter().find(|(name, _)| *name == slot.name);
        let missing =
            || Fault::new("computing the correct answer", format!("there is no expression for {}", slot.name));
        let expression = &found.ok_or_else(missing)?.1;
        if slot.summed { sum(signature, inputs, slot, expression) } else { output(signature, inputs, slot, expression) }
    };
    signature.outputs().map(one).collect()
}

/// An input as an output sees it.
struct Operand<'a> {
    name: &'a str,
    tensor: &'a Tensor,
    /// How far to go for one step along each of the output's dimensions.
    steps: Vec<usize>,
    float: bool,
    /// Whether it may be made larger and smaller.
    plain: bool,
}

/// The elements of one output, each to be computed by itself.
pub(crate) struct Elements<'a> {
    operands: Vec<Operand<'a>>,
    scalars: Vec<(&'a str, Value)>,
    slot: &'a Slot,
}

impl<'a> Elements<'a> {
    pub(crate) fn new(
        signature: &Signature,
        inputs: &'a Inputs,
        slot: &'a Slot,
        expression: &Expression,
    ) -> Result<Elements<'a>, Fault> {
        let used = |name: &str| expression.names().iter().any(|(used, _)| &**used == name);
        let mut operands = Vec::new();
        // Of an output that is written in part, inputs match the whole.
        let shape = slot.whole.as_ref().map_or(&slot.shape, |whole| &whole.shape);
        for (name, tensor) in inputs.tensors().filter(|(name, _)| used(name)) {
            let steps = steps(&tensor.shape, shape).ok_or_else(|| {
                let shapes = format!("{name} has shape {:?}, {} has {shape:?}", tensor.shape, slot.name);
                let fault = Fault::new(format!("computing the correct {}", slot.name), shapes);
                fault.hint("sizes must be equal, counted from the last dimension, or 1")
            })?;
            let own = signature.slots.iter().find(|s| s.name == name);
            let float = own.is_none_or(|s| is_float(s.dtype));
            operands.push(Operand { name, tensor, steps, float, plain: own.is_some_and(Slot::is_plain) });
        }
        let scalars = inputs.scalars().map(|(name, value)| {
            let dtype = signature.slots.iter().find(|s| s.name == name).map_or(Dtype::F64, |s| s.dtype);
            (name, number(value, is_float(dtype)))
        });
        Ok(Elements { operands, scalars: scalars.collect(), slot })
    }

    /// What an expression gives for one element, with plain inputs times a factor; none where it has no number.
    pub(crate) fn at(&self, expression: &Expression, index: usize, factor: f64) -> Option<Value> {
        expression.eval(&|name: &str| self.value(&self.slot.index(index), name, factor)).ok()
    }

    /// What a name stands for at a place.
    fn value(&self, at: &[usize], name: &str, factor: f64) -> Option<Value> {
        let Some(operand) = self.operands.iter().find(|o| o.name == name) else {
            return self.scalars.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone());
        };
        let from: usize = at.iter().zip(&operand.steps).map(|(at, step)| at * step).sum();
        match operand.float {
            true => Some(Value::Float(operand.tensor.data[from] * if operand.plain { factor } else { 1.0 })),
            false => i64::try_from(operand.tensor.integer(from)).ok().map(Value::Int),
        }
    }
}

/// Elements as doubles, and as integers.
type Numbers = Vec<(f64, i128)>;

fn output(signature: &Signature, inputs: &Inputs, slot: &Slot, expression: &Expression) -> Result<Tensor, Fault> {
    let fault = |why: String| Fault::new(format!("computing the correct {}", slot.name), why);
    let elements = Elements::new(signature, inputs, slot, expression)?;
    let compute = |index: usize| {
        let at = slot.index(index);
        match expression.eval(&|name: &str| elements.value(&at, name, 1.0)) {
            Ok(Value::Int(v)) => Ok((v as f64, i128::from(v))),
            Ok(Value::Float(v)) => Ok((v, v as i128)),
            Ok(Value::Bool(v)) => Ok((f64::from(u8::from(v)), i128::from(v))),
            Ok(Value::Str(_)) => Err(fault(format!("`{}` gives a word", expression.text()))),
            Err(error) => {
                let whole = elements.operands.iter().any(|o| !o.float);
                let hint = "state what its integers are: range = [lo, hi]";
                Err(if whole {
                    fault(format!("at {at:?}: {error}")).hint(hint)
                } else {
                    fault(format!("at {at:?}: {error}"))
                })
            }
        }
    };
    // In parts, as expressions are slow to evaluate.
    let count = slot.elements();
    let mut parts: Vec<(usize, Result<Numbers, Fault>)> =
        (0..count).step_by(PART).map(|first| (first, Ok(Vec::new()))).collect();
    compute_in_parallel(&mut parts, 1, |_, part| {
        for (first, values) in part {
            *values = (*first..count.min(*first + PART)).map(compute).collect();
        }
    });
    let mut values = Vec::with_capacity(count);
    for (_, part) in parts {
        values.extend(part?);
    }
    Ok(match is_wide(slot.dtype) {
        true => Tensor::of_integers(&slot.shape, values.into_iter().map(|(_, exact)| exact).collect()),
        false => Tensor::new(&slot.shape, values.into_iter().map(|(value, _)| value).collect()),
    })
}

/// The sum of what an expression gives for every element of its inputs.
fn sum(signature: &Signature, inputs: &Inputs, slot: &Slot, expression: &Expression) -> Result<Tensor, Fault> {
    let used = |name: &str| expression.names().iter().any(|(used, _)| &**used == name);
    let mut shape = vec![1];
    for (_, tensor) in inputs.tensors().filter(|(name, _)| used(name)) {
        let missing = tensor.shape.len().saturating_sub(shape.len());
        shape.splice(0..0, vec![1; missing]);
        shape.iter_mut().rev().zip(tensor.shape.iter().rev()).for_each(|(all, size)| *all = (*all).max(*size));
    }
    let asked = slot.asked();
    let every = output(signature, inputs, &Slot::packed(&slot.name, slot.role, asked.dtype, &shape), expression)?;
    Ok(match &every.exact {
        Some(exact) => Tensor::of_integers(&asked.shape, vec![exact.iter().sum()]),
        None => Tensor::new(&asked.shape, vec![every.data.iter().sum()]),
    })
}

fn number(value: f64, float: bool) -> Value {
    if float { Value::Float(value) } else { Value::Int(value as i64) }
}

/// Steps through a tensor for each of the output's dimensions; 0 where it is stretched.
fn steps(shape: &[usize], output: &[usize]) -> Option<Vec<usize>> {
    let ahead = output.len().checked_sub(shape.len())?;
    let mut steps = vec![0; output.len()];
    let mut step = 1;
    for (i, size) in shape.iter().enumerate().rev() {
        match (*size, output[ahead + i]) {
            (size, whole) if size == whole => steps[ahead + i] = step,
            (1, _) => {}
            _ => return None,
        }
        step *= size;
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_matched_from_the_last_dimension() {
        assert_eq!(steps(&[2, 3], &[2, 3]), Some(vec![3, 1]));
        assert_eq!(steps(&[3], &[2, 3]), Some(vec![0, 1]));
        assert_eq!(steps(&[2, 1], &[2, 3]), Some(vec![1, 0]));
        assert_eq!(steps(&[], &[2, 3]), Some(vec![0, 0]));
        assert_eq!(steps(&[2], &[2, 3]), None);
        assert_eq!(steps(&[1, 2, 3], &[2, 3]), None);
    }
}
