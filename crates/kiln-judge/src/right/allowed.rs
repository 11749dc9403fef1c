//! How far an output may be off. In: what the kernel file states, or else the output's type and, where kiln knows the
//! operation, how far a plain program in the kernel's own types is off. Out: a [`Bound`].

use kiln_spec::{Dtype, Tolerance};

/// How far an element may be off: `abs + rel * |right|`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowed {
    /// Absolute part.
    pub abs: f64,
    /// Relative part.
    pub rel: f64,
}

impl From<Tolerance> for Allowed {
    fn from(tolerance: Tolerance) -> Self {
        Allowed { abs: tolerance.abs, rel: tolerance.rel }
    }
}

impl Allowed {
    /// What is allowed when nothing more is known: a few roundings of the output's own type.
    pub fn by_default(dtype: Dtype) -> Allowed {
        let (abs, rel) = match dtype {
            Dtype::F64 => (1e-12, 1e-10),
            Dtype::F32 => (1e-5, 1e-4),
            Dtype::F16 => (1e-3, 1e-3),
            Dtype::BF16 => (1e-2, 1.6e-2),
            Dtype::F8E4M3 => (6e-2, 1.3e-1),
            Dtype::F8E5M2 => (1.3e-1, 2.5e-1),
            _ => (0.0, 0.0),
        };
        Allowed { abs, rel }
    }

    /// What is allowed where this is right.
    pub(crate) fn at(self, right: f64) -> f64 {
        self.abs + self.rel * right.abs()
    }
}

/// Where a bound comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The kernel file states it.
    Stated,
    /// From the error of a plain program in the kernel's own types, on the same inputs.
    Derived,
    /// From the output's type alone.
    Assumed,
}

/// Everything an output is held to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// For each element.
    pub allowed: Allowed,
    /// For the whole: the length of the error over the length of the correct answer.
    pub rel_l2: Option<f64>,
    /// Where it comes from.
    pub source: Source,
}
