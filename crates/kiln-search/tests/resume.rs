//! A study on a space too large to list goes on after a crash as if nothing had happened: a fresh strategy that is told what
//! was recorded, in any order, proposes what the one before would have. Properties on small spaces are in `properties.rs`.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use kiln_search::{Kind, Observation, Strategy, strategy};
use kiln_space::{Point, Space};

use crate::spaces::{fixture, hashed};

fn outcome(point: &Point) -> Observation {
    let cost = 1.0 + point.iter().map(|v| f64::from(v.abs_diff(2))).sum::<f64>() + hashed(1, point);
    if point[0] + point[1] > 40 { Observation::Failed } else { Observation::Time(cost) }
}

/// A study of so many trials, one at a time, and what was recorded.
fn study(space: &Arc<Space>, kind: Kind, trials: usize) -> (Box<dyn Strategy>, Vec<Point>) {
    let mut search = strategy(kind, space.clone(), 4);
    let mut record = Vec::new();
    for _ in 0..trials {
        for point in search.ask(1) {
            search.tell(&point, outcome(&point));
            record.push(point);
        }
    }
    (search, record)
}

#[test]
fn recorded_trials_told_in_any_order_give_the_same_next_proposals() {
    let space = fixture("hotspot");
    for kind in Kind::ALL {
        for trials in [0, 5, 12, 13, 60] {
            let (mut search, record) = study(&space, *kind, trials);
            let next = search.ask(6);
            assert_eq!(next.len(), 6);
            for order in 0..4 {
                let mut record = record.clone();
                match order {
                    0 => {}
                    1 => record.reverse(),
                    _ => record.sort_by(|a, b| hashed(order, a).total_cmp(&hashed(order, b))),
                }
                let mut fresh = strategy(*kind, space.clone(), 4);
                record.iter().for_each(|point| fresh.tell(point, outcome(point)));
                assert_eq!(fresh.ask(6), next, "{kind} after {trials}, order {order}");
            }
        }
    }
}

#[test]
fn asking_for_two_is_asking_for_one_twice() {
    let space = fixture("hotspot");
    for kind in Kind::ALL {
        for trials in [0, 11, 12, 40] {
            let (mut together, _) = study(&space, *kind, trials);
            let (mut apart, _) = study(&space, *kind, trials);
            let two = together.ask(2);
            assert_eq!(two, [apart.ask(1), apart.ask(1)].concat(), "{kind} after {trials}");
            assert!(apart.ask(0).is_empty());
            // Answered in either order, the next is the same.
            together.tell(&two[0], outcome(&two[0]));
            together.tell(&two[1], outcome(&two[1]));
            apart.tell(&two[1], outcome(&two[1]));
            apart.tell(&two[0], outcome(&two[0]));
            assert_eq!(together.ask(3), apart.ask(3), "{kind} after {trials}");
        }
    }
}

#[test]
fn what_is_pending_is_part_of_what_is_known() {
    let space = fixture("hotspot");
    for kind in Kind::ALL {
        let (mut search, record) = study(&space, *kind, 30);
        let out = search.ask(4);
        let mut announced = strategy(*kind, space.clone(), 4);
        // Announced before or after the rest is told, and twice: all the same.
        announced.pending(&out[3]);
        record.iter().rev().for_each(|point| announced.tell(point, outcome(point)));
        out.iter().for_each(|point| announced.pending(point));
        assert_eq!(search.ask(3), announced.ask(3), "{kind}");
        let mut forgetful = strategy(*kind, space.clone(), 4);
        record.iter().for_each(|point| forgetful.tell(point, outcome(point)));
        assert_eq!(forgetful.ask(4), out, "{kind}: without the announcement they are proposed again");
    }
}

#[test]
fn seeds_differ_and_each_gives_one_search() {
    let space = fixture("gemm");
    for kind in Kind::ALL {
        let first = |seed| strategy(*kind, space.clone(), seed).ask(30);
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
