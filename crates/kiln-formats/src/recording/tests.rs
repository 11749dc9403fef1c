use std::fmt::Write;

use kiln_core::Config;

use super::*;
use crate::{Attempt, Results, write_t4};

/// A cache of three rows as Kernel Tuner writes it.
const CACHE: &str = r#"{
"device_name": "A GPU", "kernel_name": "vector_add", "problem_size": [10, 10],
"tune_params_keys": ["block", "vec"],
"tune_params": {"vec": [1, 2, 4], "block": [32, 64]},
"objective": "time",
"cache": {
"32,1": {"block": 32, "vec": 1, "time": 2.0, "times": [1.0, 3.0], "compile_time": 12.5, "GFLOP/s": 1.5e3},
"32,4": {"block": 32, "vec": 4, "time": "CompilationFailedConfig", "compile_time": 3},
"64,2": {"block": 64, "vec": 2, "time": 3.0, "times": [0.1, 0.2], "timestamp": "2023-12-21 11:23:46.839300+00:00"}}
}"#;

fn read(text: &str) -> Recording {
    read_recording("a.json", text.as_bytes()).unwrap()
}

fn words(reports: &[Report]) -> Vec<&str> {
    reports.iter().map(|report| report.message.as_str()).collect()
}

#[test]
fn a_cache_gives_its_lists_rows_and_failures() {
    let recording = read(CACHE);
    assert_eq!(recording.kernel.as_deref(), Some("vector_add"));
    assert_eq!(recording.device.as_deref(), Some("A GPU"));
    assert_eq!(recording.names, ["block".into(), "vec".into()]);
    assert_eq!(recording.values[1], [1, 2, 4].map(Value::Int));
    let rows: Vec<String> = recording.rows.iter().map(|row| recording.config(row).to_string()).collect();
    assert_eq!(rows, ["block=32,vec=1", "block=32,vec=4", "block=64,vec=2"]);
    assert_eq!(recording.rows[0].outcome, Recorded::time(2e-3, vec![1e-3, 3e-3]));
    assert_eq!(recording.rows[1].outcome, Recorded::failed(Invalidity::Compile, "CompilationFailedConfig"));
    assert_eq!(recording.optimum(), Some(2e-3));
    assert_eq!(recording.failures(), 1);
    assert!(recording.warnings.is_empty());
}

#[test]
fn samples_are_scaled_only_around_a_time_that_lies_outside_them() {
    let recording = read(CACHE);
    let Recorded::Time { samples, .. } = &recording.rows[0].outcome else { panic!("it ran") };
    assert_eq!(**samples, [1e-3, 3e-3]);
    assert_eq!(Recorded::time(2.9, vec![1.0, 3.0]), Recorded::Time { seconds: 2.9, samples: [1.0, 3.0].into() });
    assert_eq!(Recorded::time(2.0, vec![1.0, 0.0]), Recorded::Time { seconds: 2.0, samples: [].into() });
    let Recorded::Time { seconds, samples } = &recording.rows[2].outcome else { panic!("it ran") };
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    assert!((mean / seconds - 1.0).abs() < 1e-12);
    assert!((samples[1] / samples[0] - 2.0).abs() < 1e-12);
}

#[test]
fn a_cut_off_cache_gives_every_whole_row_and_says_so() {
    let body = CACHE.find("\"32,1\"").unwrap();
    let ends: Vec<usize> = CACHE.match_indices("}").map(|(at, _)| at).filter(|at| *at > body).take(3).collect();
    for cut in body..CACHE.len() {
        let whole = ends.iter().filter(|end| cut > **end).count();
        let read = read_recording("a.json", &CACHE.as_bytes()[..cut]);
        match whole {
            0 => assert_eq!(words(&read.unwrap_err()), ["a.json records no configurations"]),
            whole => {
                let recording = read.unwrap();
                assert_eq!(recording.rows.len(), whole, "{cut}");
                assert_eq!(recording.warnings.len(), 1);
            }
        }
    }
}

#[test]
fn a_cache_whose_keys_were_sorted_is_read() {
    let value: serde_json::Value = serde_json::from_str(CACHE).unwrap();
    let mut sorted = String::from("{");
    for (i, key) in ["cache", "device_name", "kernel_name", "tune_params", "tune_params_keys"].iter().enumerate() {
        write!(sorted, "{}\"{key}\": {}", if i == 0 { "" } else { "," }, value[key]).unwrap();
    }
    sorted.push('}');
    let recording = read(&sorted);
    assert_eq!(recording.rows.len(), 3);
    // The keys come too late to order the tunables by: they stay as the lists have them.
    assert_eq!(recording.optimum(), Some(2e-3));
}

#[test]
fn what_python_writes_beyond_json_is_no_hindrance() {
    let with =
        CACHE.replace("1.5e3", "NaN").replace("\"time\": 3.0", "\"time\": -Infinity").replace("A GPU", "A \\\"NaN");
    let recording = read(&with);
    assert_eq!(recording.device.as_deref(), Some("A \"NaN"));
    assert_eq!(recording.rows[2].outcome, Recorded::failed(Invalidity::Runtime, "no time"));
}

#[test]
fn newer_and_older_marks_of_failure_are_known() {
    let with =
        CACHE.replace("\"time\": 2.0", "\"time\": 2.0, \"__error__\": \"RuntimeFailedConfig\"").replace("3.0", "1e20");
    let recording = read(&with);
    assert_eq!(recording.failures(), 3);
    assert_eq!(recording.optimum(), None);
}

#[test]
fn odd_rows_are_told() {
    let row = "\"64,2\": {\"block\": 64, \"vec\": 2,";
    let with = |new: &str| CACHE.replace(row, new);
    let unlisted = read(&with("\"64,8\": {\"block\": 64.0, \"vec\": 8,"));
    assert_eq!(unlisted.values, [vec![Value::Int(32), Value::Int(64)], [1, 2, 4, 8].map(Value::Int).to_vec()]);
    assert!(unlisted.warnings[0].message.contains("1 values are not among those"));
    let again = read(&with("\"32,1\": {\"block\": 32, \"vec\": 1,"));
    assert_eq!((again.rows.len(), again.optimum()), (2, Some(3e-3)));
    assert!(again.warnings[0].message.contains("1 configurations are recorded again"));
    let short = read(&with("\"64,2\": {\"block\": 64,"));
    assert_eq!(short.rows.len(), 2);
    assert!(short.warnings[0].message.contains("1 records lack"));
}

#[test]
fn gzipped_files_read_alike() {
    use std::io::Write;
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(CACHE.as_bytes()).unwrap();
    assert_eq!(read_recording("a.json.gz", &packer.finish().unwrap()).unwrap(), read(CACHE));
}

#[test]
fn what_is_no_recording_is_refused_with_what_it_is() {
    let refusal = |text: &str| read_recording("a.json", text.as_bytes()).unwrap_err()[0].to_string();
    assert!(refusal("{\"ConfigurationSpace\": {}}").contains("is a T1 file"));
    assert!(refusal("{\"a\": 1}").contains("holds no recorded configurations"));
    assert!(refusal("{\"a\": ").contains("EOF"));
    assert!(refusal("{\"tune_params\": {\"A\": [1]}, \"cache\": {\"1\": {\"A\": 1 2}}}").contains("-->"));
    assert!(
        refusal("{\"tune_params\": {\"A\": [[1]]}, \"cache\": {\"1\": {\"A\": 1}}}").contains("no number, boolean")
    );
    assert!(refusal("{\"tune_params\": {\"A\": [1]}, \"cache\": {}}").contains("records no configurations"));
}

/// One result of each spelling, and two failures.
const T4: &str = r#"{"results": [
{"configuration": {"block": 64, "fast": true}, "times": {"compilation_time": 3.0, "runtimes": [2.0, 4.0]},
 "invalidity": "correct", "correctness": 1.0, "objectives": ["time"], "measurements": []},
{"configuration": {"fast": false, "block": 8}, "times": {"compilation": 3.0, "runtimes": [5.0]},
 "invalidity": "correct", "correctness": 1, "measurements": [{"name": "GFLOP/s", "value": 9.0, "unit": ""},
 {"name": "time", "value": 5.0, "unit": ""}], "objectives": ["time"]},
{"configuration": {"block": 8, "fast": true}, "times": {}, "invalidity": "timeout", "correctness": 0},
{"configuration": {"block": 64, "fast": false}, "times": {"compilation": 1.0}, "invalidity": "runtime",
 "correctness": 0, "measurements": [{"name": "time", "value": "RuntimeFailedConfig", "unit": ""}], "objectives": ["time"]}
], "schema_version": "1.0.0", "metadata": {"timeunit": "miliseconds"}}"#;

#[test]
fn t4_reads_in_both_spellings() {
    let recording = read(T4);
    assert_eq!(recording.values[0], [Value::Int(8), Value::Int(64)]);
    let rows: Vec<String> = recording.rows.iter().map(|row| recording.config(row).to_string()).collect();
    assert_eq!(rows, ["block=64,fast=true", "block=8,fast=false", "block=8,fast=true", "block=64,fast=false"]);
    let outcomes: Vec<&Recorded> = recording.rows.iter().map(|row| &row.outcome).collect();
    assert_eq!(outcomes[0], &Recorded::time(3e-3, vec![2e-3, 4e-3]));
    assert_eq!(outcomes[1], &Recorded::time(5e-3, vec![5e-3]));
    assert_eq!(outcomes[2], &Recorded::failed(Invalidity::Timeout, "timeout"));
    assert_eq!(outcomes[3], &Recorded::failed(Invalidity::Runtime, "RuntimeFailedConfig"));
    assert!(recording.warnings.is_empty());
}

#[test]
fn t4_times_have_units() {
    let micro = read(&T4.replace("miliseconds", "microseconds"));
    assert_eq!(micro.optimum(), Some(3e-6));
    let own = read(&T4.replace("5.0, \"unit\": \"\"", "5.0, \"unit\": \"ns\""));
    assert_eq!(own.optimum(), Some(5.0 * 1e-9));
    let odd = read(&T4.replace("miliseconds", "fortnights"));
    assert_eq!(words(&odd.warnings), ["a.json gives times in `fortnights`; they are taken as milliseconds"]);
}

#[test]
fn a_cut_off_t4_gives_every_whole_result() {
    let cut = T4.find("\"invalidity\": \"timeout\"").unwrap();
    let recording = read(&T4[..cut]);
    assert_eq!(recording.rows.len(), 2);
    assert_eq!(recording.warnings.len(), 1);
}

#[test]
fn t4_written_here_reads_back() {
    let attempt = |config: &str, outcome: Recorded| Attempt {
        timestamp: Some("2026-01-01T00:00:00Z".into()),
        config: Config::parse(config).unwrap(),
        outcome,
        compile_seconds: 0.25,
        check_seconds: 0.0,
    };
    let mut attempts = vec![attempt("A=2,B=x", Recorded::time(2e-3, vec![1e-3, 3e-3]))];
    let kinds = Invalidity::ALL.into_iter().enumerate();
    attempts.extend(kinds.map(|(i, kind)| attempt(&format!("A={},B=x", i + 3), Recorded::failed(kind, kind.name()))));
    let results = Results { kernel: "k".into(), device: "d".into(), attempts };
    let recording = read(&write_t4(&results).to_string());
    assert_eq!((recording.kernel.as_deref(), recording.device.as_deref()), (Some("k"), Some("d")));
    for (row, attempt) in recording.rows.iter().zip(&results.attempts) {
        assert_eq!((&row.outcome, &recording.config(row)), (&attempt.outcome, &attempt.config));
    }
    assert_eq!(recording.rows.len(), 6);
}
