//! Benchmarks read back as they went in, newest first, and are found by a piece of their id.

#![allow(clippy::unwrap_used, clippy::panic)]

use kiln_core::{Gate, MeasuredSide, MeasuredWorkload, Refusal};
use kiln_store::{Filter, Kept, Run, RunSide, Store, Study};
use serde_json::json;

fn run(kernel: &str, started_ms: i64) -> Run {
    let refusal = Refusal {
        gate: Gate::Numerics,
        rule: String::new(),
        measured: "y[3] is 2".into(),
        limit: "1".into(),
        evidence: String::new(),
        hint: None,
    };
    let own =
        RunSide { workload: "w".into(), median_s: Some(1.5e-6), peak_memory: Some(1 << 40), ..RunSide::default() };
    let against = RunSide {
        side: "numpy".into(),
        speedup: Some((1.25, [1.2, 1.3])),
        verdict: Some("faster".into()),
        gpu_memory: Some(7),
        ..own.clone()
    };
    let failed =
        RunSide { side: "torch".into(), median_s: None, peak_memory: None, refusal: Some(refusal), ..own.clone() };
    Run {
        id: Study::new_id(),
        started_ms,
        seconds: 2.5,
        kernel: kernel.into(),
        path: "k".into(),
        target: "cpu".into(),
        arch: None,
        variant: "T=f32".into(),
        config: Some("A=1".into()),
        cache: "warm".into(),
        threads: 2,
        seed: u64::MAX,
        device: "a processor".into(),
        environment: Kept::found(json!({ "host": "here" })),
        git_commit: Some("abc+".into()),
        spec_hash: "0123".into(),
        kiln_version: "0.1.0".into(),
        result: Kept::found(json!([{ "workload": "w" }])),
        sides: vec![own, against, failed],
        samples: Some(Kept::new(vec![MeasuredWorkload {
            name: "w".into(),
            shape: Some("S=4".into()),
            sides: vec![MeasuredSide::candidate(vec![1.5e-6])],
        }])),
    }
}

#[test]
fn runs_read_back_and_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("kiln.db").to_str().unwrap()).unwrap();
    assert_eq!(store.runs(&Filter::default()).unwrap(), vec![]);
    let (old, new, other) = (run("k", 1), run("k", 3), Run { config: None, samples: None, ..run("l", 2) });
    for run in [&old, &new, &other] {
        store.record_run(run).unwrap();
    }
    assert_eq!(store.runs(&Filter::default()).unwrap(), [new.clone(), other.clone(), old.clone()]);
    let newest = Filter { kernel: Some("k".into()), limit: Some(1) };
    assert_eq!(store.runs(&newest).unwrap(), vec![new]);
    assert_eq!(store.find_run(old.short_id()).unwrap(), Some(old.clone()));
    assert_eq!(store.find_run(&other.id).unwrap(), Some(other));
    // Nothing, too little to be meant, and nothing that means more to the database than itself.
    for name in ["ffffffff", "abc", "%%%%%", "k"] {
        assert_eq!(store.find_run(name).unwrap(), None, "{name}");
    }
    // Once, and whole or not at all.
    assert!(store.record_run(&old).is_err());
    let mut broken = run("k", 4);
    broken.sides[1].speedup = Some((f64::NAN, [1.0, 1.0]));
    assert!(store.record_run(&broken).is_err());
    assert_eq!(store.runs(&Filter::default()).unwrap().len(), 3);
}

#[test]
fn a_run_that_grows_is_recorded_once_as_it_is_now() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("kiln.db").to_str().unwrap()).unwrap();
    let first = run("softmax", 1);
    store.replace_run(&first).unwrap();
    assert!(store.record_run(&first).is_err(), "its id is taken");
    let longer = Run { seconds: 9.0, sides: first.sides[..1].to_vec(), ..first.clone() };
    store.replace_run(&longer).unwrap();
    assert_eq!(store.runs(&Filter::default()).unwrap(), [longer]);
    // What is no sweep says so.
    assert_eq!(first.sweep(), None);
}

#[test]
fn a_sweep_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("kiln.db").to_str().unwrap()).unwrap();
    let record = json!({
        "sweep": {
            "axes": [{ "name": "N", "values": [64, 128] }], "linked": [{ "name": "M", "like": "N" }],
            "base": { "N": 64, "M": 64, "LAYOUT": "bhsd" }, "baselines": ["numpy"], "config": "", "sources": "ab",
            "samples": [100, 500], "width": 1.0, "dead_zone": 3.0, "early": true,
        },
        "cells": [{
            "dims": { "N": 64 }, "refined": false, "seconds": 1.5, "config": { "A": 1 }, "tuned": null, "median": 1e-6,
            "median_ci95": [0.9e-6, 1.1e-6],
            "baselines": [{ "name": "numpy", "median": 2e-6, "speedup": 2.0, "speedup_ci95": [1.9, 2.1], "verdict": "faster" }],
            "unmeasured": [], "refusal": null, "why": null,
        }],
    });
    let swept = Run { result: Kept::found(record.clone()), ..run("softmax", 1) };
    store.replace_run(&swept).unwrap();
    let found = store.find_run(&swept.id).unwrap().unwrap().sweep().unwrap();
    assert_eq!(json!(found), record);
    assert_eq!(found.cells[0].against("numpy").map(|one| one.speedup), Some(2.0));
    assert!(found.cells[0].against("torch").is_none());
}
