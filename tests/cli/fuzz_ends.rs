//! How `kiln fuzz` ends when something comes between: a folder that cannot be written, Ctrl-C, a case that makes no sense.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::fuzz::{FILE, fuzz, kernel, object, smallest, source};

#[test]
fn a_failure_that_cannot_be_kept_is_still_printed() {
    let folder = kernel("fuzz_not_kept", "r < 64 ? r : r - 64", "1");
    std::fs::create_dir_all(folder.join(".kiln")).unwrap();
    std::fs::write(folder.join(".kiln/fuzz"), "in the way").unwrap();
    let ran = fuzz(&folder, &["--seed", "1"]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    for said in ["refused on S=65,D=1", "replay: kiln fuzz . --target cpu", "  not kept: "] {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
    assert!(ran.err.contains("warning: ") && ran.err.contains("could not be written"), "{}", ran.err);
    assert!(ran.err.contains("hint: ") && ran.err.contains(".kiln/fuzz"), "{}", ran.err);
    let found = object(&folder, &["--seed", "1"], 3);
    assert_eq!(smallest(&found).0, "S=65,D=1; inputs=declared; seed=0");
    assert!(found["not_kept"].is_string(), "{found:#}");
}

#[test]
fn a_case_that_makes_no_sense_is_a_mistake_in_the_command_line() {
    let folder = kernel("fuzz_senseless", "r", "1");
    let constrained = FILE.replace("[default]", "[constraints]\nwide = \"D % 4 == 0\"\n[default]");
    std::fs::write(folder.join("kernel.toml"), constrained.replace("D = 3", "D = 4")).unwrap();
    for (case, said) in [
        ("S=0", "x has no elements"),
        ("S=-5", "--case: S=-5,D=8 is no shape of this kernel"),
        ("D=6", "--case: S=64,D=6 breaks the constraint wide"),
        ("H=6", "--case: there is no dimension `H`"),
        ("inputs=lowest", "inputs lowest make no sense here"),
        ("inputs=spike; inputs=spike", "--case: inputs is given twice"),
        ("S=1; S=2", "--case: S is given twice"),
        ("seed=18446744073709551616", "expected a whole number from 0 to 18446744073709551615"),
        ("S=99999999999999999999", "expected an integer from -9223372036854775808"),
        ("S=\u{1b}[31m7", "control character"),
    ] {
        let ran = fuzz(&folder, &["--case", case]);
        assert_eq!(ran.code, 2, "{case}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(said) && !ran.err.contains('\u{1b}'), "{case}: {}", ran.err);
    }
    assert_eq!(fuzz(&folder, &["--case", "D=12; seed=3"]).code, 0);
    // What a file or a flag holds does not reach the terminal as it is.
    let ran = fuzz(&folder, &["--suite", "\u{1b}]0;title\u{7}"]);
    assert!(ran.code == 2 && ran.err.contains("\\u{1b}") && !ran.err.contains('\u{1b}'), "{}", ran.err);
}

#[test]
fn a_failure_on_the_first_case_reads_like_one() {
    let folder = kernel("fuzz_first", "r", "r != 0");
    let ran = fuzz(&folder, &["--seed", "1"]);
    assert!(ran.code == 3 && ran.out.contains("found on the first case"), "{}", ran.out);
}

/// Runs until an event says something, then interrupts the whole process group, as a terminal does.
fn interrupted(folder: &Path, words: &[&str], event: &str) -> Output {
    use std::os::unix::process::CommandExt;
    let child = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args([&["fuzz", ".", "--minutes", "10", "--events", "events.jsonl"], words].concat())
        .current_dir(folder)
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let events = folder.join("events.jsonl");
    while !std::fs::read_to_string(&events).is_ok_and(|text| text.contains(event)) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

/// Ctrl-C while a failing case is being shrunk: it is printed and kept as small as it got, and the exit code is Ctrl-C's.
#[test]
fn an_interrupted_shrinking_keeps_what_it_found() {
    let folder = kernel("fuzz_interrupted_shrinking", "r", "1");
    let slow = "#include <stdint.h>\n#include <unistd.h>\n\
                void twice(const float *x, float *y, int64_t s, int64_t d) {\n\
                usleep(100000); for (int64_t i = 0; i < s * d; ++i) y[i] = s * d > 3 ? 3 * x[i] : 2 * x[i];\n}\n";
    std::fs::write(folder.join("twice.c"), slow).unwrap();
    for jobs in ["1", "3"] {
        let _ = std::fs::remove_dir_all(folder.join(".kiln"));
        let _ = std::fs::remove_file(folder.join("events.jsonl"));
        let words = ["--seed", "1", "--jobs", jobs, "--json"];
        let output = interrupted(&folder, &words, r#""phase":"shrink","done":1"#);
        let out = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(130), "{out}{}", String::from_utf8_lossy(&output.stderr));
        let found: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&found["interrupted"], &found["passed"]), (&true.into(), &false.into()), "{found:#}");
        assert_eq!(found["failure"]["complete"], false, "{found:#}");
        assert_eq!(found["failure"]["refusal"]["gate"], "numerics", "{found:#}");
        assert_eq!(found["failure"]["steady"], serde_json::Value::Null, "{found:#}");
        let kept = std::fs::read_to_string(folder.join(found["cases_file"].as_str().unwrap())).unwrap();
        assert!(kept.contains(smallest(&found).0), "{kept}");
    }
    // The next run begins with it; so does one of the kernel as it should be.
    std::fs::write(folder.join("twice.c"), source("r", "1")).unwrap();
    assert_eq!(object(&folder, &["--seed", "2", "--cases", "5"], 0)["kept"][0]["now"], "fixed");
}

/// Several cases are under way: none of them is blamed for the signal.
#[test]
fn an_interrupted_run_of_several_workers_accuses_nobody() {
    let folder = kernel("fuzz_interrupted_jobs", "r", "1");
    let slow = "#include <stdint.h>\n#include <unistd.h>\n\
                void twice(const float *x, float *y, int64_t s, int64_t d) {\n\
                usleep(30000); for (int64_t i = 0; i < s * d; ++i) y[i] = 2 * x[i];\n}\n";
    std::fs::write(folder.join("twice.c"), slow).unwrap();
    let output = interrupted(&folder, &["--cases", "9999", "--jobs", "4"], r#""phase":"fuzz","done":"#);
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{out}{}", String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("interrupted after ") && !out.contains("refused"), "{out}");
}
