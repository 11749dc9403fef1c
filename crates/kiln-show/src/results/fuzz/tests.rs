//! What `kiln fuzz` says, of hand-made results.

use kiln_app::{FuzzFailure, Fuzzed, Selecting};
use kiln_core::{Config, Gate, Refusal, Value};
use kiln_judge::{Distribution, FuzzCase};
use kiln_store::Validation;

use crate::FuzzView;

fn refusal() -> Refusal {
    Refusal {
        gate: Gate::Numerics,
        rule: "y".into(),
        measured: "y[64, 0] is 1".into(),
        limit: "2 within 1e-5".into(),
        evidence: "1 of 65 elements is off".into(),
        hint: None,
    }
}

fn case(rows: i64, inputs: Distribution, seed: u64) -> FuzzCase {
    let (shape, config) = (vec![("S".into(), Value::Int(rows))], Config::parse("BLOCK=64").unwrap());
    FuzzCase { shape, scalars: Vec::new(), inputs, seed, config }
}

fn fuzzed() -> Fuzzed {
    Fuzzed {
        kernel: "twice".into(),
        target: "cpu".into(),
        baseline: None,
        suite: None,
        given: None,
        seed: 7,
        variants: vec!["T=f16".into(), "T=f32".into()],
        configs: 4,
        refused: vec![(Config::parse("BLOCK=16").unwrap(), Refusal { gate: Gate::Spills, ..refusal() })],
        passed: 12,
        shapes: 9,
        draws_excluded: 0,
        only_workloads: false,
        excluded: vec![("constraint rows".into(), 3)],
        not_run: 0,
        not_run_first: None,
        kept: vec![],
        failure: None,
        unusable: None,
        file: ".kiln/fuzz/twice.toml".into(),
        not_kept: None,
        validated: vec![],
        runs: None,
        seconds: 1.5,
        interrupted: false,
        ran_on: serde_json::Value::Null,
    }
}

fn said(fuzzed: &Fuzzed) -> String {
    let selecting = Selecting { path: "my kernels/twice".into(), ..Selecting::default() };
    FuzzView { fuzzed, selecting: &selecting, kiln: "kiln", typed: false, verbose: false }.to_string()
}

#[test]
fn what_passed_what_was_excluded_and_what_there_was_no_time_for() {
    let late = Fuzzed { not_run: 2, not_run_first: Some(case(512, Distribution::Declared, 3)), ..fuzzed() };
    insta::assert_snapshot!(said(&late), @r"
    twice, target cpu, fuzz, seed 7
      T=f16, T=f32, 4 configurations

    correct: 12 cases passed in 1.5 s, 9 distinct shapes
      excluded  3  constraint rows
      refused   1  configuration that never ran (spills)
      not run   2  no time left, from S=512; inputs=declared; seed=3 on
    ");
}

#[test]
fn the_smallest_failing_case_comes_with_the_command_that_replays_it() {
    let failure = FuzzFailure {
        variant: "T=f32".into(),
        found: case(517, Distribution::Spike, 99),
        smallest: case(65, Distribution::Declared, 0),
        refusal: refusal(),
        tried: 44,
        complete: false,
        steady: Some(false),
    };
    let failed = Fuzzed { failure: Some(failure), refused: vec![], excluded: vec![], ..fuzzed() };
    insta::assert_snapshot!(said(&failed), @r"
    twice, target cpu, fuzz, seed 7
      T=f16, T=f32, 4 configurations

    refused on S=65; inputs=declared; seed=0
      T=f32 BLOCK=64
      numerics (y): an output differs from the reference by more than the tolerance
        measured  y[64, 0] is 1
        expected  2 within 1e-5
        evidence  1 of 65 elements is off
      found after 12 cases passed: S=517; inputs=spike; seed=99
      shrunk: 44 smaller cases tried; the time budget ended before all were, so it may get smaller
      it does not fail every time: look for a race, or for memory that is read before it is written
      replay: kiln fuzz 'my kernels/twice' --target cpu --variant T=f32 --config BLOCK=64 --case 'S=65; inputs=declared; seed=0'
      kept in .kiln/fuzz/twice.toml; it runs first next time
      hint: if the kernel is not made for this shape, state in [fuzz] which it is made for
    ");
}

#[test]
fn the_level_is_reached_or_what_it_takes_is_said() {
    let few = Fuzzed { runs: Some(10), ..fuzzed() };
    assert!(said(&few).ends_with("not validated: that takes 100 good runs\n"), "{}", said(&few));
    let late = Fuzzed { runs: Some(100), ..fuzzed() };
    assert!(said(&late).ends_with("not validated: fewer than 100 good runs; give it more --minutes\n"));
    let made = Validation {
        id: "a".into(),
        at_ms: 0,
        kernel: "twice".into(),
        path: "twice".into(),
        target: "cpu".into(),
        arch: None,
        variant: String::new(),
        config: "BLOCK=64".into(),
        runs: 100,
        shapes: Some(83),
        seed: 7,
        device: "a processor".into(),
        spec_hash: String::new(),
        sources: String::new(),
        kiln_version: String::new(),
    };
    let done = Fuzzed { runs: Some(100), validated: vec![made], ..fuzzed() };
    assert!(said(&done).ends_with("validated: 100 good runs of BLOCK=64 on 83 shapes\n"), "{}", said(&done));
}
