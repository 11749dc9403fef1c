//! Uniform samples are uniform (chi-square, fixed seeds, so the outcome is fixed too), Latin hypercubes are even.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kiln_core::{Gate, Value};
use kiln_expr::Expression;
use kiln_space::{Dimension, Problem, Rule, Space, SpaceError};
use kiln_spec::Constants;

fn space(lists: &[(&str, i64)], rules: &[&str]) -> Space {
    let problem = Problem {
        dimensions: lists
            .iter()
            .map(|(name, last)| Dimension { name: Arc::from(*name), values: (1..=*last).map(Value::Int).collect() })
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
    Space::build(&problem).unwrap()
}

/// Two groups, one tabulated and one layered, and one free tunable; uneven branches everywhere.
fn uneven() -> Space {
    space(&[("A", 9), ("B", 9), ("C", 20), ("D", 20), ("E", 3)], &["A % B == 0", "C * D <= 30"])
}

#[test]
fn single_draws_are_uniform() {
    let space = space(&[("A", 9), ("B", 9), ("C", 20), ("D", 20)], &["A % B == 0", "C * D <= 7"]);
    let cells = space.len() as usize;
    let draws = 60 * cells;
    let mut seen: HashMap<_, usize> = HashMap::new();
    for seed in 0..draws {
        let point = space.sample(1, seed as u64).pop().unwrap();
        *seen.entry(space.index(&point).unwrap()).or_default() += 1;
    }
    chi_square(&seen, cells, draws);
}

#[test]
fn every_configuration_is_equally_likely_in_a_larger_sample() {
    let space = uneven();
    let cells = space.len() as usize;
    let (size, repeats) = (cells / 10, 400);
    let mut seen: HashMap<_, usize> = HashMap::new();
    for seed in 0..repeats {
        let sample = space.sample(size, 1_000 + seed);
        assert_eq!(sample.iter().collect::<HashSet<_>>().len(), size, "a sample repeats a configuration");
        for point in sample {
            *seen.entry(space.index(&point).unwrap()).or_default() += 1;
        }
    }
    // Draws without replacement vary less than the test assumes, so it errs on the safe side.
    chi_square(&seen, cells, size * repeats as usize);
}

/// Holds observed counts against equal ones: within 4.5 standard deviations of what chance gives.
fn chi_square(seen: &HashMap<u128, usize>, cells: usize, draws: usize) {
    let expected = draws as f64 / cells as f64;
    let statistic: f64 = (0..cells as u128)
        .map(|cell| {
            let observed = *seen.get(&cell).unwrap_or(&0) as f64;
            (observed - expected).powi(2) / expected
        })
        .sum();
    let degrees = (cells - 1) as f64;
    let deviations = (statistic - degrees) / (2.0 * degrees).sqrt();
    assert!(deviations < 4.5, "chi-square {statistic:.0} on {degrees} degrees of freedom");
}

#[test]
fn samples_are_reproducible_and_stop_at_the_end() {
    let space = uneven();
    assert_eq!(space.sample(20, 5), space.sample(20, 5));
    assert_ne!(space.sample(20, 5), space.sample(20, 6));
    let all: HashSet<_> = space.sample(usize::MAX, 1).into_iter().collect();
    assert_eq!(all.len() as u128, space.len());
    assert_eq!(space.latin(usize::MAX, 1).len() as u128, space.len());
}

#[test]
fn a_latin_hypercube_is_valid_distinct_and_more_even_than_chance() {
    let space = uneven();
    let (mut latin, mut chance) = (0.0, 0.0);
    for seed in 0..20 {
        let points = space.latin(20, seed);
        assert_eq!(points.len(), 20);
        assert_eq!(points.iter().collect::<HashSet<_>>().len(), 20);
        assert!(points.iter().all(|p| space.contains(p)));
        assert_eq!(points, space.latin(20, seed));
        latin += unevenness(&space, &points);
        chance += unevenness(&space, &space.sample(20, seed));
    }
    assert!(latin < 0.6 * chance, "latin {latin:.2}, chance {chance:.2}");
}

/// The greatest distance between the points' cumulative distribution and the space's own, summed over tunables.
fn unevenness(space: &Space, points: &[kiln_space::Point]) -> f64 {
    let all: Vec<_> = space.iter().collect();
    let share = |points: &[kiln_space::Point], tunable: usize, upto: u32| {
        points.iter().filter(|p| p[tunable] <= upto).count() as f64 / points.len() as f64
    };
    (0..space.dimensions().len())
        .map(|t| {
            (0..space.dimensions()[t].values.len() as u32)
                .map(|v| (share(points, t, v) - share(&all, t, v)).abs())
                .fold(0.0, f64::max)
        })
        .sum()
}

#[test]
fn spaces_of_10_to_the_15_raw_points_open_exactly() {
    let fifteen: Vec<(&str, i64)> =
        ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O"].map(|n| (n, 10)).to_vec();
    let sum = fifteen.iter().map(|(n, _)| *n).collect::<Vec<_>>().join(" + ");
    // All ones but for two steps up: 15 ways to take both in one, 105 to take them in two.
    assert_eq!(space(&fifteen, &[&format!("{sum} == 17")]).len(), 120);
    // Three independent chains of five equal values.
    let equal = space(&fifteen, &["A == B == C == D == E", "F == G == H == I == J", "K == L == M == N == O"]);
    assert_eq!(equal.len(), 1000);
    // Nothing but one small rule: nearly all of it is valid, and it is indexed all the same.
    let large = space(&fifteen, &["A * B <= 10"]);
    assert_eq!(large.len(), 27 * 10u128.pow(13));
    let last = large.point(large.len() - 1).unwrap();
    assert_eq!(large.index(&last), Some(large.len() - 1));
    assert!(large.sample(100, 3).iter().all(|p| large.contains(p)));

    let five: Vec<(&str, i64)> = ["A", "B", "C", "D", "E"].map(|n| (n, 1000)).to_vec();
    // Ordered factorisations of 1000 = 2^3 5^3 into five: C(7, 4)^2.
    assert_eq!(space(&five, &["A * B * C * D * E == 1000"]).len(), 1225);
    // Divisor chains below 1000, counted by the divisor-sum recurrence.
    let chains = space(&five, &["A % B == 0", "B % C == 0", "C % D == 0", "D % E == 0"]);
    let mut ways = vec![1u128; 1001];
    for _ in 0..4 {
        let mut next = vec![0u128; 1001];
        for (d, ways) in ways.iter().enumerate().skip(1) {
            (d..=1000).step_by(d).for_each(|multiple| next[multiple] += ways);
        }
        ways = next;
    }
    assert_eq!(chains.len(), ways[1..].iter().sum::<u128>());
}

#[test]
fn more_than_a_u128_of_configurations_is_said_to_be_too_many() {
    let names: Vec<String> = (0..40).map(|i| format!("T{i}")).collect();
    let problem = Problem {
        dimensions: names
            .iter()
            .map(|n| Dimension { name: n.as_str().into(), values: (0..16).map(Value::Int).collect() })
            .collect(),
        constants: vec![Constants::default()],
        derived: vec![],
        rules: vec![],
        alternatives: vec![],
    };
    assert_eq!(problem.raw(), None);
    assert_eq!(Space::build(&problem).unwrap_err(), SpaceError::TooMany);
    // Also when they are all in one group.
    let sum = names.join(" + ");
    let rule = Rule {
        name: "sum".into(),
        gate: Gate::Constraint,
        expression: Expression::parse(&format!("{sum} >= 1")).unwrap(),
        hint: None,
        of: None,
    };
    let tied = Problem { rules: vec![rule], ..problem };
    assert_eq!(Space::build(&tied).unwrap_err(), SpaceError::TooMany);
}

#[test]
fn listing_and_indexing_agree_on_wide_lists() {
    let space = space(&[("A", 300), ("B", 40), ("C", 3)], &["A % B == 0"]);
    for (index, point) in space.iter().enumerate() {
        assert_eq!(space.index(&point), Some(index as u128));
        assert_eq!(space.point(index as u128).as_ref(), Some(&point));
    }
    assert_eq!(space.iter().count() as u128, space.len());
    assert_eq!(self::space(&[("A", 3)], &["A > 5"]).iter().count(), 0);
}

#[test]
fn divisors_of_a_product_are_used_early() {
    // Ordered factorisations of divisors of 2^20 into five: sum over j <= 20 of C(j + 4, 4) = C(25, 5).
    let five: Vec<(&str, i64)> = ["A", "B", "C", "D", "E"].map(|n| (n, 1_048_576 / 1024)).to_vec();
    let count = space(&five, &["1048576 % (A * B * C * D * E) == 0"]).len();
    let mut ways = vec![1u128; 1];
    for _ in 0..5 {
        let mut next = vec![0u128; ways.len() + 10];
        for (power, ways) in ways.iter().enumerate() {
            (0..=10).for_each(|step| next[power + step] += ways);
        }
        ways = next;
    }
    assert_eq!(count, ways.iter().take(21).sum::<u128>());
}
