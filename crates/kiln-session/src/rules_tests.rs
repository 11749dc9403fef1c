//! Every rule where it applies and where it does not.

use super::*;
use crate::attempt::sample::{at, bench, profile, refused};

fn rules(attempts: &[Attempted], minute: f64) -> Vec<StopRule> {
    let found = warnings(&crate::session::sample(), attempts, (60e3 * minute) as i64);
    found.into_iter().map(|warning| warning.rule).collect()
}

#[test]
fn the_goal_and_the_time_end_a_session() {
    assert_eq!(rules(&[bench(5.0, 1.25)], 10.0), [StopRule::GoalReached]);
    assert_eq!(rules(&[bench(5.0, 1.1)], 10.0), []);
    assert_eq!(rules(&[bench(5.0, 1.1)], 181.0), [StopRule::BudgetSpent]);
    assert_eq!(rules(&[at(16.0, "doctor", SessionPhase::Environment)], 17.0), [StopRule::PhaseBudget]);
}

#[test]
fn three_failures_of_one_cause_are_enough() {
    let wrong = |minute| refused(minute, "check", SessionPhase::Check, "numerics");
    assert_eq!(rules(&[wrong(1.0), wrong(2.0)], 3.0), []);
    assert_eq!(rules(&[wrong(1.0), wrong(2.0), wrong(3.0)], 4.0), [StopRule::SameCause]);
    let other = refused(2.5, "check", SessionPhase::Check, "nonfinite");
    assert_eq!(rules(&[wrong(1.0), wrong(2.0), other, wrong(3.0)], 4.0), []);
}

#[test]
fn a_hint_names_what_was_measured_and_no_sanitizer_for_a_fault() {
    let hint = |attempts: &[Attempted]| warnings(&crate::session::sample(), attempts, 0).remove(0).hint;
    let slow = Attempted { workload: Some("s512".into()), ..bench(1.0, 0.09) };
    assert!(hint(&[slow]).ends_with("kiln profile kernels/k --workload s512 --config A=1,B=2"));
    let fails = |minute| Attempted {
        outcome: AttemptOutcome::Fault,
        ..refused(minute, "bench", SessionPhase::Baseline, "asking the reference")
    };
    let said = hint(&[fails(1.0), fails(2.0), fails(3.0)]);
    assert!(!said.contains("sanitize") && said.ends_with("kiln bench kernels/k"), "{said}");
    let wrong = |minute| refused(minute, "check", SessionPhase::Check, "numerics");
    let said = hint(&[wrong(1.0), wrong(2.0), wrong(3.0)]);
    assert!(said.ends_with("kiln sanitize kernels/k --config A=1,B=2"), "{said}");
}

#[test]
fn half_an_hour_of_failing_builds_offers_the_bisect() {
    let fails = |minute: f64| refused(minute, "gate", SessionPhase::Build, &format!("build_failed {minute}"));
    let found = warnings(&crate::session::sample(), &[fails(1.0), fails(31.0)], 0);
    let stuck = found.iter().find(|warning| warning.rule == StopRule::BuildStuck).unwrap();
    assert!(stuck.hint.contains("kiln bisect kernels/k --until build"));
    assert!(!rules(&[fails(1.0), fails(20.0)], 0.0).contains(&StopRule::BuildStuck));
}

#[test]
fn no_progress_and_getting_worse_are_told() {
    let mut flat: Vec<Attempted> = vec![bench(1.0, 1.0)];
    flat.extend((0u8..6).map(|n| bench(2.0 + f64::from(n) / 10.0, 1.0 + 0.001 * f64::from(n % 2))));
    assert_eq!(rules(&flat, 4.0), [StopRule::NoProgress]);
    flat.push(bench(3.5, 1.1));
    assert_eq!(rules(&flat, 4.0), []);
    let edited = |minute: f64, speedup| Attempted { sources: Some(minute.to_string()), ..bench(minute, speedup) };
    assert_eq!(rules(&[edited(1.0, 1.1), edited(2.0, 1.0), edited(3.0, 0.9)], 4.0), [StopRule::GettingWorse]);
    assert_eq!(rules(&[edited(1.0, 1.1), edited(2.0, 1.099), edited(3.0, 1.098)], 4.0), [], "noise is no fall");
    assert_eq!(rules(&[bench(1.0, 1.1), bench(2.0, 1.0), bench(3.0, 0.9)], 4.0), [], "nothing was changed");
}

#[test]
fn far_behind_asks_for_a_profile() {
    assert_eq!(rules(&[bench(1.0, 0.09)], 2.0), [StopRule::SlowWithoutProfile]);
    assert_eq!(rules(&[bench(1.0, 0.09), profile(2.0, "bank_conflicts", 20.0)], 3.0), []);
    let other = Attempted { kernel: "other".into(), ..bench(1.0, 0.09) };
    assert_eq!(rules(&[other], 2.0), [], "the session is about another kernel");
    let edited = Attempted { sources: Some("two".into()), ..bench(3.0, 0.08) };
    let after = [bench(1.0, 0.09), profile(2.0, "bank_conflicts", 20.0), edited];
    assert_eq!(rules(&after, 4.0), [], "the change was made with a profile at hand");
}

#[test]
fn a_goal_that_no_profile_promises_is_a_negative_return() {
    let near = [bench(1.0, 0.9), profile(2.0, "at_roofline_memory", 1.05)];
    assert_eq!(rules(&near, 3.0), [StopRule::NegativeReturn]);
    let behind = |limit: &str| [bench(1.0, 0.09), profile(2.0, limit, 3.9)];
    assert_eq!(rules(&behind("bank_conflicts"), 3.0), [], "behind the first cause there are others");
    assert_eq!(rules(&behind("at_roofline_memory"), 3.0), [StopRule::NegativeReturn]);
    let far = [bench(1.0, 0.9), profile(2.0, "bank_conflicts", 1.5)];
    assert_eq!(rules(&far, 3.0), []);
    let mut session = crate::session::sample();
    session.worth = Some(1.0);
    let found = warnings(&session, &far, 0);
    assert!(found.iter().any(|warning| warning.what.contains("50 % likely")), "{found:?}");
}
