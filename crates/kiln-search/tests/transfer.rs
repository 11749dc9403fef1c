//! Priors help where they are right and do little harm where they are wrong, whatever their shape. The kernels are planted;
//! seeds are fixed, so the outcome is too.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use kiln_core::{Config, Value};
use kiln_search::{Kind, Knowledge, Observation, Prior, strategy_with};
use kiln_space::{Point, Space};

use crate::spaces::{hashed, ints, space};

/// Tiles, threads and a switch: 5 x 5 x 6 x 4 x 2 = 1,200 configurations less those refused.
fn kernel() -> Arc<Space> {
    space(
        &[
            ("TILE_M", ints([8, 16, 32, 64, 128])),
            ("TILE_N", ints([8, 16, 32, 64, 128])),
            ("THREADS", ints([32, 64, 96, 128, 192, 256])),
            ("VECTOR", ints([1, 2, 4, 8])),
            ("SWIZZLE", vec![false.into(), true.into()]),
        ],
        &["TILE_M * TILE_N >= THREADS"],
    )
}

/// A device: how long a configuration takes there. Both prefer the same, but not quite.
fn time(device: u64, config: &Config) -> f64 {
    let number = |name: &str| match config.get(name) {
        Some(Value::Int(number)) => (*number as f64).log2(),
        Some(Value::Bool(true)) => 1.0,
        _ => 0.0,
    };
    let shift = 0.4 * device as f64;
    let tiles = (number("TILE_M") - 5.0 - shift).abs() + (number("TILE_N") + number("TILE_M") - 11.0).abs();
    let words: Vec<u32> =
        ["TILE_M", "TILE_N", "THREADS", "VECTOR", "SWIZZLE"].iter().map(|n| (10.0 * number(n)) as u32).collect();
    let slow = 0.4 * tiles
        + 0.3 * (number("THREADS") - 7.0).abs()
        + 0.2 * (2.0 - number("VECTOR")).abs()
        + 0.3 * (1.0 - number("SWIZZLE"));
    (slow + 0.15 * hashed(device, &words)).exp()
}

fn prior(space: &Space, keep: impl Fn(Config) -> Config) -> Prior {
    let trials = space.iter().map(|point| space.config(&point)).map(|config| {
        let observation = Observation::Time(1000.0 * time(1, &config));
        (keep(config), observation)
    });
    Prior { label: "device 1".into(), trials: trials.collect() }
}

/// The mean share of the optimum over 15 seeds after so many evaluations.
fn found(space: &Arc<Space>, priors: &[Prior], evaluations: usize) -> f64 {
    let cost = |point: &Point| time(0, &space.config(point));
    let optimum = space.iter().map(|point| cost(&point)).fold(f64::INFINITY, f64::min);
    let knowledge = Knowledge { priors: priors.iter().cloned().map(Arc::new).collect(), ..Knowledge::default() };
    let run = |seed: u64| {
        let mut search = strategy_with(Kind::Auto, space.clone(), seed, &knowledge);
        let mut best = f64::INFINITY;
        for _ in 0..evaluations {
            let point = search.ask(1).pop().unwrap();
            best = best.min(cost(&point));
            search.tell(&point, Observation::Time(cost(&point)));
        }
        optimum / best
    };
    (0..15).map(run).sum::<f64>() / 15.0
}

#[test]
fn a_prior_of_another_device_helps_from_the_first_evaluations() {
    let space = kernel();
    let whole = prior(&space, |config| config);
    // A study knows a tenth of its space; the rest is guessed from that.
    let study = Prior { trials: whole.trials.iter().step_by(10).cloned().collect(), ..whole.clone() };
    for prior in [whole, study] {
        let (without, with) = (found(&space, &[], 6), found(&space, std::slice::from_ref(&prior), 6));
        println!("{} trials: {without:.3} without, {with:.3} with", prior.trials.len());
        assert!(with > without + 0.1, "{without} {with}");
    }
}

#[test]
fn an_inverted_prior_is_found_out() {
    let space = kernel();
    let inverted = prior(&space, |config| config).inverted();
    let (without, with) = (found(&space, &[], 40), found(&space, &[inverted], 40));
    println!("{without:.3} without, {with:.3} with");
    assert!(with > without - 0.03, "{without} {with}");
}

#[test]
fn a_prior_of_another_shape_still_helps() {
    let space = kernel();
    // Without one tunable, with one that is not ours, and with values that are not.
    let other = prior(&space, |config| {
        let kept = config.iter().filter(|(name, _)| &***name != "SWIZZLE").map(|(n, v)| (n.clone(), v.clone()));
        let entries = kept.map(|(n, v)| if v == Value::Int(192) { (n, Value::Int(384)) } else { (n, v) });
        Config::new(entries.chain([("STAGES".into(), Value::Int(3))]).collect())
    });
    let (without, with) = (found(&space, &[], 6), found(&space, &[other], 6));
    println!("{without:.3} without, {with:.3} with");
    assert!(with > without + 0.05, "{without} {with}");
}

#[test]
fn a_prior_that_has_nothing_in_common_changes_nothing() {
    let space = kernel();
    let foreign = Config::new(vec![("OTHER".into(), Value::Int(1))]);
    let empty = Prior::default();
    let strange = Prior { label: "another kernel".into(), trials: vec![(foreign, Observation::Time(1.0)); 3] };
    let failed = Prior {
        label: "all failed".into(),
        trials: prior(&space, |c| c).trials.into_iter().map(|(c, _)| (c, Observation::Failed)).collect(),
    };
    let first = |priors: Vec<Prior>| {
        let knowledge = Knowledge { priors: priors.into_iter().map(Arc::new).collect(), ..Knowledge::default() };
        strategy_with(Kind::Auto, space.clone(), 3, &knowledge).ask(20)
    };
    assert_eq!(first(vec![]), first(vec![empty, strange, failed]));
}
