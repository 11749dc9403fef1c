//! Attempts, sessions and decisions read back as they went in; one session is open for a folder and a user, and ends once.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use kiln_session::{
    AttemptOutcome, Attempted, Decision, DecisionKind, DecisionOption, Goal, Material, Prices, Session, SessionPhase,
    SessionState, report,
};
use kiln_store::{AttemptsOf, Store, Study};

use crate::open::bare;

fn attempt(at_ms: i64, kernel: &str, session: Option<&str>, lesson: Option<&str>) -> Attempted {
    Attempted {
        id: Study::new_id(),
        at_ms,
        seconds: 1.5,
        session: session.map(String::from),
        kernel: kernel.into(),
        path: format!("kernels/{kernel}"),
        verb: "tune".into(),
        phase: SessionPhase::Tune,
        parts: BTreeMap::from([("confirm".to_string(), 0.1 + 0.2)]),
        outcome: AttemptOutcome::Refused,
        cause: Some("numerics".into()),
        words: Some("y[0] is 3".into()),
        config: Some("A=1".into()),
        sources: Some("abc".into()),
        environment: "host=h\nCC=gcc".into(),
        speedup: Some(0.9),
        workload: Some("s128".into()),
        limit: Some("bank_conflicts".into()),
        promise: Some(1.4),
        lesson: lesson.map(String::from),
        hypothesis: Some("it is the tail".into()),
        command: Some("fuzz k --case 'S=65'".into()),
    }
}

fn store(folder: &tempfile::TempDir) -> Store {
    Store::open(folder.path().join("kiln.db").to_str().unwrap()).unwrap()
}

#[test]
fn attempts_read_back_oldest_first() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let all = [
        attempt(1, "k", None, None),
        attempt(2, "k", Some("s"), Some("hang")),
        attempt(3, "l", Some("s"), None),
        attempt(4, "k", None, None),
    ];
    all.iter().for_each(|one| store.record_attempt(one).unwrap());
    assert_eq!(store.attempts(AttemptsOf::All).unwrap(), all);
    assert_eq!(store.attempts(AttemptsOf::Session("s")).unwrap(), all[1..3]);
    assert_eq!((store.last_ended_ms("s").unwrap(), store.last_ended_ms("t").unwrap()), (Some(1503), None));
    assert_eq!(store.attempts(AttemptsOf::Kernel("k", 2)).unwrap(), [all[1].clone(), all[3].clone()]);
    assert_eq!(store.attempts(AttemptsOf::Before(3, 9)).unwrap(), all[..2]);
    assert_eq!(store.attempts(AttemptsOf::From(3)).unwrap(), all[2..]);
    assert_eq!(store.attempts(AttemptsOf::Lesson("hang")).unwrap(), [all[1].clone(), all[3].clone()]);
    assert!(store.record_attempt(&Attempted { speedup: Some(f64::NAN), ..attempt(5, "k", None, None) }).is_err());
    assert!(store.record_attempt(&all[0]).is_err(), "an attempt is recorded once");
}

#[test]
fn every_text_and_number_of_an_attempt_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let texts = ["", "null", "two\nlines\r\n", "\"quoted\" \\ \u{1}\u{7f}\t", "\u{2028} ü 🦀", "[1, 2]", "a\u{0}b"];
    let numbers = [0.0, 0.1 + 0.2, 1.0 / 3.0, 1e-9 / 3.0, 1e9 / 7.0, 2.0, f64::EPSILON];
    let mut all = Vec::new();
    for (at_ms, (text, number)) in texts.iter().flat_map(|text| numbers.map(|number| (*text, number))).enumerate() {
        all.push(Attempted {
            seconds: number,
            words: Some(text.into()),
            config: None,
            environment: text.into(),
            speedup: Some(number),
            promise: None,
            hypothesis: Some(text.into()),
            ..attempt(at_ms as i64, text, Some(text), None)
        });
    }
    all.iter().for_each(|one| store.record_attempt(one).unwrap());
    let found = store.attempts(AttemptsOf::All).unwrap();
    assert_eq!(found, all);
    let bits = |of: &[Attempted]| of.iter().map(|one| one.speedup.map(f64::to_bits)).collect::<Vec<_>>();
    assert_eq!(bits(&found), bits(&all));
}

fn session(folder: &str, user: &str, started_ms: i64) -> Session {
    Session {
        id: Study::new_id(),
        started_ms,
        ended_ms: None,
        state: SessionState::Open,
        folder: folder.into(),
        user: user.into(),
        kernel: Some("k".into()),
        path: Some("kernels/k".into()),
        goal: Goal::parse("1.2x s512").unwrap(),
        budget_s: 3600.1,
        phase_minutes: BTreeMap::from([("build".to_string(), 45.0)]),
        prices: Prices { gpu: Some(3.5), ..Prices::default() },
        worth: None,
        gpu: Some("H200".into()),
        baseline: None,
        smallest: None,
        criteria: None,
    }
}

#[test]
fn a_session_is_open_until_it_ends_whoever_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let mine = session("/p", "me", 1);
    assert!(store(&folder).begin_session(&mine).unwrap());
    assert!(store(&folder).begin_session(&session("/q", "me", 2)).unwrap());
    assert!(!store(&folder).begin_session(&session("/p", "me", 3)).unwrap(), "one is open");
    let store = store(&folder);
    assert_eq!(store.open_session("/p", "me").unwrap().as_ref(), Some(&mine));
    assert_eq!(store.open_session("/p", "you").unwrap(), None);
    let ended = Session { ended_ms: Some(9), state: SessionState::Ended, ..mine };
    let (attempts, none) = ([attempt(3, "k", Some(&ended.id), None)], []);
    let made = report(&Material {
        session: &ended,
        attempts: &attempts,
        before: &[],
        decisions: &[],
        earlier: &none,
        learned: &[],
        assistant_bill: None,
        sources: None,
        now_ms: 9,
    });
    assert!(store.end_session(&made).unwrap());
    assert!(!store.end_session(&made).unwrap(), "it ends once");
    assert_eq!(store.open_session("/p", "me").unwrap(), None);
    let all = store.sessions("/p").unwrap();
    assert_eq!((all.len(), &all[0].session, all[0].report.as_ref()), (1, &ended, Some(&made)));
}

#[test]
fn decisions_read_back_by_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let option = DecisionOption { what: "go on".into(), time_s: Some(60.0), cost: None, best_case: Some(1.1) };
    let made = |kernel: &str, at_ms| Decision {
        id: Study::new_id(),
        at_ms,
        session: None,
        kernel: kernel.into(),
        path: String::new(),
        kind: DecisionKind::Retired,
        options: vec![option.clone()],
        choice: "use the baseline".into(),
        because: "it is faster".into(),
        user: "me".into(),
    };
    let both = [made("k", 1), made("l", 2)];
    both.iter().for_each(|one| store.record_decision(one).unwrap());
    assert_eq!(store.decisions(None).unwrap(), both);
    assert_eq!(store.decisions(Some("l")).unwrap(), both[1..]);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let own = store(&folder);
    let mine = session("/p", "me", 1);
    assert!(own.begin_session(&mine).unwrap());
    let good = attempt(2, "k", Some(&mine.id), None);
    let bad = attempt(3, "k", Some(&mine.id), None);
    [&good, &bad].into_iter().for_each(|one| own.record_attempt(one).unwrap());
    let ended = Session { ended_ms: Some(9), state: SessionState::Ended, ..mine.clone() };
    let (material, none) = ([good.clone()], []);
    let made = report(&Material {
        session: &ended,
        attempts: &material,
        before: &[],
        decisions: &[],
        earlier: &none,
        learned: &[],
        assistant_bill: None,
        sources: None,
        now_ms: 9,
    });
    assert!(own.end_session(&made).unwrap());
    drop(own);
    let parts = format!("UPDATE attempts SET parts = '{{' WHERE id = '{}'", bad.id);
    bare(folder.path().join("kiln.db").to_str().unwrap(), &[&parts, "UPDATE sessions SET report = '{'"]);
    let own = store(&folder);
    assert_eq!(own.attempts(AttemptsOf::Session(&mine.id)).unwrap(), [good]);
    let all = own.sessions("/p").unwrap();
    assert_eq!((all.len(), &all[0].session, &all[0].report), (1, &ended, &None));
    let named = own.damaged();
    assert!(named.contains(&bad.id), "{named:?}");
    assert!(named.contains(&format!("the report of session {}", mine.id)), "{named:?}");
    assert!(own.examine().unwrap_err().why.contains(&bad.id));
}

#[test]
fn sessions_move_with_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let own = store(&folder);
    let mine = session("/p", "me", 1);
    assert!(own.begin_session(&mine).unwrap());
    assert_eq!(own.session_folders().unwrap(), ["/p"]);
    own.move_sessions("/p", "/q").unwrap();
    assert_eq!(own.open_session("/p", "me").unwrap(), None);
    assert_eq!(own.open_session("/q", "me").unwrap(), Some(Session { folder: "/q".into(), ..mine }));
}
