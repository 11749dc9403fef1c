//! A study, a trial and a measurement to begin with, for the tests beside this folder.

// Each test file takes what it needs of this.
#![allow(dead_code)]

use kiln_core::{Gate, Refusal};
use kiln_store::{Kept, Measurement, State, Store, Study, Summary, Trial, TrialState, TuneVerdict};
use serde_json::json;
use tempfile::TempDir;

/// A fresh store in a folder that goes when it does.
pub(crate) fn store() -> (Store, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Store::open(&place(&folder)).unwrap(), folder)
}

pub(crate) fn place(folder: &TempDir) -> String {
    folder.path().join("kiln.db").to_str().unwrap().to_string()
}

pub(crate) fn study(kernel: &str, started_ms: i64) -> Study {
    Study {
        id: Study::new_id(),
        started_ms,
        ended_ms: None,
        state: State::Running,
        owner: "17@host".into(),
        kernel: kernel.into(),
        path: format!("kernels/{kernel}/kernel.toml"),
        target: "cpu".into(),
        arch: None,
        variant: "T=f32".into(),
        seed: u64::MAX,
        strategy: "anneal".into(),
        options: Kept::found(json!({"trials": 200, "z": 0.1, "a": [1, null, "x"]})),
        environment: Kept::found(json!({"cores": 2})),
        git_commit: Some("0123abc".into()),
        spec_hash: "hash".into(),
        spec_text: "[kernel]\nname = \"ünïcode\"\n".into(),
        kiln_version: "0.1.0".into(),
        verdict: None,
        summary: None,
        seconds: 0.0,
    }
}

pub(crate) fn trial(phase: &str, number: u64) -> Trial {
    Trial {
        number,
        phase: phase.into(),
        config: "BLOCK_M=64,WARPS=4".into(),
        state: TrialState::Refused,
        cost: Some(1.25e-6),
        refusal: Some(Refusal {
            gate: Gate::Numerics,
            rule: "out".into(),
            measured: "3.1e-2".into(),
            limit: "1e-3".into(),
            evidence: "element 17".into(),
            hint: None,
        }),
        workload: Some("s128".into()),
        artifact: None,
        started_ms: 1_700_000_000_000,
        build_s: 0.5,
        check_s: 0.25,
        measure_s: 1.0 / 3.0,
        wall_s: 1.1,
        details: Kept::found(json!({"registers": 64})),
    }
}

pub(crate) fn measurement(trial: &Trial, block: u64, samples: Vec<f64>) -> Measurement {
    Measurement {
        phase: trial.phase.clone(),
        trial: trial.number,
        workload: "s128".into(),
        subject: "candidate".into(),
        block,
        samples,
        calls: 100,
        cache: "warm".into(),
    }
}

/// The end of a study that found nothing.
pub(crate) fn summary() -> Summary {
    Summary {
        price: None,
        cost: None,
        verdict: TuneVerdict::NoValidCandidate,
        reason: "nothing passed".into(),
        workloads: vec![],
        config: None,
        speedup: None,
        speedup_ci95: None,
        target_speedup: 1.1,
        baseline: None,
        trials: 3,
        ablated: Some(0),
        refused: [(Gate::Numerics, 3)].into(),
        late: vec![],
        sanitized: vec![],
        limit: None,
        ablation: vec![],
        implementations: vec![],
        seed: u64::MAX,
        seconds: 1.5,
        study: "id".into(),
    }
}
