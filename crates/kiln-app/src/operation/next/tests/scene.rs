//! A kernel in a repository of its own with a store beside it, in which what commands would record is written with times that are set.

use std::time::{Duration, UNIX_EPOCH};

use camino::Utf8PathBuf;
use kiln_store::{Kept, ProfileRecord, Run, RunSide, State, Store, Study, Summary, TuneVerdict};
use serde_json::json;

use super::super::*;
use crate::project::Stop;
use crate::repository::git;

pub(super) const KERNEL: &str = r#"
[kernel]
name = "twice"
entry = "twice"
[tunables]
A = [1, 2, 4]
[default]
A = 1
[target.cpu]
source = "twice.c"
[[arguments]]
name = "x"
type = "f32[N]"
role = "in"
[[arguments]]
name = "y"
type = "f32[N]"
role = "out"
[[workloads]]
name = "short"
dims = { N = 64 }
[[workloads]]
name = "long"
dims = { N = 4096 }
[reference]
builtin = "elementwise"
expressions = { y = "2 * x" }
[baselines]
plain = "plain.c:plain"
"#;

/// Seconds since 1970 of the beginning; later moments are counted from it.
pub(super) const BEGINNING: i64 = 1_700_000_000;

pub(super) struct Scene {
    _keep: tempfile::TempDir,
    pub(super) folder: Utf8PathBuf,
    pub(super) project: Project,
    pub(super) store: Store,
}

impl Scene {
    pub(super) fn new() -> Scene {
        let keep = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(keep.path().canonicalize().unwrap()).unwrap();
        let (folder, kiln) = (root.join("twice"), root.join(".kiln"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::create_dir_all(&kiln).unwrap();
        let place = kiln.join("kiln.db").to_string();
        let store = Store::open(&place).unwrap();
        let project = Project::here(Some(place), Stop::never()).in_folder(&kiln);
        let scene = Scene { _keep: keep, folder, project, store };
        for (name, text) in [("kernel.toml", KERNEL), ("twice.c", "void twice(void) {}"), ("plain.c", "")] {
            scene.write(name, text, 0);
        }
        git(&root, &["init", "-q"]).unwrap().unwrap();
        std::fs::write(root.join(".gitignore"), ".kiln\n").unwrap();
        scene.commit();
        scene
    }

    pub(super) fn write(&self, name: &str, text: &str, at: i64) {
        let path = self.folder.join(name);
        std::fs::write(&path, text).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs((BEGINNING + at) as u64)).unwrap();
    }

    pub(super) fn commit(&self) -> String {
        let own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        git(&self.folder, &["add", "-A"]).unwrap().unwrap();
        git(&self.folder, &[&own[..], &["commit", "-qm", "one"]].concat()).unwrap().unwrap();
        git(&self.folder, &["rev-parse", "HEAD"]).unwrap().unwrap()
    }

    pub(super) fn next(&self) -> NextStep {
        next(&self.project, &NextRequest { kernel: Some(self.folder.clone()), ..NextRequest::default() }).unwrap()
    }

    pub(super) fn node(&self) -> String {
        self.next().advice.node
    }

    /// A benchmark: seconds of a call and the speedup on each workload.
    pub(super) fn run(&self, at: i64, config: &str, commit: &str, figures: &[(&str, f64, f64)]) {
        self.run_in(self.folder.as_str(), at, config, commit, figures);
    }

    pub(super) fn run_in(&self, folder: &str, at: i64, config: &str, commit: &str, figures: &[(&str, f64, f64)]) {
        let sides = figures.iter().flat_map(|(workload, median_s, speedup)| {
            let own = RunSide { workload: (*workload).into(), median_s: Some(*median_s), ..RunSide::default() };
            let against = RunSide {
                side: "plain".into(),
                speedup: Some((*speedup, [speedup * 0.99, speedup * 1.01])),
                verdict: Some("slower".into()),
                ..own.clone()
            };
            [own, against]
        });
        let run = Run {
            id: Study::new_id(),
            started_ms: 1000 * (BEGINNING + at),
            seconds: 3.0,
            kernel: "twice".into(),
            path: self.folder.to_string(),
            target: "cpu".into(),
            arch: None,
            variant: String::new(),
            config: Some(config.into()),
            cache: "warm".into(),
            threads: 1,
            seed: 1,
            device: "a processor".into(),
            environment: Kept::found(json!({ "folder": folder })),
            git_commit: Some(commit.into()),
            spec_hash: "0".into(),
            kiln_version: "0".into(),
            result: Kept::found(json!([])),
            sides: sides.collect(),
            samples: None,
        };
        self.store.record_run(&run).unwrap();
    }

    pub(super) fn profile(&self, at: i64, config: &str, ranked: &[(&str, f64)]) {
        let made = ProfileRecord {
            id: Study::new_id(),
            at_ms: 1000 * (BEGINNING + at),
            study: None,
            kernel: "twice".into(),
            path: self.folder.to_string(),
            target: "cpu".into(),
            arch: None,
            variant: String::new(),
            config: config.into(),
            workload: "short".into(),
            shape: "N=64".into(),
            device: "a processor".into(),
            level: "quick".into(),
            coarse: true,
            code: "c".into(),
            cause: ranked.first().map(|(cause, _)| (*cause).into()),
            expected_speedup: ranked.first().map_or(1.0, |(_, gain)| *gain),
            ranked: Kept::new(ranked.iter().map(|(cause, gain)| ((*cause).to_string(), *gain)).collect()),
            time_us: Some(1.0),
            activity: Kept::new(Default::default()),
            page: None,
            kiln_version: "0".into(),
        };
        self.store.record_profile(&made).unwrap();
    }

    /// An attempt with the files as they are, for what was recorded at the same time.
    pub(super) fn attempted(&self, at: i64, verb: &str, config: &str, figure: Option<(&str, f64)>) {
        self.attempt(at, verb, config, figure, None);
    }

    /// One that a gate refused.
    pub(super) fn refused(&self, at: i64, verb: &str, config: &str, gate: &str) {
        self.attempt(at, verb, config, None, Some(gate));
    }

    /// What a user does with a command that is offered.
    pub(super) fn paste(&self, command: &str) {
        let output = std::process::Command::new("sh").args(["-c", command]).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn attempt(&self, at: i64, verb: &str, config: &str, figure: Option<(&str, f64)>, gate: Option<&str>) {
        let request = NextRequest { kernel: Some(self.folder.clone()), ..NextRequest::default() };
        let asked = Asked::find(&self.project, &request).unwrap().unwrap();
        let about = crate::attempt::About::of(asked.file.as_ref().unwrap(), &asked.path);
        let made = kiln_session::Attempted {
            id: Study::new_id(),
            at_ms: 1000 * (BEGINNING + at) - 100,
            seconds: 4.0,
            session: None,
            kernel: "twice".into(),
            path: about.path,
            verb: verb.into(),
            phase: kiln_session::SessionPhase::Baseline,
            parts: Default::default(),
            outcome: match gate {
                Some(_) => kiln_session::AttemptOutcome::Refused,
                None => kiln_session::AttemptOutcome::Passed,
            },
            cause: gate.map(String::from),
            words: None,
            config: Some(config.into()),
            sources: about.sources,
            environment: String::new(),
            speedup: figure.map(|(_, speedup)| speedup),
            workload: figure.map(|(workload, _)| workload.into()),
            limit: None,
            promise: None,
            lesson: None,
            hypothesis: None,
            command: None,
        };
        self.store.record_attempt(&made).unwrap();
    }

    /// The hashes that the kernel has now.
    pub(super) fn hashes(&self) -> (String, String) {
        let request = NextRequest { kernel: Some(self.folder.clone()), ..NextRequest::default() };
        let asked = Asked::find(&self.project, &request).unwrap().unwrap();
        let records = Records::of(&self.project, &asked).unwrap();
        let now = records::Now::of(&asked, asked.opened(&records).as_ref());
        (now.sources.unwrap(), now.spec_hash.unwrap())
    }

    pub(super) fn study(&self, at: i64, summary: &Summary, state: State) -> String {
        let (sources, spec_hash) = self.hashes();
        let study = Study {
            id: Study::new_id(),
            started_ms: 1000 * (BEGINNING + at),
            ended_ms: None,
            state: State::Running,
            owner: format!("{}@nowhere", u32::MAX),
            kernel: "twice".into(),
            path: self.folder.to_string(),
            target: "cpu".into(),
            arch: None,
            variant: String::new(),
            seed: 1,
            strategy: "auto".into(),
            options: Kept::found(json!({})),
            environment: Kept::found(json!({ "folder": self.folder.as_str(), "processor": "a processor" })),
            git_commit: None,
            spec_hash,
            spec_text: KERNEL.into(),
            kiln_version: "0".into(),
            verdict: None,
            summary: None,
            seconds: 0.0,
        };
        self.store.begin(&study).unwrap();
        self.store.note(&study.id, study.started_ms, crate::record::resume::SOURCES, &sources).unwrap();
        let (verdict, ended) = (summary.verdict.name(), study.started_ms + 60_000);
        let said = (state == State::Finished).then_some(summary);
        self.store.finish(&study.id, state, said.map(|_| verdict), said, ended, 60.0).unwrap();
        study.id
    }
}

pub(super) fn summary(verdict: TuneVerdict, speedup: Option<f64>) -> Summary {
    let workloads = speedup.map_or_else(|| json!([]), |speedup| {
        json!([{ "name": "short", "best_ms": 0.01, "best_ci95_ms": [0.0099, 0.0101], "baseline_ms": 0.01 * speedup,
            "baseline_ci95_ms": [0.01, 0.02], "speedup": speedup, "speedup_ci95": [speedup, speedup], "cliffs_delta": 1.0,
            "p_value": 0.0, "verdict": "faster", "samples": 100, "warnings": [], "holdout": false }])
    });
    let config = speedup.map(|_| json!({ "A": 4 }));
    serde_json::from_value(json!({ "verdict": verdict, "reason": "", "workloads": workloads, "config": config,
        "speedup": speedup, "speedup_ci95": null, "target_speedup": 1.1, "baseline": "plain", "trials": 3,
        "refused": if verdict == TuneVerdict::NoValidCandidate { json!({ "numerics": 3 }) } else { json!({}) },
        "ablation": [], "seed": 1, "seconds": 60.0, "study": "" }))
    .unwrap()
}
