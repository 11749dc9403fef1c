//! What every strategy promises, on random small constrained spaces: proposals are valid and new, a used-up space ends the
//! search, and the next proposal depends on what is known alone, so that a resumed study goes on where it was.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashSet;
use std::sync::Arc;

use kiln_core::Value;
use kiln_search::{Kind, Knowledge, Observation, Prior, SearchSettings, strategy_with};
use kiln_space::{Point, Space};
use proptest::prelude::{Just, ProptestConfig, Strategy, TestCaseError, any, prop_assert, prop_assert_eq, prop_oneof};
use proptest::proptest;

use crate::spaces::{hashed, ints, space};

fn values() -> impl Strategy<Value = Vec<Value>> {
    prop_oneof![
        4 => proptest::collection::btree_set(0i64..70, 1..7).prop_map(ints),
        1 => Just(ints([64, 16, 32])),
        1 => Just(vec![false.into(), true.into()]),
        1 => Just(vec!["row".into(), "column".into(), "tile".into()]),
        1 => Just(vec![0.5.into(), 1.5.into(), 2.0.into()]),
    ]
}

/// At most a few hundred configurations; sometimes none.
fn small_space() -> impl Strategy<Value = Arc<Space>> {
    const RULES: [&str; 6] = ["A + B <= 60", "A != B", "A % 2 == 0 or C > 0", "B >= C", "A * B % 4 == 0", "C < 40"];
    let numbers = || proptest::collection::btree_set(0i64..70, 1..7).prop_map(ints);
    let rules = proptest::sample::subsequence(RULES.to_vec(), 0..4);
    (numbers(), numbers(), numbers(), values(), rules)
        .prop_map(|(a, b, c, d, rules)| space(&[("A", a), ("B", b), ("C", c), ("D", d)], &rules))
}

/// A strategy that thinks little, so that thousands of its proposals can be looked at; it knows a prior when asked to.
fn search(kind: Kind, space: &Arc<Space>, seed: u64, prior: bool) -> Box<dyn kiln_search::Strategy> {
    let settings = SearchSettings { trees: 3.0, draws: 8.0, jumps: 8.0, centres: 2.0, ..SearchSettings::default() };
    let mut knowledge = Knowledge { settings, ..Knowledge::default() };
    if prior {
        let told = |point: &Point| (space.config(point), outcome(point, 5));
        let trials = space.sample(30, 1).iter().map(told).collect();
        knowledge.priors = vec![Arc::new(Prior { label: "another".into(), trials })];
        knowledge.default = space.point(seed as u128 % space.len().max(1));
        knowledge.score = Some(Arc::new(|point| (point[0] > 0).then_some(f64::from(point[0]))));
    }
    strategy_with(kind, space.clone(), seed, &knowledge)
}

/// What a configuration costs; one in `fail` fails.
fn outcome(point: &Point, fail: u32) -> Observation {
    let cost = hashed(1, point) + point.iter().map(|v| f64::from(*v)).sum::<f64>() + 0.1;
    if fail > 0 && hashed(2, point) < 1.0 / f64::from(fail) { Observation::Failed } else { Observation::Time(cost) }
}

/// Searches to the end in batches, checking every proposal; gives them in order.
fn exhaust(space: &Arc<Space>, kind: Kind, seed: u64, batch: usize, fail: u32) -> Result<Vec<Point>, TestCaseError> {
    let mut search = search(kind, space, seed, fail % 2 == 1);
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    loop {
        let points = search.ask(batch);
        prop_assert!(points.len() <= batch);
        if points.is_empty() {
            break;
        }
        for point in points {
            prop_assert!(space.contains(&point), "invalid");
            prop_assert!(seen.insert(point.clone()), "repeated");
            search.tell(&point, outcome(&point, fail));
            all.push(point);
        }
    }
    prop_assert_eq!(all.len() as u128, space.len());
    prop_assert!(search.ask(3).is_empty());
    Ok(all)
}

/// A space in which nothing can be chosen, where a model has nothing to learn from.
#[test]
fn a_single_configuration_is_proposed_by_every_strategy() {
    for kind in Kind::ALL {
        for fail in [0, 1] {
            let space = space(&[("A", ints([3])), ("B", ints([8]))], &[]);
            assert_eq!(exhaust(&space, *kind, 1, 2, fail).unwrap().len(), 1, "{kind}");
        }
    }
    // Two that nothing but a tunable of two words tells apart.
    let space = space(&[("A", ints([3])), ("D", vec!["row".into(), "column".into()])], &[]);
    assert_eq!(exhaust(&space, Kind::Forest, 1, 1, 0).unwrap().len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_configuration_is_proposed_once_and_then_none(
        space in small_space(), seed in any::<u64>(), batch in 1usize..7, fail in 0u32..4,
    ) {
        for kind in Kind::ALL {
            let first = exhaust(&space, *kind, seed, batch, fail)?;
            prop_assert_eq!(first, exhaust(&space, *kind, seed, batch, fail)?);
        }
    }

    #[test]
    fn a_search_where_all_fails_ends_too(space in small_space(), seed in any::<u64>()) {
        for kind in Kind::ALL {
            exhaust(&space, *kind, seed, 2, 1)?;
        }
    }

    /// An interrupted study: batches asked for, answers in another order, some still out, some from elsewhere. A fresh
    /// strategy that is told the same in yet another order, and that never asked, goes on the same.
    #[test]
    fn a_resumed_search_goes_on_as_the_uninterrupted_one(
        space in small_space(), seed in any::<u64>(), steps in 0usize..40, batch in 1usize..5, shuffle in any::<u64>(),
        fail in 0u32..4,
    ) {
        for kind in Kind::ALL {
            let make = || search(*kind, &space, seed, fail % 2 == 1);
            let mut search = make();
            let (mut out, mut told): (Vec<Point>, Vec<Point>) = (vec![], vec![]);
            for step in 0..steps as u32 {
                if out.len() < batch {
                    out.extend(search.ask(batch));
                }
                if step % 7 == 3 && let Some(foreign) = space.point(u128::from(step) * 31 % space.len().max(1)) {
                    out.retain(|p| *p != foreign);
                    search.tell(&foreign, outcome(&foreign, fail));
                    told.push(foreign);
                }
                if !out.is_empty() {
                    let point = out.swap_remove((hashed(shuffle, &[step]) * out.len() as f64) as usize);
                    search.tell(&point, outcome(&point, fail));
                    told.push(point);
                }
            }
            told.sort_by(|a, b| hashed(shuffle, a).total_cmp(&hashed(shuffle, b)));
            out.reverse();
            let (mut resumed, mut one_by_one) = (make(), make());
            for again in [&mut resumed, &mut one_by_one] {
                told.iter().for_each(|p| again.tell(p, outcome(p, fail)));
                out.iter().for_each(|p| again.pending(p));
            }
            let next = search.ask(4);
            prop_assert_eq!(&next, &resumed.ask(4), "resumed");
            let singles: Vec<Point> = (0..4).flat_map(|_| one_by_one.ask(1)).collect();
            prop_assert_eq!(next, singles, "one by one");
        }
    }

    #[test]
    fn what_is_not_in_the_space_changes_nothing(space in small_space(), seed in any::<u64>()) {
        for kind in Kind::ALL {
            let mut plain = search(*kind, &space, seed, true);
            let mut troubled = search(*kind, &space, seed, true);
            let foreign: [Point; 3] = [Box::new([]), Box::new([0; 9]), Box::new([99, 99, 99, 99])];
            for point in foreign {
                troubled.tell(&point, Observation::Time(1e-9));
                troubled.pending(&point);
            }
            prop_assert_eq!(plain.ask(30), troubled.ask(30));
        }
    }
}
