//! `kiln debug`: what a kernel prints and asserts, on the smallest case that fails.

use std::path::Path;

use serde_json::{Value, json};

use crate::run::{empty_folder, kiln_in, root};
use crate::sanitize::{line_of, planted};

fn debugged(folder: &Path, kernel: &Path, more: &[&str]) -> (Value, i32) {
    let arguments = [&["debug", kernel.to_str().unwrap(), "--target", "cpu", "--json"], more].concat();
    let ran = kiln_in(folder, &arguments);
    (serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err)), ran.code)
}

/// Softmax that says how large it is in a debug build, and asserts that rows are short.
const TALKS: &str =
    "#ifdef KILN_DEBUG\n    printf(\"%d rows of %d\\n\", (int)rows, (int)cols);\n#endif\n    assert(cols < 1000);\n";

fn talking(folder: &Path) -> std::path::PathBuf {
    let from = "    int64_t r = 0;\n";
    let kernel = planted(folder, "softmax", "softmax.c", (from, &format!("{TALKS}{from}")));
    let text = std::fs::read_to_string(kernel.join("softmax.c")).unwrap();
    std::fs::write(kernel.join("softmax.c"), format!("#include <assert.h>\n#include <stdio.h>\n{text}")).unwrap();
    kernel
}

#[test]
fn the_smallest_failing_case_shows_its_assertion() {
    let folder = empty_folder("debug-assert");
    let kernel = talking(&folder);
    let (seen, code) = debugged(&folder, &kernel, &[]);
    assert_eq!((code, &seen["workload"], &seen["because"]), (3, &json!("odd"), &json!("fails")), "{seen:#}");
    let assertion = &seen["assertions"][0];
    let line = line_of(&kernel.join("softmax.c"), "assert(cols < 1000)");
    assert_eq!((&assertion["condition"], &assertion["line"]), (&json!("cols < 1000"), &json!(line)), "{seen:#}");
    assert_eq!(assertion["source_line"], "assert(cols < 1000);");
    // Also what was printed before it.
    assert!(seen["output"].as_str().unwrap().starts_with("7 rows of 1037\n"), "{seen:#}");
    assert_eq!(seen["refusal"]["gate"], "runtime_failed", "{seen:#}");
}

#[test]
fn a_case_can_be_chosen_and_assertions_are_on_whatever_the_flags() {
    let folder = empty_folder("debug-case");
    let kernel = talking(&folder);
    let file = kernel.join("kernel.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let flags = "source = \"softmax.c\"\ncompile = { flags = [\"-DNDEBUG\"] }\n";
    std::fs::write(&file, text.replacen("source = \"softmax.c\"\n", flags, 1)).unwrap();
    let (seen, code) = debugged(&folder, &kernel, &["--workload", "narrow"]);
    assert_eq!((code, &seen["outcome"], &seen["because"]), (0, &json!("passed"), &json!("asked")), "{seen:#}");
    assert_eq!((&seen["output"], &seen["assertions"]), (&json!("5 rows of 7\n"), &json!([])), "{seen:#}");
    // Without assertions everything passes, and the smallest is shown.
    let (seen, code) = debugged(&folder, &kernel, &[]);
    assert_eq!((code, &seen["because"], &seen["workload"]), (0, &json!("smallest"), &json!("one")), "{seen:#}");
    let (seen, code) = debugged(&folder, &kernel, &["--case", "COLS=1001,ROWS=2"]);
    assert_eq!((code, &seen["dims"]), (3, &json!({ "ROWS": 2, "COLS": 1001 })), "{seen:#}");
    assert_eq!(seen["assertions"][0]["condition"], "cols < 1000", "{seen:#}");
    // As `kiln fuzz` prints it.
    let (seen, code) = debugged(&folder, &kernel, &["--case", "ROWS=2,COLS=9; inputs=large; seed=5"]);
    assert_eq!((code, &seen["seed"], &seen["output"]), (0, &json!(5), &json!("2 rows of 9\n")), "{seen:#}");
    let told = kiln_in(&folder, &["debug", kernel.to_str().unwrap(), "--case", "COLS=1001,ROWS=2"]).out;
    assert!(told.contains("assertion failed: cols < 1000") && told.contains("2 rows of 1001"), "{told}");
}

#[test]
fn output_is_bounded() {
    let folder = empty_folder("debug-long");
    let from = "    int64_t r = 0;\n";
    let much = "    for (int i = 0; i < 100000; i++) printf(\"line %d\\n\", i);\n";
    let kernel = planted(&folder, "softmax", "softmax.c", (from, &format!("{much}{from}")));
    let text = std::fs::read_to_string(kernel.join("softmax.c")).unwrap();
    std::fs::write(kernel.join("softmax.c"), format!("#include <stdio.h>\n{text}")).unwrap();
    let (seen, code) = debugged(&folder, &kernel, &["--workload", "narrow"]);
    let output = seen["output"].as_str().unwrap();
    assert!(code == 0 && output.starts_with("line 0\nline 1\n") && output.ends_with("line 99999\n"), "{code}");
    assert!(output.len() < 80_000 && seen["left_out_bytes"].as_u64().unwrap() > 900_000, "{}", output.len());
}

/// On a terminal a kernel moves no cursor; a program reads what it printed.
#[test]
fn control_characters_are_written_out() {
    let folder = empty_folder("debug-control");
    let from = "    int64_t r = 0;\n";
    let print = "    fputs(\"\\033[2J\\033]0;title\\007red\\rblue\\n\", stdout);\n";
    let kernel = planted(&folder, "softmax", "softmax.c", (from, &format!("{print}{from}")));
    let text = std::fs::read_to_string(kernel.join("softmax.c")).unwrap();
    std::fs::write(kernel.join("softmax.c"), format!("#include <stdio.h>\n{text}")).unwrap();
    let told = kiln_in(&folder, &["debug", kernel.to_str().unwrap(), "--target", "cpu", "--workload", "narrow"]).out;
    assert!(told.contains("\\u{1b}[2J\\u{1b}]0;title\\u{7}red\\rblue\n"), "{told:?}");
    assert!(!told.chars().any(|c| c.is_control() && c != '\n'), "{told:?}");
    let (seen, _) = debugged(&folder, &kernel, &["--workload", "narrow"]);
    assert!(seen["output"].as_str().unwrap().starts_with("\u{1b}[2J"), "{seen:#}");
}

#[test]
fn a_case_that_makes_no_sense_is_a_mistake() {
    let folder = empty_folder("debug-input");
    let softmax = root().join("kernels/softmax");
    let said = |case: &str| kiln_in(&folder, &["debug", softmax.to_str().unwrap(), "--case", case]);
    for (case, words) in [("COLZ=3", "did you mean COLS?"), ("COLS=true", "expected an integer"), ("COLS", "--case")] {
        let ran = said(case);
        assert!(ran.code == 2 && ran.err.contains(words), "{case}: {} {}", ran.code, ran.err);
    }
}
