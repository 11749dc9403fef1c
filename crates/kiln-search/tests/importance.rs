//! What mattered is found where it was planted.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_core::Value;
use kiln_search::{Observation, importance};
use kiln_space::Point;

use crate::spaces::{hashed, ints, space};

#[test]
fn planted_effects_are_found_and_idle_tunables_are_not() {
    let sizes = || ints([16, 32, 64, 128, 256]);
    let space =
        space(&[("MAIN", sizes()), ("LEFT", sizes()), ("RIGHT", sizes()), ("IDLE", sizes()), ("ONE", ints([1]))], &[]);
    // LEFT and RIGHT matter only together: they must be alike.
    let cost = |point: &Point| {
        let slow = 0.5 * f64::from(4 - point[0]) + 0.8 * f64::from(point[1].abs_diff(point[2]));
        Observation::Time(slow.exp() * (1.0 + 0.02 * hashed(1, point)))
    };
    let told: Vec<(Point, Observation)> = space
        .sample(300, 3)
        .into_iter()
        .map(|p| {
            let o = cost(&p);
            (p, o)
        })
        .collect();
    let found = importance(&space, &told).unwrap();
    let names: Vec<&str> = found.tunables.iter().map(|tunable| &*tunable.name).collect();
    assert_eq!(names.len(), 4, "a tunable without a choice cannot matter");
    assert_eq!(names[0], "MAIN");
    assert!(found.tunables[0].share > 0.3, "{found:?}");
    assert!(found.tunables[1..].iter().all(|tunable| tunable.share < 0.15), "{found:?}");
    assert!(found.tunables[3].share < 0.01 && &*found.tunables[3].name == "IDLE", "{found:?}");
    assert!(found.edges.iter().all(|edge| &*edge.name != "IDLE"), "{found:?}");
    let pair = &found.pairs[0];
    assert_eq!((&*pair.names.0, &*pair.names.1), ("LEFT", "RIGHT"));
    assert!(pair.share > 0.1, "{found:?}");
    // The best lies at the last value of MAIN, which doubles.
    let edge = found.edges.iter().find(|edge| &*edge.name == "MAIN").unwrap();
    assert_eq!((&edge.at, &edge.try_next), (&Value::Int(256), &Value::Int(512)));
}

#[test]
fn edges_go_on_as_their_lists_do() {
    let space = space(
        &[
            ("STEP", ints([2, 4, 6, 8])),
            ("DOWN", ints([8, 16, 32])),
            ("ONE", ints(1..5)),
            ("NAME", vec!["a".into(), "b".into()]),
        ],
        &[],
    );
    let cost = |p: &Point| Observation::Time(1.0 + f64::from(3 - p[0]) + f64::from(p[1]) + f64::from(p[2]));
    let told: Vec<(Point, Observation)> = space
        .iter()
        .map(|p| {
            let o = cost(&p);
            (p, o)
        })
        .collect();
    let edges = importance(&space, &told).unwrap().edges;
    let found: Vec<(&str, i64)> = edges
        .iter()
        .map(|edge| match edge.try_next {
            Value::Int(next) => (&*edge.name, next),
            _ => panic!("{edge:?}"),
        })
        .collect();
    // A count of 1 has nothing below it.
    assert_eq!(found, [("STEP", 10), ("DOWN", 4)]);
}

#[test]
fn too_little_says_nothing() {
    let space = space(&[("A", ints(0..8)), ("B", ints(0..8))], &[]);
    let told = |count: usize| -> Vec<(Point, Observation)> {
        space.sample(count, 1).into_iter().map(|point| (point, Observation::Time(1.0))).collect()
    };
    assert_eq!(importance(&space, &told(19)), None);
    assert!(importance(&space, &told(20)).is_some_and(|found| found.tunables.iter().all(|t| t.share == 0.0)));
    let failed: Vec<_> = told(40).into_iter().map(|(point, _)| (point, Observation::Failed)).collect();
    assert_eq!(importance(&space, &failed), None);
    assert_eq!(importance(&space, &[(Box::new([9, 9, 9]), Observation::Time(1.0))]), None);
}
