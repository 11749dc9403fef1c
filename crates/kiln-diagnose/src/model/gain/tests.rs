use super::*;
use crate::model::{Ratio, shipped_outcomes};

fn outcome(kernel: &str, cause: &str, promised: f64, measured: f64) -> Outcome {
    Outcome {
        kernel: kernel.into(),
        workload: String::new(),
        chip: "NVIDIA H200".into(),
        cause: cause.into(),
        fix: None,
        promised: Some(Ratio::of(promised)),
        measured: Ratio::of(measured),
        command: None,
        source: None,
    }
}

fn asked<'a>(promised: f64, cause: &'a str, kernel: Option<&'a str>) -> Asked<'a> {
    Asked { promised, cause, fix: None, kernel, chip: Some("NVIDIA H200") }
}

#[test]
fn without_outcomes_the_promise_is_expected() {
    let found = GainModel::fit(&[]).expect(&asked(4.0, "small_grid", None));
    assert!((found.speedup - 4.0).abs() < 1e-9 && found.outcomes == 0, "{found:?}");
    assert!(found.low > 1.5 && found.low < 3.0 && found.high > 5.0, "{found:?}");
    // The doubt grows with the promise.
    let small = GainModel::fit(&[]).expect(&asked(1.1, "small_grid", None));
    assert!(small.high / small.low < found.high / found.low, "{small:?}");
}

#[test]
fn outcomes_of_a_cause_move_it_more_than_others() {
    let mut all: Vec<Outcome> =
        (0..8).map(|k| outcome(&format!("a{k}"), "small_grid", 4.0, 2.0 + 0.02 * f64::from(k))).collect();
    all.extend((0..8).map(|k| outcome(&format!("b{k}"), "fp64_unintended", 4.0, 4.0 + 0.02 * f64::from(k))));
    let model = GainModel::fit(&all);
    let of = |cause: &str, kernel: Option<&str>| model.expect(&asked(4.0, cause, kernel));
    let (slow, kept, other) = (of("small_grid", None), of("fp64_unintended", None), of("narrow_loads", None));
    assert!(slow.speedup < 2.6 && kept.speedup > 3.3, "{slow:?} {kept:?}");
    assert!(slow.speedup < other.speedup && other.speedup < kept.speedup, "{other:?}");
    assert!(slow.high / slow.low < other.high / other.low, "more is known of a cause with outcomes");
    assert_eq!((slow.outcomes, other.outcomes, model.outcomes()), (8, 0, 16));
    let first = &model.causes()[0];
    assert!(first.outcomes == 8 && (first.promised - 4.0).abs() < 1e-9, "{first:?}");
}

#[test]
fn a_kernel_and_a_fix_with_outcomes_of_their_own_count() {
    let mut all: Vec<Outcome> = (0..12).map(|k| outcome(&format!("k{k}"), "small_grid", 3.0, 3.0)).collect();
    for cause in ["small_grid", "tail_effect", "narrow_loads", "fp64_unintended"] {
        all.push(outcome("stubborn", cause, 3.0, 1.4));
    }
    let model = GainModel::fit(&all);
    let of = |kernel: &str| model.expect(&asked(3.0, "small_grid", Some(kernel))).speedup;
    assert!(of("stubborn") < 0.85 * of("k1"), "{} {}", of("stubborn"), of("k1"));
    let mut two: Vec<Outcome> = Vec::new();
    for k in 0..10 {
        let one = |fix: &str, measured: f64| Outcome {
            fix: Some(fix.into()),
            ..outcome(&format!("{fix}{k}"), "barrier_stalls", 3.0, measured)
        };
        two.extend([one("fewer", 3.0), one("smaller", 1.5)]);
    }
    let model = GainModel::fit(&two);
    let of = |fix: &'static str| model.expect(&Asked { fix: Some(fix), ..asked(3.0, "barrier_stalls", None) }).speedup;
    assert!(of("smaller") < 0.75 * of("fewer"), "{} {}", of("smaller"), of("fewer"));
}

#[test]
fn promises_of_nothing_and_coarse_ones_are_left_out() {
    let nothing = [outcome("a", "small_grid", 1.0, 1.0), outcome("b", "scalar_loop", 4.0, 2.0)];
    let roof = outcome("c", "at_roofline_dram", 1.2, 1.0);
    assert_eq!(GainModel::fit(nothing.iter().chain([&roof])).outcomes(), 0);
    assert!(
        !GainModel::knows("scalar_loop") && !GainModel::knows("at_roofline_dram") && GainModel::knows("small_grid")
    );
}

#[test]
fn what_is_shipped_is_enough_to_say_something_of_every_cause() {
    let model = GainModel::fit(shipped_outcomes());
    assert!(model.outcomes() >= 60, "{}", model.outcomes());
    let known: Vec<String> = model.causes().into_iter().map(|own| own.cause).collect();
    for cause in Bottleneck::ALL.iter().filter(|cause| GainModel::knows(cause.id())) {
        assert!(known.iter().any(|own| own == cause.id()), "{cause} has no outcome");
    }
}
