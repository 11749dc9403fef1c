//! Implementations that compete: none is judged unseen, the best of each near the front is among the finalists, and the summary
//! says how each did.

use kiln_core::{Config, Gate};
use kiln_study::TuneVerdict;

use crate::memory::Memory;
use crate::script::{At, Script, refusal};

/// Three versions: `first`, the default, `fast`, and one with more configurations than both.
const TARGET: &str = r#"
    [target.cpu.tunables]
    A = { from = 0, to = 3 }
    [target.cpu.default]
    A = 0
    [target.cpu.implementation.first]
    [target.cpu.implementation.fast.tunables]
    B = { from = 0, to = 3 }
    [target.cpu.implementation.fast.default]
    B = 0
    [target.cpu.implementation.other.tunables]
    A = [10, 20]
    C = { from = 0, to = 30 }
    [target.cpu.implementation.other.default]
    A = 10
    C = 0
"#;

fn number(config: &Config, name: &str) -> f64 {
    config.get(name).and_then(|value| value.to_string().parse().ok()).unwrap_or(0.0)
}

/// The fast one takes a millisecond at best, the first 1.2, the other a hundred.
fn time(config: &Config, _workload: &str) -> f64 {
    let a = number(config, "A");
    1e-3 * match config.implementation() {
        Some("first") => 1.2 + 0.1 * (3.0 - a),
        Some("fast") => 1.0 + 0.02 * (3.0 - a) + 0.02 * (3.0 - number(config, "B")),
        _ => 100.0,
    }
}

fn script() -> Script {
    let mut script = Script::with(TARGET, "");
    script.time = Box::new(time);
    script.settings.search_trials = 60;
    script
}

fn told(played: &crate::script::Played, beginning: &str) -> Vec<String> {
    played.told.iter().filter(|line| line.starts_with(beginning)).cloned().collect()
}

#[test]
fn the_default_of_every_implementation_is_tried_first() {
    let played = script().play();
    let begun = told(&played, "trial default");
    let expected = [
        "trial default 0 implementation=first,A=0 best=true recorded=false",
        "trial default 1 implementation=fast,A=0,B=0 best=true recorded=false",
        "trial default 2 implementation=other,A=10,C=0 best=false recorded=false",
    ];
    assert_eq!(begun, expected);
    // The seeds that follow are of all of them, however many configurations each has.
    let seeds = told(&played, "trial seed");
    for name in ["first", "fast", "other"] {
        assert!(seeds.iter().any(|line| line.contains(&format!("implementation={name},"))), "{name}: {seeds:?}");
    }
}

#[test]
fn the_winner_is_the_fastest_and_the_summary_says_how_the_others_did() {
    let played = script().play();
    assert_eq!(played.config(), "implementation=fast,A=3,B=3");
    let summary = played.summary();
    assert_eq!(summary.verdict, TuneVerdict::Reached);
    let [first, fast, other] = &summary.implementations[..] else { panic!("three") };
    assert_eq!((&*fast.name, fast.ratio), ("fast", Some(1.0)));
    assert_eq!(first.config.as_ref().unwrap().to_string(), "implementation=first,A=3");
    assert!((first.ratio.unwrap() - 1.2).abs() < 0.01, "{first:?}");
    assert!((other.ratio.unwrap() - 100.0).abs() < 1.0 && other.measured_in.as_deref() == Some("search"), "{other:?}");
    let trials: usize = summary.implementations.iter().map(|one| one.trials).sum();
    assert_eq!(trials, summary.trials);
    // The best of the first is within a quarter of the front: it was looked at as closely as the winner.
    assert!(played.acts.iter().any(|act| act == "Full implementation=first,A=3"), "{:?}", played.acts);
    assert!(!played.acts.iter().any(|act| act.starts_with("Full implementation=other")));
}

#[test]
fn ablation_compares_with_the_best_of_the_default_implementation() {
    let played = script().play();
    let entries = &played.summary().ablation;
    let found = entries.iter().find(|entry| entry.tunable == "implementation").unwrap();
    assert_eq!((&*found.from, &*found.to), ("fast", "first"));
    assert!((found.worth.unwrap() - 1.2).abs() < 0.01, "{found:?}");
    // The others go back to the defaults of the winner's own implementation.
    let names: Vec<&str> = entries.iter().map(|entry| entry.tunable.as_str()).collect();
    assert_eq!(names, ["implementation", "A", "B"]);
}

#[test]
fn a_wrong_implementation_is_refused_and_the_study_goes_on() {
    let mut script = script();
    script.refuse = Box::new(|config, at| {
        let wrong = at == At::Trial && config.implementation() == Some("fast");
        wrong.then(|| refusal(Gate::Numerics, "it is wrong"))
    });
    let played = script.play();
    assert_eq!(played.config(), "implementation=first,A=3");
    assert!(played.heard("the default configuration of fast is refused by numerics: it is wrong"));
    let fast = played.summary().implementations.iter().find(|one| one.name == "fast").unwrap();
    assert_eq!((&fast.config, fast.ratio), (&None, None));
    assert_eq!(fast.refused.get(&Gate::Numerics), Some(&fast.trials));
}

#[test]
fn where_the_default_implementation_is_wrong_its_worth_cannot_be_told() {
    let mut script = script();
    script.refuse = Box::new(|config, at| {
        let wrong = at == At::Trial && config.implementation() == Some("first");
        wrong.then(|| refusal(Gate::Numerics, "it is wrong"))
    });
    let played = script.play();
    assert_eq!(played.config(), "implementation=fast,A=3,B=3");
    let found = played.summary().ablation.iter().find(|entry| entry.tunable == "implementation").unwrap();
    assert_eq!((found.worth, found.why.as_deref()), (None, Some("none of its configurations passed")));
}

#[test]
fn a_slow_default_does_not_end_a_study_whose_other_implementation_is_fast() {
    let mut script = script();
    script.time = Box::new(|config, workload| match config.implementation() {
        Some("first") => 1.0,
        _ => time(config, workload),
    });
    let played = script.play();
    assert_eq!(played.summary().verdict, TuneVerdict::Reached);
    // Where all of them are too slow, it ends with the best of them.
    script.time = Box::new(|config, _| if config.implementation() == Some("fast") { 0.5 } else { 1.0 });
    let played = script.play();
    let summary = played.summary();
    assert_eq!(summary.verdict, TuneVerdict::Stopped);
    assert!(summary.reason.starts_with("the default configuration of fast runs at"), "{}", summary.reason);
}

#[test]
fn it_is_so_again_after_a_crash_and_in_a_replay() {
    let memory = Memory::default();
    let whole = script().play_on(&memory, false);
    let again = script().play_on(&memory, true);
    assert_eq!((again.config(), again.acts.len()), (whole.config(), 0));
    assert_eq!(again.summary().implementations, whole.summary().implementations);
    for kept in [1, 2, 4, memory.len() / 2, memory.len() - 2] {
        assert_eq!(script().play_on(&memory.cut(kept), false).config(), whole.config(), "after {kept}");
    }
}

#[test]
fn a_kernel_without_implementations_says_nothing_of_them() {
    let played = Script::new("").play();
    assert!(played.summary().implementations.is_empty());
    assert_eq!(told(&played, "trial default").len(), 1);
}
