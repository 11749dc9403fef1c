//! Finals: who is looked at again, who leaves, who takes the place.

use kiln_core::Gate;
use kiln_study::TuneVerdict;

use crate::script::{At, BEST, Script, bowl, refusal, refusing};

fn script() -> Script {
    let mut script = Script::new("");
    script.settings.search_trials = 120;
    script
}

#[test]
fn a_finalist_refused_late_is_replaced_by_the_next() {
    for at in [At::Full, At::RunOff, At::Confirm, At::Suite] {
        let mut script = script();
        script.refuse = refusing(at, &[BEST]);
        let played = script.play();
        let summary = played.summary();
        assert_ne!(played.config(), BEST, "{at:?}");
        assert_eq!(summary.verdict, TuneVerdict::Reached, "{at:?}");
        assert_eq!(summary.late.len(), 1, "{at:?}");
        assert_eq!(summary.late[0].config.to_string(), BEST);
        assert_eq!(summary.refused.get(&Gate::Numerics), Some(&1), "{at:?}");
    }
}

#[test]
fn several_refused_late_are_all_replaced() {
    let mut script = script();
    let worst: [&str; 5] = [BEST, "A=7,B=5,C=0", "A=6,B=5,C=1", "A=7,B=4,C=1", "A=7,B=6,C=1"];
    script.refuse = refusing(At::Full, &worst);
    let played = script.play();
    assert_eq!(played.summary().late.len(), 5);
    assert!(!worst.contains(&played.config().as_str()) && played.summary().verdict == TuneVerdict::Reached);
}

#[test]
fn where_all_are_refused_late_there_is_no_winner() {
    let mut script = script();
    script.refuse = Box::new(|_, at| (at == At::Confirm).then(|| refusal(Gate::Numerics, "wrong")));
    let played = script.play();
    let summary = played.summary();
    assert_eq!((summary.verdict, &summary.config), (TuneVerdict::NoValidCandidate, &None));
    // As deep as it goes: ten times as many as are wanted.
    assert_eq!(summary.late.len(), 30);
}

#[test]
fn honest_ones_given_up_beside_a_cheat_may_still_win() {
    let mut script = script();
    let cheat = "A=3,B=3,C=0";
    // It seems a hundred times faster, so that everything tried after it is given up; and is wrong.
    script.time =
        Box::new(move |config, workload| if config.to_string() == cheat { 1e-5 } else { bowl(config, workload) });
    script.refuse = refusing(At::Full, &[cheat]);
    let played = script.play();
    assert!(played.config() != cheat && played.summary().verdict == TuneVerdict::Reached);
    assert!(played.heard("best=true"), "the cheat was never tried");
    assert_eq!(played.summary().late[0].config.to_string(), cheat);
}

#[test]
fn as_many_are_looked_at_as_are_wanted() {
    for (wanted, full, run_offs) in [(1, 1, 0), (2, 2, 1), (3, 3, 1), (5, 5, 1)] {
        let mut script = script();
        (script.settings.finalists, script.settings.ablation) = (wanted, false);
        let played = script.play();
        assert_eq!((played.count("Full"), played.count("duel run-off")), (full, run_offs), "{wanted}");
        assert_eq!((played.count("duel confirm"), played.count("Suite")), (1, 1));
    }
}

#[test]
fn lucky_times_of_the_search_do_not_survive() {
    let mut script = script();
    let lucky = "A=4,B=4,C=0";
    // Fast where it is tried alone. The played clock of a duel has another workload's name: none.
    let tried = std::cell::Cell::new(0);
    script.time = Box::new(move |config, workload| {
        if config.to_string() != lucky {
            return bowl(config, workload);
        }
        tried.set(tried.get() + 1);
        if tried.get() == 1 { 0.5e-3 } else { bowl(config, workload) }
    });
    let played = script.play();
    assert_eq!(played.config(), BEST);
}

#[test]
fn what_fails_the_suite_is_no_winner_though_it_is_confirmed() {
    let mut script = script();
    script.refuse = refusing(At::Suite, &[BEST]);
    let played = script.play();
    assert_eq!(played.summary().late[0].phase, "suite");
    assert_eq!((played.count("duel confirm"), played.count("Suite")), (2, 2));
}

#[test]
fn a_build_that_fails_the_second_time_is_a_refusal() {
    let mut script = script();
    let built = std::cell::Cell::new(0);
    script.refuse = Box::new(move |config, at| {
        if at != At::Build || config.to_string() != BEST {
            return None;
        }
        built.set(built.get() + 1);
        (built.get() > 1).then(|| refusal(Gate::BuildFailed, "the compiler crashed"))
    });
    let played = script.play();
    assert_eq!(played.summary().late[0].refusal.gate, Gate::BuildFailed);
    assert_ne!(played.config(), BEST);
}

#[test]
fn a_crowd_of_impostors_does_not_push_the_honest_out() {
    let mut script = script();
    script.settings.finalists = 1;
    // Everything with C=1 seems a hundred times faster, and is wrong: 64 configurations, of which ten are looked at.
    script.time = Box::new(|config, workload| {
        bowl(config, workload) * if config.to_string().ends_with("C=1") { 0.01 } else { 1.0 }
    });
    script.refuse = Box::new(|config, at| {
        (at == At::Full && config.to_string().ends_with("C=1")).then(|| refusal(Gate::RuntimeFailed, "it aborts"))
    });
    let played = script.play();
    assert_eq!((played.config().as_str(), played.summary().verdict), ("A=7,B=5,C=0", TuneVerdict::Reached));
    // Three that it takes to suspect what they share, and some until it is nothing else.
    assert!((3..8).contains(&played.summary().late.len()), "{}", played.summary().late.len());
}
