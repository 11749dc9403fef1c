//! `kiln sanitize` and `kiln debug` on a GPU: our own kernels are clean, copies with one planted bug each are named by cause and
//! line. Slow under the tools, so on small workloads; scripts/gpu.sh has an item of its own for them.

use std::path::Path;

use serde_json::{Value, json};

use crate::{folder, root, run};

/// A copy of the matrix product with one place changed, and where it lies.
fn planted(folder: &Path, name: &str, (from, to): (&str, &str)) -> String {
    let copy = folder.join(name);
    std::fs::create_dir_all(&copy).unwrap();
    for file in ["kernel.toml", "matmul.cu", "matmul.c", "baseline.py", "baseline_torch.py", "naive.c"] {
        std::fs::copy(root().join("kernels/matmul").join(file), copy.join(file)).unwrap();
    }
    let source = copy.join("matmul.cu");
    let text = std::fs::read_to_string(&source).unwrap();
    let changed = text.replacen(from, to, 1);
    assert_ne!(text, changed, "{from} is not in matmul.cu");
    std::fs::write(&source, changed).unwrap();
    copy.to_str().unwrap().into()
}

/// Lines of a planted source that hold a text, from 1.
fn lines_of(kernel: &str, text: &str) -> Vec<u64> {
    let source = std::fs::read_to_string(Path::new(kernel).join("matmul.cu")).unwrap();
    source.lines().zip(1..).filter(|(line, _)| line.contains(text)).map(|(_, number)| number).collect()
}

/// What is found in a planted copy, which must be something.
fn found(folder: &Path, kernel: &str, more: &str) -> Value {
    let (object, code) = run(folder, &format!("sanitize {kernel} --target cuda --seed 1 --json {more}"));
    assert_eq!((code, &object["verdict"]), (3, &json!("bugs_found")), "{object:#}");
    object
}

/// The finding of a cause at one of these lines.
fn named<'a>(object: &'a Value, cause: &str, lines: &[u64]) -> &'a Value {
    let findings = object["findings"].as_array().unwrap();
    let here = |finding: &&Value| {
        finding["cause"].as_str().unwrap().starts_with(cause)
            && finding["line"].as_u64().is_some_and(|line| lines.contains(&line))
    };
    findings.iter().find(here).unwrap_or_else(|| panic!("{cause} at {lines:?}\n{object:#}"))
}

#[test]
fn an_index_one_too_far_is_named() {
    let Some(folder) = folder("sanitize-index") else { return };
    let kernel = planted(&folder, "index", ("if (row < rows && col < cols) c[", "if (row <= rows && col < cols) c["));
    let object = found(&folder, &kernel, "--workload odd");
    let finding = named(&object, "oob_global_write", &lines_of(&kernel, "if (row <= rows"));
    assert_eq!((&finding["tool"], &finding["facts"]["variable"]), (&json!("memcheck"), &json!("c")), "{finding:#}");
    assert_eq!(finding["facts"]["access_bytes"], 2, "{finding:#}");
    assert!(finding["facts"]["source_line"].as_str().unwrap().contains("row <= rows"), "{finding:#}");
}

#[test]
fn a_removed_barrier_is_named() {
    let Some(folder) = folder("sanitize-barrier") else { return };
    let from = "k - done, cols);\n        __syncthreads();\n";
    let kernel = planted(&folder, "barrier", (from, "k - done, cols);\n"));
    let object = found(&folder, &kernel, "--workload odd --tool racecheck --limit 120");
    let mut lines = lines_of(&kernel, "*reinterpret_cast<uint4 *>(to +");
    lines.extend(lines_of(&kernel, "make_uint4(pair[0]"));
    lines.extend(lines_of(&kernel, "ldmatrix.sync"));
    named(&object, "race_shared", &lines);
}

#[test]
fn rows_of_130_bytes_are_named() {
    let Some(folder) = folder("sanitize-rows") else { return };
    let kernel = planted(&folder, "rows", ("constexpr int PAD = 16;", "constexpr int PAD = 2;"));
    let object = found(&folder, &kernel, "--config SWIZZLE=pad,BLOCK_K=64 --workload few_steps");
    let finding = named(&object, "misaligned_shared", &lines_of(&kernel, "cp.async.cg.shared.global"));
    let facts = &finding["facts"];
    assert_eq!((&facts["access_bytes"], &facts["stride_bytes"]), (&json!(16), &json!(130)), "{finding:#}");
}

#[test]
fn an_uninitialised_read_is_named() {
    let Some(folder) = folder("sanitize-uninitialised") else { return };
    let change =
        ("= __float2bfloat16_rn(value);", "= __float2bfloat16_rn(value + 0.0f * float(c[(long long)row * n + col]));");
    let kernel = planted(&folder, "uninitialised", change);
    let object = found(&folder, &kernel, "--workload odd --tool initcheck");
    named(&object, "uninit_global", &lines_of(&kernel, "0.0f * float(c["));
}

#[test]
fn our_own_kernels_are_clean() {
    let Some(folder) = folder("sanitize-clean") else { return };
    for kernel in ["matmul", "attention", "softmax_triton"] {
        let (object, code) = run(&folder, &format!("sanitize @kernels/{kernel} --seed 1 --limit 120 --json"));
        eprintln!("{kernel}: {}", object["runs"]);
        assert_eq!((code, &object["verdict"]), (0, &json!("clean")), "{kernel}: {object:#}");
    }
}

#[test]
fn a_study_says_why_its_refusals_are_refused() {
    let Some(folder) = folder("sanitize-tune") else { return };
    let (summary, _) = run(&folder, "tune @tests/hostile_cuda --json --seed 3 --no-stop --no-ablation");
    let sanitized = summary["sanitized"].as_array().unwrap();
    eprintln!("{sanitized:#?}");
    assert!(sanitized.iter().any(|refusal| refusal["verdict"] == "bugs_found"), "{summary:#}");
    assert!(summary["config"].is_object(), "{summary:#}");
}

#[test]
fn a_debug_build_prints_and_asserts() {
    let Some(folder) = folder("debug") else { return };
    let talks = "#ifdef KILN_DEBUG\n    if (threadIdx.x == 0 && blockIdx.x == 0) printf(\"m %d\\n\", int(m));\n    assert(m != 131);\n#endif\n    float sum[ROWS][COLS][4] = {};\n    if (n % 8";
    let kernel = planted(&folder, "talks", ("    float sum[ROWS][COLS][4] = {};\n    if (n % 8", talks));
    let (seen, code) = run(&folder, &format!("debug {kernel} --target cuda --workload row --json"));
    assert_eq!((code, &seen["output"]), (0, &json!("m 1\n")), "{seen:#}");
    let (seen, code) = run(&folder, &format!("debug {kernel} --target cuda --workload odd --json"));
    let lines = lines_of(&kernel, "assert(m != 131)");
    assert_eq!((code, &seen["assertions"][0]["line"]), (3, &json!(lines[0])), "{seen:#}");
    assert_eq!(seen["assertions"][0]["condition"], "m != 131", "{seen:#}");
}
