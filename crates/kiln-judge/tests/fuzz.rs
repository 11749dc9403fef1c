//! Shrinking: it ends, what it gives still fails, and nothing of it is larger than the start. For the ways in which kernels
//! are usually wrong about shapes it finds the smallest one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::convert::Infallible;

use kiln_core::{Config, Value};
use kiln_judge::{Admits, Distribution, Extent, FuzzCase, Room, Shape, Shrinker, Shrunk, shrink};
use proptest::prelude::*;

const HIGH: i64 = 5000;

fn room(sides: usize) -> Room {
    let mut dims: Vec<_> = (0..sides).map(|i| (format!("D{i}").into(), Extent::Whole(1, HIGH))).collect();
    dims.push(("FLAG".into(), Extent::Listed(vec![Value::Int(0), Value::Int(1)])));
    Room { dims, bases: vec![], scalars: vec![] }
}

fn start(sizes: &[i64], inputs: Distribution, config: &str) -> FuzzCase {
    let mut shape: Shape = (0..sizes.len()).map(|i| (format!("D{i}").into(), Value::Int(sizes[i]))).collect();
    shape.push(("FLAG".into(), Value::Int(1)));
    FuzzCase { shape, scalars: Vec::new(), inputs, seed: 77, config: Config::parse(config).unwrap() }
}

fn sizes(case: &FuzzCase) -> Vec<i64> {
    sides(&case.shape)
}

fn sides(shape: &Shape) -> Vec<i64> {
    shape.iter().map(|(_, v)| if let Value::Int(v) = v { *v } else { panic!("an integer") }).collect()
}

/// Shrinks with tiles as the configuration says, and counts what was asked.
fn shrunk(start: &FuzzCase, tries: usize, fails: impl Fn(&FuzzCase) -> bool) -> (Shrunk, usize) {
    shrunk_under(start, tries, &|_, _| true, fails)
}

/// The same where only some shapes are admitted.
fn shrunk_under(
    start: &FuzzCase,
    tries: usize,
    admits: Admits<'_>,
    fails: impl Fn(&FuzzCase) -> bool,
) -> (Shrunk, usize) {
    let room = room(start.shape.len() - 1);
    let tiles = |config: &Config, _: &Shape| match config.get("BLOCK") {
        Some(Value::Int(block)) => vec![*block],
        _ => vec![],
    };
    let default = Config::parse("BLOCK=64,WAY=1").unwrap();
    let mut asked = 0;
    let how = Shrinker { room: &room, default: Some(&default), signature: &|_, _| None, tiles: &tiles, admits, tries };
    let (found, error) = shrink(start.clone(), &how, |case| {
        asked += 1;
        assert!(admits(&case.shape, &case.config), "{case} is excluded");
        Ok::<bool, Infallible>(fails(case))
    });
    assert!(error.is_none());
    (found, asked)
}

#[test]
fn the_second_tile_is_found_at_one_row_of_it() {
    let begun = start(&[517, 300], Distribution::Spike, "BLOCK=32,WAY=2");
    let (found, _) = shrunk(&begun, 1000, |case| sizes(case)[0] > 64);
    assert_eq!(sizes(&found.case), [65, 1, 0]);
    assert_eq!((found.case.inputs, found.case.seed), (Distribution::Constant, 0));
    assert_eq!(found.case.config.to_string(), "BLOCK=64,WAY=1");
    assert!(found.complete);
}

#[test]
fn a_remainder_of_one_row_is_found_behind_the_first_tile() {
    let begun = start(&[481, 7], Distribution::Declared, "BLOCK=48,WAY=2");
    // Only with this tile, and only where one row is left over after at least one of them.
    let (found, _) = shrunk(&begun, 1000, |case| {
        let rows = sizes(case)[0];
        case.config.get("BLOCK") == Some(&Value::Int(48)) && rows > 48 && rows % 48 == 1
    });
    assert_eq!(sizes(&found.case), [49, 1, 0]);
    assert_eq!(found.case.config.to_string(), "BLOCK=48,WAY=1");
}

#[test]
fn what_fails_only_as_a_square_stays_one_and_what_needs_its_values_keeps_them() {
    let begun = start(&[300, 300], Distribution::Large, "BLOCK=64,WAY=1");
    let (found, _) = shrunk(&begun, 1000, |case| {
        let sizes = sizes(case);
        sizes[0] == sizes[1] && sizes[0] >= 20 && case.inputs == Distribution::Large && case.seed == 77
    });
    assert_eq!(sizes(&found.case), [20, 20, 0]);
    assert_eq!((found.case.inputs, found.case.seed), (Distribution::Large, 77));
}

/// A configuration that has another tile than the default is shrunk to it, and the shape once more.
#[test]
fn a_simpler_configuration_has_a_smaller_shape() {
    let begun = start(&[999], Distribution::Declared, "BLOCK=512,WAY=1");
    let (found, _) = shrunk(&begun, 1000, |case| match case.config.get("BLOCK") {
        Some(Value::Int(block)) => sizes(case)[0] > *block,
        _ => false,
    });
    assert_eq!((sizes(&found.case), found.case.config.to_string()), (vec![65, 0], "BLOCK=64,WAY=1".into()));
}

/// Multiples of 64 only: what fails beyond two of them is found at three, not at the integer between.
#[test]
fn sizes_shrink_in_the_multiples_that_are_admitted() {
    let admits = |shape: &Shape, _: &Config| sides(shape)[0] % 64 == 0;
    let begun = start(&[4096, 300], Distribution::Declared, "BLOCK=64,WAY=1");
    let (found, asked) = shrunk_under(&begun, 1000, &admits, |case| sizes(case)[0] > 128);
    assert_eq!(sizes(&found.case), [192, 1, 0]);
    assert!(asked < 40, "{asked}");
    // A step that follows the configuration: with the default's smaller one the shape is smaller, too.
    let admits = |shape: &Shape, config: &Config| match config.get("BLOCK") {
        Some(Value::Int(block)) => sides(shape)[0] % block == 0,
        _ => false,
    };
    let begun = start(&[4096], Distribution::Declared, "BLOCK=256,WAY=1");
    let (found, _) = shrunk_under(&begun, 1000, &admits, |case| sizes(case)[0] > 70);
    assert_eq!((sizes(&found.case), found.case.config.to_string()), (vec![128, 0], "BLOCK=64,WAY=1".into()));
}

#[test]
fn tied_sides_shrink_together_or_one_after_the_other() {
    let admits = |shape: &Shape, _: &Config| sides(shape)[0] % sides(shape)[1] == 0;
    let (found, _) = shrunk_under(&start(&[96, 32], Distribution::Declared, ""), 1000, &admits, |_| true);
    assert_eq!(sizes(&found.case), [1, 1, 0]);
    let admits = |shape: &Shape, _: &Config| sides(shape)[0] == 2 * sides(shape)[1];
    let begun = start(&[640, 320], Distribution::Declared, "");
    let (found, _) = shrunk_under(&begun, 1000, &admits, |case| sizes(case)[1] > 16);
    assert_eq!(sizes(&found.case), [34, 17, 0]);
}

#[test]
fn an_error_on_the_way_keeps_what_was_found() {
    let (room, tiles) = (room(1), |_: &Config, _: &Shape| vec![]);
    let how = Shrinker {
        room: &room,
        default: None,
        signature: &|_, _| None,
        tiles: &tiles,
        admits: &|_, _| true,
        tries: 1000,
    };
    let mut left = 4;
    let (found, error) = shrink(start(&[1000], Distribution::Declared, ""), &how, |_| {
        left -= 1;
        if left == 0 { Err("stop") } else { Ok(true) }
    });
    assert_eq!((error, found.complete), (Some("stop"), false));
    assert!(sizes(&found.case)[0] < 1000);
}

/// A rule about shapes, as kernels break them.
#[derive(Debug, Clone)]
enum Rule {
    Above(usize, i64),
    Remainder(usize, i64, i64),
    Product(i64),
    Same(usize, usize),
    Bits(u64),
}

impl Rule {
    fn holds(&self, sizes: &[i64]) -> bool {
        let size = |place: &usize| sizes[*place % (sizes.len() - 1)];
        match self {
            Rule::Above(place, least) => size(place) > *least,
            Rule::Remainder(place, tile, left) => size(place) % tile == left % tile,
            Rule::Product(least) => sizes[..sizes.len() - 1].iter().product::<i64>() >= *least,
            Rule::Same(a, b) => size(a) == size(b),
            // No rule at all.
            Rule::Bits(word) => sizes.iter().fold(*word, |all, s| all.rotate_left(7) ^ *s as u64).count_ones() % 3 != 0,
        }
    }
}

fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        (0usize..3, 1..600i64).prop_map(|(place, least)| Rule::Above(place, least)),
        (0usize..3, 2..200i64, 0..200i64).prop_map(|(place, tile, left)| Rule::Remainder(place, tile, left)),
        (1..100_000i64).prop_map(Rule::Product),
        (0usize..3, 0usize..3).prop_map(|(a, b)| Rule::Same(a, b)),
        any::<u64>().prop_map(Rule::Bits),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn it_ends_still_fails_and_never_grows(
        begun in prop::collection::vec(1..HIGH, 1..4),
        rules in prop::collection::vec(rule(), 1..3),
        tries in 0usize..600,
    ) {
        let begun = start(&begun, Distribution::Mixed, "BLOCK=16,WAY=2");
        let fails = |case: &FuzzCase| rules.iter().all(|rule| rule.holds(&sizes(case)));
        prop_assume!(fails(&begun));
        let (found, asked) = shrunk(&begun, tries, fails);
        prop_assert!(fails(&found.case), "{}", found.case);
        prop_assert!(sizes(&found.case).iter().zip(sizes(&begun)).all(|(now, then)| *now <= then), "{}", found.case);
        prop_assert!(asked <= tries && asked == found.tried);
        // The same again: it depends on nothing else.
        prop_assert_eq!(shrunk(&begun, tries, fails).0, found.clone());
        // Nothing is left to do for what is complete.
        if found.complete {
            let (again, _) = shrunk(&found.case, 10_000, fails);
            prop_assert_eq!(sizes(&again.case), sizes(&found.case));
        }
    }

    /// The same where every side is a multiple of something, and at least so much.
    #[test]
    fn limits_among_multiples_are_found_exactly(
        rules in prop::collection::vec((1..130i64, 0..3i64, 0..1000i64), 1..4), more in 1..20i64,
    ) {
        let admits = |shape: &Shape, _: &Config| {
            sides(shape).iter().zip(&rules).all(|(size, (step, least, _))| size % step == 0 && *size >= step * least)
        };
        let least: Vec<i64> =
            rules.iter().map(|(step, least, limit)| (limit / step + 1).max(*least) * step).collect();
        let sizes_at: Vec<i64> = least.iter().zip(&rules).map(|(least, (step, ..))| least + more * step).collect();
        prop_assume!(sizes_at.iter().all(|size| *size <= HIGH));
        let begun = start(&sizes_at, Distribution::Declared, "BLOCK=64,WAY=1");
        let beyond = |case: &FuzzCase| sizes(case).iter().zip(&rules).all(|(size, (_, _, limit))| size > limit);
        let (found, _) = shrunk_under(&begun, 5000, &admits, beyond);
        prop_assert_eq!(&sizes(&found.case)[..least.len()], &least[..]);
    }

    /// One limit on each side, as a tile has: the smallest shape is exactly there.
    #[test]
    fn limits_are_found_exactly(limits in prop::collection::vec(0..1000i64, 1..4), more in 1..2000i64) {
        let begun = start(&limits.iter().map(|l| l + more).collect::<Vec<_>>(), Distribution::Declared, "BLOCK=64,WAY=1");
        let beyond = |case: &FuzzCase| sizes(case).iter().zip(&limits).all(|(size, limit)| size > limit);
        let (found, _) = shrunk(&begun, 5000, beyond);
        let mut least: Vec<i64> = limits.iter().map(|limit| limit + 1).collect();
        least.push(0);
        prop_assert_eq!(sizes(&found.case), least);
    }
}
