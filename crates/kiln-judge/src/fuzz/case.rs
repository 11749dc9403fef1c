//! One case: a shape, scalars that do not have their usual value, what inputs are drawn from and with which seed, a configuration.
//! It is printed as `S=65,D=64; scale=0.5; inputs=spike; seed=7`, which can be typed, with the configuration in a flag of its own.

use std::fmt;
use std::sync::Arc;

use kiln_core::{Config, Use, Value, Workload};

use crate::drawn::distribution::Distribution;
use crate::fuzz::scalars::CaseScalars;

/// The value of every dimension, in the order of the kernel file.
pub type Shape = Vec<(Arc<str>, Value)>;

/// Something to ask a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct FuzzCase {
    /// The shape.
    pub shape: Shape,
    /// Scalars that have another value than usual.
    pub scalars: CaseScalars,
    /// What inputs are drawn from.
    pub inputs: Distribution,
    /// The seed they are drawn with.
    pub seed: u64,
    /// The configuration; empty for a baseline.
    pub config: Config,
}

/// A shape as it is typed: `S=65,D=64`. Words that would be read as something else stand in quotes.
pub fn shape_text(shape: &Shape) -> String {
    let is_plain = |text: &str| {
        let is_end = |c: char| c == ',' || c == ';' || c.is_whitespace();
        !text.is_empty() && !text.contains(is_end) && Value::from_typed(text) == Value::from(text)
    };
    let pair = |(name, value): &(Arc<str>, Value)| match value {
        Value::Str(text) if !is_plain(text) => format!("{name}=\"{text}\""),
        value => format!("{name}={value}"),
    };
    shape.iter().map(pair).collect::<Vec<_>>().join(",")
}

/// A shape as a workload of its own.
pub fn workload_of(shape: &Shape) -> Workload {
    Workload {
        name: shape_text(shape).into(),
        dims: shape.clone(),
        use_for: Use::Check,
        targets: Vec::new(),
        weight: 1.0,
    }
}

/// Prints what [`FuzzCase::parse`] reads; the configuration is not part of it.
impl fmt::Display for FuzzCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; ", shape_text(&self.shape))?;
        if !self.scalars.is_empty() {
            let pairs: Vec<String> = self.scalars.iter().map(|(name, value)| format!("{name}={value}")).collect();
            write!(f, "{}; ", pairs.join(","))?;
        }
        write!(f, "inputs={}; seed={}", self.inputs, self.seed)
    }
}
