//! What a space is built from, independent of the file it came from.

use std::borrow::Cow;
use std::sync::Arc;

use kiln_core::{Config, Gate, Value};
use kiln_expr::Expression;
use kiln_spec::{Bindings, Constants};

/// Tunables, what their rules may refer to, and the rules.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The tunables, in declaration order.
    pub dimensions: Vec<Dimension>,
    /// The fixed names; one set for each workload that must be satisfied at once. Never empty.
    pub constants: Vec<Constants>,
    /// Named intermediate values, each after those it needs.
    pub derived: Vec<(Arc<str>, Expression)>,
    /// What every configuration must keep.
    pub rules: Vec<Rule>,
}

/// A tunable: a name and the values it may take.
#[derive(Debug, Clone)]
pub struct Dimension {
    /// Its name.
    pub name: Arc<str>,
    /// Its values; at least one.
    pub values: Vec<Value>,
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its name.
    pub name: Arc<str>,
    /// The gate that refuses what breaks it.
    pub gate: Gate,
    /// What must be true.
    pub expression: Expression,
    /// Advice for when it refuses.
    pub hint: Option<String>,
}

impl Problem {
    /// The number of configurations before any rule; none from 2^128 on.
    pub fn raw(&self) -> Option<u128> {
        self.dimensions.iter().try_fold(1u128, |product, d| product.checked_mul(d.values.len() as u128))
    }

    /// The values of all names under a configuration and one set of constants. A derived value that fails has none, and
    /// the rule that needs it then names it.
    pub fn bindings<'a>(&'a self, config: &'a Config, constants: &'a Constants) -> Bindings<'a> {
        let derived = self.derived.iter().map(|(name, expression)| (&**name, expression));
        Bindings::new(Cow::Borrowed(constants), Some(config), derived)
    }
}
