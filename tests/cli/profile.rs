//! `kiln profile` without a GPU: the coarse diagnosis of our own kernels, and of copies with one planted bottleneck each, from real builds and
//! real runs. What a profiler on a GPU shows is in tests/gpu, what its words come to beside the code.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::run::{Ran, empty_folder, kiln_in, root};
use crate::sanitize::planted;

pub(crate) fn profile(folder: &Path, kernel: &Path, more: &[&str]) -> Ran {
    let words = [&["profile", kernel.to_str().unwrap(), "--target", "cpu", "--seed", "1"], more].concat();
    kiln_in(folder, &words)
}

pub(crate) fn profiled(folder: &Path, kernel: &Path, more: &[&str]) -> (Value, i32) {
    let ran = profile(folder, kernel, &[&["--json"], more].concat());
    (serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err)), ran.code)
}

/// The matrix product with this source in the place of its own.
fn product(folder: &Path, body: &str) -> PathBuf {
    let own = std::fs::read_to_string(root().join("kernels/matmul/matmul.c")).unwrap();
    let source = format!(
        "#include <stdint.h>\n{}\nvoid matmul(const float *restrict a, const float *restrict b, float *restrict c, int64_t m, int64_t n, \
         int64_t k) {{\n{}\n}}\n",
        body.split_once("---").unwrap().0,
        body.split_once("---").unwrap().1
    );
    planted(folder, "matmul", "matmul.c", (&own, &source))
}

/// One sum, element by element.
const SCALAR: &str = "--- for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) {
    float sum = 0;
    for (int64_t s = 0; s < k; s++) sum += a[i * k + s] * b[s * n + j];
    c[i * n + j] = sum;
}";

/// One sum of as many elements as a vector of the processor has.
const CHAIN: &str = "#ifdef __AVX512F__
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
typedef float vec __attribute__((vector_size(4 * LANES), aligned(4)));
--- for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j += LANES) {
    vec sum = {0};
    for (int64_t s = 0; s < k; s++) sum += a[i * k + s] * *(const vec *)(b + s * n + j);
    *(vec *)(c + i * n + j) = sum;
}";

/// A product by a function that takes its time.
const CALL: &str = "__attribute__((noinline)) static float times(float a, float b) {
    float r = a * b;
    r += a * 0.0f; r += b * 0.0f; r -= a * 0.0f; r -= b * 0.0f; r += a * 0.0f; r += b * 0.0f; r -= a * 0.0f; r -= b * 0.0f;
    r += a * 0.0f; r += b * 0.0f; r -= a * 0.0f; r -= b * 0.0f; r += a * 0.0f; r += b * 0.0f; r -= a * 0.0f; r -= b * 0.0f;
    return r;
}
--- for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) {
    float sum = 0;
    for (int64_t s = 0; s < k; s++) sum += times(a[i * k + s], b[s * n + j]);
    c[i * n + j] = sum;
}";

/// What a coarse diagnosis may say at all.
fn is_coarse(found: &Value) {
    assert_eq!((&found["coarse"], &found["profiled"]["tool"]), (&json!(true), &Value::Null), "{found:#}");
    let figure = |value: &Value| value.as_f64().unwrap();
    assert!(figure(&found["confidence"]) <= 0.5 && figure(&found["time_us"]) > 0.0, "{found:#}");
    for share in ["memory_fraction", "compute_fraction"] {
        // Of what was measured meanwhile: on a busy machine it may be more than all.
        assert!(figure(&found["roofline"][share]) >= 0.0, "{found:#}");
    }
}

#[test]
fn our_own_kernels_have_a_coarse_diagnosis() {
    let folder = empty_folder("profile-own");
    for (kernel, workload) in [("softmax", "long"), ("matmul", "deep")] {
        let (found, code) = profiled(&folder, &root().join("kernels").join(kernel), &["--workload", workload]);
        assert_eq!((code, &found["profiled"]["workload"]), (0, &json!(workload)), "{found:#}");
        is_coarse(&found);
        if cfg!(target_arch = "x86_64") {
            assert!(found["hot_loop"]["vector_bits"].as_u64().unwrap() >= 128, "{found:#}");
        }
    }
    let told = profile(&folder, &root().join("kernels/matmul"), &[]).out;
    assert!(told.starts_with("matmul on cpu, ") && told.contains("coarse, without counters"), "{told}");
    assert!(told.contains("roofline: ") && told.contains("% of peak"), "{told}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn planted_causes_come_first() {
    for (name, source, cause) in
        [("scalar", SCALAR, "scalar_loop"), ("chain", CHAIN, "dependency_chain"), ("call", CALL, "call_in_loop")]
    {
        let folder = empty_folder(&format!("profile-{name}"));
        let kernel = product(&folder, source);
        let (found, code) = profiled(&folder, &kernel, &["--workload", "square256"]);
        assert_eq!((code, &found["cause"]), (0, &json!(cause)), "{found:#}");
        is_coarse(&found);
        assert!(found["hot_loop"]["share"].as_f64().unwrap() > 0.1, "{found:#}");
        assert!(found["expected_speedup"].as_f64().unwrap() > 1.3 && !found["fixes"].as_array().unwrap().is_empty());
        let told = profile(&folder, &kernel, &["--workload", "square256"]).out;
        assert!(told.contains(&format!("\n{cause} in matmul (")) && told.contains("  fix 1: "), "{told}");
        assert!(told.contains("\nhot loop: matmul at 0x"), "{told}");
    }
}

/// A promise, a change, and what came of it. What a machine measures is its own; what is told of it is not.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_fix_is_held_against_its_promise() {
    let folder = empty_folder("profile-fix");
    let none = kiln_in(&folder, &["diagnose", "--calibration"]);
    assert!(
        none.code == 0 && none.out.contains("no fix was profiled; profiles in the store: 0"),
        "{}{}",
        none.out,
        none.err
    );
    assert!(!folder.join(".kiln").exists(), "looking makes no store");
    let kernel = product(&folder, SCALAR);
    let (slow, _) = profiled(&folder, &kernel, &["--workload", "square256"]);
    assert!(slow["cause"] == json!("scalar_loop") && slow.get("fix").is_none(), "{slow:#}");
    // Another workload is other work.
    let (other, _) = profiled(&folder, &kernel, &["--workload", "deep"]);
    assert!(other.get("fix").is_none(), "{other:#}");
    std::fs::copy(root().join("kernels/matmul/matmul.c"), kernel.join("matmul.c")).unwrap();
    let (fast, _) = profiled(&folder, &kernel, &["--workload", "square256"]);
    let (fix, number) = (&fast["fix"], |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} in {fast:#}")));
    assert_eq!(
        (&fix["cause"], &fix["changed"], &fix["coarse"]),
        (&json!("scalar_loop"), &json!("source"), &json!(true))
    );
    assert_eq!(number(&fix["predicted"]), number(&slow["expected_speedup"]));
    let times = number(&slow["time_us"]) / number(&fast["time_us"]);
    assert!((number(&fix["measured"]) - times).abs() < 1e-9 * times, "{fix:#}");
    // Profiled once more as it is, it has no fix to tell of.
    let again = profile(&folder, &kernel, &["--workload", "square256"]);
    assert!(!again.out.contains("since the last profile"), "{}", again.out);
    let calibration = kiln_in(&folder, &["diagnose", "--calibration", "--json"]);
    let found: Value = serde_json::from_str(&calibration.out).unwrap();
    assert_eq!((&found["fixes"], &found["profiles"]), (&json!([fix]), &json!(4)), "{found:#}");
    assert_eq!((&found["causes"][0]["cause"], &found["causes"][0]["fixes"]), (&json!("scalar_loop"), &json!(1)));
    let told = kiln_in(&folder, &["diagnose", kernel.to_str().unwrap(), "--calibration"]).out;
    assert!(told.contains("scalar_loop (coarse)") && told.contains("of 1 promises kept"), "{told}");
}

/// More accumulators than there are registers.
#[cfg(target_arch = "x86_64")]
#[test]
fn values_on_the_stack_are_seen() {
    let folder = empty_folder("profile-spill");
    let rule = ("4 <= ROWS * COLS <= 16", "4 <= ROWS * COLS <= 64");
    let kernel = planted(&folder, "matmul", "kernel.toml", rule);
    let config = ["--config", "ROWS=8,COLS=4,VEC=16", "--workload", "square256"];
    let (found, code) = profiled(&folder, &kernel, &config);
    let ranked: Vec<&str> =
        found["ranked"].as_array().unwrap().iter().map(|one| one["cause"].as_str().unwrap()).collect();
    // How near the roofline it is depends on what else runs here, and at the roofline nothing else is named.
    let named = ranked.contains(&"stack_spill") || found["cause"] == "at_roofline_compute";
    assert!(code == 0 && named, "{found:#}");
    assert!(found["hot_loop"]["stack"].as_u64().unwrap() > 0, "{found:#}");
}

#[test]
fn a_baseline_needs_no_candidate() {
    let folder = empty_folder("profile-baseline");
    let kernel = planted(&folder, "softmax", "softmax.c", ("#include", "#error broken\n#include"));
    let (found, code) = profiled(&folder, &kernel, &["--baseline", "naive"]);
    assert_eq!((code, &found["profiled"]["baseline"]), (0, &json!("naive")), "{found:#}");
    is_coarse(&found);
    // The candidate itself is refused, by the compiler.
    let (refused, code) = profiled(&folder, &kernel, &[]);
    assert_eq!((code, &refused["refusal"]["gate"]), (3, &json!("build_failed")), "{refused:#}");
    assert!(refused.get("cause").is_none(), "{refused:#}");
    let unknown = profile(&folder, &kernel, &["--baseline", "naif"]);
    assert!(unknown.code == 2 && unknown.err.contains("naive"), "{}", unknown.err);
}

#[test]
fn a_wrong_result_is_diagnosed_and_told() {
    let folder = empty_folder("profile-wrong");
    let kernel = planted(&folder, "softmax", "softmax.c", ("1.0f / total;", "1.5f / total;"));
    let (found, code) = profiled(&folder, &kernel, &["--workload", "narrow"]);
    assert_eq!(
        (code, &found["refusal"]["gate"], &found["time_us"]),
        (0, &json!("numerics"), &Value::Null),
        "{found:#}"
    );
    let notes = found["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().contains("refused by numerics")), "{found:#}");
}

#[test]
fn rules_flags_and_files() {
    let folder = empty_folder("profile-flags");
    let kernel = root().join("kernels/matmul");
    let (refused, code) = profiled(&folder, &kernel, &["--config", "ROWS=8,COLS=4"]);
    assert_eq!((code, &refused["refusal"]["rule"]), (3, &json!("registers")), "{refused:#}");
    for limit in ["0", "1e300", "nan"] {
        let ran = profile(&folder, &kernel, &["--limit", limit]);
        assert!(ran.code == 2 && ran.err.contains("expected seconds above 0"), "{limit}: {}", ran.err);
    }
    let ran = profile(&folder, &kernel, &["--workload", "square256", "--json", "--out", "found.json"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let found: Value = serde_json::from_slice(&std::fs::read(folder.join("found.json")).unwrap()).unwrap();
    is_coarse(&found);
}

/// Far below the baseline: the study says what limits it instead of searching on, and sends to the profile.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_study_that_stops_says_what_limits_its_best() {
    let folder = empty_folder("profile-study");
    let kernel = product(&folder, SCALAR);
    let path = kernel.to_str().unwrap();
    let words = ["tune", path, "--target", "cpu", "--workload", "square256", "--baseline", "naive", "--trials", "6"];
    let ran = kiln_in(&folder, &[&words[..], &["--seed", "1"]].concat());
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("the default configuration runs at 0."), "{}", ran.out);
    assert!(ran.out.contains("1 configuration tried") && !ran.err.contains("\nseed "), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("what limits it on square256: scalar_loop, at most "), "{}", ran.out);
    assert!(
        ran.out.contains("\nnext\n  ") && ran.out.contains(" profile ") && !ran.out.contains("--no-stop"),
        "{}",
        ran.out
    );
    let shown = kiln_in(&folder, &["show", "last"]).out;
    assert!(shown.contains("what limits it on square256: scalar_loop"), "{shown}");
    let few = [&words[..words.len() - 1], &["2", "--seed", "1", "--no-stop", "--no-ablation", "--samples", "25"]];
    let on = kiln_in(&folder, &few.concat());
    assert!(on.err.contains("the default is limited by scalar_loop, at most "), "{}", on.err);
    assert!(on.err.contains("\nseed ") && on.out.contains("configurations tried"), "{}{}", on.out, on.err);
    let off = kiln_in(&folder, &[&words[..], &["--seed", "1", "--no-profile"]].concat());
    assert!(
        off.code == 4 && !off.out.contains("what limits it on") && !off.err.contains("is limited by"),
        "{}{}",
        off.out,
        off.err
    );
}
