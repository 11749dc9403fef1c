//! The stop far below the baseline where each workload is tuned apart: the slow one is named, profiled and sent to, the other
//! goes on.

use serde_json::{Value, json};

use crate::{command, folder, run};

const FILE: &str = r#"
[kernel]
name = "passes"
entry = "passes"
[tunables]
PASSES = [20, 21]
[default]
PASSES = 20
[target.cpu]
source = "passes.c"
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
name = "short"
dims = { N = 4000 }
[[workloads]]
name = "long"
dims = { N = 40000 }
[objective]
per_workload = true
[reference]
builtin = "elementwise"
expressions = { y = "sqrt(abs(x))" }
[baselines]
once = "once.c:once"
"#;

/// The same answer, as many times as is said.
fn source(name: &str, passes: &str) -> String {
    format!(
        "#include <math.h>\n#include <stdint.h>\nvoid {name}(const float *x, float *y, int64_t n) {{\n\
         for (int64_t r = 0; r < {passes}; ++r) {{\n\
         for (int64_t i = 0; i < n; ++i) y[i] = sqrtf(fabsf(x[i]));\n\
         __asm__ volatile(\"\" ::: \"memory\");\n}}\n}}\n"
    )
}

#[test]
fn a_slow_workload_is_named_and_the_other_goes_on() {
    let folder = folder("stop-apart");
    std::fs::write(folder.join("kernel.toml"), FILE).unwrap();
    std::fs::write(folder.join("passes.c"), source("passes", "PASSES")).unwrap();
    // Twenty times as fast on the short one, a twentieth as fast on the long one.
    std::fs::write(folder.join("once.c"), source("once", "(n < 20000 ? 1 : 400)")).unwrap();
    let (summary, code) = run(&folder, "tune . --trials 1 --samples 25 --seed 1 --no-ablation --json");
    assert_eq!((code, &summary["verdict"]), (4, &json!("stopped")), "{summary:#}");
    let reason = summary["reason"].as_str().unwrap();
    assert!(reason.contains("x of once on short, under 0.5x"), "{reason}");
    assert_eq!(summary["limit"]["workload"], "short", "{summary:#}");
    // A replay says the same, and where to go from there.
    let output = command(&folder, "tune . --replay last").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let next = text.lines().find(|line| line.contains(" profile ")).unwrap_or_else(|| panic!("{text}"));
    assert!(next.contains("--workload short") && next.contains("--config PASSES=20"), "{next}");
    assert!(text.contains("what limits it on short"), "{text}");
    let confirmed: Vec<&Value> = summary["workloads"].as_array().unwrap().iter().map(|row| &row["name"]).collect();
    assert_eq!(confirmed, [&json!("long")], "{summary:#}");
}
