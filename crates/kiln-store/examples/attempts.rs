//! What the record of an attempt adds to a command, on a store with 100,000 trials and 20,000 attempts: with an open session of 1,000 attempts,
//! without one, and beside it what opening and closing the store costs by itself. Rounds of the three take turns, so that a busy machine
//! slows them alike. `cargo run --release -p kiln-store --example attempts -- PATH`; `--fill` makes the store and measures nothing.

use std::collections::BTreeMap;
use std::time::Instant;

use kiln_core::Fault;
use kiln_session::{
    AttemptOutcome, Attempted, Goal, Prices, Session, SessionPhase, SessionState, blind, phases, warnings_at,
};
use kiln_store::{AttemptsOf, Kept, Recent, State, Store, Study, Trial, TrialState};
use serde_json::json;

const TRIALS: u64 = 100_000;
const ATTEMPTS: i64 = 20_000;
/// Of those, in the open session.
const OWN: i64 = 1000;
const ROUNDS: i64 = 200;
/// Attempts of a kernel that are looked back on without a session.
const REMEMBERED: u32 = 20;

fn main() -> Result<(), Fault> {
    let Some(place) = std::env::args().nth(1) else {
        return Err(Fault::new("measuring attempts", "no path is given").hint("give the path of a file to make"));
    };
    filled(&place)?;
    if std::env::args().any(|word| word == "--fill") {
        return Ok(());
    }
    let mut costs: [Vec<f64>; 3] = Default::default();
    for round in 0..ROUNDS {
        for (kind, costs) in costs.iter_mut().enumerate() {
            let begun = Instant::now();
            match kind {
                0 => drop(Store::open(&place)?),
                1 => recorded(&place, "nobody", round)?,
                _ => recorded(&place, "me", ROUNDS + round)?,
            }
            costs.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    costs.iter_mut().for_each(|costs| costs.sort_by(f64::total_cmp));
    let median = |kind: usize| costs[kind][costs[kind].len() / 2];
    let titles =
        ["the store opened and closed", "an attempt without a session", "an attempt in a session of 1,000 and more"];
    for (kind, title) in titles.iter().enumerate() {
        let (all, beyond, times) = (&costs[kind], median(kind) - median(0), median(kind) / median(0));
        let high = all[all.len() * 95 / 100];
        println!("{title}: median {:.2} ms, 95 % {high:.2} ms; {beyond:.2} ms more, {times:.2} times", median(kind));
    }
    Ok(())
}

/// What a command does at its end.
fn recorded(place: &str, user: &str, round: i64) -> Result<(), Fault> {
    let store = Store::open(place)?;
    let session = store.open_session("/p", user)?;
    let made = attempt(ATTEMPTS + round, session.as_ref().map(|session| session.id.as_str()));
    store.record_attempt(&made)?;
    let found = match &session {
        Some(session) => {
            let Recent { mut others, times } = store.recent(session, &made)?;
            let times = times.map_or_else(|| phases(session, &others), |(_, times)| times);
            let known = warnings_at(session, &others, &times, made.at_ms).len();
            others.push(made.clone());
            known + warnings_at(session, &others, &times, made.ended_ms()).len() + blind(&others).len()
        }
        None => blind(&store.attempts(AttemptsOf::Kernel(&made.kernel, REMEMBERED))?).len(),
    };
    std::hint::black_box(found);
    Ok(())
}

/// A store as a year of work leaves it.
fn filled(place: &str) -> Result<(), Fault> {
    let store = Store::open(place)?;
    for study in 0..TRIALS / 1000 {
        let study = study_of(study as i64);
        store.begin(&study)?;
        for number in 0..1000 {
            store.record(&study.id, &trial(number), &[])?;
        }
    }
    let session = Session {
        id: Study::new_id(),
        started_ms: 0,
        ended_ms: None,
        state: SessionState::Open,
        folder: "/p".into(),
        user: "me".into(),
        kernel: Some("softmax".into()),
        goal: Goal { text: "1.2x".into(), speedup: Some(1.2), workload: None },
        budget_s: Session::BUDGET_S,
        phase_minutes: BTreeMap::new(),
        prices: Prices { gpu: Some(3.5), ..Prices::default() },
        worth: None,
        gpu: None,
        baseline: None,
        smallest: None,
        criteria: None,
    };
    store.begin_session(&session)?;
    for number in 0..ATTEMPTS {
        let own = (number >= ATTEMPTS - OWN).then_some(session.id.as_str());
        store.record_attempt(&attempt(number, own))?;
    }
    println!("{} trials and {ATTEMPTS} attempts in {place}", TRIALS);
    Ok(())
}

fn attempt(number: i64, session: Option<&str>) -> Attempted {
    Attempted {
        id: Study::new_id(),
        at_ms: 60_000 * number,
        seconds: 20.0,
        session: session.map(String::from),
        kernel: "softmax".into(),
        path: "kernels/softmax".into(),
        verb: "bench".into(),
        phase: SessionPhase::Baseline,
        parts: BTreeMap::new(),
        outcome: AttemptOutcome::Passed,
        cause: None,
        words: None,
        config: Some(format!("BLOCK_M=64,BLOCK_N={},WARPS=4,STAGES=2", number % 8)),
        sources: Some(format!("{:016x}", number % 5)),
        environment: "host=h\nkiln=0.1.0".into(),
        speedup: Some(0.8 + (number % 17) as f64 / 100.0),
        workload: None,
        limit: None,
        promise: None,
        lesson: (number % 50 == 0).then(|| "hang".into()),
        hypothesis: None,
    }
}

fn study_of(number: i64) -> Study {
    Study {
        id: Study::new_id(),
        started_ms: number,
        ended_ms: None,
        state: State::Finished,
        owner: "1@host".into(),
        kernel: "softmax".into(),
        path: "kernel.toml".into(),
        target: "cpu".into(),
        arch: None,
        variant: String::new(),
        seed: 1,
        strategy: "random".into(),
        options: Kept::found(json!({})),
        environment: Kept::found(json!({})),
        git_commit: None,
        spec_hash: String::new(),
        spec_text: "x".repeat(3000),
        kiln_version: "0".into(),
        verdict: None,
        summary: None,
        seconds: 0.0,
    }
}

fn trial(number: u64) -> Trial {
    Trial {
        number,
        phase: "search".into(),
        config: "BLOCK_M=64,BLOCK_N=64,WARPS=4,STAGES=2".into(),
        state: TrialState::Passed,
        cost: Some(1e-6),
        refusal: None,
        workload: None,
        artifact: Some("0123456789abcdef".into()),
        started_ms: 0,
        build_s: 0.1,
        check_s: 0.1,
        measure_s: 0.1,
        wall_s: 0.3,
        details: Kept::found(json!({"registers": 64})),
    }
}
