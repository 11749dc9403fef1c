use kiln_core::{Config, Gate, Value};
use kiln_stats::Interval;
use kiln_store::{Kept, Run, SweepAgainst, SweepAxis, SweepCell, SweepLink, SweepPlan, SweepRecord, SweepUnmeasured};
use serde_json::json;

use super::*;
use crate::picture::SweepPictures;

fn dims(rows: i64, cols: i64) -> Config {
    Config::new(vec![("ROWS".into(), Value::Int(rows)), ("COLS".into(), Value::Int(cols))])
}

fn refusal(gate: Gate, measured: &str, limit: &str) -> Refusal {
    let (measured, limit) = (measured.into(), limit.into());
    Refusal { gate, rule: String::new(), measured, limit, evidence: String::new(), hint: None }
}

fn cell(rows: i64, cols: i64, speedup: Option<(f64, &str)>) -> SweepCell {
    let against = |(speedup, verdict): (f64, &str)| SweepAgainst {
        name: "naive".into(),
        median: 1e-3 * speedup,
        speedup,
        speedup_ci95: Interval { low: 0.98 * speedup, high: 1.03 * speedup },
        verdict: verdict.into(),
    };
    SweepCell {
        dims: dims(rows, cols),
        refined: false,
        seconds: 2.0,
        config: Config::parse("VEC=8").ok(),
        tuned: None,
        median: speedup.map(|_| 1e-3),
        median_ci95: speedup.map(|_| Interval { low: 0.9e-3, high: 1.1e-3 }),
        baselines: speedup.map(against).into_iter().collect(),
        unmeasured: Vec::new(),
        refusal: None,
        why: None,
    }
}

fn story() -> SweepStory {
    let axis = |name: &str, values: &[i64]| SweepAxis {
        name: name.into(),
        values: values.iter().map(|v| Value::Int(*v)).collect(),
    };
    let base = [("ROWS", 64), ("COLS", 8), ("LD", 8), ("B", 1)].map(|(name, value)| (name.into(), Value::Int(value)));
    let sweep = SweepPlan {
        axes: vec![axis("ROWS", &[64, 4096]), axis("COLS", &[8, 128, 1024, 8192])],
        linked: vec![SweepLink { name: "LD".into(), like: "COLS".into() }],
        base: Config::new(base.to_vec()),
        baselines: vec!["naive".into()],
        config: String::new(),
        implementation: None,
        sources: String::new(),
        samples: (100, 500),
        width: 1.0,
        dead_zone: 0.0,
        early: true,
    };
    let unmeasured =
        SweepUnmeasured { name: "naive".into(), refusal: refusal(Gate::LaunchFailed, "only up to 1024", "") };
    let cells = vec![
        cell(64, 8, Some((0.25, "slower"))),
        cell(64, 8192, Some((4.0, "faster"))),
        cell(4096, 8, Some((0.985, "same"))),
        SweepCell { unmeasured: vec![unmeasured], median: Some(1e-3), ..cell(4096, 8192, None) },
        cell(64, 128, Some((1.02, "too_noisy"))),
        SweepCell { refusal: Some(refusal(Gate::Numerics, "y[3] is 2", "1")), ..cell(64, 1024, None) },
        SweepCell { why: Some("it needs about 9.1 GiB, 8.0 GiB are free".into()), ..cell(4096, 128, None) },
    ];
    SweepStory::of(SweepRecord { sweep, cells })
}

fn run(story: &SweepStory) -> Run {
    Run {
        id: "0193f2a0-0000-7000-8000-0000abcd0123".into(),
        started_ms: 0,
        seconds: 83.0,
        kernel: "softmax".into(),
        path: "kernels/softmax".into(),
        target: "cpu".into(),
        arch: None,
        variant: String::new(),
        config: None,
        cache: "warm".into(),
        threads: 1,
        seed: 7,
        device: "A Processor".into(),
        environment: Kept::found(json!({})),
        git_commit: None,
        spec_hash: String::new(),
        kiln_version: "0.1.0".into(),
        result: Kept::found(json!(story.record)),
        sides: Vec::new(),
        samples: None,
    }
}

#[test]
fn a_sweep_that_measured_nothing_names_no_run_to_go_on_with() {
    let whole = story();
    let run = run(&whole);
    let story = SweepStory::of(SweepRecord { cells: Vec::new(), ..whole.record });
    let said = SweepView { run: &run, story: &story, ended: Some("interrupted"), kiln: "kiln" }.to_string();
    assert!(said.contains("interrupted: 0 of 8 shapes were tried") && !said.contains("--resume"), "{said}");
}

#[test]
fn a_map_with_every_kind_of_cell() {
    let story = story();
    let run = run(&story);
    let view = SweepView { run: &run, story: &story, ended: Some("interrupted"), kiln: "kiln" };
    insta::assert_snapshot!(view, @r"
    softmax, target cpu, warm cache, A Processor
      run abcd0123: 5 shapes measured, took 1 min 23 s, seed 7
      configuration VEC=8, the default
      with B=1, LD=COLS

    speedup over naive (+ faster, - slower, = same, ? too noisy)
      ROWS / COLS  8             128           1024      8192
      64           0.25x -       1.02x ?       numerics  4.00x +
                   [0.24, 0.26]  [1.00, 1.05]            [3.92, 4.12]
      4096         0.98x =       no answer     .         no baseline
                   [0.97, 1.01]

    cross-overs
      ROWS=64: faster than naive above COLS = 256, slower at 8, faster at 8192

    shapes of the grid
      against  faster  slower  same  too_noisy  not measured  not tried   mean  best                        worst
      naive         1       1     1          1             3          1  1.00x  4.00x at ROWS=64,COLS=8192  0.25x at ROWS=64,COLS=8

    not measured
      ROWS=4096,COLS=8192: naive: launch_failed: only up to 1024
      ROWS=64,COLS=1024: refused by numerics: y[3] is 2, expected 1
      ROWS=4096,COLS=128: it needs about 9.1 GiB, 8.0 GiB are free

    interrupted: 7 of 8 shapes were tried
    next
      kiln sweep kernels/softmax --resume abcd0123
    ");
    assert_eq!(crate::painted(&view.to_string()).matches("48;5").count(), 4);
    // `kiln show` says the same of the record.
    let shown = crate::RunView::of(&run).to_string();
    assert!(shown.contains("0.25x -") && shown.contains("unfinished: 7 of 8 shapes were tried"), "{shown}");
}

#[test]
fn machines_get_every_cell() {
    let story = story();
    let run = run(&story);
    let object = SweepView { run: &run, story: &story, ended: None, kiln: "kiln" }.json();
    assert_eq!(object["cells"].as_array().map(Vec::len), Some(7));
    assert_eq!(object["cells"][0]["dims"], json!({ "ROWS": 64, "COLS": 8 }));
    assert_eq!(object["crossovers"][0]["between"], json!([8.0, 8192.0]));
    assert_eq!(object["summary"][0]["faster"], 1);
    assert_eq!(object["left"], json!([{ "ROWS": 4096, "COLS": 1024 }]));
    assert_eq!(crate::RunView::of(&run).json()["cells"], object["cells"]);
}

#[test]
fn the_picture_says_what_the_map_says() {
    let story = story();
    let [(name, svg)] = &SweepPictures { story: &story, kernel: "softmax" }.files()[..] else { panic!() };
    assert_eq!(name, "sweep-naive.svg");
    for words in ["0.25x -", "4.00x +", "[3.92, 4.12]", "numerics", "no baseline", "ROWS / COLS", "8192"] {
        assert!(svg.contains(&format!(">{words}<")), "{words}: {svg}");
    }
    assert!(svg.ends_with("</svg>\n") && svg.matches("<rect").count() == 1 + 8, "{svg}");
}

#[test]
fn speedups_have_three_digits() {
    assert_eq!(
        [0.0123, 4.56e-4, 0.5, 1.0, 9.996, 12.34, 123.4].map(figure),
        ["0.0123x", "0.000456x", "0.50x", "1.00x", "10.0x", "12.3x", "123x"]
    );
    assert_eq!([8.46, 1234.0, 99.99].map(rounded), ["8.5", "1230", "100.0"]);
}
