//! Searching on recorded spaces: what a recording is, what an evaluation costs, and what the figures mean.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use kiln_core::Value;
use kiln_search::{Curve, Kind, Knowledge, Plan, Recorded, RecordedTime, Unrecorded, repeat, score, shares, simulate};

use crate::spaces::hashed;

fn answer(time: f64) -> RecordedTime {
    RecordedTime { time: Some(time), samples: vec![0.5 * time, time, 1.5 * time] }
}

/// Sixty configurations, a fifth of which fail, in no order.
fn recorded() -> Recorded {
    let names: Vec<Arc<str>> = vec!["TILE".into(), "MODE".into()];
    let mut rows = Vec::new();
    for tile in (1..=20).rev() {
        for mode in ["row", "column", "tile"] {
            let word = [tile as u32, mode.len() as u32];
            let fails = hashed(1, &word) < 0.2;
            let answer = if fails { RecordedTime::default() } else { answer(1.0 + hashed(2, &word)) };
            rows.push((vec![Value::Int(16 * tile), mode.into()], answer));
        }
    }
    Recorded::new(&names, rows).unwrap()
}

fn plan(kind: Kind, budget: usize, noise: bool) -> Plan {
    Plan { kind, knowledge: Knowledge::default(), budget, noise }
}

#[test]
fn a_recording_is_a_space_of_exactly_its_rows() {
    let recorded = recorded();
    assert_eq!(recorded.space().len(), 60);
    let times: Vec<f64> = recorded.answers().iter().filter_map(|answer| answer.time).collect();
    assert_eq!(recorded.optimum(), times.iter().copied().fold(f64::INFINITY, f64::min));
    for (point, answer) in recorded.space().iter().zip(recorded.answers()) {
        assert_eq!(recorded.answer(&point), Some(answer));
    }
    let failed = recorded.answers().iter().filter(|answer| answer.time.is_none()).count();
    assert!((5..20).contains(&failed), "{failed}");
    let prior = recorded.prior("itself");
    assert_eq!(prior.trials.len(), 60);
    assert!(prior.trials.iter().all(|(config, _)| config.get("TILE").is_some()));
}

#[test]
fn of_equal_rows_the_last_counts_and_nonsense_is_a_failure() {
    let names: Vec<Arc<str>> = vec!["A".into()];
    let row = |value: i64, time: f64| (vec![Value::Int(value)], answer(time));
    let recorded = Recorded::new(&names, vec![row(1, 5.0), row(2, -3.0), row(1, 4.0), row(3, f64::NAN)]).unwrap();
    assert_eq!((recorded.space().len(), recorded.optimum()), (3, 4.0));
    assert_eq!(recorded.answers().iter().filter(|answer| answer.time.is_none()).count(), 2);
    assert_eq!(Recorded::new(&names, vec![row(1, -1.0)]).unwrap_err(), Unrecorded::NoTimes);
    assert_eq!(Recorded::new(&names, vec![]).unwrap_err(), Unrecorded::NoTimes);
    assert_eq!(
        Recorded::new(&names, vec![row(1, 1.0), (vec![], answer(1.0))]).unwrap_err(),
        Unrecorded::Ragged { row: 1 }
    );
}

#[test]
fn every_strategy_finds_the_optimum_of_a_space_it_uses_up() {
    let recorded = recorded();
    let failures = recorded.answers().iter().filter(|answer| answer.time.is_none()).count();
    for kind in Kind::ALL {
        let curve = simulate(&recorded, &plan(*kind, 70, false), 5);
        assert_eq!(curve.bests.len(), 70, "{kind}");
        assert!(curve.bests.windows(2).all(|pair| pair[1] <= pair[0]), "{kind}");
        assert_eq!(curve.bests[59], recorded.optimum(), "{kind}");
        assert_eq!(curve.failed, failures, "{kind}: each failure costs one evaluation, once");
    }
}

#[test]
fn repeats_are_the_same_on_any_number_of_threads() {
    let recorded = recorded();
    let bests = |threads| -> Vec<Vec<f64>> {
        let curves = repeat(&recorded, &plan(Kind::Auto, 30, true), 7, 6, threads, &|_| true).unwrap();
        curves.into_iter().map(|curve| curve.bests).collect()
    };
    let one = bests(1);
    assert_eq!(one.len(), 6);
    assert_eq!(one, bests(3));
    assert_ne!(one[0], one[1], "seeds differ");
    assert_eq!(one[1], simulate(&recorded, &plan(Kind::Auto, 30, true), 8).bests);
}

#[test]
fn with_noise_a_lucky_sample_counts_for_what_the_configuration_is() {
    let recorded = recorded();
    let noisy = simulate(&recorded, &plan(Kind::Random, 60, true), 3);
    // Times are recorded ones, and the last is not the optimum: the luckiest sample came from another configuration.
    let times: Vec<f64> = recorded.answers().iter().filter_map(|answer| answer.time).collect();
    assert!(noisy.bests.iter().all(|best| best.is_infinite() || times.contains(best)));
    assert!(noisy.bests[59] > recorded.optimum());
}

#[test]
fn figures_are_those_computed_by_hand() {
    let curve = |bests: &[f64]| Curve { bests: bests.to_vec(), failed: 0, thinking: 0.0 };
    let curves = [curve(&[f64::INFINITY, 4.0]), curve(&[2.0, 2.0]), curve(&[4.0, 1.0])];
    assert_eq!(shares(&curves, 1.0, 1), [0.0, 0.5, 0.25]);
    assert_eq!(shares(&curves, 1.0, 0), [0.0; 3]);
    let last = score(&curves, 1.0, 2);
    assert!((last.mean - 7.0 / 12.0).abs() < 1e-12);
    // Of 0.25, 0.5 and 1: the deviation is 0.38188, by the root of three.
    assert!((last.se - 0.220_479).abs() < 1e-5, "{}", last.se);
    assert_eq!((last.p10, last.budget), (0.25, 2));
}
