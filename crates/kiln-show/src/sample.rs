//! Hand-made records for tests of what is shown.

use jiff::tz::TimeZone;
use kiln_core::{Gate, Refusal};
use kiln_store::{Kept, State, Study, Trial, TrialState};
use serde_json::json;

use crate::studies::past::Past;

/// 2026-03-01 14:05:09 UTC.
pub(crate) const BEGAN: i64 = 1_772_373_909_000;

/// A study that ended well.
pub(crate) fn study() -> Study {
    Study {
        id: "019caa00-1111-7222-8333-4444abcd0123".into(),
        started_ms: BEGAN,
        ended_ms: Some(BEGAN + 83_000),
        state: State::Finished,
        owner: "4242@host".into(),
        kernel: "softmax".into(),
        path: "kernels/softmax".into(),
        target: "cpu".into(),
        arch: None,
        variant: "T=f32".into(),
        seed: 7,
        strategy: "tpe".into(),
        options: Kept::found(json!({})),
        environment: Kept::found(json!({
            "processor": "A Processor", "cpus": [0, 1, 2, 3], "measuring_on": [3], "load": 0.25, "megahertz": 2999.6,
            "governor": "performance", "compiler": "cc 13.3", "memory_available": 8u64 << 30, "system": "6.1",
            "python": { "version": "3.12.1", "numpy": "2.1.0", "torch": null },
        })),
        git_commit: Some("0123abc+".into()),
        spec_hash: "00ff".into(),
        spec_text: "[kernel]\n".into(),
        kiln_version: "0.1.0".into(),
        verdict: Some("reached".into()),
        summary: Some(Kept::found(json!({
            "verdict": "reached", "reason": "confirmed 1.50x (target 1.10x)",
            "workloads": [{
                "name": "small", "best_ms": 2.0, "best_ci95_ms": [1.9, 2.1], "baseline_ms": 3.0,
                "baseline_ci95_ms": [2.9, 3.1], "speedup": 1.5, "speedup_ci95": [1.45, 1.55], "cliffs_delta": 1.0,
                "p_value": 1e-9, "verdict": "faster", "samples": 100, "warnings": [], "holdout": false,
            }],
            "config": { "LANES": 8, "FUSED": true }, "speedup": 1.5, "speedup_ci95": [1.45, 1.55],
            "target_speedup": 1.1, "baseline": "numpy", "trials": 5, "refused": { "numerics": 1 },
            "ablation": [{ "tunable": "FUSED", "from": "true", "to": "false", "worth": 1.2 }],
            "seed": 7, "seconds": 83.0, "study": "019caa00-1111-7222-8333-4444abcd0123",
        }))),
        seconds: 83.0,
    }
}

/// A trial that passed in `cost` seconds.
pub(crate) fn trial(phase: &str, number: u64, config: &str, cost: f64) -> Trial {
    Trial {
        number,
        phase: phase.into(),
        config: config.into(),
        state: TrialState::Passed,
        cost: Some(cost),
        refusal: None,
        workload: None,
        artifact: None,
        started_ms: BEGAN,
        build_s: 0.1,
        check_s: 0.2,
        measure_s: 0.3,
        wall_s: 0.75,
        details: Kept::found(json!({})),
    }
}

/// A trial with wrong results.
pub(crate) fn wrong(phase: &str, number: u64, config: &str) -> Trial {
    let refusal = Refusal {
        gate: Gate::Numerics,
        rule: String::new(),
        measured: "error 0.5 at [0, 3]".into(),
        limit: "0.001".into(),
        evidence: "expected 1.0, found 1.5".into(),
        hint: Some("look at the tail".into()),
    };
    let (state, workload) = (TrialState::Refused, Some("small".into()));
    Trial { state, cost: None, refusal: Some(refusal), workload, ..trial(phase, number, config, 0.0) }
}

/// The trials of that study.
pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("default", 0, "LANES=4,FUSED=false", 3e-3),
        trial("seed", 0, "LANES=8,FUSED=false", 2.5e-3),
        wrong("seed", 1, "LANES=16,FUSED=false"),
        Trial { state: TrialState::Stopped, ..trial("search", 0, "LANES=1,FUSED=true", 9e-3) },
        trial("search", 1, "LANES=8,FUSED=true", 2e-3),
        Trial { cost: None, ..trial("confirm", 0, "LANES=8,FUSED=true", 0.0) },
    ]
}

/// A study as it stands, read in UTC.
pub(crate) fn past(study: Study, gone: bool, trials: &[Trial]) -> Past {
    Past::new(study, gone, trials, TimeZone::UTC)
}
