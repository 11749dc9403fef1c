//! The order of phases, and how a study ends.

use kiln_core::Gate;
use kiln_study::{Settings, TuneVerdict};

use crate::memory::Memory;
use crate::script::{At, BEST, Played, Script, bowl, refusal, tried};

fn phases(told: &[String]) -> Vec<String> {
    let phase = |line: &String| line.strip_prefix("phase ")?.split(' ').next().map(String::from);
    let mut phases: Vec<String> = told.iter().filter_map(phase).collect();
    phases.dedup();
    phases
}

#[test]
fn phases_come_in_order_and_the_best_wins() {
    let mut script = Script::new("");
    script.settings.search_trials = 120;
    let played = script.play();
    assert_eq!(played.config(), BEST);
    assert_eq!(
        phases(&played.told),
        ["baseline", "default", "seed", "search", "final", "run-off", "confirm", "suite", "ablation"]
    );
    assert_eq!(played.told.last().map(String::as_str), Some("finished"));
    let summary = played.summary();
    assert_eq!(summary.verdict, TuneVerdict::Reached);
    assert!((summary.speedup.unwrap() - 3.0).abs() < 0.01, "{:?}", summary.speedup);
    assert_eq!((summary.baseline.as_deref(), summary.seed), (Some("plain"), 1));
}

#[test]
fn the_default_is_held_against_the_baseline_before_the_search() {
    let played = Script::new("").play();
    let at = |words: &str| played.told.iter().position(|line| line.starts_with(words));
    let look = at("first look plain ").unwrap();
    assert!(at("trial default ") < Some(look) && Some(look) < at("phase seed "), "{:?}", played.told);
    // Without a baseline there is nothing to look at.
    let mut alone = Script::new("");
    alone.baseline = None;
    assert!(!alone.play().told.iter().any(|line| line.starts_with("first look")));
}

#[test]
fn no_configuration_is_tried_twice_and_none_beyond_the_space() {
    for (seed_trials, search_trials) in [(8, 12), (1, 1), (128, 0), (0, 128), (200, 200)] {
        let mut script = Script::new("");
        (script.settings.seed_trials, script.settings.search_trials) = (seed_trials, search_trials);
        let played = script.play();
        let tried = tried(&played);
        // The default may be proposed again: it is not known to the search's numbering.
        assert!(tried.values().filter(|count| **count > 1).count() <= 1, "{tried:?}");
        assert!(played.searched() <= (1 + seed_trials + search_trials).min(129));
    }
}

#[test]
fn the_same_seed_gives_the_same_study() {
    let acts = |seed: u64| {
        let mut script = Script::new("");
        script.settings.seed = seed;
        script.play().acts
    };
    assert_eq!(acts(1), acts(1));
    assert_ne!(acts(1), acts(2));
}

#[test]
fn the_target_decides_between_reached_and_not() {
    for (target, verdict) in
        [(None, TuneVerdict::Reached), (Some(2.9), TuneVerdict::Reached), (Some(3.1), TuneVerdict::NotReached)]
    {
        let mut script = Script::new("");
        script.settings = Settings { target_speedup: target, search_trials: 120, ..script.settings };
        let played = script.play();
        assert_eq!(played.summary().verdict, verdict, "{target:?}");
        assert!(played.summary().reason.starts_with("confirmed 3.0"), "{}", played.summary().reason);
    }
}

#[test]
fn a_winner_that_is_not_faster_reaches_nothing() {
    for (baseline, verdict) in [(1e-3, "same"), (0.8e-3, "slower")] {
        let mut script = Script::new("");
        (script.baseline, script.settings.search_trials) = (Some(baseline), 120);
        script.settings.stop_rule = false;
        let played = script.play();
        let summary = played.summary();
        assert_eq!(summary.verdict, TuneVerdict::NotReached);
        assert!(summary.reason.contains(verdict), "{}", summary.reason);
    }
}

#[test]
fn where_nothing_passes_there_is_no_winner() {
    let mut script = Script::new("");
    script.settings.stop_rule = false;
    script.refuse = Box::new(|config, at| (at == At::Trial).then(|| refusal(Gate::Numerics, &config.to_string())));
    let played = script.play();
    let summary = played.summary();
    assert_eq!((summary.verdict, &summary.config), (TuneVerdict::NoValidCandidate, &None));
    assert_eq!(summary.refused.get(&Gate::Numerics), Some(&21));
    assert!(summary.reason.contains("numerics 21"), "{}", summary.reason);
    assert_eq!(played.count("Full") + played.count("duel"), 0);
}

#[test]
fn without_a_baseline_the_default_takes_its_place() {
    let mut script = Script::new("");
    (script.baseline, script.settings.search_trials) = (None, 120);
    let played = script.play();
    let summary = played.summary();
    assert_eq!((summary.baseline.as_deref(), summary.verdict), (None, TuneVerdict::Reached));
    assert!((summary.speedup.unwrap() - 2.25).abs() < 0.01, "{:?}", summary.speedup);
    assert!(played.heard("baseline plain is skipped: build_failed: it is not there"));
    assert!(played.heard("the default configuration takes its place"));
}

#[test]
fn without_a_baseline_and_a_sound_default_there_is_nothing_to_measure_against() {
    let mut script = Script::new("");
    script.baseline = None;
    script.refuse = crate::script::refusing(At::Trial, &["A=0,B=0,C=0"]);
    let played = script.play();
    let summary = played.summary();
    assert_eq!(summary.verdict, TuneVerdict::NotReached);
    assert!(summary.reason.contains("nothing to measure the winner against") && summary.config.is_some());
}

#[test]
fn a_named_baseline_that_cannot_be_had_is_a_fault() {
    let mut script = Script::new("");
    (script.baseline, script.settings.baseline) = (None, Some("plain".into()));
    let why = script.play().ended.unwrap_err();
    assert!(why.contains("using the baseline plain") && why.contains("it is not there"), "{why}");
}

#[test]
fn a_default_that_is_refused_is_said_and_the_study_goes_on() {
    let mut script = Script::new("");
    script.refuse = crate::script::refusing(At::Trial, &["A=0,B=0,C=0"]);
    let played = script.play();
    assert!(played.heard("the default configuration is refused by numerics"));
    assert_eq!(played.summary().verdict, TuneVerdict::Reached);
}

#[test]
fn a_default_that_no_rule_allows_is_not_tried_and_that_is_said() {
    let script = Script::new("[constraints]\nodd = \"A % 2 == 1\"\n");
    let played = script.play();
    assert!(played.heard("the default configuration A=0,B=0,C=0 is not tried: odd does not hold"));
    assert!(tried(&played).keys().all(|config| !config.starts_with("A=0")));
}

#[test]
fn holdouts_are_confirmed_and_count_for_nothing() {
    let mut script = Script::new(
        "[[workloads]]\nname = \"one\"\ndims = { N = 8 }\n[[workloads]]\nname = \"other\"\ndims = { N = 16 }\nuse = \"holdout\"\n",
    );
    // On the holdout everything is slow.
    script.time = Box::new(|config, workload| bowl(config, workload) * if workload == "other" { 10.0 } else { 1.0 });
    let played = script.play();
    let summary = played.summary();
    let names: Vec<(&str, bool)> = summary.workloads.iter().map(|w| (w.name.as_str(), w.holdout)).collect();
    assert_eq!(names, [("one", false), ("other", true)]);
    assert!(summary.workloads[1].speedup < 0.5 && summary.speedup.unwrap() > 2.0);
    assert_eq!(summary.verdict, TuneVerdict::Reached);
}

#[test]
fn a_search_that_expects_nothing_more_ends() {
    let mut script = Script::new("");
    (script.settings.strategy, script.settings.search_trials) = ("auto".into(), 120);
    let played = script.play();
    assert!(played.heard("the expected gain is below the noise"));
    assert!((60..120).contains(&played.searched()) && played.config() == BEST, "{}", played.searched());
}

#[test]
fn ctrl_c_ends_with_a_fault_at_every_point() {
    let mut script = Script::new("");
    let whole = script.play().acts.len();
    for work in (1..whole).step_by(2) {
        script.work = work;
        let played = script.play();
        // After the last look at it, a study may still end.
        let ended = played.ended.map_or_else(|why| why.contains("interrupted"), |_| work + 3 > whole);
        assert!(ended, "after {work} of {whole}");
    }
}

#[test]
fn in_a_small_space_no_more_is_planned_than_is_left_beside_the_default() {
    let mut script = Script::new("[constraints]\nfew = \"A == 0 and B <= 3\"\n");
    (script.settings.seed_trials, script.settings.search_trials) = (20, 100);
    let played = script.play();
    let tried = played.told.iter().filter(|line| line.starts_with("trial seed")).count();
    assert!(tried > 0 && played.heard(&format!("phase seed {tried}")) && played.heard("phase search 0"), "{tried}");
}

/// Builds that are ready from the last to the first.
fn backwards() -> Script {
    let mut script = Script::new("");
    script.soonest = Box::new(|builds| builds.len() - 1);
    script
}

#[test]
fn what_is_built_first_is_tried_first_and_told_in_its_turn() {
    let (forwards, backwards) = (Script::new("").play(), backwards().play());
    let order = |played: &Played| -> Vec<String> {
        played.acts.iter().filter(|act| act.starts_with("trial ")).cloned().collect()
    };
    assert_ne!(order(&forwards), order(&backwards));
    let told = |played: &Played| -> Vec<String> {
        let words = |line: &String| line.split(" best=").next().map(str::to_string);
        played.told.iter().filter(|line| line.starts_with("trial ")).filter_map(words).collect()
    };
    let searched = 1 + 20;
    assert_eq!(told(&forwards)[..searched], told(&backwards)[..searched]);
    assert_eq!(tried(&forwards).values().sum::<usize>(), tried(&backwards).values().sum::<usize>());
    assert_eq!(forwards.config(), backwards.config());
}

#[test]
fn what_was_passed_over_is_made_before_the_time_ends_a_phase() {
    let mut script = backwards();
    (script.takes, script.minutes) = ((1.0, 2.0, 0.1), Some(0.4));
    script.settings.search_trials = 100;
    let memory = Memory::default();
    let whole = script.play_on(&memory, false);
    assert!(whole.heard("the time for it is used up: search ends after"), "{:?}", whole.told);
    // Every number up to the last that began is there, and each is told once.
    let numbers: Vec<u64> = whole
        .told
        .iter()
        .filter_map(|line| line.strip_prefix("trial search ")?.split(' ').next()?.parse().ok())
        .collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    let replayed = script.play_on(&memory, true);
    assert_eq!(replayed.summary().trials, whole.summary().trials);
    assert_eq!(replayed.config(), whole.config());
}

#[test]
fn killed_anywhere_among_trials_out_of_their_turn_it_goes_on() {
    let (script, memory) = (backwards(), Memory::default());
    let whole = script.play_on(&memory, false);
    for kept in 0..=memory.len() {
        let cut = memory.cut(kept);
        let again = script.play_on(&cut, false);
        assert_eq!((again.summary().trials, again.config()), (whole.summary().trials, whole.config()), "after {kept}");
        assert_eq!(cut.len(), memory.len(), "after {kept}");
    }
}
