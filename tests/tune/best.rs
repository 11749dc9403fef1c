//! What becomes of a winner that is written down already: it stays unless a comparable study found a better one, and a file
//! that cannot be read costs nothing.

use std::path::{Path, PathBuf};

use crate::{command, folder, spawn, wait_for_trials};

const FILE: &str = r#"
[kernel]
name = "NAME"
entry = "twice"
[tunables]
STEP = [1, 4, 64]
[constraints]
whole = "N % STEP == 0"
far = "N > 64 or STEP >= LEAST"
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
[[arguments]]
name = "n"
type = "i64"
role = "scalar"
value = "N"
[[workloads]]
name = "small"
dims = { N = 64 }
[[workloads]]
name = "large"
dims = { N = 1000 }
[reference]
builtin = "elementwise"
expressions = { y = "2 * x" }
[baselines]
plain = "plain.c:plain"
"#;

const SOURCE: &str = "#include <stdint.h>\nvoid twice(const float *x, float *y, int64_t n) {\n\
    for (int64_t i = 0; i < n; i += STEP) for (int64_t j = i; j < i + STEP; ++j) y[j] = 2.0f * x[j];\n}\n";

/// On the small workload steps below `least` are invalid; on the large one, those of 64.
fn kernel(name: &str, least: &str) -> PathBuf {
    let folder = folder(name);
    let text = FILE.replace("NAME", name).replace("LEAST", least);
    std::fs::write(folder.join("kernel.toml"), text).unwrap();
    std::fs::write(folder.join("twice.c"), SOURCE).unwrap();
    std::fs::write(folder.join("plain.c"), SOURCE.replace("twice", "plain").replace("STEP", "1")).unwrap();
    folder
}

/// What it printed, and the exit code.
fn ran(folder: &Path, line: &str) -> (String, i32) {
    let output = command(folder, line).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.code().unwrap())
}

const SHORT: &str = "tune . --no-ablation --no-stop --samples 25";

#[test]
fn a_study_of_fewer_workloads_or_other_caches_does_not_replace_the_winner() {
    let folder = kernel("keeps", "1");
    let (text, code) = ran(&folder, SHORT);
    assert!(matches!(code, 0 | 4), "{text}");
    let read = || {
        ["best.toml", "best_cpu.h"]
            .map(|file| std::fs::read_to_string(folder.join(".kiln/best/keeps").join(file)).unwrap())
    };
    let first = read();
    assert!(first[0].contains("cache = \"warm\"\nthreads = 1\n"), "{}", first[0]);
    let (text, _) = ran(&folder, &format!("{SHORT} --cold"));
    assert!(text.contains("that one was measured with warm caches, this one with cold caches"), "{text}");
    assert_eq!(read(), first);
    let (text, _) = ran(&folder, &format!("{SHORT} --workload small"));
    assert!(text.contains("that one also covers large"), "{text}");
    assert_eq!(read(), first);
    // It is not lost.
    let (text, code) = ran(&folder, "tune . --workload small --replay last --out small");
    assert!(matches!(code, 0 | 4) && text.contains("wrote small/best.toml and small/best_cpu.h"), "{text}");
    let small = std::fs::read_to_string(folder.join("small/best.toml")).unwrap();
    assert!(small.contains("[cpu.workloads.small]") && !small.contains("[cpu.workloads.large]"), "{small}");
    // Other code is no match, and that is said.
    std::fs::write(folder.join("twice.c"), SOURCE.replace("2.0f * x[j]", "x[j] + x[j]")).unwrap();
    let (text, _) = ran(&folder, SHORT);
    assert!(text.contains("the sources or tunables have changed since"), "{text}");
    assert_ne!(read(), first);
}

#[test]
fn a_header_does_not_define_what_is_invalid_on_another_workload() {
    let folder = kernel("guarded", "64");
    let (text, code) = ran(&folder, &format!("{SHORT} --workload small"));
    assert!(matches!(code, 0 | 4), "{text}");
    let best = std::fs::read_to_string(folder.join(".kiln/best/guarded/best.toml")).unwrap();
    assert!(best.contains("invalid_on = [\"large\"]") && best.contains("STEP = 64"), "{best}");
    let compiles = |define: &str| {
        let mut cc = std::process::Command::new("cc");
        let words = ["-include", ".kiln/best/guarded/best_cpu.h", define, "-fsyntax-only", "twice.c"];
        cc.args(words).current_dir(&folder).output().unwrap().status.success()
    };
    assert!(compiles("-DKILN_WORKLOAD_small") && !compiles("-DKILN_WORKLOAD_large"));
}

#[test]
fn a_table_that_cannot_be_read_is_told_before_anything_is_measured_and_stays() {
    let folder = kernel("damaged", "1");
    let best = folder.join(".kiln/best/damaged");
    std::fs::create_dir_all(&best).unwrap();
    for damaged in [&b"[cpu.\"T=f16\"]\nx = \"\xff\"\n"[..], &b"not toml ["[..]] {
        std::fs::write(best.join("best.toml"), damaged).unwrap();
        let (text, code) = ran(&folder, SHORT);
        assert!(code == 1 && text.contains("reading .kiln/best/damaged/best.toml"), "{code} {text}");
        assert!(!text.contains("seed"), "{text}");
        assert_eq!(std::fs::read(best.join("best.toml")).unwrap(), damaged);
    }
}

#[test]
fn python_gets_no_header() {
    let folder = kernel("pythonic", "1");
    let file = std::fs::read_to_string(folder.join("kernel.toml")).unwrap();
    let file = file
        .replace("[target.cpu]\nsource = \"twice.c\"", "[target.python]")
        .replace("entry = \"twice\"", "entry = \"twice.py:twice\"");
    std::fs::write(folder.join("kernel.toml"), file).unwrap();
    std::fs::write(
        folder.join("twice.py"),
        "def twice(inputs, scalars, outputs, STEP):\n    outputs['y'][:] = inputs['x'] * 2\n",
    )
    .unwrap();
    let (text, code) = ran(&folder, SHORT);
    assert!(matches!(code, 0 | 4), "{text}");
    let files: Vec<_> =
        std::fs::read_dir(folder.join(".kiln/best/pythonic")).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(files, ["best.toml"], "{text}");
}

#[test]
fn a_table_that_is_damaged_meanwhile_does_not_cost_the_result() {
    let folder = kernel("meanwhile", "1");
    let mut child = spawn(&folder, &SHORT.replace("25", "400"));
    wait_for_trials(&folder, &mut child, 1);
    let best = folder.join(".kiln/best/meanwhile/best.toml");
    std::fs::write(&best, "not toml [").unwrap();
    let ended = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert_eq!(ended.status.code(), Some(1), "{out}{err}");
    assert!(out.contains("configuration\n  STEP=") && err.contains("correct it, or move it away"), "{out}{err}");
    // What the hint says works.
    let hint = err.lines().find_map(|line| line.split_once("write the winner with ")).unwrap().1.to_string();
    std::fs::remove_file(&best).unwrap();
    let (text, code) = ran(&folder, &format!("tune . {hint}"));
    assert!(matches!(code, 0 | 4) && best.is_file(), "{text}");
}
