//! When a study gives up before its search: under half the baseline's speed, or everything refused alike.

use kiln_core::Gate;
use kiln_study::TuneVerdict;

use crate::script::{At, Script, refusal, tried};

#[test]
fn under_half_the_baselines_speed_after_the_seed_it_stops() {
    // The best of the seed takes 1.1 to 1.6 ms.
    for (baseline, stops) in [(0.3e-3, true), (0.5e-3, true), (1.2e-3, false), (3e-3, false)] {
        let mut script = Script::new("");
        script.baseline = Some(baseline);
        let played = script.play();
        assert_eq!(played.summary().verdict == TuneVerdict::Stopped, stops, "{baseline}");
        assert_eq!(played.count("Full") == 0, stops);
        if stops {
            let summary = played.summary();
            assert!(
                summary.reason.contains("under 0.5x") && !summary.reason.contains("--no-stop"),
                "{}",
                summary.reason
            );
            assert!(summary.config.is_some() && summary.workloads.is_empty());
            assert_eq!(summary.trials, 9);
        }
    }
}

#[test]
fn told_not_to_it_goes_on() {
    let mut script = Script::new("");
    (script.baseline, script.settings.stop_rule) = (Some(0.3e-3), false);
    let played = script.play();
    assert_eq!(played.summary().verdict, TuneVerdict::NotReached);
    assert_eq!(played.count("duel rule"), 0);
}

#[test]
fn below_the_baseline_but_above_half_it_says_so_and_goes_on() {
    let mut script = Script::new("");
    script.baseline = Some(1.0e-3);
    let played = script.play();
    assert!(played.heard("after the seed phase the best runs at 0."));
    assert_eq!(played.summary().verdict, TuneVerdict::NotReached);
}

#[test]
fn refused_alike_from_the_first_on_it_stops_after_six() {
    for gate in [Gate::BuildFailed, Gate::LaunchFailed, Gate::Numerics] {
        let mut script = Script::new("");
        script.refuse = Box::new(move |_, at| (at == At::Trial).then(|| refusal(gate, "expected `;`")));
        let played = script.play();
        let summary = played.summary();
        assert_eq!((summary.verdict, summary.trials), (TuneVerdict::NoValidCandidate, 6));
        assert!(summary.reason.contains(&format!("by {gate}: expected `;`")), "{}", summary.reason);
        assert_eq!(played.count("duel"), 0);
    }
}

#[test]
fn told_not_to_it_tries_all() {
    let mut script = Script::new("");
    script.settings.stop_rule = false;
    script.refuse = Box::new(|_, at| (at == At::Trial).then(|| refusal(Gate::BuildFailed, "expected `;`")));
    let played = script.play();
    assert_eq!(played.summary().trials, 21);
    assert_eq!(tried(&played).values().sum::<usize>(), 21);
}

#[test]
fn one_that_passes_or_fails_differently_keeps_it_going() {
    let mut different = Script::new("");
    different.refuse = Box::new(|config, at| (at == At::Trial).then(|| refusal(Gate::Numerics, &config.to_string())));
    assert_eq!(different.play().summary().trials, 21);
    let mut one = Script::new("");
    one.refuse = Box::new(|config, at| {
        (at == At::Trial && config.to_string() != "A=0,B=0,C=0").then(|| refusal(Gate::BuildFailed, "expected `;`"))
    });
    let played = one.play();
    assert_eq!((played.summary().trials, played.config()), (21, "A=0,B=0,C=0".into()));
}
