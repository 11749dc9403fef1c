//! What a kernel is called with: arguments, their types, roles and fillings.

use std::ops::Range;
use std::sync::Arc;

use super::{Callable, Formula};

/// One argument of the kernel.
#[derive(Debug, Clone)]
pub struct Argument {
    /// Its name.
    pub name: Arc<str>,
    /// Element type, and shape for tensors.
    pub kind: ArgumentType,
    /// What it is for.
    pub role: Role,
    /// How inputs are filled.
    pub init: Init,
    /// The Python function that fills an input: `function(shape, dims, seed)`.
    pub function: Option<Callable>,
    /// What an input's elements, or a scalar's value, are drawn from.
    pub range: Option<ValueRange>,
    /// The value of a scalar.
    pub value: Option<Formula>,
    /// Element strides, one for each dimension, when not row-major.
    pub strides: Vec<Formula>,
    /// Bytes the buffer's start is aligned to.
    pub alignment: Option<u64>,
    /// A free-form layout name, passed on to references and baselines.
    pub layout: Option<String>,
    /// The descriptor of a `tensormap` argument.
    pub tensormap: Option<TensorMap>,
    /// The variable of a `constant`, when it is not called as the argument is.
    pub symbol: Option<String>,
    /// The part of an output that calls write, one slice for each dimension; empty when all of it is.
    pub written: Vec<Slice>,
    /// What of an output is held against the reference's.
    pub compare: Compare,
}

/// A stretch of a dimension, as in Python: `1 : N - 1`. An end that is left out is the dimension's.
#[derive(Debug, Clone)]
pub struct Slice {
    /// The first index.
    pub from: Option<Formula>,
    /// The index behind the last.
    pub to: Option<Formula>,
}

/// What of an output is right or wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compare {
    /// Each element.
    #[default]
    Elements,
    /// Only the sum of all elements: how they share it is the configuration's choice.
    Sum,
}

impl Compare {
    /// Each with its word in the file.
    pub const ALL: [(&'static str, Compare); 2] = [("elements", Compare::Elements), ("sum", Compare::Sum)];
}

/// The lowest and the highest number, both included.
#[derive(Debug, Clone)]
pub struct ValueRange {
    /// The lowest.
    pub low: Formula,
    /// The highest.
    pub high: Formula,
    /// Where the file states them.
    pub span: Range<usize>,
}

/// The type of an argument: an element type with the expressions of its shape, empty for a scalar.
#[derive(Debug, Clone)]
pub struct ArgumentType {
    /// Element type.
    pub element: ElementType,
    /// Dimensions, outermost first.
    pub shape: Vec<Formula>,
}

/// A fixed dtype, or a variant's type variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementType {
    /// A dtype.
    Dtype(Dtype),
    /// One of [`Target::variants`].
    Variable(Arc<str>),
}

macro_rules! dtypes {
    ($($variant:ident $name:literal $bytes:literal,)*) => {
        /// Element types.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Dtype { $(#[doc = concat!("`", $name, "`")] $variant,)* }

        impl Dtype {
            /// Every dtype.
            pub const ALL: &'static [Dtype] = &[$(Dtype::$variant,)*];
            /// Its name in the file.
            pub fn name(self) -> &'static str { match self { $(Dtype::$variant => $name,)* } }
            /// Bytes of one element.
            pub fn bytes(self) -> u64 { match self { $(Dtype::$variant => $bytes,)* } }
        }
    };
}

dtypes! {
    F64 "f64" 8, F32 "f32" 4, F16 "f16" 2, BF16 "bf16" 2, F8E4M3 "f8e4m3" 1, F8E5M2 "f8e5m2" 1,
    I64 "i64" 8, I32 "i32" 4, I16 "i16" 2, I8 "i8" 1,
    U64 "u64" 8, U32 "u32" 4, U16 "u16" 2, U8 "u8" 1, Bool "bool" 1,
}

/// What an argument is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Read only.
    In,
    /// Written whole.
    Out,
    /// Read and written; fresh for each timed call.
    Inout,
    /// Working space.
    Scratch,
    /// A number passed by value.
    Scalar,
    /// Read only, in a `__constant__` variable of the source instead of a parameter of the kernel.
    Constant,
    /// A TMA descriptor.
    Tensormap,
}

impl Role {
    /// Every role with its word in the file.
    pub const ALL: [(&'static str, Role); 7] = [
        ("in", Role::In),
        ("out", Role::Out),
        ("inout", Role::Inout),
        ("scratch", Role::Scratch),
        ("scalar", Role::Scalar),
        ("constant", Role::Constant),
        ("tensormap", Role::Tensormap),
    ];
}

/// How an input is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Init {
    /// Standard normal.
    #[default]
    Normal,
    /// Uniform in [0, 1).
    Uniform,
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// 0, 1, 2, ... in memory order.
    Arange,
}

impl Init {
    /// Every filling with its word in the file.
    pub const ALL: [(&'static str, Init); 5] = [
        ("normal", Init::Normal),
        ("uniform", Init::Uniform),
        ("zeros", Init::Zeros),
        ("ones", Init::Ones),
        ("arange", Init::Arange),
    ];
}

/// A TMA descriptor in words.
#[derive(Debug, Clone)]
pub struct TensorMap {
    /// The argument it describes.
    pub tensor: String,
    /// The box copied at a time, one expression for each dimension.
    pub box_shape: Vec<Formula>,
    /// `none`, `32B`, `64B` or `128B`.
    pub swizzle: String,
    /// L2 promotion: `none`, `64B`, `128B` or `256B`.
    pub promotion: String,
    /// The shapes that have one: on others the kernel gets zeros. None: all have.
    pub when: Option<Formula>,
}
