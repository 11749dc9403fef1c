//! The space of implementations that compete: a disjoint union, each configuration of which is of one implementation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet, HashSet};

use kiln_core::{Config, IMPLEMENTATION, Value};
use kiln_space::{Problem, Space, Step};
use kiln_spec::{Choice, KernelSpec, parse};
use proptest::prelude::*;

/// What is drawn of one implementation: its tunables by number, with the first and the last value, and a bound on their sum.
type Drawn = (BTreeMap<usize, (i64, i64)>, i64);

fn file(drawn: &[Drawn]) -> String {
    let mut text = "[kernel]\nname = \"k\"\n[target.cpu]\nsource = \"k.c\"\n".to_owned();
    for (place, (tunables, bound)) in drawn.iter().enumerate() {
        text += &format!("[target.cpu.implementation.i{place}.tunables]\n");
        for (name, (from, to)) in tunables {
            text += &format!("T{name} = {{ from = {from}, to = {to} }}\n");
        }
        if !tunables.is_empty() {
            let sum = tunables.keys().map(|name| format!("T{name}")).collect::<Vec<_>>().join(" + ");
            text += &format!("[target.cpu.implementation.i{place}.constraints]\nsum{place} = \"{sum} <= {bound}\"\n");
        }
    }
    text
}

fn read(text: &str) -> KernelSpec {
    parse("k.toml", text.as_bytes()).unwrap_or_else(|reports| panic!("{}\n{text}", reports[0])).0
}

/// The configurations of all, the plain way.
fn listed(drawn: &[Drawn]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (place, (tunables, bound)) in drawn.iter().enumerate() {
        let mut rows: Vec<(String, i64)> = vec![(format!("{IMPLEMENTATION}=i{place}"), 0)];
        for (name, (from, to)) in tunables {
            let with = |(text, sum): &(String, i64)| {
                (*from..=*to).map(|v| (format!("{text},T{name}={v}"), sum + v)).collect::<Vec<_>>()
            };
            rows = rows.iter().flat_map(with).collect();
        }
        all.extend(rows.into_iter().filter(|(_, sum)| tunables.is_empty() || sum <= bound).map(|(text, _)| text));
    }
    all
}

fn implementation() -> impl Strategy<Value = Drawn> {
    let tunable = (0i64..5, 0i64..5).prop_map(|(from, more)| (from, from + more));
    (prop::collection::btree_map(0usize..4, tunable, 0..4), 0i64..20)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_union_is_what_listing_gives(drawn in prop::collection::vec(implementation(), 1..4)) {
        let spec = read(&file(&drawn));
        let selection = spec.select(Choice::default()).unwrap();
        let problem = Problem::from_selection(&selection).unwrap();
        let space = Space::build(&problem).unwrap();
        let expected = listed(&drawn);
        prop_assert_eq!(space.len(), expected.len() as u128);
        let raw: i64 = drawn.iter().map(|(t, _)| t.values().map(|(from, to)| to - from + 1).product::<i64>()).sum();
        prop_assert_eq!(problem.raw(), Some(raw as u128));

        let mut found = BTreeSet::new();
        for (index, point) in space.iter().enumerate() {
            let config = space.config(&point);
            prop_assert_eq!(space.index(&point), Some(index as u128));
            prop_assert_eq!(space.point(index as u128), Some(point.clone()));
            prop_assert_eq!(space.locate(&config), Some(point.clone()));
            prop_assert!(problem.broken(&config).is_none());
            // Nothing of another implementation.
            let own = selection.implementation(&config);
            let names: Vec<&str> = config.iter().map(|(name, _)| &**name).filter(|n| *n != IMPLEMENTATION).collect();
            let tunables: Vec<&str> = own.tunables.iter().map(|t| &*t.name).collect();
            prop_assert_eq!(names, tunables);
            let recorded = selection.recorded_config(&config.to_string());
            prop_assert_eq!(recorded.as_ref(), Some(&config));
            found.insert(config.to_string());
        }
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(space.point(space.len()), None);

        // A point with a value where its implementation has no tunable is none.
        for point in space.iter().take(20) {
            for at in 1..point.len() {
                let mut other = point.clone();
                other[at] = (other[at] + 1) % space.dimensions()[at].values.len() as u32;
                // Whatever is a point of the space is that of its own configuration, and of no other.
                if space.contains(&other) {
                    prop_assert_eq!(space.locate(&space.config(&other)), Some(other.clone()));
                }
                space.settle(&mut other);
                prop_assert_eq!(other[0], point[0]);
            }
            for near in space.neighbours(&point, Step::Any) {
                prop_assert!(space.contains(&near) && near[0] == point[0] && near != point);
            }
        }

        for count in [1, 3, 7] {
            for points in [space.latin(count, 1), space.sample(count, 1)] {
                let distinct: HashSet<_> = points.iter().collect();
                prop_assert_eq!(distinct.len(), points.len());
                prop_assert_eq!(points.len(), count.min(expected.len()));
                prop_assert!(points.iter().all(|point| space.contains(point)));
            }
        }
    }
}

const TWO: &str = "[kernel]\nname = \"k\"\n[target.cpu]\nsource = \"k.c\"\n\
    [target.cpu.implementation.small.tunables]\nX = [1, 2]\n\
    [target.cpu.implementation.large.tunables]\nX = [2, 4]\nY = { from = 1, to = 1000 }\nWAY = [\"a\", \"b\"]\n";

fn space(text: &str) -> Space {
    let spec = read(text);
    Space::build(&Problem::from_selection(&spec.select(Choice::default()).unwrap()).unwrap()).unwrap()
}

#[test]
fn seeds_are_spread_over_implementations_whatever_their_sizes() {
    let space = space(TWO);
    assert_eq!(space.len(), 2 + 4000);
    assert_eq!(space.implementations(), [("small", 2), ("large", 4000)]);
    let names = |points: Vec<kiln_space::Point>| -> Vec<String> {
        points.iter().map(|point| space.config(point).implementation().unwrap().to_string()).collect()
    };
    assert_eq!(names(space.latin(6, 3)), ["small", "large", "small", "large", "large", "large"]);
    assert_eq!(space.samples(8, 3).iter().map(Vec::len).collect::<Vec<_>>(), [2, 4]);
}

#[test]
fn a_value_of_another_implementation_is_not_one_of_this() {
    let space = space(TWO);
    let x = space.dimensions().iter().find(|d| &*d.name == "X").unwrap();
    assert_eq!(x.values, [Value::Int(1), Value::Int(2), Value::Int(4)]);
    let locate = |text: &str| space.locate(&Config::parse(text).unwrap());
    assert!(locate("implementation=small,X=2").is_some_and(|point| space.contains(&point)));
    assert_eq!(locate("implementation=small,X=4"), None);
    assert_eq!(
        (locate("X=2"), locate("implementation=none,X=2"), locate("implementation=large,X=2")),
        (None, None, None)
    );
}

#[test]
fn an_implementation_without_valid_configurations_leaves_the_others() {
    let none = format!("{TWO}[target.cpu.implementation.small.constraints]\nnever = \"X > 9\"\n");
    let space = space(&none);
    assert_eq!((space.len(), space.implementations()), (4000, vec![("large", 4000)]));
    let first = space.point(0).unwrap();
    assert_eq!(space.index(&first), Some(0));
    assert_eq!(space.config(&first).implementation(), Some("large"));
}
