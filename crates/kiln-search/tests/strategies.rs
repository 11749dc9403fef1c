//! What sets the strategies apart, and what a seed gives.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kiln_search::{Kind, Latin, Observation, Random, Strategy, Tpe, strategy};
use kiln_space::{Point, Space};

use crate::spaces::{hashed, ints, space};

/// 512 configurations less those a rule refuses.
fn cube() -> Arc<Space> {
    space(&[("A", ints(0..8)), ("B", ints(0..8)), ("C", ints(0..8))], &["A != B or C == 0"])
}

#[test]
fn names_are_those_of_the_kinds() {
    for kind in Kind::ALL {
        assert_eq!(strategy(*kind, cube(), 1).name(), kind.name());
    }
}

#[test]
fn random_draws_are_uniform_also_late_in_the_search() {
    let space = space(&[("A", ints(0..5)), ("B", ints(0..5))], &["A >= B"]);
    let mut counts: HashMap<Point, u32> = HashMap::new();
    for seed in 0..6_000 {
        let mut search = Random::new(space.clone(), seed);
        // All but ten of fifteen are gone before the draw.
        (0..5).for_each(|index| search.tell(&space.point(index * 3).unwrap(), Observation::Failed));
        *counts.entry(search.ask(1).pop().unwrap()).or_default() += 1;
    }
    assert_eq!(counts.len(), 10);
    assert!(counts.values().all(|c| (500..700).contains(c)), "{counts:?}");
}

#[test]
fn random_and_latin_do_not_depend_on_costs() {
    for kind in [Kind::Random, Kind::Latin] {
        let run = |cost: f64| {
            let mut search = strategy(kind, cube(), 5);
            let step = |_| {
                let point = search.ask(1).pop().unwrap();
                search.tell(&point, Observation::Time(cost + hashed(cost as u64, &point)));
                point
            };
            (0..60).map(step).collect::<Vec<_>>()
        };
        assert_eq!(run(1.0), run(2.0));
    }
}

#[test]
fn latin_begins_with_a_hypercube_and_counts_what_was_told() {
    let space = cube();
    let design = space.latin(16, 9);
    let mut search = Latin::new(space.clone(), 9, 16);
    assert_eq!(search.ask(16), design);
    assert_eq!(search.ask(1000).len(), space.len() as usize - 16);

    let known = space.iter().find(|point| !design.contains(point)).unwrap();
    let mut search = Latin::new(space.clone(), 9, 16);
    search.tell(&known, Observation::Time(1.0));
    assert_eq!(search.ask(15), design[..15]);
    // What was told took the place of the last one.
    assert_ne!(search.ask(1), design[15..]);
    assert!(!search.ask(100).contains(&known));
}

#[test]
fn tpe_stays_away_from_what_fails() {
    // Half of the space fails; the other half costs the same everywhere, so only failures can teach.
    let space = space(&[("A", ints(0..16)), ("B", ints(0..16)), ("C", ints(0..16))], &[]);
    let mut failed = 0;
    let mut search = Tpe::new(space.clone(), 3, Default::default());
    for _ in 0..200 {
        let point = search.ask(1).pop().unwrap();
        let fails = point[0] + point[1] >= 16;
        failed += u32::from(fails);
        search.tell(&point, if fails { Observation::Failed } else { Observation::Time(1.0) });
    }
    assert!(failed < 50, "{failed} of 200 failed, by chance it would be 94");
}

#[test]
fn a_batch_of_tpe_is_spread() {
    let space = space(&[("A", ints(0..16)), ("B", ints(0..16)), ("C", ints(0..16))], &[]);
    let mut search = Tpe::new(space.clone(), 3, Default::default());
    for point in space.sample(40, 1) {
        let cost = point.iter().map(|v| f64::from(v.abs_diff(9))).sum::<f64>();
        search.tell(&point, Observation::Time(1.0 + cost));
    }
    let batch = search.ask(8);
    assert_eq!(batch.iter().collect::<HashSet<_>>().len(), 8);
    let distinct = |tunable: usize| batch.iter().map(|p| p[tunable]).collect::<HashSet<_>>().len();
    assert!((0..3).map(distinct).sum::<usize>() >= 12, "{batch:?}");
}

#[test]
fn a_time_that_is_none_counts_as_a_failure() {
    let mut searches = [f64::NAN, f64::INFINITY, 0.0, -1.0].map(|_| Tpe::new(cube(), 7, Default::default())).to_vec();
    let mut reference = Tpe::new(cube(), 7, Default::default());
    for point in cube().sample(30, 1) {
        let fails = point[0] < 3;
        let cost = f64::from(point[1]) + 1.0;
        reference.tell(&point, if fails { Observation::Failed } else { Observation::Time(cost) });
        for (search, none) in searches.iter_mut().zip([f64::NAN, f64::INFINITY, 0.0, -1.0]) {
            search.tell(&point, Observation::Time(if fails { none } else { cost }));
        }
    }
    let expected = reference.ask(5);
    assert!(searches.iter_mut().all(|search| search.ask(5) == expected));
}

#[test]
fn told_twice_the_last_counts() {
    let points = cube().sample(30, 2);
    let (mut once, mut twice) = (Tpe::new(cube(), 7, Default::default()), Tpe::new(cube(), 7, Default::default()));
    points.iter().for_each(|p| twice.tell(p, Observation::Time(5.0 + hashed(1, p))));
    twice.tell(&points[0], Observation::Failed);
    for search in [&mut once, &mut twice] {
        points.iter().for_each(|p| search.tell(p, Observation::Time(1.0 + hashed(2, p))));
    }
    assert_eq!(once.ask(5), twice.ask(5));
}
