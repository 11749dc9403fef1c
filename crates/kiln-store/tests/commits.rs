//! Verdicts on commits and the points of a history read back as they went in.

#![allow(clippy::unwrap_used, clippy::panic)]

use kiln_store::{CommitJudged, CommitVerdict, Kept, Run, RunSide, Store, Study};

fn verdict(kernel: &str, at_ms: i64, judged: CommitJudged, good: bool) -> CommitVerdict {
    CommitVerdict {
        id: Study::new_id(),
        at_ms,
        kernel: kernel.into(),
        inside: "kernels/k".into(),
        git_commit: "0123456789abcdef".into(),
        judged,
        good,
        target: "cpu".into(),
        variant: String::new(),
        device: "a processor".into(),
        words: "12 questions answered correctly".into(),
        kiln_version: "0.1.0".into(),
    }
}

#[test]
fn verdicts_read_back_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("kiln.db").to_str().unwrap()).unwrap();
    let (old, new) = (verdict("k", 1, CommitJudged::Build, true), verdict("k", 2, CommitJudged::Fast, false));
    for one in [&old, &new, &verdict("l", 3, CommitJudged::Check, true)] {
        store.record_commit(one).unwrap();
    }
    assert_eq!(store.commits("k").unwrap(), [new, old]);
    assert!(CommitJudged::ALL.into_iter().all(|judged| CommitJudged::named(judged.name()) == Some(judged)));
}

#[test]
fn points_are_what_runs_measured_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("kiln.db").to_str().unwrap()).unwrap();
    let side = |workload: &str, side: &str, median_s: Option<f64>| RunSide {
        workload: workload.into(),
        side: side.into(),
        median_s,
        median_ci95: median_s.map(|median| [median * 0.99, median * 1.01]),
        ..RunSide::default()
    };
    let run = |started_ms: i64, sides: Vec<RunSide>| Run {
        id: Study::new_id(),
        started_ms,
        seconds: 1.0,
        kernel: "k".into(),
        path: "kernels/k".into(),
        target: "cpu".into(),
        arch: None,
        variant: "T=f32".into(),
        config: Some("A=1".into()),
        cache: "warm".into(),
        threads: 1,
        seed: 7,
        device: "a processor".into(),
        environment: Kept::found(serde_json::json!({ "host": "h", "folder": "/k" })),
        git_commit: Some("abc".into()),
        spec_hash: "0".into(),
        kiln_version: "0.1.0".into(),
        result: Kept::found(serde_json::json!([])),
        sides,
        samples: None,
    };
    let first = run(1, vec![side("a", "", Some(2.0)), side("a", "numpy", Some(3.0)), side("b", "", Some(4.0))]);
    let second = run(2, vec![side("a", "", Some(2.5)), side("b", "", None)]);
    // Baselines alone are no history of the kernel.
    let baselines = Run { config: None, ..run(3, vec![side("a", "", Some(9.0))]) };
    for one in [&second, &first, &baselines] {
        store.record_run(one).unwrap();
    }
    let points = store.points("k").unwrap();
    let told: Vec<(i64, &str, f64)> = points.iter().map(|p| (p.started_ms, p.workload.as_str(), p.median_s)).collect();
    assert_eq!(told, [(1, "a", 2.0), (1, "b", 4.0), (2, "a", 2.5)]);
    assert_eq!(points[0].median_ci95, Some([1.98, 2.02]));
    assert_eq!(points[0].environment.read().unwrap().host.as_deref(), Some("h"));
    assert_eq!(store.runs(&kiln_store::Filter::default()).unwrap()[2], first);
    assert_eq!(store.points("l").unwrap(), []);
}
