//! What a space is built from, independent of the file it came from.

use std::sync::Arc;

use kiln_core::{Gate, Value};
use kiln_device::Arch;
use kiln_expr::{Env, Expression};

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

/// The fixed names under one workload.
#[derive(Debug, Clone, Default)]
pub struct Constants {
    /// The workload's name; empty when there is none.
    pub workload: String,
    /// Dimensions and dtypes.
    pub values: Vec<(Arc<str>, Value)>,
    /// The architecture whose limits `device.NAME` means.
    pub arch: Option<Arch>,
}

impl Constants {
    /// The value of a fixed name.
    pub fn get(&self, name: &str) -> Option<Value> {
        let stated = self.values.iter().find(|(n, _)| &**n == name).map(|(_, v)| v.clone());
        stated.or_else(|| Some(Value::Int(self.arch?.get(name.strip_prefix("device.")?)?)))
    }
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

    /// Values for an expression: tunables from `tunable`, derived values, and one set of constants. Derived values are
    /// computed once, here; one that fails has no value, and the rule that needs it then names it.
    pub fn env<'a>(&'a self, tunable: &'a dyn Env, constants: &'a Constants) -> impl Env + 'a {
        let mut names = Names { tunable, constants, derived: Vec::with_capacity(self.derived.len()) };
        for (name, formula) in &self.derived {
            if let Ok(value) = formula.eval(&names) {
                names.derived.push((name.clone(), value));
            }
        }
        names
    }
}

struct Names<'a> {
    tunable: &'a dyn Env,
    constants: &'a Constants,
    derived: Vec<(Arc<str>, Value)>,
}

impl Env for Names<'_> {
    fn value(&self, name: &str) -> Option<Value> {
        let derived = || self.derived.iter().find(|(n, _)| &**n == name).map(|(_, v)| v.clone());
        self.tunable.value(name).or_else(derived).or_else(|| self.constants.get(name))
    }
}
