use kiln_core::{CANDIDATE, DeviceState, MeasuredSide, MeasuredWorkload};
use proptest::prelude::*;

use super::*;

fn none(_: &str) -> Option<Vec<u8>> {
    None
}

fn read(text: &str) -> RunFile {
    read_run("run", text.as_bytes(), &none).unwrap()
}

fn refused(text: &str) -> String {
    read_run("run", text.as_bytes(), &none).unwrap_err()[0].to_string()
}

fn samples(run: &RunFile, workload: usize) -> &[f64] {
    &run.workloads[workload].sides[0].rounds[0]
}

#[test]
fn a_run_file_comes_back_as_it_was_written() {
    let state =
        DeviceState { round: 1, sm_mhz: Some(1980), throttled: vec!["sw_power_cap".into()], ..Default::default() };
    let side = MeasuredSide {
        name: CANDIDATE.into(),
        code: Some("ab".into()),
        source: Some("beef".into()),
        rounds: vec![vec![1e-3, 2e-3], vec![1.5e-3]],
        order: vec![vec![0, 3], vec![1]],
        calls: vec![4, 4],
        states: vec![state],
    };
    let mut run = RunFile::by("kiln 0.1.0");
    (run.kernel, run.seed) = ("softmax".into(), Some(u64::MAX));
    run.workloads = vec![MeasuredWorkload { name: "small".into(), sides: vec![side], ..MeasuredWorkload::default() }];
    assert_eq!(read(&run.json()), run);
}

#[test]
fn another_version_a_cut_and_odd_samples_are_named() {
    let mut run = RunFile::by("kiln");
    run.workloads = vec![MeasuredWorkload {
        name: "w".into(),
        sides: vec![MeasuredSide::candidate(vec![1.0, 2.0])],
        ..MeasuredWorkload::default()
    }];
    let text = run.json();
    assert!(refused(&text.replace("\"kiln_run\":1", "\"kiln_run\":7")).contains("schema version 7"));
    assert!(refused(&text[..text.len() / 2]).contains("ends too early"));
    for odd in ["NaN", "null", "Infinity", "0.0", "-1.0"] {
        let said = refused(&text.replace("[1.0,2.0]", &format!("[1.0,{odd}]")));
        assert!(said.contains("sample 2 of candidate on `w`"), "{odd}: {said}");
    }
    assert!(refused(&text.replace("[1.0,2.0]", "[]")).contains("no samples"));
    assert!(refused("{\"a\": 1}").contains("is not a run"));
}

#[test]
fn google_benchmark_gives_a_sample_for_each_repetition() {
    let row = |kind: &str, time: f64| {
        format!(
            r#"{{"name":"BM_x/8_{kind}","run_name":"BM_x/8","run_type":"{kind}","real_time":{time},"time_unit":"us"}}"#
        )
    };
    let rows = [row("iteration", 2.0), row("iteration", 3.0), row("aggregate", 2.5)].join(",");
    let text = format!(r#"{{"context":{{"executable":"./bench/x","host_name":"h"}},"benchmarks":[{rows}]}}"#);
    let run = read(&text);
    assert_eq!((run.kernel.as_str(), run.workloads[0].name.as_str()), ("x", "BM_x/8"));
    assert!(samples(&run, 0).iter().zip([2e-6, 3e-6]).all(|(a, b)| (a - b).abs() < 1e-12));
    assert!(refused(&text.replace("\"us\"", "\"fortnights\"")).contains("fortnights"));
}

#[test]
fn hyperfine_gives_the_times_of_every_command_that_worked() {
    let text = r#"{"results":[{"command":"a","times":[0.1,0.2],"exit_codes":[0,0]},{"command":"b","times":[0.3]}]}"#;
    let run = read(text);
    assert_eq!((run.workloads.len(), samples(&run, 1)), (2, &[0.3][..]));
    assert!(refused(&text.replace("[0,0]", "[0,1]")).contains("exit code 1"));
}

#[test]
fn nvbench_needs_the_samples_beside_it() {
    let summaries = r#"[{"tag":"nv/json/bin:nv/cold/sample_times","data":[{"name":"filename","value":"x-bin/0.bin"},{"name":"size","value":"2"}]}]"#;
    let text = format!(
        r#"{{"devices":[{{"name":"H200"}}],"benchmarks":[{{"name":"b","states":[{{"name":"N=8","is_skipped":false,"summaries":{summaries}}},{{"is_skipped":true}}]}}]}}"#
    );
    let bytes: Vec<u8> = [0.5f32, 0.25].iter().flat_map(|v| v.to_le_bytes()).collect();
    let beside = |file: &str| (file == "x-bin/0.bin").then(|| bytes.clone());
    let run = read_run("run", text.as_bytes(), &beside).unwrap();
    assert_eq!((run.device.as_deref(), run.workloads[0].name.as_str()), (Some("H200"), "b N=8"));
    assert_eq!(samples(&run, 0), [0.5, 0.25]);
    assert!(refused(&text).contains("x-bin/0.bin"));
    assert!(refused(&text.replace("nv/json/bin", "other")).contains("--jsonbin"));
    let short = |_: &str| Some(vec![0; 4]);
    assert!(read_run("run", text.as_bytes(), &short).is_err());
}

#[test]
fn plain_lists_have_one_unit() {
    assert_eq!(samples(&read("1.5 ms\n# comment\n2e0ms\n"), 0), [1.5e-3, 2e-3]);
    assert_eq!(samples(&read("[0.5, 1]"), 0), [0.5, 1.0]);
    assert_eq!(samples(&read("1e-3\n2E-3"), 0), [1e-3, 2e-3]);
    assert!(refused("1 ms\n2 us\n").contains("`ms` and in `us` are mixed"));
    assert!(refused("1\n2 us\n").contains("seconds and in `us` are mixed"));
    assert!(refused("1\nfast\n").contains("`fast` is not a time"));
    assert!(refused("1\nnan\n").contains("sample 2") || refused("1\nnan\n").contains("not a time"));
    assert!(refused("").contains("no samples"));
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,80}") {
        let _ = read_run("run", &bytes, &none);
        let _ = read_run("run", text.as_bytes(), &none);
        let _ = read_run("run", format!("{{\"kiln_run\":1,{text}}}").as_bytes(), &none);
    }
}
