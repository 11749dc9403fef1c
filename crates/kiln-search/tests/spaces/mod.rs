//! Spaces to search in tests: small ones from lists and rules, and the public ones of the fixtures.

#![allow(dead_code, reason = "every test takes what it needs")]

use std::path::PathBuf;
use std::sync::Arc;

use kiln_core::{Gate, Value};
use kiln_expr::Expression;
use kiln_space::{Dimension, Problem, Rule, Space};
use kiln_spec::{Choice, Constants};

pub(crate) fn space(lists: &[(&str, Vec<Value>)], rules: &[&str]) -> Arc<Space> {
    let problem = Problem {
        dimensions: lists
            .iter()
            .map(|(name, values)| Dimension { name: Arc::from(*name), values: values.clone() })
            .collect(),
        constants: vec![Constants::default()],
        derived: vec![],
        rules: rules
            .iter()
            .map(|text| Rule {
                name: Arc::from(*text),
                gate: Gate::Constraint,
                expression: Expression::parse(text).unwrap(),
                hint: None,
                of: None,
            })
            .collect(),
        alternatives: vec![],
    };
    Arc::new(Space::build(&problem).unwrap())
}

pub(crate) fn ints(values: impl IntoIterator<Item = i64>) -> Vec<Value> {
    values.into_iter().map(Value::Int).collect()
}

pub(crate) fn fixture(name: &str) -> Arc<Space> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/spaces/{name}.json"));
    let imported = kiln_formats::read(name, &std::fs::read(&path).unwrap()).unwrap();
    let selection = imported.spec.select(Choice::default()).unwrap();
    Arc::new(Space::build(&Problem::from_selection(&selection).unwrap()).unwrap())
}

/// A number in [0, 1) that looks random and depends on nothing but its arguments.
pub(crate) fn hashed(seed: u64, words: &[u32]) -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    for word in words.iter().chain(&[0x51, 0x7c]) {
        state = (state ^ u64::from(*word)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 29;
    }
    (state >> 11) as f64 / (1u64 << 53) as f64
}
