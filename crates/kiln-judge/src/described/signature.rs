//! A kernel's arguments with everything evaluated. In: a selection, a workload and, for scratch whose size is tuned, a
//! configuration. Out: dtype, shape, strides and bytes of each argument, in order. Refuses, with the place in the kernel
//! file, expressions that fail, sizes below zero or beyond memory, scalars their type cannot hold, and descriptors on a
//! target that has none.

use std::borrow::Cow;

use kiln_core::{Config, Fault, Report, Workload};
use kiln_spec::{Argument, Callable, Compare, Dtype, ElementType, Formula, Init, Role, Selection, Slice, TargetKind};

use crate::described::evaluate::Quantities;
use crate::drawn::element::{decode, is_float};
use crate::drawn::interval::Interval;
use crate::marked::strides::gather;
use crate::right::tensor::place;

/// One workload's arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The arguments, in order.
    pub slots: Vec<Slot>,
}

/// One argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Element type.
    pub dtype: Dtype,
    /// Dimensions, outermost first; empty for a scalar.
    pub shape: Vec<usize>,
    /// Distance of neighbours along each dimension, in elements.
    pub strides: Vec<usize>,
    /// How the kernel file wants it filled.
    pub init: Init,
    /// The Python function that fills it.
    pub function: Option<Callable>,
    /// What its numbers are drawn from, where the kernel file says so.
    pub range: Option<Interval>,
    /// What fuzzing may make of a scalar that questions do not vary.
    pub stated: Option<Interval>,
    /// The value of a scalar, as its type holds it.
    pub scalar: Option<f64>,
    /// Bytes its start is aligned to.
    pub alignment: usize,
    /// The author's name for its layout.
    pub layout: Option<String>,
    /// The array of which it is the part that calls write; none when they write all of it.
    pub whole: Option<Whole>,
    /// Whether only the sum of its elements is right or wrong.
    pub summed: bool,
}

/// An array that is written in part.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// Its dimensions; distances of neighbours are those of the part.
    pub shape: Vec<usize>,
    /// Where along each of them the part begins.
    pub from: Vec<usize>,
    /// Where the part begins, in elements.
    pub first: usize,
    /// Elements from its first to its last, padding included.
    pub span: usize,
}

impl Slot {
    /// A tensor in one piece, of kiln's own making.
    pub fn packed(name: &str, role: Role, dtype: Dtype, shape: &[usize]) -> Slot {
        let (name, shape, strides) = (name.to_string(), shape.to_vec(), row_major(shape));
        let (init, function, range, stated, scalar, layout) = (Init::Zeros, None, None, None, None, None);
        let (alignment, whole, summed) = (64, None, false);
        Slot {
            name,
            role,
            dtype,
            shape,
            strides,
            init,
            function,
            range,
            stated,
            scalar,
            alignment,
            layout,
            whole,
            summed,
        }
    }

    /// A scalar of kiln's own making.
    pub fn number(name: &str, dtype: Dtype, value: f64) -> Slot {
        Slot { scalar: Some(value), ..Slot::packed(name, Role::Scalar, dtype, &[]) }
    }

    /// What fuzzing may make of it, where it is a scalar that may vary.
    pub(crate) fn fuzzed(&self) -> Option<Interval> {
        self.range.or(self.stated).filter(|_| self.role == Role::Scalar)
    }

    /// How many elements it has; padding between rows is not counted.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// The bytes it takes, padding included; none for a descriptor, which the runner makes.
    pub fn bytes(&self) -> usize {
        if self.role == Role::Tensormap || self.shape.contains(&0) {
            return 0;
        }
        let last: usize = self.shape.iter().zip(&self.strides).map(|(size, stride)| (size - 1) * stride).sum();
        (last + 1) * self.dtype.bytes() as usize
    }

    /// The bytes of the whole array of which this is a part, or of this.
    pub fn room(&self) -> usize {
        self.whole.as_ref().map_or_else(|| self.bytes(), |whole| whole.span * self.dtype.bytes() as usize)
    }

    /// Where in that array it begins, in bytes.
    pub fn lead(&self) -> usize {
        self.whole.as_ref().map_or(0, |whole| whole.first * self.dtype.bytes() as usize)
    }

    /// The part of a whole array whose elements lie one after another, or all of what is no part.
    pub fn part_of<'a>(&self, dense: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(whole) = &self.whole else { return Cow::Borrowed(dense) };
        let first: usize = whole.from.iter().zip(row_major(&whole.shape)).map(|(from, stride)| from * stride).sum();
        let size = self.dtype.bytes() as usize;
        let strided = Slot { strides: row_major(&whole.shape), whole: None, ..self.clone() };
        let part = dense.get(first * size..).and_then(|from| from.get(..strided.bytes())).unwrap_or_default();
        Cow::Owned(gather(&strided, part).into_owned())
    }

    /// From where to where calls write along each dimension of the whole array; empty where they write all of it.
    pub fn written(&self) -> Vec<(usize, usize)> {
        let Some(whole) = &self.whole else { return Vec::new() };
        whole.from.iter().zip(&self.shape).map(|(from, size)| (*from, from + size)).collect()
    }

    /// The place of an element in the whole array, from its number among the elements of the part.
    pub(crate) fn index(&self, element: usize) -> Vec<usize> {
        let at = place(&self.shape, element);
        match &self.whole {
            Some(whole) => at.iter().zip(&whole.from).map(|(at, from)| at + from).collect(),
            None => at,
        }
    }

    /// What the reference is asked for: of an output of which only the sum counts, that sum.
    pub fn asked(&self) -> Slot {
        if !self.summed {
            return self.clone();
        }
        let dtype = if is_float(self.dtype) { self.dtype } else { Dtype::I64 };
        let alignment = dtype.bytes() as usize;
        Slot { dtype, shape: vec![1], strides: vec![1], alignment, whole: None, ..self.clone() }
    }

    /// Whether the elements lie one after another, the last dimension varying fastest.
    pub fn is_packed(&self) -> bool {
        self.strides == row_major(&self.shape)
    }

    /// The same of the whole array of which this is a part.
    pub fn lies_packed(&self) -> bool {
        self.whole.as_ref().map_or_else(|| self.is_packed(), |whole| self.strides == row_major(&whole.shape))
    }

    /// Whether a call reads what was put there.
    pub fn is_input(&self) -> bool {
        matches!(self.role, Role::In | Role::Inout | Role::Constant)
    }

    /// Whether a call leaves an answer there.
    pub fn is_output(&self) -> bool {
        matches!(self.role, Role::Out | Role::Inout)
    }
}

impl Signature {
    /// The arguments under a workload. Scratch whose size depends on tunables, and outputs of which only the sum counts,
    /// may need [`Signature::under`].
    pub fn of(selection: &Selection<'_>, workload: Option<&Workload>) -> Result<Signature, Report> {
        Signature::build(&Quantities::new(selection, workload, None))
    }

    /// The arguments under a workload and a configuration.
    pub fn under(selection: &Selection<'_>, workload: Option<&Workload>, config: &Config) -> Result<Signature, Report> {
        Signature::build(&Quantities::new(selection, workload, Some(config)))
    }

    fn build(quantities: &Quantities<'_>) -> Result<Signature, Report> {
        let arguments = &quantities.selection().spec.arguments;
        let slot = |argument| match quantities.takes(argument) {
            true => slot(quantities, argument),
            false => idle(quantities, argument),
        };
        Ok(Signature { slots: arguments.iter().map(slot).collect::<Result<_, _>>()? })
    }

    /// The same arguments with the scalars that some bytes hold. Refuses inputs that are missing or of another size.
    pub(crate) fn given(&self, bytes: &[(usize, &[u8])]) -> Result<Signature, Fault> {
        let fault = |why: String| Err(Fault::new("reading the arguments of a call", why));
        let mut signature = self.clone();
        for (number, slot) in signature.slots.iter_mut().enumerate() {
            match bytes.iter().find(|(i, _)| *i == number) {
                Some((_, bytes)) if bytes.len() != slot.bytes() => {
                    return fault(format!("{} has {} bytes, {} came", slot.name, slot.bytes(), bytes.len()));
                }
                Some((_, bytes)) if slot.role == Role::Scalar => slot.scalar = decode(slot.dtype, bytes).pop(),
                None if slot.is_input() => return fault(format!("there is nothing for {}", slot.name)),
                _ => {}
            }
        }
        match bytes.iter().find(|(i, _)| *i >= signature.slots.len()) {
            Some((i, _)) => fault(format!("argument {i} does not exist")),
            None => Ok(signature),
        }
    }

    /// The same arguments with these scalars.
    pub(crate) fn with<'a>(&self, scalars: impl Iterator<Item = (&'a str, f64)>) -> Signature {
        let mut signature = self.clone();
        for (name, value) in scalars {
            let slot = signature.slots.iter_mut().find(|slot| slot.name == name && slot.role == Role::Scalar);
            if let Some(slot) = slot {
                slot.scalar = Some(value);
            }
        }
        signature
    }

    /// The inputs that hold integers of which the file says nothing, so that they come from the whole type.
    pub fn assumed(&self) -> impl Iterator<Item = &Slot> {
        let wide = |slot: &&Slot| slot.dtype != Dtype::Bool && slot.drawn_from().is_some_and(|i| !i.stated());
        self.slots.iter().filter(wide)
    }

    /// The bytes of each argument, for an arena.
    pub fn sizes(&self) -> Vec<usize> {
        self.slots.iter().map(Slot::bytes).collect()
    }

    /// The arguments a call leaves answers in, in order.
    pub fn outputs(&self) -> impl Iterator<Item = (usize, &Slot)> {
        self.slots.iter().enumerate().filter(|(_, slot)| slot.is_output())
    }
}

/// The dimensions of the part of an argument that calls write, and the whole it is a part of.
fn part(
    quantities: &Quantities<'_>,
    argument: &Argument,
    shape: Vec<usize>,
    strides: &[usize],
) -> Result<(Vec<usize>, Option<Whole>), Report> {
    if argument.written.is_empty() {
        return Ok((shape, None));
    }
    let what = format!("the part of {} that is written", argument.name);
    let (mut first, mut begins, mut sides) = (0, Vec::with_capacity(shape.len()), Vec::with_capacity(shape.len()));
    for ((size, stride), Slice { from, to }) in shape.iter().zip(strides).zip(&argument.written) {
        let end = |formula: &Option<Formula>, otherwise: usize| match formula {
            Some(formula) => Ok(quantities.sizes(std::slice::from_ref(formula), &what)?.first().copied().unwrap_or(0)),
            None => Ok(otherwise),
        };
        let (from_index, to_index) = (end(from, 0)?, end(to, *size)?);
        if from_index > to_index || to_index > *size {
            let report = Report::error(format!("{what} goes from {from_index} to {to_index}"));
            let formulas: Vec<Formula> = to.iter().chain(from).cloned().collect();
            let report = quantities.at_first(report, &formulas);
            return Err(report.label(format!("expected a part of a dimension of {size}")));
        }
        first += from_index * stride;
        begins.push(from_index);
        sides.push(to_index - from_index);
    }
    let last: usize = shape.iter().zip(strides).map(|(size, stride)| size.saturating_sub(1) * stride).sum();
    let span = if shape.contains(&0) { 0 } else { last + 1 };
    let first = if sides.contains(&0) { 0 } else { first };
    Ok((sides, Some(Whole { shape, from: begins, first, span })))
}

/// Strides of elements that lie one after another.
pub(crate) fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * shape[i].max(1);
    }
    strides
}

/// An argument that no kernel at hand takes: scratch of one byte, a descriptor of nothing, else what it is for others.
fn idle(quantities: &Quantities<'_>, argument: &Argument) -> Result<Slot, Report> {
    match argument.role {
        Role::Scratch | Role::Tensormap => Ok(Slot::packed(&argument.name, argument.role, Dtype::U8, &[1])),
        _ => slot(quantities, argument),
    }
}

fn slot(quantities: &Quantities<'_>, argument: &Argument) -> Result<Slot, Report> {
    let name = &*argument.name;
    let selection = quantities.selection();
    let dtype = match &argument.kind.element {
        ElementType::Dtype(dtype) => *dtype,
        ElementType::Variable(variable) => {
            let found = selection.variant.iter().find(|(n, _)| n == variable).map(|(_, dtype)| *dtype);
            found.ok_or_else(|| Report::error(format!("the type {variable} of {name} has no dtype on this target")))?
        }
    };
    if argument.role == Role::Tensormap && selection.target.kind != TargetKind::Cuda {
        let message = format!("{name} is a tensormap, and target {} has none", selection.target.kind.name());
        return Err(Report::error(message).hint("pass the tensor itself, or choose --target cuda"));
    }
    let shape = quantities.sizes(&argument.kind.shape, &format!("a dimension of {name}"))?;
    let strides = match argument.strides.is_empty() {
        true => row_major(&shape),
        false => quantities.sizes(&argument.strides, &format!("a stride of {name}"))?,
    };
    quantities.fits_memory(argument, &shape, &strides, dtype)?;
    let scalar = match (argument.role, &argument.value) {
        (Role::Scalar, Some(formula)) => Some(quantities.scalar(formula, dtype, name)?),
        (Role::Scalar, None) => return Err(Report::error(format!("the scalar {name} has no value"))),
        _ => None,
    };
    let alignment = argument.alignment.unwrap_or(dtype.bytes()) as usize;
    let (role, init, layout) = (argument.role, argument.init, argument.layout.clone());
    let range = argument.range.as_ref().map(|range| quantities.interval(range, dtype, name)).transpose()?;
    let fuzzed = selection.spec.fuzz.scalars.iter().find(|(scalar, _)| **scalar == *name);
    let stated = fuzzed.map(|(_, range)| quantities.interval(range, dtype, name)).transpose()?;
    let (shape, whole) = part(quantities, argument, shape, &strides)?;
    let (name, function) = (name.to_owned(), argument.function.clone());
    let summed = argument.compare == Compare::Sum;
    let slot = Slot {
        name,
        role,
        dtype,
        shape,
        strides,
        init,
        function,
        range,
        stated,
        scalar,
        alignment,
        layout,
        whole,
        summed,
    };
    match slot.is_output() && crate::marked::strides::overlap(&slot) {
        true => {
            let report = Report::error(format!("two elements of the output {} lie in the same place", slot.name));
            Err(quantities
                .at_first(report, &argument.strides)
                .label(format!("strides {:?} of {:?}", slot.strides, slot.shape)))
        }
        false => Ok(slot),
    }
}
