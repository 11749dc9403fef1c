//! What only a GPU can show, run as a user runs it. Without one every test says so and passes, unless KILN_NEED_GPU is set.
//! The compiled tests also run on another machine: KILN_BIN names the binary, KILN_ROOT the folder with kernels and tests.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod draws;
mod kinds;
mod lent;
mod profile;
mod sanitize;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    let here = std::env::var("KILN_ROOT").unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../..").into());
    Path::new(&here).canonicalize().unwrap()
}

/// A folder of this test's own; none where there is no GPU.
fn folder(name: &str) -> Option<PathBuf> {
    if let Err(why) = kiln_run::cards() {
        assert!(std::env::var_os("KILN_NEED_GPU").is_none(), "{why}");
        eprintln!("skipped, there is no GPU: {why}");
        return None;
    }
    let folder = std::env::temp_dir().join(format!("kiln-gpu-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    Some(folder)
}

/// Runs to the end; the object on stdout and the exit code.
fn run(folder: &Path, line: &str) -> (Value, i32) {
    let kiln = std::env::var("KILN_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_kiln").into());
    let words = line.split_whitespace().map(|w| match w.strip_prefix('@') {
        Some(inside) => root().join(inside).to_str().unwrap().to_string(),
        None => w.to_string(),
    });
    let output = Command::new(kiln).args(words).current_dir(folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let object = serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{line}: {e}\n{text}{}", String::from_utf8_lossy(&output.stderr)));
    (object, output.status.code().unwrap())
}

#[test]
fn hostile_kernels_are_refused_each_at_its_gate_and_the_good_one_is_found() {
    let Some(folder) = folder("hostile") else { return };
    let expected = std::fs::read(root().join("tests/hostile_cuda/expected.json")).unwrap();
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    for (deed, gate) in expected["static"].as_object().unwrap() {
        let (object, code) = run(&folder, &format!("gate @tests/hostile_cuda --config CASE={deed} --json"));
        assert_eq!(code, 3, "{deed}: {object}");
        assert!(object.to_string().contains(gate.as_str().unwrap()), "{deed}: {object}");
    }
    let (summary, _) = run(&folder, "tune @tests/hostile_cuda --json --seed 3 --no-stop --no-ablation --no-sanitize");
    let trials = run(&folder, "show last --json").0["trials"].as_array().unwrap().clone();
    for (deed, gate) in expected["gates"].as_object().unwrap() {
        let of = |t: &&Value| t["config"].as_str() == Some(&format!("CASE={deed}"));
        let refused: Vec<&Value> = trials.iter().filter(of).collect();
        assert_eq!(refused.len(), 1, "{deed}");
        assert_eq!(&refused[0]["refusal"]["gate"], gate, "{deed}: {}", refused[0]["refusal"]);
    }
    assert_eq!(summary["refused"], expected["refused"]);
    assert_eq!(summary["config"], expected["config"]);
}

#[test]
fn remembering_does_not_pay_and_leaving_work_out_is_found_out() {
    let Some(folder) = folder("cheats") else { return };
    let expected = std::fs::read(root().join("tests/cheats_cuda/expected.json")).unwrap();
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    let bench = |deed: &str, how: &str| {
        let line =
            format!("bench @tests/cheats_cuda --config DEED={deed} --samples 50 --max-samples 50 --seed 4 --json");
        run(&folder, &format!("{line} {how}"))
    };
    for (deed, gate) in expected["gates"].as_object().unwrap() {
        let (object, code) = bench(deed, "");
        assert_eq!((code, &object["refused"]["gate"]), (3, gate), "{deed}: {object:#}");
    }
    for how in ["", "--warm"] {
        let seconds = |deed: &str| {
            let (object, _) = bench(deed, how);
            assert!(object["refused"].is_null() && object["workloads"].is_array(), "{object:#}");
            object["workloads"][0]["times"]["median"].as_f64().unwrap()
        };
        let honest = seconds(expected["honest"].as_str().unwrap());
        for deed in expected["no_faster"].as_array().unwrap() {
            let cheating = seconds(deed.as_str().unwrap());
            eprintln!("{deed} {how}: {:.1} us, the honest one {:.1} us", cheating * 1e6, honest * 1e6);
            assert!(cheating > 0.95 * honest, "{deed} {how}: {cheating} s against {honest} s");
        }
    }
}

#[test]
fn the_originals_index_is_refused_at_the_first_shape_beyond_one_tile() {
    let Some(folder) = folder("gallery") else { return };
    let expected = std::fs::read(root().join("tests/attention_gallery/expected.json")).unwrap();
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    for (config, found) in expected["gates"].as_object().unwrap() {
        let (object, code) = run(&folder, &format!("check @tests/attention_gallery --config {config} --json"));
        assert_ne!(code, 0, "{config}: {object:#}");
        assert_eq!((&object["refusal"]["gate"], &object["workload"]), (&found[0], &found[1]), "{config}: {object:#}");
    }
    let right = expected["right"].as_str().unwrap();
    let (object, code) = run(&folder, &format!("check @tests/attention_gallery --config {right} --json"));
    assert_eq!(code, 0, "{object:#}");
}

#[test]
fn every_kernel_is_right_in_its_default_configuration() {
    let Some(folder) = folder("check") else { return };
    for kernel in ["matmul", "matmul_float", "softmax_triton"] {
        let (object, code) = run(&folder, &format!("check @kernels/{kernel} --json"));
        assert_eq!(code, 0, "{kernel}: {object:#}");
    }
}

#[test]
fn doctor_sees_the_gpu() {
    let Some(folder) = folder("doctor") else { return };
    let (object, _) = run(&folder, "doctor --json");
    assert!(object.to_string().contains("NVIDIA"), "{object:#}");
}
