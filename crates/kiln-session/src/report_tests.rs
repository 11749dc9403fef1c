//! The story of the product's beginning, as a session; and the one after it.

use super::*;
use crate::SessionPhase::{Build, Check, Environment};
use crate::attempt::sample::{at, bench, profile, refused};

fn made(attempts: &[Attempted], before: &[Attempted], earlier: &[SessionReport], minute: f64) -> SessionReport {
    let ended_ms = Some((60e3 * minute) as i64);
    let session = Session { ended_ms, state: crate::SessionState::Ended, ..crate::session::sample() };
    judged(&session, attempts, before, (&[], earlier), minute)
}

fn judged(
    session: &Session,
    attempts: &[Attempted],
    before: &[Attempted],
    (decisions, earlier): (&[Decision], &[SessionReport]),
    minute: f64,
) -> SessionReport {
    report(&Material {
        session,
        attempts,
        before,
        decisions,
        earlier,
        learned: &[],
        assistant_bill: None,
        sources: None,
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
    assert_eq!(report.hypotheses[0].command, "kiln profile kernels/k --config A=1,B=2", "of one that kept no more");
    assert_eq!(report.hypotheses[0].result, "limited by bank_conflicts");
    let typed = Some("kiln profile kernels/k --case 'S=65'".to_string());
    let mut kept = first();
    kept.iter_mut().for_each(|one| one.command = typed.clone());
    assert_eq!(Some(&made(&kept, &[], &[], 130.0).hypotheses[0].command), typed.as_ref());
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
    assert!(report.best.is_none() && report.next[0].contains("kiln bench kernels/k"));
    assert_eq!((report.grade.letter.as_str(), report.row.grade.as_str()), ("-", "-"));
    assert_eq!(report.grade.ungraded.as_deref(), Some("no command in it judged anything"));
}

#[test]
fn another_kernels_result_reaches_no_goal_and_a_choice_to_go_on_ends_nothing() {
    let session = crate::session::sample();
    let other = |one: Attempted| Attempted { kernel: "other".into(), path: "kernels/other".into(), ..one };
    let attempts = [at(1.0, "gate", Build), other(bench(2.0, 9.0)), other(bench(3.0, 0.1)), bench(4.0, 1.1)];
    let of = |decisions: &[Decision]| judged(&session, &attempts, &[], (decisions, &[]), 5.0);
    let goal = |report: &SessionReport| {
        let found = report.grade.targets.iter().find(|target| target.target.starts_with("goal"));
        found.and_then(|target| target.met)
    };
    let found = of(&[]);
    assert_eq!((goal(&found), found.row.speedup, found.row.attempts_to_best), (Some(false), Some(1.1), Some(2)));
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    let bottleneck = found.grade.targets.iter().find(|target| target.target.starts_with("bottleneck")).unwrap();
    assert_eq!(bottleneck.met, None, "this kernel was never slow");
    assert!(found.next[0].contains("kernels/k"), "{:?}", found.next);
    let decided = crate::session::decided;
    assert_eq!(goal(&of(&[decided(4.5, "go on")])), Some(false));
    assert_eq!(goal(&of(&[decided(4.5, "use the baseline")])), Some(true));
    assert_eq!(goal(&of(&[decided(4.5, "stop"), decided(4.6, "go on")])), Some(false), "the last one counts");
}

#[test]
fn what_is_next_leads_on_and_never_back() {
    let session = crate::session::sample();
    let near = [bench(1.0, 0.9), profile(2.0, "at_roofline_memory", 1.05)];
    let next = |session: &Session, attempts: &[Attempted], decisions: &[Decision]| {
        judged(session, attempts, &[], (decisions, &[]), 3.0).next
    };
    let decided = crate::session::decided;
    assert!(next(&session, &near, &[])[0].starts_with("decide: kiln session decide --choose"));
    let on = next(&session, &near, &[decided(2.5, "go on")]);
    assert_eq!(on[0], "as decided: go on");
    assert!(!on.iter().any(|step| step.contains("session")), "{on:?}");
    let end = ["end the session: kiln session end", "as decided: stop"];
    assert_eq!(next(&session, &near, &[decided(2.5, "stop")]), end);
    assert_eq!(next(&session, &[bench(1.0, 1.3)], &[])[0], end[0]);
    let edited = Attempted { sources: Some("two".into()), ..refused(2.0, "fuzz", Check, "numerics") };
    assert_eq!(
        next(&session, &[bench(1.0, 1.3), edited], &[]),
        ["fix what broke since (numerics): kiln next kernels/k"]
    );
    let wrong = refused(2.0, "fuzz", Check, "numerics");
    let refuted = judged(&session, &[bench(1.0, 1.3), wrong], &[], (&[], &[]), 3.0);
    assert!(refuted.best.is_none() && refuted.row.attempts_to_best.is_none(), "a wrong result is no speedup");
    // Of a session that is over nothing can be decided.
    let over = Session { ended_ms: Some(180_000), state: crate::SessionState::Ended, ..session };
    assert_eq!(next(&over, &near, &[decided(2.5, "stop")]), end[1..]);
    let (late, all) = (next(&over, &near, &[]), next(&over, &[bench(1.0, 1.3)], &[]));
    assert!(late.iter().chain(&all).all(|step| !step.contains("kiln session")), "{late:?} {all:?}");
}

#[test]
fn a_hypothesis_shows_what_came_out_and_only_judgements_are_attempts() {
    let tried = |one: Attempted, command: &str| Attempted {
        hypothesis: Some("it is faster".into()),
        command: Some(command.into()),
        ..one
    };
    let bare = |one: Attempted| Attempted { kernel: String::new(), path: String::new(), speedup: None, ..one };
    let slower = "0.820x, slower, on w0, against LANES=16";
    let attempts = [
        tried(Attempted { words: Some(slower.into()), speedup: None, ..bench(1.0, 0.0) }, "kiln bench kernels/k"),
        tried(bare(at(2.0, "echo hi", Check)), "echo hi"),
        tried(
            Attempted { words: Some("exit status: 7".into()), ..bare(refused(3.0, "sh -c x", Check, "")) },
            "sh -c x",
        ),
        tried(refused(4.0, "check", Check, "numerics"), "kiln check kernels/k"),
        bench(5.0, 1.3),
    ];
    let report = made(&attempts, &[], &[], 9.0);
    let results: Vec<&str> = report.hypotheses.iter().map(|one| one.result.as_str()).collect();
    let failed = "the command failed: exit status: 7";
    assert_eq!(results, [slower, "the command succeeded", failed, "refused: by numerics"]);
    assert_eq!((report.row.attempts, report.row.attempts_to_best), (3, Some(3)));
    assert_eq!(report.phases.iter().map(|time| time.attempts).sum::<usize>(), 3);
}

#[test]
fn a_bottleneck_that_nobody_had_to_name_did_not_come_up() {
    let report = made(&[bench(1.0, 1.3)], &[], &[], 2.0);
    let target = |begins: &str| report.grade.targets.iter().find(|one| one.target.starts_with(begins)).unwrap();
    assert_eq!((target("bottleneck").met, target("bottleneck").found.as_str()), (None, "did not come up"));
    let slow = made(&[bench(1.0, 0.3)], &[], &[], 2.0);
    let found = slow.grade.targets.iter().find(|one| one.target.starts_with("bottleneck")).unwrap();
    assert_eq!((found.met, found.found.as_str()), (Some(false), "not reached"));
}
