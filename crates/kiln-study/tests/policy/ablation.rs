//! What each choice of the winner is worth, and what is done when one is worth less than nothing.

use kiln_core::Gate;
use kiln_study::TuneVerdict;

use crate::memory::Memory;
use crate::script::{At, BEST, Script, bowl, refusal, refusing};

fn script() -> Script {
    let mut script = Script::new("");
    script.settings.search_trials = 120;
    script
}

/// The default of `C` is faster, but only beside the best of the others, so that a search that skips it never sees that.
fn hidden() -> Script {
    let mut script = script();
    script.time = Box::new(|config, workload| match &*config.to_string() {
        "A=7,B=5,C=0" => 0.8e-3,
        _ => bowl(config, workload),
    });
    // In the search it is refused for once, as if the machine had failed it.
    let seen = std::cell::Cell::new(false);
    script.refuse = Box::new(move |config, at| {
        let first = at == At::Trial && config.to_string() == "A=7,B=5,C=0" && !seen.replace(true);
        first.then(|| refusal(Gate::Timeout, "60 s"))
    });
    script
}

#[test]
fn most_worth_comes_first() {
    let played = script().play();
    let entries = &played.summary().ablation;
    let worths: Vec<(&str, f64)> = entries.iter().map(|e| (e.tunable.as_str(), e.worth.unwrap())).collect();
    assert_eq!(worths.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["A", "B", "C"]);
    for ((_, worth), expected) in worths.iter().zip([1.7, 1.5, 1.05]) {
        assert!((worth - expected).abs() < 0.01, "{worth} and {expected}");
    }
}

#[test]
fn what_is_faster_than_the_winner_becomes_the_winner() {
    let played = hidden().play();
    assert_eq!(played.config(), "A=7,B=5,C=0");
    let summary = played.summary();
    assert!((summary.speedup.unwrap() - 3.75).abs() < 0.02, "{:?}", summary.speedup);
    // It was checked in full, confirmed and put through the suite; and its own choices were weighed.
    assert_eq!((played.count("duel confirm"), played.count("Suite")), (2, 2));
    assert!(played.heard("ablation measured A=7,B=5,C=0 as faster than the winner: confirmed 3.75x instead of"));
    assert_eq!(summary.ablation.iter().map(|e| e.tunable.as_str()).collect::<Vec<_>>(), ["A", "B"]);
}

#[test]
fn what_is_faster_but_wrong_does_not() {
    for at in [At::Full, At::Confirm, At::Suite] {
        let mut script = hidden();
        let before = script.refuse;
        script.refuse = Box::new(move |config, here| {
            let wrong = here == at && config.to_string() == "A=7,B=5,C=0";
            before(config, here).or_else(|| wrong.then(|| refusal(Gate::Numerics, "wrong")))
        });
        let played = script.play();
        assert_eq!((played.config().as_str(), played.summary().verdict), (BEST, TuneVerdict::Reached), "{at:?}");
        assert_eq!(played.summary().late.len(), 1);
        assert!(played.heard("as faster than the winner: it was refused by numerics"), "{at:?}");
        assert_eq!(played.summary().ablation.len(), 3);
    }
}

#[test]
fn what_was_refused_gets_no_second_try() {
    let mut script = hidden();
    let seen = std::cell::Cell::new(false);
    script.refuse = Box::new(move |config, at| {
        let first = at == At::Suite && config.to_string() == "A=7,B=5,C=0" && !seen.replace(true);
        first.then(|| refusal(Gate::Timeout, "60 s"))
    });
    let played = script.play();
    assert_ne!(played.config(), "A=7,B=5,C=0");
    assert_eq!(played.summary().late.len(), 1);
    assert!(played.heard("measured A=7,B=5,C=0 as faster than the winner: it stays refused by timeout"));
}

#[test]
fn it_is_so_again_after_a_crash_and_in_a_replay() {
    let memory = Memory::default();
    let whole = hidden().play_on(&memory, false);
    let again = hidden().play_on(&memory, true);
    assert_eq!((again.config(), again.acts.len()), (whole.config(), 0));
    // A script of its own for each: the one refusal of the search is in the record by then.
    for kept in [memory.len() - 1, memory.len() - 3, memory.len() - 5] {
        let mut script = hidden();
        script.refuse = Box::new(|_, _| None);
        assert_eq!(script.play_on(&memory.cut(kept), false).config(), whole.config(), "after {kept}");
    }
}

#[test]
fn a_set_back_that_is_refused_says_why() {
    let mut script = script();
    script.refuse = refusing(At::Ablation, &["A=0,B=5,C=1"]);
    let played = script.play();
    let entry = played.summary().ablation.iter().find(|e| e.tunable == "A").unwrap();
    assert_eq!((entry.worth, entry.why.as_deref()), (None, Some("refused by numerics")));
    // The record holds it as refused, and so does the count.
    assert_eq!(played.summary().refused.get(&Gate::Numerics), Some(&1));
}

#[test]
fn a_set_back_that_no_rule_allows_says_so() {
    let mut script = Script::new("[constraints]\nodd = \"A % 2 == 1 or B == 0\"\n");
    script.settings.search_trials = 120;
    let played = script.play();
    let entry = played.summary().ablation.iter().find(|e| e.tunable == "A").unwrap();
    assert_eq!(entry.why.as_deref(), Some("a constraint refuses it alone"));
}

#[test]
fn it_can_be_left_out() {
    let mut script = script();
    script.settings.ablation = false;
    let played = script.play();
    assert!(played.summary().ablation.is_empty() && played.count("duel ablation") == 0);
}
