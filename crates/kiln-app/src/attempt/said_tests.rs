//! What is said of an attempt of a long session, of which not everything is read, is what all of its attempts lead to.

use std::collections::{BTreeMap, BTreeSet};

use kiln_session::{Goal, Prices, SessionPhase, SessionState};
use kiln_store::{AttemptsOf, Recent, Store};

use super::*;

/// Draws that are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

const VERBS: [(&str, SessionPhase); 8] = [
    ("gate", SessionPhase::Build),
    ("check", SessionPhase::Check),
    ("bench", SessionPhase::Baseline),
    ("bench", SessionPhase::Baseline),
    ("profile", SessionPhase::Profile),
    ("tune", SessionPhase::Tune),
    ("sanitize", SessionPhase::Check),
    ("bisect", SessionPhase::Check),
];

fn attempt(dice: &mut Dice, number: u64, at_ms: i64, session: &str) -> Attempted {
    let (verb, phase) = dice.of(&VERBS);
    let outcome = dice.of(&[
        AttemptOutcome::Passed,
        AttemptOutcome::Passed,
        AttemptOutcome::Refused,
        AttemptOutcome::Fault,
        AttemptOutcome::Interrupted,
    ]);
    let failed = matches!(outcome, AttemptOutcome::Refused | AttemptOutcome::Fault);
    let timed = matches!(verb, "bench" | "tune") && outcome == AttemptOutcome::Passed;
    let kernel = dice.of(&["k", "k", "k", "other"]);
    let seconds = dice.below(400) as f64 + 0.25;
    let cause = dice.of(&["build_failed", "numerics", "timeout"]);
    Attempted {
        id: format!("{number:05}"),
        at_ms,
        seconds,
        session: Some(session.into()),
        kernel: kernel.into(),
        path: format!("kernels/{kernel}"),
        verb: verb.into(),
        phase,
        parts: if verb == "tune" { BTreeMap::from([("confirm".into(), seconds / 3.0)]) } else { BTreeMap::new() },
        outcome,
        cause: failed.then(|| cause.into()),
        words: None,
        config: Some(format!("A={}", dice.below(3))),
        sources: Some(format!("s{}", dice.below(3))),
        environment: "host=h".into(),
        speedup: timed.then(|| 0.2 + dice.below(90) as f64 / 100.0),
        workload: dice.of(&[Some("short"), Some("long"), None]).map(String::from),
        limit: (verb == "profile" && !failed).then(|| "bank_conflicts".into()),
        promise: (verb == "profile" && !failed).then(|| 1.0 + dice.below(30) as f64 / 100.0),
        lesson: (failed && dice.below(4) == 0).then(|| "hang".into()),
        hypothesis: None,
    }
}

fn session(kernel: Option<&str>, goal: &str) -> Session {
    Session {
        id: "one".into(),
        started_ms: 1000,
        ended_ms: None,
        state: SessionState::Open,
        folder: "/p".into(),
        user: "me".into(),
        kernel: kernel.map(String::from),
        goal: Goal::parse(goal).unwrap(),
        budget_s: 8.0 * 3600.0,
        phase_minutes: BTreeMap::new(),
        prices: Prices { gpu: Some(3.0), ..Prices::default() },
        worth: Some(9.0),
        gpu: None,
        baseline: None,
        smallest: None,
        criteria: None,
    }
}

/// Rules with their words; how often a cause came in a row is counted as far as is read.
fn told(session: &Session, past: &Past, made: &Attempted) -> Vec<StopWarning> {
    let words = |one: StopWarning| match one.rule {
        StopRule::SameCause => StopWarning { what: String::new(), ..one },
        _ => one,
    };
    new_rules(session, past, made).into_iter().map(words).collect()
}

#[test]
fn of_a_long_session_the_same_is_said_as_if_all_of_it_were_read() {
    let mut seen = BTreeSet::new();
    for (seed, session) in [
        (1, session(Some("k"), "1.05x short")),
        (2, session(Some("k"), "3x")),
        (3, session(None, "1.08x")),
        (4, session(Some("k"), "1.5x long")),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("kiln.db").to_str().unwrap()).unwrap();
        let (mut dice, mut at_ms) = (Dice(seed), session.started_ms);
        // Something that happens for a long while, so that what it follows lies far back.
        let mut streak = None;
        for number in 0..260 {
            at_ms += 1000 * dice.below(250) as i64;
            let mut made = attempt(&mut dice, number, at_ms, &session.id);
            if number % 65 == 0 {
                streak = Some(dice.below(3)).filter(|_| number > 0);
            }
            match streak {
                Some(0) => {
                    let (verb, phase, cause) = ("gate".into(), SessionPhase::Build, Some("build_failed".into()));
                    made = Attempted { verb, phase, cause, outcome: AttemptOutcome::Refused, speedup: None, ..made };
                    (made.limit, made.promise, made.parts) = (None, None, BTreeMap::new());
                }
                Some(1) => {
                    (made.kernel, made.path) = ("other".into(), "kernels/other".into());
                }
                _ => {}
            }
            store.record_attempt(&made).unwrap();
            let mut others = store.attempts(AttemptsOf::Session(&session.id)).unwrap();
            others.retain(|one| one.id != made.id);
            let whole = Past { others, ..Past::default() };
            let Recent { others, times } = store.recent(&session, &made).unwrap();
            assert_eq!(times.is_some(), number > 100, "{number}");
            assert!(others.len() <= 120, "{} of {number} are read", others.len());
            let recent = Past { others, times, ..Past::default() };
            let all = told(&session, &whole, &made);
            assert_eq!(told(&session, &recent, &made), all, "seed {seed}, attempt {number}");
            seen.extend(all.iter().map(|one| one.rule));
            let [own, near] =
                [&whole, &recent].map(|past| past.others.iter().chain([&made]).cloned().collect::<Vec<Attempted>>());
            let changes = |all: &[Attempted]| {
                let mine = |id: &String| *id == made.id;
                let found = blind(all).into_iter().filter(|one| mine(&one.attempt)).map(|one| one.changed);
                let many = crowded(all).into_iter().filter(|one| mine(&one.attempt)).map(|one| one.changed);
                let again = mistakes(&[], all).into_iter().filter(|one| mine(&one.attempt)).map(|one| one.what);
                (found.collect::<Vec<_>>(), many.collect::<Vec<_>>(), again.collect::<Vec<_>>())
            };
            assert_eq!(changes(&near), changes(&own), "seed {seed}, attempt {number}");
        }
    }
    // Draws seldom hold enough measurements on one workload for `no_progress`.
    let missing: Vec<&str> = [
        StopRule::GoalReached,
        StopRule::BudgetSpent,
        StopRule::PhaseBudget,
        StopRule::BuildStuck,
        StopRule::SameCause,
        StopRule::GettingWorse,
        StopRule::SlowWithoutProfile,
        StopRule::NegativeReturn,
    ]
    .iter()
    .filter(|rule| !seen.contains(rule))
    .map(|rule| rule.name())
    .collect();
    assert!(missing.is_empty(), "never said: {missing:?}");
}
