//! The engine against brute force: on random small problems, exactly the configurations that a plain evaluation of every
//! rule lets through are in the space, once each. A configuration that a rule fails on is never in it; an error is only
//! raised when there is such a one that no conjunct of any rule refuses.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::sync::Arc;

use kiln_core::{Config, Gate, Value};
use kiln_expr::{Expr, Expression, Kind, UnaryOp, truth};
use kiln_space::{Dimension, Problem, Rule, Space, SpaceError, removals};
use kiln_spec::Constants;
use proptest::prelude::*;

const NAMES: [&str; 5] = ["A", "B", "C", "E", "F"];

fn values() -> impl Strategy<Value = Vec<Value>> {
    let ints = proptest::collection::btree_set(prop_oneof![0i64..9, -3i64..40, Just(64), Just(1024)], 1..6)
        .prop_map(|s| s.into_iter().map(Value::Int).collect::<Vec<_>>());
    let long = (60i64..80).prop_map(|n| (1..=n).map(Value::Int).collect::<Vec<_>>());
    let floats = proptest::collection::btree_set(0i64..8, 1..4)
        .prop_map(|s| s.into_iter().map(|v| Value::Float(v as f64 / 2.0)).collect::<Vec<_>>());
    prop_oneof![16 => ints, 1 => long, 2 => floats, 2 => Just(vec![Value::Bool(false), Value::Bool(true)])]
}

fn number() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        6 => proptest::sample::select(&NAMES[..]).prop_map(str::to_string),
        2 => (0i64..20).prop_map(|v| v.to_string()),
        1 => Just("N".to_string()),
        1 => Just("D1".to_string()),
        1 => Just("D2".to_string()),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let op = proptest::sample::select(&["+", "-", "*", "*", "//", "%", "/"][..]);
        prop_oneof![
            6 => (inner.clone(), op, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("min({a}, {b})")),
            1 => inner.clone().prop_map(|a| format!("-{a}")),
            1 => (inner.clone(), inner.clone(), inner).prop_map(|(a, c, b)| format!("({a} if {c} > 2 else {b})")),
        ]
    })
    .boxed()
}

fn condition() -> BoxedStrategy<String> {
    let sign = || proptest::sample::select(&["<", "<=", ">", ">=", "==", "!="][..]);
    let leaf = prop_oneof![
        6 => (number(), sign(), number()).prop_map(|(a, s, b)| format!("{a} {s} {b}")),
        2 => (number(), sign(), number(), sign(), number()).prop_map(|(a, s, b, t, c)| format!("{a} {s} {b} {t} {c}")),
        1 => (number(), 0i64..9).prop_map(|(a, v)| format!("{a} in [{v}, 4, 8]")),
        1 => number().prop_map(|a| format!("{a} % 2")),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) and ({b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) or ({b})")),
            inner.prop_map(|a| format!("not ({a})")),
        ]
    })
    .boxed()
}

/// A problem that prints short enough to be read when a case fails.
#[derive(Clone)]
struct Case(Problem);

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for d in &self.0.dimensions {
            write!(f, "\n{} = {:?}", d.name, d.values)?;
        }
        for (name, expression) in &self.0.derived {
            write!(f, "\n{name} = {expression}")?;
        }
        for constants in &self.0.constants {
            write!(f, "\n{:?}", constants.values)?;
        }
        for rule in &self.0.rules {
            write!(f, "\n{}: {}", rule.name, rule.expression)?;
        }
        Ok(())
    }
}

fn problem() -> impl Strategy<Value = Case> {
    (
        proptest::collection::vec(values(), NAMES.len()),
        proptest::collection::vec(condition(), 0..5),
        proptest::collection::vec(-2i64..40, 1..3),
        proptest::sample::select(&["A * B", "A + B - E", "N // 2 + A"][..]),
    )
        .prop_map(|(mut lists, conditions, ns, d1)| {
            // One long list is enough to reach what they are for; two would be slow to go through by brute force.
            let mut long = lists.iter_mut().filter(|l| l.len() > 10);
            long.next();
            long.for_each(|l| l.truncate(4));
            Case(Problem {
                dimensions: NAMES
                    .iter()
                    .zip(lists)
                    .map(|(n, values)| Dimension { name: (*n).into(), values })
                    .collect(),
                constants: ns
                    .into_iter()
                    .map(|n| Constants {
                        workload: format!("w{n}"),
                        values: vec![("N".into(), Value::Int(n))],
                        arch: None,
                    })
                    .collect(),
                derived: vec![
                    (Arc::from("D1"), Expression::parse(d1).unwrap()),
                    (Arc::from("D2"), Expression::parse("D1 * 2 + C").unwrap()),
                ],
                rules: conditions
                    .iter()
                    .enumerate()
                    .map(|(i, text)| Rule {
                        name: format!("r{i}").into(),
                        gate: Gate::Constraint,
                        expression: Expression::parse(text).unwrap(),
                        hint: None,
                        of: None,
                    })
                    .collect(),
                alternatives: vec![],
            })
        })
}

/// The conjuncts the engine documents: `and`, links of a chain, `not (a or b)`.
fn conjuncts(expr: &Expr, negated: bool, out: &mut Vec<(Expr, bool)>) {
    match &expr.kind {
        Kind::And(a, b) if !negated => [a, b].iter().for_each(|e| conjuncts(e, false, out)),
        Kind::Or(a, b) if negated => [a, b].iter().for_each(|e| conjuncts(e, true, out)),
        Kind::Unary(UnaryOp::Not, a) => conjuncts(a, !negated, out),
        Kind::Compare(first, rest) if !negated && rest.len() > 1 => {
            let mut left = (**first).clone();
            for (op, right) in rest {
                let mut link = expr.clone();
                link.kind = Kind::Compare(Box::new(left), vec![(*op, right.clone())]);
                out.push((link, false));
                left = right.clone();
            }
        }
        _ => out.push((expr.clone(), negated)),
    }
}

enum Verdict {
    Kept,
    Refused,
    Fails,
}

fn judge(problem: &Problem, values: &[&Value]) -> Verdict {
    let config = Config::new(NAMES.iter().zip(values).map(|(n, v)| ((*n).into(), (*v).clone())).collect());
    let mut fails = false;
    for constants in &problem.constants {
        let env = problem.bindings(&config, constants);
        for rule in &problem.rules {
            let mut parts = Vec::new();
            conjuncts(rule.expression.root(), false, &mut parts);
            for (part, negated) in parts {
                match rule.expression.eval_part(&part, &env) {
                    Ok(value) if truth(&value) == negated => return Verdict::Refused,
                    Ok(_) => {}
                    Err(_) => fails = true,
                }
            }
        }
    }
    if fails { Verdict::Fails } else { Verdict::Kept }
}

fn all_points(problem: &Problem) -> Vec<Vec<u32>> {
    let mut points = vec![vec![]];
    for d in &problem.dimensions {
        points = points
            .into_iter()
            .flat_map(|p| (0..d.values.len() as u32).map(move |v| [p.clone(), vec![v]].concat()))
            .collect();
    }
    points
}

fn check(problem: &Problem) -> Result<(), TestCaseError> {
    let (mut kept, mut fails) = (BTreeSet::new(), false);
    for point in all_points(problem) {
        let values: Vec<&Value> = point.iter().zip(&problem.dimensions).map(|(v, d)| &d.values[*v as usize]).collect();
        match judge(problem, &values) {
            Verdict::Kept => {
                kept.insert(point);
            }
            Verdict::Fails => fails = true,
            Verdict::Refused => {}
        }
    }
    match Space::build(problem) {
        Ok(space) => {
            prop_assert_eq!(space.len(), kept.len() as u128);
            for (index, point) in space.iter().enumerate() {
                prop_assert!(kept.contains(&point.to_vec()));
                prop_assert_eq!(space.index(&point), Some(index as u128));
            }
            for point in all_points(problem) {
                prop_assert_eq!(space.contains(&point), kept.contains(&point));
            }
        }
        Err(SpaceError::Evaluation { .. }) => prop_assert!(fails, "an error for a space that has none"),
        Err(other) => prop_assert!(false, "{}", other),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_space_is_what_brute_force_finds(problem in problem()) {
        check(&problem.0)?;
    }

    #[test]
    fn removals_are_what_brute_force_counts(problem in problem()) {
        let problem = problem.0;
        let raw = all_points(&problem).len() as u128;
        for (i, removal) in removals(&problem).iter().enumerate() {
            let alone = Problem { rules: vec![problem.rules[i].clone()], ..problem.clone() };
            let (mut refused, mut fails) = (0, 0);
            for point in all_points(&problem) {
                let values: Vec<&Value> =
                    point.iter().zip(&problem.dimensions).map(|(v, d)| &d.values[*v as usize]).collect();
                match judge(&alone, &values) {
                    Verdict::Refused => refused += 1,
                    Verdict::Fails => fails += 1,
                    Verdict::Kept => {}
                }
            }
            match removal.removes {
                Some(removes) => {
                    prop_assert!((refused..=refused + fails).contains(&removes));
                    prop_assert_eq!(removal.always, removes == 0);
                    prop_assert_eq!(removal.never, removes == raw);
                }
                None => prop_assert!(fails > 0),
            }
        }
    }
}
