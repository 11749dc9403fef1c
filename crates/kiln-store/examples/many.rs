//! A store with a study of many trials, as scripts/bench_page.sh serves it. `cargo run -p kiln-store --example many -- PATH KERNEL_TOML [TRIALS]`.

use kiln_core::{Fault, Gate, Refusal};
use kiln_store::{Kept, Measurement, State, Store, Study, Summary, Trial, TrialState, TuneVerdict};
use serde_json::json;

const METHODS: [&str; 3] = ["recompute", "store", "online"];

fn main() -> Result<(), Fault> {
    let wrong = |why: &str| Fault::new("making a store", why).hint("many PATH KERNEL_TOML [TRIALS]");
    let mut given = std::env::args().skip(1);
    let (place, file) = given.next().zip(given.next()).ok_or_else(|| wrong("a path is missing"))?;
    let trials: u64 =
        given.next().map_or(Ok(100_000), |words| words.parse()).map_err(|_| wrong("TRIALS is no number"))?;
    let spec_text = std::fs::read_to_string(&file).map_err(|error| wrong(&error.to_string()))?;
    let store = Store::open(&place)?;
    let id = Study::new_id();
    let study = Study {
        id: id.clone(),
        started_ms: 1_700_000_000_000,
        ended_ms: None,
        state: State::Running,
        owner: "1@elsewhere".into(),
        kernel: "softmax".into(),
        path: file,
        target: "cpu".into(),
        arch: None,
        variant: String::new(),
        seed: 1,
        strategy: "tpe".into(),
        options: Kept::found(json!({})),
        environment: Kept::found(json!({ "cpu": "a processor" })),
        git_commit: None,
        spec_hash: "0".into(),
        spec_text,
        kiln_version: env!("CARGO_PKG_VERSION").into(),
        verdict: None,
        summary: None,
        seconds: 0.0,
    };
    store.begin(&study)?;
    for number in 0..trials {
        let (trial, measurements) = one(number);
        store.record(&id, &trial, &measurements)?;
    }
    let summary = summary(&id, trials as usize);
    store.finish(&id, State::Finished, Some("no_valid_candidate"), Some(&summary), 1_700_000_400_000, 400.0)?;
    println!("{id}");
    Ok(())
}

/// One trial of a search that gets better slowly; every fifth is refused.
fn one(number: u64) -> (Trial, Vec<Measurement>) {
    let draw = |salt: u64| {
        (number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(salt * 1_442_695_040_888_963_407)) >> 33
    };
    let config = format!(
        "VEC={},CHAINS={},GROUP={},METHOD={},EXP={}",
        [4, 8, 16][draw(1) as usize % 3],
        [1, 2, 4, 8][draw(2) as usize % 4],
        [1, 2, 4][draw(3) as usize % 3],
        METHODS[draw(4) as usize % 3],
        ["libm", "poly"][draw(5) as usize % 2],
    );
    let refused = draw(6) % 5 == 0;
    let cost = 1e-4 * (1.0 + (draw(7) % 1000) as f64 / 500.0 + 1.0 / (1.0 + number as f64 / 1000.0));
    let refusal = Refusal {
        gate: if draw(8) % 2 == 0 { Gate::Constraint } else { Gate::Numerics },
        rule: "registers".into(),
        measured: "16".into(),
        limit: "8".into(),
        evidence: "GROUP * CHAINS = 16".into(),
        hint: Some("more vectors in flight do not fit into registers".into()),
    };
    let trial = Trial {
        number,
        phase: "search".into(),
        config,
        state: if refused { TrialState::Refused } else { TrialState::Passed },
        cost: (!refused).then_some(cost),
        refusal: refused.then_some(refusal),
        workload: refused.then(|| "short".into()),
        artifact: Some("0123456789abcdef".into()),
        started_ms: 1_700_000_000_000 + 4 * number as i64,
        build_s: 0.002,
        check_s: 0.001,
        measure_s: 0.001,
        wall_s: 0.004,
        details: Kept::found(json!({})),
    };
    let samples = (0..10).map(|at| cost * (1.0 + 0.001 * at as f64)).collect();
    let (phase, workload, subject, cache) = ("search".into(), "short".into(), "candidate".into(), "cold".into());
    let measured = Measurement { phase, trial: number, workload, subject, block: 0, samples, calls: 10, cache };
    (trial, if refused { Vec::new() } else { vec![measured] })
}

fn summary(id: &str, trials: usize) -> Summary {
    Summary {
        price: None,
        cost: None,
        verdict: TuneVerdict::NoValidCandidate,
        reason: "made to measure the page".into(),
        workloads: vec![],
        config: None,
        speedup: None,
        speedup_ci95: None,
        target_speedup: 1.1,
        baseline: None,
        trials,
        ablated: Some(0),
        refused: [(Gate::Numerics, trials / 10)].into(),
        late: vec![],
        sanitized: vec![],
        limit: None,
        ablation: vec![],
        implementations: vec![],
        seed: 1,
        seconds: 400.0,
        study: id.into(),
    }
}
