//! The story of the product's beginning, as a session; and the one after it.

use super::*;
use crate::SessionPhase::{Build, Check, Environment};
use crate::attempt::sample::{at, bench, profile, refused};

fn made(attempts: &[Attempted], before: &[Attempted], earlier: &[SessionReport], minute: f64) -> SessionReport {
    let session = crate::session::sample();
    report(&Material {
        session: &session,
        attempts,
        before,
        decisions: &[],
        earlier,
        learned: &[],
        assistant_bill: None,
        now_ms: (60e3 * minute) as i64,
    })
}

fn edited(minute: f64, speedup: f64, sources: &str) -> Attempted {
    Attempted { sources: Some(sources.into()), ..bench(minute, speedup) }
}

fn first() -> Vec<Attempted> {
    let lesson = |one: Attempted, id: &str| Attempted { lesson: Some(id.into()), ..one };
    vec![
        refused(5.0, "doctor", Environment, "driver"),
        lesson(refused(20.0, "gate", Build, "build_failed"), "explicit_instantiation"),
        at(35.0, "gate", Build),
        bench(50.0, 0.12),
        edited(60.0, 0.09, "two"),
        edited(70.0, 0.08, "three"),
        refused(80.0, "check", Check, "runtime_failed"),
        Attempted { hypothesis: Some("rows are misaligned".into()), ..profile(110.0, "bank_conflicts", 16.0) },
        edited(120.0, 1.3, "four"),
    ]
}

#[test]
fn a_report_says_what_went_wrong_and_the_grade_says_why() {
    let report = made(&first(), &[], &[], 130.0);
    assert_eq!((report.blind.len(), report.repeated.len()), (2, 0));
    assert_eq!(report.row.time_to_build_s, Some(35.0 * 60.0 + 30.0));
    assert_eq!(report.best.as_ref().unwrap().speedup, 1.3);
    assert_eq!((report.row.attempts, report.row.attempts_to_best), (9, Some(9)));
    assert!((report.cost.total.unwrap() - 3.5 * 130.0 / 60.0).abs() < 1e-9);
    let missed: Vec<&str> =
        report.grade.targets.iter().filter(|t| t.met == Some(false)).map(|t| t.target.as_str()).collect();
    assert_eq!(missed, ["working build within 30 min", "bottleneck named within 15 min of it", "no blind change"]);
    assert_eq!(report.grade.letter, "D");
    assert_eq!(report.hypotheses[0].hypothesis, "rows are misaligned");
    assert_eq!(report.lessons_used, [("explicit_instantiation".to_string(), true)]);
    assert!(report.next[0].contains("kiln ci kernels/k --update"));
}

#[test]
fn a_shorter_second_session_shows_beside_the_first_and_a_known_mistake_counts() {
    let one = made(&first(), &[], &[], 130.0);
    let again =
        Attempted { lesson: Some("explicit_instantiation".into()), ..refused(2.0, "gate", Build, "build_failed") };
    let second = [again, at(4.0, "gate", Build), bench(6.0, 1.28)];
    let two = made(&second, &first(), std::slice::from_ref(&one), 8.0);
    assert!(two.row.attempts_to_best < one.row.attempts_to_best);
    assert_eq!((two.repeated.len(), two.repeated[0].earlier_session), (1, true));
    assert_eq!(two.grade.letter, "B");
    assert_eq!(two.earlier[0].attempts, 9);
    assert!(two.expected.iter().any(|time| time.phase == Build && time.elapsed_s > 0.0));
    let json = serde_json::to_string(&two).unwrap();
    assert_eq!(serde_json::from_str::<SessionReport>(&json).unwrap(), two);
}

#[test]
fn a_session_without_commands_is_judged_by_nothing_it_did_not_do() {
    let report = made(&[], &[], &[], 1.0);
    assert!(report.grade.targets.iter().filter(|t| t.met == Some(false)).all(|t| t.target.starts_with("goal")));
    assert!(report.best.is_none() && report.next[0].contains("kiln bench k"));
}
