//! Budgets: what is done when time is short.

use kiln_study::TuneVerdict;

use crate::memory::Memory;
use crate::script::Script;

/// A trial, a full check and a round take a second, two and a tenth; alone it takes over two minutes.
fn script(minutes: f64) -> Script {
    let mut script = Script::new("");
    (script.takes, script.minutes) = ((1.0, 2.0, 0.1), Some(minutes));
    (script.settings.search_trials, script.settings.pairs) = (100, 20);
    script
}

#[test]
fn a_study_ends_within_its_time_and_still_has_a_winner() {
    for minutes in [0.3, 0.5, 1.0, 1.5, 2.0] {
        let played = script(minutes).play();
        let summary = played.summary();
        assert!(summary.config.is_some() && summary.verdict == TuneVerdict::Reached, "{minutes}");
        // A trial that has begun comes to its end, and five rounds are fought.
        assert!(played.seconds <= 60.0 * minutes + 1.6, "{minutes} took {}", played.seconds);
        assert!((summary.seconds - played.seconds).abs() < 0.1);
    }
}

#[test]
fn a_quarter_of_the_time_is_kept_for_the_proof() {
    let played = script(1.0).play();
    assert!((40..=46).contains(&played.searched()), "{}", played.searched());
    assert!(played.heard("the time for it is used up: search ends after"));
}

#[test]
fn more_than_a_quarter_is_kept_where_a_proof_takes_longer() {
    for (check, most) in [(10.0, 42), (15.0, 32)] {
        let mut slow = script(1.0);
        slow.takes.1 = check;
        let played = slow.play();
        assert!(played.seconds <= 61.6 && played.summary().config.is_some(), "{}", played.seconds);
        assert!((10..most).contains(&played.searched()), "{}", played.searched());
    }
    // One that takes all of the time leaves something for the search, and is done all the same.
    let mut slowest = script(1.0);
    slowest.takes.1 = 100.0;
    let played = slowest.play();
    assert!((10..17).contains(&played.searched()), "{}", played.searched());
    assert_eq!((played.count("Full"), played.count("Suite")), (1, 1));
}

#[test]
fn every_workload_has_its_share_of_the_search() {
    let workloads = ["a", "b", "c", "d", "e", "f", "g", "h"]
        .map(|name| format!("[[workloads]]\nname = \"{name}\"\ndims = {{ N = 1 }}\n"))
        .concat();
    let mut apart = Script::new(&format!("[objective]\nper_workload = true\n{workloads}"));
    (apart.takes, apart.minutes) = ((1.0, 2.0, 0.1), Some(8.0));
    apart.settings.search_trials = 100;
    let played = apart.play();
    assert!(played.seconds <= 481.0, "{}", played.seconds);
    for name in ["a", "d", "h"] {
        let trials = played.told.iter().filter(|line| line.starts_with(&format!("trial {name}/"))).count();
        assert!((30..60).contains(&trials), "{name} had {trials} trials");
    }
}

#[test]
fn no_time_at_all_gives_the_default_proven() {
    let played = script(0.0).play();
    let summary = played.summary();
    assert_eq!((summary.trials, played.config()), (1, "A=0,B=0,C=0".into()));
    assert_eq!((played.count("Full"), played.count("duel confirm"), played.count("Suite")), (1, 1, 1));
    assert_eq!(played.count("duel run-off") + played.count("duel ablation"), 0);
    assert_eq!(summary.workloads[0].samples, 25, "five rounds of five");
}

#[test]
fn with_little_time_there_are_fewer_finalists_and_no_ablation() {
    let mut short = script(0.4);
    short.takes.1 = 3.0;
    let played = short.play();
    assert!(played.count("Full") < 3, "{:?}", played.acts);
    assert!(played.heard("time is short") && played.summary().ablation.is_empty());
    // With more, all.
    let long = script(5.0).play();
    assert!(long.count("Full") >= 3 && !long.summary().ablation.is_empty());
}

#[test]
fn without_a_limit_nothing_is_left_out() {
    let mut script = script(1.0);
    script.minutes = None;
    let played = script.play();
    assert!(played.count("Full") >= 3 && played.count("duel run-off") == 1 && !played.summary().ablation.is_empty());
    assert_eq!(played.summary().workloads[0].samples, 100);
}

#[test]
fn what_was_left_out_for_want_of_time_is_left_out_again_by_a_replay() {
    for minutes in [0.0, 0.3, 0.4, 0.7, 1.0, 1.5] {
        let memory = Memory::default();
        let mut script = script(minutes);
        let first = script.play_on(&memory, false);
        script.minutes = None;
        let again = script.play_on(&memory, true);
        let (mut first, mut again) = (first.summary().clone(), again.summary().clone());
        (first.seconds, again.seconds) = (0.0, 0.0);
        assert_eq!(first, again, "{minutes}");
    }
}

#[test]
fn a_round_that_is_late_is_the_last() {
    let mut slow = script(1.0);
    slow.takes.2 = 2.0;
    let played = slow.play();
    let steps = played.told.iter().filter(|line| line.starts_with("step confirm")).count();
    assert!((5..20).contains(&steps), "{steps}");
}
