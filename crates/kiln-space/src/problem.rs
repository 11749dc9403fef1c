//! What a space is built from, independent of the file it came from.

use std::borrow::Cow;
use std::sync::Arc;

use kiln_core::{Config, Gate, IMPLEMENTATION, Value};
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
    /// The problems of implementations that compete, each of which has tunables and rules of its own; none for a problem
    /// that is one. Where there are some, the tunables above are those of all of them behind [`IMPLEMENTATION`], and the
    /// rules above are theirs, in order.
    pub alternatives: Vec<Alternative>,
}

/// One of several problems, by the value of [`IMPLEMENTATION`].
#[derive(Debug, Clone)]
pub struct Alternative {
    /// The implementation's name.
    pub name: Arc<str>,
    /// Its tunables and rules.
    pub problem: Problem,
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
    /// The implementation it belongs to, where several compete.
    pub of: Option<Arc<str>>,
}

impl Problem {
    /// The problem of several implementations, of which a configuration belongs to one.
    pub fn united(alternatives: Vec<Alternative>) -> Problem {
        let names = alternatives.iter().map(|one| Value::Str(one.name.clone())).collect();
        let mut dimensions = vec![Dimension { name: IMPLEMENTATION.into(), values: names }];
        for own in alternatives.iter().flat_map(|one| &one.problem.dimensions) {
            match dimensions.iter_mut().find(|known| known.name == own.name) {
                Some(known) => known.values = merged(&known.values, &own.values),
                None => dimensions.push(own.clone()),
            }
        }
        let mut rules = Vec::new();
        for one in &alternatives {
            rules.extend(one.problem.rules.iter().map(|rule| Rule { of: Some(one.name.clone()), ..rule.clone() }));
        }
        let constants = alternatives.first().map_or_else(Vec::new, |one| one.problem.constants.clone());
        Problem { dimensions, constants, derived: Vec::new(), rules, alternatives }
    }

    /// The problem that a configuration belongs to: one of several, or this one.
    pub fn meant(&self, config: &Config) -> &Problem {
        let named = self.alternatives.iter().find(|one| config.implementation() == Some(&*one.name));
        named.or(self.alternatives.first()).map_or(self, |one| &one.problem)
    }

    /// The number of configurations before any rule; none from 2^128 on.
    pub fn raw(&self) -> Option<u128> {
        if !self.alternatives.is_empty() {
            let mut each = self.alternatives.iter().map(|one| one.problem.raw());
            return each.try_fold(0u128, |sum, raw| sum.checked_add(raw?));
        }
        self.dimensions.iter().try_fold(1u128, |product, d| product.checked_mul(d.values.len() as u128))
    }

    /// The values of all names under a configuration and one set of constants. A derived value that fails has none, and
    /// the rule that needs it then names it.
    pub fn bindings<'a>(&'a self, config: &'a Config, constants: &'a Constants) -> Bindings<'a> {
        let derived = self.meant(config).derived.iter().map(|(name, expression)| (&**name, expression));
        Bindings::new(Cow::Borrowed(constants), Some(config), derived)
    }
}

/// The values of two lists. Numbers that go up in both go up in the result: neighbours in the list are near each other.
fn merged(one: &[Value], other: &[Value]) -> Vec<Value> {
    let number = |value: &Value| match value {
        Value::Int(v) => Some(*v as f64),
        Value::Float(v) => Some(*v),
        _ => None,
    };
    let goes_up = |list: &[Value]| list.windows(2).all(|pair| number(&pair[0]) < number(&pair[1]));
    let numbers = |list: &[Value]| list.iter().all(|value| number(value).is_some());
    let sorted = [one, other].iter().all(|list| numbers(list) && goes_up(list));
    let mut all = one.to_vec();
    all.extend(other.iter().filter(|value| !one.contains(value)).cloned());
    if sorted {
        all.sort_by(|a, b| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers_stay_in_order() {
        let ints = |list: &[i64]| list.iter().map(|v| Value::Int(*v)).collect::<Vec<_>>();
        let texts = |list: &[&str]| list.iter().map(|v| Value::Str((*v).into())).collect::<Vec<_>>();
        assert_eq!(merged(&ints(&[16, 64]), &ints(&[32, 64, 128])), ints(&[16, 32, 64, 128]));
        assert_eq!(merged(&ints(&[64, 16]), &ints(&[32])), ints(&[64, 16, 32]));
        assert_eq!(merged(&texts(&["b", "a"]), &texts(&["a", "0"])), texts(&["b", "a", "0"]));
        assert_eq!(merged(&[Value::Bool(false)], &[Value::Bool(true), Value::Bool(false)]).len(), 2);
    }
}
