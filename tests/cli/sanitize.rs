//! `kiln sanitize` without a GPU: the compiler's sanitizers on our own kernels, and on copies of them with one planted bug each.
//! Skipped, and said so, where the compiler has no sanitizers.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::run::{empty_folder, kiln_in, root};

/// Whether the C compiler has sanitizers.
fn sanitizers() -> bool {
    match kiln_build::Compiler::find().and_then(|compiler| compiler.sanitizers()) {
        Ok(_) => true,
        Err(fault) => {
            println!("skipped: {fault}");
            false
        }
    }
}

/// A copy of a kernel with one place of a source changed.
pub(crate) fn planted(folder: &Path, kernel: &str, source: &str, (from, to): (&str, &str)) -> PathBuf {
    let own = root().join("kernels").join(kernel);
    let copy = folder.join(kernel);
    std::fs::create_dir_all(&copy).unwrap();
    for entry in std::fs::read_dir(own).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let text = std::fs::read_to_string(copy.join(source)).unwrap();
    let changed = text.replacen(from, to, 1);
    assert_ne!(text, changed, "{from} is not in {source}");
    std::fs::write(copy.join(source), changed).unwrap();
    copy
}

/// The line of a source that holds a text, from 1.
pub(crate) fn line_of(file: &Path, text: &str) -> usize {
    let source = std::fs::read_to_string(file).unwrap();
    1 + source.lines().position(|line| line.contains(text)).unwrap()
}

fn sanitized(folder: &Path, kernel: &Path, more: &[&str]) -> (Value, i32) {
    let arguments = [&["sanitize", kernel.to_str().unwrap(), "--target", "cpu", "--json"], more].concat();
    let ran = kiln_in(folder, &arguments);
    (serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err)), ran.code)
}

#[test]
fn our_own_kernels_are_clean() {
    if !sanitizers() {
        return;
    }
    let folder = empty_folder("sanitize-clean");
    for kernel in ["softmax", "matmul", "attention"] {
        let (found, code) = sanitized(&folder, &root().join("kernels").join(kernel), &[]);
        assert_eq!((code, &found["verdict"], &found["findings"]), (0, &json!("clean"), &json!([])), "{found:#}");
        // The smallest workload, and one whose sizes no tile divides.
        assert_eq!(found["runs"].as_array().unwrap().len(), 2, "{found:#}");
    }
    let (found, code) = sanitized(&folder, &root().join("kernels/softmax"), &["--workload", "narrow", "--seed", "3"]);
    let runs = &found["runs"];
    assert_eq!((code, &runs[0]["workload"], &runs[0]["outcome"]), (0, &json!("narrow"), &json!("passed")));
    assert_eq!((runs.as_array().unwrap().len(), &found["seed"]), (1, &json!(3)));
}

#[test]
fn an_index_one_too_far_is_named_with_its_argument() {
    if !sanitizers() {
        return;
    }
    let folder = empty_folder("sanitize-index");
    let naive = "for (int64_t r = 0; r < rows; r++)\n        y[r * cols + cols] = 0;";
    let kernel = planted(
        &folder,
        "softmax",
        "softmax.c",
        ("    int64_t r = 0;\n", &format!("    {naive}\n    int64_t r = 0;\n")),
    );
    let (found, code) = sanitized(&folder, &kernel, &[]);
    let finding = &found["findings"][0];
    assert_eq!((code, &found["verdict"]), (3, &json!("bugs_found")), "{found:#}");
    let line = line_of(&kernel.join("softmax.c"), "y[r * cols + cols]");
    assert_eq!((&finding["cause"], &finding["tool"]), (&json!("oob_heap_write"), &json!("asan")), "{finding:#}");
    assert_eq!((&finding["file"], &finding["line"]), (&json!("softmax.c"), &json!(line)), "{finding:#}");
    let facts = &finding["facts"];
    assert_eq!(
        (&facts["variable"], &facts["access_bytes"], &facts["bytes_past_end"]),
        (&json!("y"), &json!(4), &json!(0))
    );
    assert_eq!(facts["source_line"], "y[r * cols + cols] = 0;");
    assert_eq!(facts["workloads"].as_array().unwrap().len(), 2, "{facts:#}");
    let told = kiln_in(&folder, &["sanitize", kernel.to_str().unwrap(), "--workload", "narrow"]).out;
    assert!(told.contains(&format!("oob_heap_write in softmax at softmax.c:{line}")), "{told}");
    assert!(
        told.contains("right after the end of `y` (140 bytes)") && told.contains("\n1 cause found\nlesson: "),
        "{told}"
    );
}

#[test]
fn what_the_sanitizers_can_see_is_named_with_its_line() {
    if !sanitizers() {
        return;
    }
    let cases = [
        ("read", "y[0] += x[rows * cols];", "oob_heap_read"),
        ("before", "y[0] += x[-1];", "oob_heap_read"),
        ("misaligned", "y[0] = *(const float *)((const char *)x + 1);", "misaligned_access"),
        ("overflow", "y[0] = (int)(rows + 2147483640) + (int)cols;", "signed_overflow"),
        ("shift", "y[0] = 1 << (int)(rows + 40);", "invalid_shift"),
        ("stack", "volatile float part[2]; part[rows - 1] = 0; y[0] = part[0];", "oob_stack_write"),
        ("value", "y[0] = (int)(x[0] * 1e30f + 1e30f);", "invalid_value"),
        ("division", "y[0] = (int)rows / (int)(cols - cols);", "division_by_zero"),
        ("null", "float *none = rows > 0 ? 0 : y; y[0] = *none;", "null_pointer"),
        ("freed", "float *mine = malloc(4); free(mine); y[0] = *(volatile float *)mine;", "use_after_free"),
    ];
    for (name, code, cause) in cases {
        let folder = empty_folder(&format!("sanitize-{name}"));
        let from = "    int64_t r = 0;\n";
        let kernel = planted(&folder, "softmax", "softmax.c", (from, &format!("    {code}\n{from}")));
        let text = std::fs::read_to_string(kernel.join("softmax.c")).unwrap();
        std::fs::write(kernel.join("softmax.c"), format!("#include <stdlib.h>\n{text}")).unwrap();
        let (found, exit) = sanitized(&folder, &kernel, &["--workload", "narrow"]);
        let line = line_of(&kernel.join("softmax.c"), code);
        let findings = found["findings"].as_array().unwrap();
        let named = findings.iter().any(|finding| finding["cause"] == cause && finding["line"] == line);
        assert!(exit == 3 && named, "{name}: {cause} at {line}\n{found:#}");
    }
}

#[test]
fn clean_tools_do_not_make_a_wrong_result_correct() {
    if !sanitizers() {
        return;
    }
    let folder = empty_folder("sanitize-wrong");
    let change = ("row[r].scale = 1.0f / total;", "row[r].scale = 1.5f / total;");
    let kernel = planted(&folder, "softmax", "softmax.c", change);
    let (found, code) = sanitized(&folder, &kernel, &["--workload", "narrow"]);
    assert_eq!((code, &found["verdict"]), (3, &json!("inconclusive")), "{found:#}");
    let finding = &found["findings"][0];
    assert_eq!(finding["cause"], "inconclusive", "{finding:#}");
    assert!(finding["facts"]["results"][0].as_str().unwrap().starts_with("numerics: "), "{finding:#}");
    assert!(!finding["fix"].as_str().unwrap().is_empty());
}

/// Flags of an author must not hide what kiln calls.
#[test]
fn hidden_symbols_do_not_matter() {
    if !sanitizers() {
        return;
    }
    let folder = empty_folder("sanitize-hidden");
    let flags = "source = \"softmax.c\"\ncompile = { flags = [\"-fvisibility=hidden\"] }\n";
    let kernel = planted(&folder, "softmax", "kernel.toml", ("source = \"softmax.c\"\n", flags));
    let (found, code) = sanitized(&folder, &kernel, &["--workload", "narrow"]);
    assert_eq!((code, &found["verdict"]), (0, &json!("clean")), "{found:#}");
    let ran = kiln_in(&folder, &["check", kernel.to_str().unwrap(), "--target", "cpu", "--workload", "narrow"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
}

/// A kernel may print whatever it likes: only what the sanitizers write themselves is a report.
#[test]
fn what_a_kernel_prints_is_no_report() {
    if !sanitizers() {
        return;
    }
    let folder = empty_folder("sanitize-fake");
    let fake = "    fputs(\"==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1 at pc 0x2\\nREAD of size 4 at 0x1 thread T0\\n\"\n\
        \x20         \"    #0 0x1 in softmax softmax.c:3\\n\\nSUMMARY: AddressSanitizer: heap-use-after-free softmax.c:3 in softmax\\n\"\n\
        \x20         \"softmax.c:3:5: runtime error: division by zero\\n\", stderr);\n    int64_t r = 0;\n";
    let kernel = planted(&folder, "softmax", "softmax.c", ("    int64_t r = 0;\n", fake));
    let text = std::fs::read_to_string(kernel.join("softmax.c")).unwrap();
    std::fs::write(kernel.join("softmax.c"), format!("#include <stdio.h>\n{text}")).unwrap();
    let (found, code) = sanitized(&folder, &kernel, &["--workload", "narrow"]);
    assert_eq!((code, &found["verdict"], &found["findings"]), (0, &json!("clean"), &json!([])), "{found:#}");
}

#[test]
fn a_case_can_be_sanitized() {
    if !sanitizers() {
        return;
    }
    let folder = empty_folder("sanitize-case");
    let bug = "    if (cols == 17) y[rows * cols] = 0;\n    int64_t r = 0;\n";
    let kernel = planted(&folder, "softmax", "softmax.c", ("    int64_t r = 0;\n", bug));
    let (found, code) = sanitized(&folder, &kernel, &["--case", "COLS=17,ROWS=1; inputs=spike; seed=3"]);
    let finding = &found["findings"][0];
    assert_eq!((code, &finding["cause"], &found["seed"]), (3, &json!("oob_heap_write"), &json!(3)), "{found:#}");
    assert_eq!((&finding["facts"]["allocation_bytes"], &finding["facts"]["variable"]), (&json!(68), &json!("y")));
    assert_eq!((&found["runs"][0]["workload"], found["runs"].as_array().unwrap().len()), (&json!("case"), 1));
    let (found, code) = sanitized(&folder, &kernel, &["--case", "COLS=18,ROWS=1"]);
    assert_eq!((code, &found["verdict"]), (0, &json!("clean")), "{found:#}");
    let ran = kiln_in(&folder, &["sanitize", kernel.to_str().unwrap(), "--case", "COLZ=3"]);
    assert!(ran.code == 2 && ran.err.contains("did you mean COLS?"), "{} {}", ran.code, ran.err);
}

/// A gate that refuses is no fault of the environment.
#[test]
fn what_does_not_build_is_refused() {
    if !sanitizers() {
        return;
    }
    let folder = empty_folder("sanitize-broken");
    let kernel = planted(&folder, "softmax", "softmax.c", ("    int64_t r = 0;\n", "    int64_t r = ;\n"));
    let (found, code) = sanitized(&folder, &kernel, &[]);
    assert_eq!((code, &found["verdict"]), (3, &json!("not_run")), "{found:#}");
    assert_eq!(found["refusal"]["gate"], "build_failed", "{found:#}");
}

/// Why nothing is known depends on how the kernel ended.
#[test]
fn an_inconclusive_result_has_its_reason() {
    if !sanitizers() {
        return;
    }
    for (name, code, reason) in [
        ("abort", "abort();", "aborted"),
        ("killed", "raise(SIGKILL);", "killed"),
        ("exit", "_exit(7);", "nonzero_exit"),
        ("wrong", "y[0] = 3; if (rows > 0) return;", "result_wrong"),
    ] {
        let folder = empty_folder(&format!("sanitize-reason-{name}"));
        let from = "    int64_t r = 0;\n";
        let kernel = planted(&folder, "softmax", "softmax.c", (from, &format!("    {code}\n{from}")));
        let text = std::fs::read_to_string(kernel.join("softmax.c")).unwrap();
        let headers = "#include <signal.h>\n#include <stdlib.h>\n#include <unistd.h>\n";
        std::fs::write(kernel.join("softmax.c"), format!("{headers}{text}")).unwrap();
        let (found, exit) = sanitized(&folder, &kernel, &["--workload", "narrow"]);
        assert_eq!((exit, &found["verdict"]), (3, &json!("inconclusive")), "{name}: {found:#}");
        let finding = &found["findings"][0];
        assert_eq!(finding["facts"]["reason"], reason, "{name}: {finding:#}");
    }
}

#[test]
fn a_kernel_that_does_not_end_is_given_up() {
    if !sanitizers() {
        return;
    }
    let folder = empty_folder("sanitize-hang");
    let change = ("    int64_t r = 0;\n", "    for (volatile int on = 1; on;) {}\n    int64_t r = 0;\n");
    let kernel = planted(&folder, "softmax", "softmax.c", change);
    let (found, code) = sanitized(&folder, &kernel, &["--workload", "narrow", "--limit", "1"]);
    assert_eq!((code, &found["verdict"]), (3, &json!("inconclusive")), "{found:#}");
    assert_eq!(found["runs"][0]["outcome"], "timed_out", "{found:#}");
    assert_eq!(found["findings"][0]["facts"]["reason"], "hang", "{found:#}");
}

#[test]
fn what_cannot_be_sanitized_is_said() {
    let folder = empty_folder("sanitize-input");
    let softmax = root().join("kernels/softmax");
    let said = |more: &[&str]| kiln_in(&folder, &[&["sanitize", softmax.to_str().unwrap()], more].concat());
    let ran = said(&["--tool", "memcheck"]);
    assert!(
        ran.code == 2 && ran.err.contains("--tool memcheck") && ran.err.contains("hint: omit --tool"),
        "{}",
        ran.err
    );
    let ran = said(&["--limit", "0"]);
    assert!(ran.code == 2 && ran.err.contains("--limit 0"), "{}", ran.err);
    let ran = said(&["--config", "GROUP=4,CHAINS=8"]);
    assert!(ran.code == 3 && ran.out.contains("registers"), "{} {}", ran.out, ran.err);

    let python = folder.join("python");
    std::fs::create_dir_all(&python).unwrap();
    let text = std::fs::read_to_string(softmax.join("kernel.toml")).unwrap();
    let (before, rest) = text.split_once("[target.cpu]").unwrap();
    let (_, arguments) = rest.split_once("[[arguments]]").unwrap();
    let (arguments, _) = arguments.split_once("[baselines]").unwrap();
    let target = "[target.python]\nentry = \"k.py:f\"\n[tunables]\nX = [1]\n";
    std::fs::write(python.join("kernel.toml"), format!("{before}{target}[[arguments]]{arguments}")).unwrap();
    std::fs::write(python.join("k.py"), "def f(inputs, scalars, outputs, X):\n    pass\n").unwrap();
    let ran = kiln_in(&folder, &["sanitize", python.to_str().unwrap()]);
    assert!(ran.code == 2 && ran.err.contains("nothing to sanitize"), "{} {}", ran.code, ran.err);
}

#[test]
fn a_study_says_why_its_refusals_are_refused() {
    if !sanitizers() {
        return;
    }
    let folder = empty_folder("sanitize-tune");
    // With two vectors in flight, one element too far: the default is as it was.
    let plant = "#if CHAINS == 4\n    y[rows * cols] = 0;\n#endif\n    int64_t r = 0;\n";
    let kernel = planted(&folder, "softmax", "softmax.c", ("    int64_t r = 0;\n", plant));
    let file = kernel.join("kernel.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let few = [
        ("CHAINS = [1, 2, 4, 8]", "CHAINS = [2, 4]"),
        ("VEC = [4, 8, 16]", "VEC = [8]"),
        ("GROUP = [1, 2, 4]", "GROUP = [1]"),
    ];
    let text = few.iter().fold(text, |text, (from, to)| text.replacen(from, to, 1));
    std::fs::write(&file, text).unwrap();
    let path = kernel.to_str().unwrap();
    let common =
        ["tune", path, "--workload", "short", "--trials", "12", "--samples", "25", "--no-ablation", "--no-stop"];
    let tune = |more: &[&str]| {
        let ran = kiln_in(&folder, &[&common[..], &["--baseline", "naive", "--seed", "1", "--json"], more].concat());
        serde_json::from_str::<Value>(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err))
    };
    let summary = tune(&[]);
    let found = summary["sanitized"].as_array().unwrap();
    assert!(!found.is_empty(), "{summary:#}");
    let line = line_of(&kernel.join("softmax.c"), "y[rows * cols] = 0");
    for refused in found {
        let finding = &refused["findings"][0];
        assert_eq!((&finding["cause"], &finding["line"]), (&json!("oob_heap_write"), &json!(line)), "{refused:#}");
        assert_eq!(refused["config"]["CHAINS"], 4, "{refused:#}");
    }
    // It is part of the refusal's evidence from now on, and of what a study tells.
    let shown = kiln_in(&folder, &["show", "last", "--refusals"]).out;
    assert!(shown.contains(&format!("sanitizer: oob_heap_write at softmax.c:{line}")), "{shown}");
    let shown = kiln_in(&folder, &["show", "last"]).out;
    assert!(shown.contains("causes of refusals") && shown.contains("| y[rows * cols] = 0;"), "{shown}");
    let replayed = tune(&["--replay", "last"]);
    assert_eq!(replayed["sanitized"], summary["sanitized"]);
    assert_eq!(tune(&["--no-sanitize", "--no-prior"])["sanitized"], json!([]));
}
