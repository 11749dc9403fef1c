//! The default strategy: what it starts with, what it finds, and when it says that there is little left. The kernels are
//! planted; seeds are fixed, so the outcome is too.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use kiln_search::{Kind, Knowledge, Observation, Strategy, strategy, strategy_with};
use kiln_space::{Point, Space};

use crate::spaces::{hashed, ints, space};

/// 16 x 6 x 6 x 2 x 2 configurations, like a stencil's.
fn stencil() -> Arc<Space> {
    let powers = || ints((0..6).map(|power| 1 << power));
    space(
        &[
            ("BLOCK_X", ints((1..=16).map(|times| 16 * times))),
            ("BLOCK_Y", powers()),
            ("TILE", powers()),
            ("SHARED", ints([0, 1])),
            ("CACHED", ints([0, 1])),
        ],
        &["BLOCK_X * BLOCK_Y <= 1024"],
    )
}

/// Two valleys: without shared memory the best lies at narrow blocks and is hard to find; with it there is a wide valley
/// that ends a fifth higher. Widths that are no power of two are hopeless, and large tiles do not run.
fn observe(space: &Space, point: &Point) -> Observation {
    let config = space.config(point);
    let number = |name: &str| match config.get(name) {
        Some(kiln_core::Value::Int(number)) => *number,
        _ => 0,
    };
    let (x, y, tile) = (number("BLOCK_X"), number("BLOCK_Y"), number("TILE"));
    if tile * y > 256 {
        return Observation::Failed;
    }
    let log = |number: i64| (number as f64).log2();
    let odd = if x.count_ones() == 1 { 0.0 } else { 1.5 };
    let slow = if number("SHARED") == 1 {
        0.2 + 0.1 * (log(y) - 3.0).abs() + 0.1 * (log(tile) - 1.0).abs()
    } else {
        0.4 * (log(y) - 0.0) + 0.3 * (log(tile) - 2.0).abs()
    };
    let cached = 0.1 * (1 - number("CACHED")) as f64;
    Observation::Time((slow + odd + cached + 0.05 * (log(x) - 7.0).abs() + 0.02 * hashed(3, point)).exp())
}

fn run(space: &Arc<Space>, search: &mut dyn Strategy, evaluations: usize) -> (f64, usize) {
    let (mut best, mut failed) = (f64::INFINITY, 0);
    for _ in 0..evaluations {
        let point = search.ask(1).pop().unwrap();
        let observation = observe(space, &point);
        best = best.min(observation.cost().unwrap_or(f64::INFINITY));
        failed += usize::from(observation.cost().is_none());
        search.tell(&point, observation);
    }
    (best, failed)
}

/// The mean share of the optimum over 15 seeds, and how many evaluations failed in all.
fn found(space: &Arc<Space>, kind: Kind, evaluations: usize) -> (f64, usize) {
    let optimum = space.iter().filter_map(|point| observe(space, &point).cost()).fold(f64::INFINITY, f64::min);
    let runs = (0..15).map(|seed| run(space, &mut *strategy(kind, space.clone(), seed), evaluations));
    let (shares, failed): (Vec<f64>, Vec<usize>) = runs.map(|(best, failed)| (optimum / best, failed)).unzip();
    (shares.iter().sum::<f64>() / 15.0, failed.iter().sum())
}

#[test]
fn auto_beats_chance_and_tpe_where_a_wide_valley_misleads() {
    let space = stencil();
    let (auto, failed) = found(&space, Kind::Auto, 80);
    let (chance, failed_by_chance) = found(&space, Kind::Random, 80);
    println!("auto {auto:.3}, {failed} failed; random {chance:.3}, {failed_by_chance} failed");
    let (tpe, _) = found(&space, Kind::Tpe, 80);
    assert!(auto > tpe + 0.01, "{auto} {tpe}");
    assert!(auto > chance + 0.1, "{auto} {chance}");
    assert!(failed < failed_by_chance, "{failed} of auto failed, {failed_by_chance} by chance");
}

#[test]
fn every_other_strategy_beats_chance_too() {
    let space = stencil();
    let (chance, _) = found(&space, Kind::Random, 80);
    for kind in [Kind::Tpe, Kind::Genetic, Kind::Tabu, Kind::Annealing, Kind::Forest] {
        let (share, _) = found(&space, kind, 80);
        println!("{kind} {share:.3}, random {chance:.3}");
        assert!(share > chance + 0.01, "{kind}: {share}, random {chance}");
    }
}

#[test]
fn the_default_comes_first_and_what_looks_well_soon() {
    let space = stencil();
    let default = space.point(77).unwrap();
    let knowledge = Knowledge { default: Some(default.clone()), ..Knowledge::default() };
    let mut search = strategy_with(Kind::Auto, space.clone(), 1, &knowledge);
    assert_eq!(search.ask(1), std::slice::from_ref(&default));
    assert_ne!(search.ask(1), [default]);
    let invalid = Knowledge { default: Some(Box::new([99, 0, 0, 0, 0])), ..Knowledge::default() };
    assert_eq!(
        strategy_with(Kind::Auto, space.clone(), 1, &invalid).ask(5),
        strategy(Kind::Auto, space.clone(), 1).ask(5),
        "a default that is none is passed over"
    );
    // A score that likes small tiles, and says nothing of the rest.
    let score = |point: &Point| (point[2] < 3).then(|| 3.0 - f64::from(point[2]));
    let liking = Knowledge { score: Some(Arc::new(score)), ..Knowledge::default() };
    let small = |points: Vec<Point>| points.iter().filter(|point| point[2] == 0).count();
    let count = |knowledge: &Knowledge| -> usize {
        (0..10).map(|seed| small(strategy_with(Kind::Auto, space.clone(), seed, knowledge).ask(6))).sum()
    };
    let (with, without) = (count(&liking), count(&Knowledge::default()));
    assert!(with > without + 5, "{with} with the score, {without} without");
}

#[test]
fn the_start_prefers_round_numbers_and_spreads() {
    let space = stencil();
    let (mut round, mut widths) = (0, 0);
    for seed in 0..10 {
        let points = strategy(Kind::Auto, space.clone(), seed).ask(8);
        let width = |point: &Point| 16 * (point[0] + 1);
        round += points.iter().filter(|point| width(point).is_power_of_two()).count();
        widths += points.iter().map(width).collect::<std::collections::HashSet<_>>().len();
    }
    // Five of sixteen widths are powers of two.
    assert!(round > 60, "{round} of 80");
    assert!(widths > 30, "{widths} distinct widths in ten starts of eight");
}

#[test]
fn the_expected_improvement_falls_as_the_search_goes_on() {
    let space = stencil();
    for kind in [Kind::Auto, Kind::Forest] {
        let mut search = strategy(kind, space.clone(), 2);
        assert_eq!(search.expected_improvement(), None);
        run(&space, &mut *search, 20);
        let early = search.expected_improvement().unwrap();
        run(&space, &mut *search, 180);
        let late = search.expected_improvement().unwrap();
        println!("{kind}: {early:.4}, then {late:.4}");
        assert!((0.0..1.0).contains(&early) && late >= 0.0);
        assert!(late < 0.5 * early, "{kind}: {early} {late}");
    }
    assert_eq!(strategy(Kind::Tpe, space.clone(), 1).expected_improvement(), None);
}

#[test]
fn the_same_trials_expect_the_same_in_any_order() {
    let space = stencil();
    let points = space.sample(40, 5);
    let told = |points: &mut dyn Iterator<Item = &Point>| {
        let mut search = strategy(Kind::Auto, space.clone(), 9);
        points.for_each(|point| search.tell(point, observe(&space, point)));
        search.expected_improvement().unwrap()
    };
    assert_eq!(told(&mut points.iter()), told(&mut points.iter().rev()));
}
