//! Operations a kernel file writes down itself, element by element. In: an expression for each output, in the names of inputs
//! and scalars. Out: the right outputs, in double precision. Inputs are stretched as NumPy does: dimensions are matched
//! from the last, and one of size 1, or one that is missing, stands for all. Refuses shapes that do not match, and elements
//! for which the expression has no number.

use kiln_core::{Fault, Value};
use kiln_expr::Expression;
use kiln_spec::Dtype;

use crate::element::is_float;
use crate::inputs::Inputs;
use crate::signature::{Signature, Slot};
use crate::tensor::{Tensor, place};

/// The right outputs, in the order of the kernel's arguments.
pub(crate) fn elementwise(
    signature: &Signature,
    inputs: &Inputs,
    expressions: &[(String, Expression)],
) -> Result<Vec<Tensor>, Fault> {
    let one = |(_, slot): (usize, &Slot)| {
        let found = expressions.iter().find(|(name, _)| *name == slot.name);
        let missing = || Fault::new("computing the right answer", format!("there is no expression for {}", slot.name));
        output(signature, inputs, slot, &found.ok_or_else(missing)?.1)
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
}

fn output(signature: &Signature, inputs: &Inputs, slot: &Slot, expression: &Expression) -> Result<Tensor, Fault> {
    let fault = |why: String| Fault::new(format!("computing the right {}", slot.name), why);
    let used = |name: &str| expression.names().iter().any(|(used, _)| &**used == name);
    let mut operands = Vec::new();
    for (name, tensor) in inputs.tensors().filter(|(name, _)| used(name)) {
        let steps = steps(&tensor.shape, &slot.shape).ok_or_else(|| {
            let shapes = format!("{name} has shape {:?}, {} has {:?}", tensor.shape, slot.name, slot.shape);
            fault(shapes).hint("sizes must be equal, counted from the last dimension, or 1")
        })?;
        let float = signature.slots.iter().find(|s| s.name == name).is_none_or(|s| is_float(s.dtype));
        operands.push(Operand { name, tensor, steps, float });
    }
    let scalars: Vec<(&str, Value)> = inputs
        .scalars()
        .map(|(name, value)| {
            let dtype = signature.slots.iter().find(|s| s.name == name).map_or(Dtype::F64, |s| s.dtype);
            (name, number(value, is_float(dtype)))
        })
        .collect();
    let mut data = Vec::with_capacity(slot.elements());
    for index in 0..slot.elements() {
        let at = place(&slot.shape, index);
        let env = |name: &str| {
            let operand = operands.iter().find(|o| o.name == name);
            let element = operand.map(|o| {
                let from: usize = at.iter().zip(&o.steps).map(|(at, step)| at * step).sum();
                number(o.tensor.data[from], o.float)
            });
            element.or_else(|| scalars.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone()))
        };
        data.push(match expression.eval(&env) {
            Ok(Value::Int(v)) => v as f64,
            Ok(Value::Float(v)) => v,
            Ok(Value::Bool(v)) => f64::from(u8::from(v)),
            Ok(Value::Str(_)) => return Err(fault(format!("`{}` gives a word", expression.text()))),
            Err(error) => return Err(fault(format!("at {at:?}: {error}"))),
        });
    }
    Ok(Tensor { shape: slot.shape.clone(), data })
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
