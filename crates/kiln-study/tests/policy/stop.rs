//! When a study gives up before its search: under half the baseline's speed, or everything refused alike.

use kiln_core::Gate;
use kiln_study::TuneVerdict;

use crate::memory::Memory;
use crate::script::{At, Script, bowl, refusal, refusing, tried};

/// The default takes 2.25 ms.
const DEFAULT: &str = "A=0,B=0,C=0";

/// A default that is refused.
fn without_default(baseline: f64) -> Script {
    let mut script = Script::new("");
    (script.baseline, script.refuse) = (Some(baseline), refusing(At::Trial, &[DEFAULT]));
    script
}

#[test]
fn a_default_under_half_the_baselines_speed_is_not_searched_from() {
    for (baseline, stops) in [(0.3e-3, true), (1.1e-3, true), (1.2e-3, false), (3e-3, false)] {
        let mut script = Script::new("");
        script.baseline = Some(baseline);
        let played = script.play();
        let summary = played.summary();
        assert_eq!(summary.verdict == TuneVerdict::Stopped, stops, "{baseline}");
        assert_eq!((played.count("duel standing"), played.searched()), if stops { (1, 1) } else { (0, 21) });
        if stops {
            let reason = &summary.reason;
            assert!(reason.contains("the default configuration runs at") && reason.contains("under 0.5x"), "{reason}");
            assert!(!reason.contains("--no-stop") && !played.heard("slow"), "{reason}");
            assert_eq!((played.config(), summary.workloads.len()), (DEFAULT.into(), 0));
        }
    }
}

#[test]
fn a_first_look_alone_decides_nothing() {
    let mut script = Script::new("");
    script.baseline = Some(1.2e-3);
    // A moment when everything is slow: the first trial, and nothing beside it.
    let first = std::cell::Cell::new(true);
    script.time = Box::new(
        move |config, on| {
            if config.to_string() == DEFAULT && first.replace(false) { 5e-3 } else { bowl(config, on) }
        },
    );
    let played = script.play();
    assert!(played.heard("first look plain  0.24") && played.heard("slow"), "{:?}", played.told);
    assert_eq!((played.count("duel standing"), played.searched()), (1, 21));
    assert!(played.heard("the default configuration runs at 0.53x of plain"), "{:?}", played.told);
}

#[test]
fn without_a_default_the_best_of_the_seed_is_held_against_it() {
    // The best of the seed takes 1.1 to 1.6 ms.
    for (baseline, stops) in [(0.3e-3, true), (0.5e-3, true), (1.2e-3, false), (3e-3, false)] {
        let played = without_default(baseline).play();
        let summary = played.summary();
        assert_eq!(summary.verdict == TuneVerdict::Stopped, stops, "{baseline}");
        assert_eq!(played.count("Full") == 0, stops);
        if stops {
            let reason = &summary.reason;
            assert!(reason.contains("after the seed phase") && reason.contains("under 0.5x"), "{reason}");
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
    assert_eq!(played.count("duel rule") + played.count("duel standing"), 0);
    assert!(played.heard("slow"), "what limits the default is told all the same");
}

#[test]
fn below_the_baseline_but_above_half_it_says_so_and_goes_on() {
    let played = without_default(1.0e-3).play();
    assert!(played.heard("after the seed phase the best configuration runs at 0."));
    assert_eq!(played.summary().verdict, TuneVerdict::NotReached);
}

#[test]
fn a_study_that_stopped_goes_on_and_replays_as_it_was() {
    let mut script = Script::new("");
    script.baseline = Some(0.3e-3);
    let memory = Memory::default();
    let reason = script.play_on(&memory, false).summary().reason.clone();
    for kept in 0..=memory.len() {
        let again = script.play_on(&memory.cut(kept), false);
        assert_eq!((again.summary().trials, &again.summary().reason), (1, &reason), "after {kept}");
    }
    let replayed = script.play_on(&memory, true);
    assert_eq!((&replayed.summary().reason, replayed.acts.len()), (&reason, 0));
}

#[test]
fn what_has_searched_already_goes_on_searching() {
    let mut script = Script::new("");
    (script.baseline, script.settings.stop_rule) = (Some(1.0e-3), false);
    let memory = Memory::default();
    script.play_on(&memory, false);
    script.settings.stop_rule = true;
    let again = script.play_on(&memory.cut(6), false);
    assert_eq!((again.count("duel standing"), again.searched()), (0, 21));
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
    assert_eq!(played.searched(), 21);
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
