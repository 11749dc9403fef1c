//! `kiln profile` of what cannot be profiled, and of what must not be promised anything: crashes, hangs, baselines that do not run, calls that
//! sleep, work that cannot be done in the time.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::profile::{profile, profiled};
use crate::run::{empty_folder, kiln_in, root};
use crate::sanitize::planted;

/// The beginning of softmax's own function, and the same with something before it.
fn before(words: &str) -> (String, String) {
    let start = "int64_t cols) {\n    int64_t r = 0;\n";
    (start.into(), start.replace("int64_t r = 0;", &format!("{words}\n    int64_t r = 0;")))
}

#[test]
fn what_crashes_or_hangs_is_refused() {
    let crash = before("*(volatile int *)0 = 1;");
    let hang = before("for (volatile int i = 0;;) {}");
    for (name, (from, to), gate) in [("crash", crash, "runtime_failed"), ("hang", hang, "timeout")] {
        let folder = empty_folder(&format!("profile-{name}"));
        let kernel = planted(&folder, "softmax", "softmax.c", (&from, &to));
        let (found, code) = profiled(&folder, &kernel, &["--workload", "narrow", "--limit", "2"]);
        assert_eq!((code, &found["refusal"]["gate"]), (3, &json!(gate)), "{found:#}");
        assert!(found.get("cause").is_none() && found["profiled"]["seconds"].as_f64().unwrap() > 0.0, "{found:#}");
    }
}

#[test]
fn a_baseline_that_cannot_run_is_a_fault() {
    let folder = empty_folder("profile-baseline-crash");
    let start = "int64_t cols) {\n";
    let crash = format!("{start}    *(volatile int *)0 = 1;\n");
    let kernel = planted(&folder, "softmax", "naive.c", (start, &crash));
    let ran = profile(&folder, &kernel, &["--baseline", "naive", "--workload", "narrow"]);
    assert!(ran.code == 1 && ran.err.contains("using the baseline naive: runtime_failed"), "{}{}", ran.out, ran.err);
}

/// A library that somebody else built.
#[test]
fn a_baseline_can_be_a_library() {
    let folder = empty_folder("profile-library");
    let stated = "naive = \"naive.c:naive\"";
    let kernel =
        planted(&folder, "softmax", "kernel.toml", (stated, &format!("other = \"libother.so:naive\"\n{stated}")));
    let built = Command::new("cc")
        .args(["-O2", "-shared", "-fPIC", "-Wl,-soname,libother.so", "-o", "libother.so", "naive.c", "-lm"])
        .current_dir(&kernel)
        .status();
    assert!(built.unwrap().success());
    let (found, code) = profiled(&folder, &kernel, &["--baseline", "other", "--workload", "narrow"]);
    assert!(code == 0 && found["time_us"].as_f64().unwrap() > 0.0, "{found:#}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_call_that_sleeps_is_not_slow_because_of_its_loop() {
    let folder = empty_folder("profile-sleep");
    let (from, to) = before("extern int usleep(unsigned);\n    usleep(20000);");
    let kernel = planted(&folder, "softmax", "softmax.c", (&from, &to));
    let (found, code) = profiled(&folder, &kernel, &["--workload", "narrow"]);
    assert_eq!((code, &found["cause"], &found["expected_speedup"]), (0, &Value::Null, &json!(1.0)), "{found:#}");
}

#[test]
fn work_that_cannot_be_done_in_the_time_is_doubted() {
    let folder = empty_folder("profile-cost");
    let cost = ("bytes = \"8 * ROWS * COLS\"", "bytes = \"800000 * ROWS * COLS\"");
    let kernel = planted(&folder, "softmax", "kernel.toml", cost);
    let (found, code) = profiled(&folder, &kernel, &["--workload", "narrow"]);
    assert_eq!((code, &found["cause"], &found["roofline"]["bound"]), (0, &Value::Null, &json!("unknown")), "{found:#}");
    let notes = found["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().contains("of the peak of memory cannot be")), "{found:#}");
}

/// Without `[cost]` the arguments say what must be moved at least.
#[test]
fn arguments_are_moved_once_where_no_cost_is_stated() {
    let folder = empty_folder("profile-no-cost");
    let cost = ("[cost]\nflops = \"5 * ROWS * COLS\"\nbytes = \"8 * ROWS * COLS\"\n", "");
    let kernel = planted(&folder, "softmax", "kernel.toml", cost);
    let (found, code) = profiled(&folder, &kernel, &["--workload", "narrow"]);
    assert!(code == 0 && found["roofline"]["memory_fraction"].as_f64().unwrap() > 0.0, "{found:#}");
    let notes = found["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().starts_with("[cost] states no bytes")), "{found:#}");
}

#[test]
fn flags_are_checked_before_anything_runs() {
    let folder = empty_folder("profile-before");
    let kernel = root().join("kernels/softmax");
    let all = profile(&folder, &kernel, &["--workload", "all"]);
    assert!(all.code == 2 && all.err.contains("one workload is profiled at a time"), "{}", all.err);
    let out = profile(&folder, &kernel, &["--out", "nowhere/found.json"]);
    assert!(out.code == 2 && out.err.contains("there is no folder nowhere"), "{}", out.err);
    assert!(!folder.join(".kiln").exists(), "nothing was built");
    let kernel = root().join("kernels/matmul");
    let ran =
        kiln_in(&folder, &["diagnose", kernel.to_str().unwrap(), "--predict", "--board", "h200", "--arch", "sm_80"]);
    let named = ran.err.contains("NVIDIA H200 is sm_90a") && ran.err.contains("--arch is sm_80");
    assert!(ran.code == 2 && named, "{}", ran.err);
}

/// A call that never ends, with ten minutes to do so: one Ctrl-C is enough.
#[test]
fn one_interrupt_ends_a_profile() {
    let folder = empty_folder("profile-interrupted");
    let (from, to) = before("for (volatile int i = 0;;) {}");
    let kernel = planted(&folder, "softmax", "softmax.c", (&from, &to));
    let words = ["--target", "cpu", "--workload", "narrow", "--limit", "600", "--events", "events.jsonl"];
    let child = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args([&["profile", kernel.to_str().unwrap()][..], &words].concat())
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let built = || {
        let text = std::fs::read_to_string(folder.join("events.jsonl")).unwrap_or_default();
        text.contains(r#""phase":"profile","done":1"#)
    };
    while !built() {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("stopping; nothing is recorded"), "{err}");
}
