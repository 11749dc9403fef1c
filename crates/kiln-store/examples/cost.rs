//! What the store costs: opening, recording, reading. `cargo run --release -p kiln-store --example cost -- PATH`.

use std::time::Instant;

use kiln_core::Fault;
use kiln_store::{Filter, Kept, Measurement, State, Store, Study, Trial, TrialState};
use serde_json::json;

const TRIALS: u64 = 2000;

fn main() -> Result<(), Fault> {
    let Some(place) = std::env::args().nth(1) else {
        return Err(Fault::new("measuring the store", "no path is given").hint("give the path of a file to make"));
    };
    let begun = Instant::now();
    let store = Store::open(&place)?;
    println!("making a store: {:.2} ms", begun.elapsed().as_secs_f64() * 1e3);

    let study = study();
    store.begin(&study)?;
    for (workloads, samples) in [(0, 0), (1, 50), (3, 50), (12, 200)] {
        let mut costs = Vec::new();
        for number in 0..TRIALS {
            let (trial, measurements) = trial(&format!("{workloads}x{samples}"), number, workloads, samples);
            let begun = Instant::now();
            store.record(&study.id, &trial, &measurements)?;
            costs.push(begun.elapsed().as_secs_f64() * 1e6);
        }
        costs.sort_by(f64::total_cmp);
        let at = |share: f64| costs[(share * (costs.len() - 1) as f64) as usize];
        let (half, high, most) = (at(0.5), at(0.99), at(1.0));
        println!(
            "record, {workloads:2} measurements of {samples:3}: median {half:.0} us, 99 % {high:.0} us, most {most:.0} us"
        );
    }
    let begun = Instant::now();
    let trials = store.trials(&study.id)?.len();
    println!("reading {trials} trials: {:.1} ms", begun.elapsed().as_secs_f64() * 1e3);
    let begun = Instant::now();
    let measurements = store.measurements(&study.id)?.len();
    println!("reading {measurements} measurements: {:.1} ms", begun.elapsed().as_secs_f64() * 1e3);

    for n in 0..TRIALS {
        store.begin(&Study { id: Study::new_id(), started_ms: n as i64, ..study.clone() })?;
    }
    for (what, filter) in [("all", None), ("10", Some(10))] {
        let begun = Instant::now();
        let found = store.studies(&Filter { kernel: None, limit: filter })?.len();
        println!("listing {what} studies ({found}): {:.2} ms", begun.elapsed().as_secs_f64() * 1e3);
    }
    let begun = Instant::now();
    store.find(study.short_id())?;
    println!("finding one by the end of its id: {:.2} ms", begun.elapsed().as_secs_f64() * 1e3);
    drop(store);

    let mut costs = Vec::new();
    for _ in 0..100 {
        let begun = Instant::now();
        let store = Store::open(&place)?;
        costs.push(begun.elapsed().as_secs_f64() * 1e3);
        drop(store);
    }
    costs.sort_by(f64::total_cmp);
    println!("opening it again: median {:.2} ms, most {:.2} ms", costs[50], costs[99]);
    Ok(())
}

fn study() -> Study {
    Study {
        id: Study::new_id(),
        started_ms: i64::MAX,
        ended_ms: None,
        state: State::Running,
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

fn trial(phase: &str, number: u64, workloads: u64, samples: u64) -> (Trial, Vec<Measurement>) {
    let trial = Trial {
        number,
        phase: phase.into(),
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
    };
    let measurement = |block| Measurement {
        phase: phase.into(),
        trial: number,
        workload: "s128".into(),
        subject: "candidate".into(),
        block,
        samples: (0..samples).map(|i| 1e-6 / (3.0 + (i * number) as f64)).collect(),
        calls: 100,
        cache: "warm".into(),
    };
    (trial, (0..workloads).map(measurement).collect())
}
