//! What every name of an expression stands for, decided here and nowhere else. In: constants, a configuration where there
//! is one, and the derived values in the order they need each other. Out: the value of a name. A name nobody binds has no
//! value; neither has a derived value that cannot be computed, and whoever needs it then names it.
//!
//! A kernel file cannot give a name two meanings. Where something else is put together by hand, a tunable goes before a
//! derived value, and a derived value before a constant.

use std::borrow::Cow;

use kiln_core::{Config, Value};
use kiln_expr::{Env, Expression};

use crate::names::constants::Constants;

/// Names and their values.
#[derive(Debug)]
pub struct Bindings<'a> {
    constants: Cow<'a, Constants>,
    config: Option<&'a Config>,
    derived: Vec<(&'a str, Value)>,
}

impl<'a> Bindings<'a> {
    /// Binds every name. Derived values are computed once, here; each comes after those it needs.
    pub fn new(
        constants: Cow<'a, Constants>,
        config: Option<&'a Config>,
        derived: impl IntoIterator<Item = (&'a str, &'a Expression)>,
    ) -> Bindings<'a> {
        let mut bindings = Bindings { constants, config, derived: Vec::new() };
        for (name, expression) in derived {
            if let Ok(value) = expression.eval(&bindings) {
                bindings.derived.push((name, value));
            }
        }
        bindings
    }

    /// Whether there is a configuration: without one, tunables have no values.
    pub(crate) fn configured(&self) -> bool {
        self.config.is_some()
    }
}

impl Env for Bindings<'_> {
    fn value(&self, name: &str) -> Option<Value> {
        let tunable = self.config.and_then(|config| config.get(name)).cloned();
        let derived = || self.derived.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone());
        tunable.or_else(derived).or_else(|| self.constants.get(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_device::Arch;

    fn values(config: Option<&str>, arch: Option<Arch>, derived: &[(&str, &str)], names: &[&str]) -> Vec<String> {
        let values = vec![("N".into(), Value::Int(96)), ("T".into(), "f16".into()), ("T.bytes".into(), Value::Int(2))];
        let constants = Constants { workload: "w".into(), values, arch };
        let config = config.map(|text| Config::parse(text).unwrap());
        let derived: Vec<(&str, Expression)> =
            derived.iter().map(|(name, text)| (*name, Expression::parse(text).unwrap())).collect();
        let bindings = Bindings::new(Cow::Owned(constants), config.as_ref(), derived.iter().map(|(n, e)| (*n, e)));
        names.iter().map(|name| bindings.value(name).map_or("none".into(), |v| v.to_string())).collect()
    }

    #[test]
    fn a_tunable_goes_before_a_derived_value_and_that_before_a_constant() {
        let both = [("A", "1"), ("N", "2"), ("device.warp_size", "3")];
        let names = ["A", "N", "T", "T.bytes", "device.warp_size"];
        assert_eq!(values(Some("A=7,N=8"), Some(Arch::SM_80), &both, &names), ["7", "8", "f16", "2", "3"]);
        assert_eq!(values(None, Some(Arch::SM_80), &both, &names), ["1", "2", "f16", "2", "3"]);
        assert_eq!(values(None, Some(Arch::SM_80), &[], &names), ["none", "96", "f16", "2", "32"]);
    }

    #[test]
    fn derived_values_are_computed_in_order_and_those_that_fail_have_none() {
        let derived = [("tile", "4 * A"), ("tiles", "N // tile"), ("bad", "N // (A - 2)"), ("worse", "bad + 1")];
        let names = ["tile", "tiles", "bad", "worse"];
        assert_eq!(values(Some("A=3"), None, &derived, &names), ["12", "8", "96", "97"]);
        assert_eq!(values(Some("A=2"), None, &derived, &names), ["8", "12", "none", "none"]);
        assert_eq!(values(None, None, &derived, &names), ["none"; 4]);
        // One that comes too early does not see the other.
        let turned = [("tiles", "N // tile"), ("tile", "4 * A")];
        assert_eq!(values(Some("A=3"), None, &turned, &["tiles", "tile"]), ["none", "12"]);
    }

    #[test]
    fn device_names_have_values_where_there_is_an_architecture() {
        let names = ["device.warp_size", "device.smem", "warp_size", "device.", "device"];
        assert_eq!(values(None, Some(Arch::SM_90A), &[], &names), ["32", "none", "none", "none", "none"]);
        assert_eq!(values(None, None, &[], &names), ["none"; 5]);
        let derived = [("fits", "T.bytes * N <= device.smem_per_block")];
        assert_eq!(values(None, Some(Arch::SM_80), &derived, &["fits"]), ["true"]);
        assert_eq!(values(None, None, &derived, &["fits"]), ["none"]);
    }
}
