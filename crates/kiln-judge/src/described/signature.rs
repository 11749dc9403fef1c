//! A kernel's arguments with everything evaluated. In: a selection, a workload and, for scratch whose size is tuned, a
//! configuration. Out: dtype, shape, strides and bytes of each argument, in order. Refuses, with the place in the kernel
//! file, expressions that fail, sizes below zero or beyond memory, scalars their type cannot hold, and descriptors on a
//! target that has none.

use kiln_core::{Config, Fault, Report, Workload};
use kiln_spec::{Argument, Callable, Dtype, ElementType, Init, Role, Selection, TargetKind};

use crate::described::evaluate::Quantities;
use crate::drawn::element::decode;
use crate::drawn::interval::Interval;

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
    /// The value of a scalar, as its type holds it.
    pub scalar: Option<f64>,
    /// Bytes its start is aligned to.
    pub alignment: usize,
    /// The author's name for its layout.
    pub layout: Option<String>,
}

impl Slot {
    /// A tensor in one piece, of kiln's own making.
    pub fn packed(name: &str, role: Role, dtype: Dtype, shape: &[usize]) -> Slot {
        let (name, shape, strides) = (name.to_string(), shape.to_vec(), row_major(shape));
        let (init, function, range, scalar, layout) = (Init::Zeros, None, None, None, None);
        Slot { name, role, dtype, shape, strides, init, function, range, scalar, alignment: 64, layout }
    }

    /// A scalar of kiln's own making.
    pub fn number(name: &str, dtype: Dtype, value: f64) -> Slot {
        Slot { scalar: Some(value), ..Slot::packed(name, Role::Scalar, dtype, &[]) }
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

    /// Whether the elements lie one after another, the last dimension varying fastest.
    pub fn is_packed(&self) -> bool {
        self.strides == row_major(&self.shape)
    }

    /// Whether a call reads what was put there.
    pub fn is_input(&self) -> bool {
        matches!(self.role, Role::In | Role::Inout)
    }

    /// Whether a call leaves an answer there.
    pub fn is_output(&self) -> bool {
        matches!(self.role, Role::Out | Role::Inout)
    }
}

impl Signature {
    /// The arguments under a workload. Scratch whose size depends on tunables needs [`Signature::under`].
    pub fn of(selection: &Selection<'_>, workload: Option<&Workload>) -> Result<Signature, Report> {
        Signature::build(&Quantities::new(selection, workload, None))
    }

    /// The arguments under a workload and a configuration.
    pub fn under(selection: &Selection<'_>, workload: Option<&Workload>, config: &Config) -> Result<Signature, Report> {
        Signature::build(&Quantities::new(selection, workload, Some(config)))
    }

    fn build(quantities: &Quantities<'_>) -> Result<Signature, Report> {
        let arguments = &quantities.selection().spec.arguments;
        Ok(Signature { slots: arguments.iter().map(|argument| slot(quantities, argument)).collect::<Result<_, _>>()? })
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

/// Strides of elements that lie one after another.
pub(crate) fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * shape[i].max(1);
    }
    strides
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
    let (name, function) = (name.to_owned(), argument.function.clone());
    let slot = Slot { name, role, dtype, shape, strides, init, function, range, scalar, alignment, layout };
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
