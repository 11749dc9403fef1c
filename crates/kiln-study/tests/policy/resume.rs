//! Going on after a crash, and replaying: both are the same way walked again.

use kiln_study::Summary;

use crate::memory::Memory;
use crate::script::{At, BEST, Script, refusing};

fn timeless(mut summary: Summary) -> Summary {
    summary.seconds = 0.0;
    summary
}

#[test]
fn a_study_killed_at_any_point_goes_on_as_if_nothing_had_happened() {
    let mut late = Script::new("");
    late.settings.search_trials = 120;
    late.refuse = refusing(At::Confirm, &[BEST]);
    for script in [Script::new(""), late] {
        let memory = Memory::default();
        let whole = script.play_on(&memory, false);
        let step = (memory.len() / 12).max(1);
        for kept in (0..=memory.len()).step_by(step) {
            let cut = memory.cut(kept);
            let again = script.play_on(&cut, false);
            assert_eq!(timeless(again.summary().clone()), timeless(whole.summary().clone()), "after {kept}");
            assert_eq!(cut.len(), memory.len(), "after {kept}");
            let recorded = again.told.iter().filter(|line| line.ends_with("recorded=true")).count();
            assert!(recorded <= kept && again.acts.len() <= whole.acts.len());
        }
    }
}

#[test]
fn a_study_that_ended_does_nothing_when_it_goes_on() {
    let (script, memory) = (Script::new(""), Memory::default());
    let whole = script.play_on(&memory, false);
    let again = script.play_on(&memory, false);
    assert_eq!(timeless(again.summary().clone()), timeless(whole.summary().clone()));
    assert_eq!(again.count("trial") + again.count("duel") + again.count("Full") + again.count("Suite"), 0);
}

#[test]
fn a_replay_does_nothing_and_says_the_same() {
    let (script, memory) = (Script::new(""), Memory::default());
    let whole = script.play_on(&memory, false);
    let again = script.play_on(&memory, true);
    assert_eq!(timeless(again.summary().clone()), timeless(whole.summary().clone()));
    assert_eq!(again.acts, Vec::<String>::new());
}

#[test]
fn a_replay_does_not_go_beyond_the_record() {
    let (script, memory) = (Script::new(""), Memory::default());
    script.play_on(&memory, false);
    for kept in [0, 1, 5, 15, memory.len() - 1] {
        let why = script.play_on(&memory.cut(kept), true).ended.unwrap_err();
        assert!(why.contains("is not in the record") && why.contains("--resume"), "after {kept}: {why}");
    }
}

#[test]
fn another_seed_is_another_study() {
    let (mut script, memory) = (Script::new(""), Memory::default());
    script.play_on(&memory, false);
    script.settings.seed = 2;
    let why = script.play_on(&memory.cut(10), false).ended.unwrap_err();
    assert!(why.contains("would be") && why.contains("begin a new study"), "{why}");
}

#[test]
fn interrupted_again_and_again_it_arrives() {
    let mut script = Script::new("");
    let (memory, whole) = (Memory::default(), script.play());
    script.work = 3;
    let mut last = None;
    for _ in 0..100 {
        let played = script.play_on(&memory, false);
        if let Ok(summary) = played.ended {
            last = Some(summary);
            break;
        }
    }
    assert_eq!(last.map(timeless), Some(timeless(whole.summary().clone())));
}
