//! `kiln fuzz` and scalars: what a kernel gets wrong for one value alone is found, shrunk, named in the case and replayed.

use std::path::PathBuf;

use crate::fuzz::{fuzz, object, smallest};
use crate::run::empty_folder;

const FILE: &str = r#"
[kernel]
name = "scaled"
entry = "scaled"
[tunables]
BLOCK = [16, 64]
[default]
BLOCK = 64
[target.cpu]
source = "scaled.c"
[[arguments]]
name = "x"
type = "f32[S, D]"
role = "in"
[[arguments]]
name = "y"
type = "f32[S, D]"
role = "out"
[[arguments]]
name = "count"
type = "i64"
role = "scalar"
value = "S * D"
[[arguments]]
name = "scale"
type = "f32"
role = "scalar"
value = "1 / sqrt(D)"
[[workloads]]
name = "small"
dims = { S = 40, D = 16 }
[reference]
builtin = "elementwise"
expressions = { y = "scale * x" }
"#;

/// A kernel that takes a scale for another one where IF says so.
fn kernel(name: &str, file: &str, guard: &str) -> PathBuf {
    let folder = empty_folder(name);
    std::fs::write(folder.join("kernel.toml"), file).unwrap();
    let source = format!(
        "#include <stdint.h>\nvoid scaled(const float *x, float *y, int64_t count, float scale) {{\n\
         for (int64_t i = 0; i < count; i++) y[i] = (({guard}) ? 3.0f : scale) * x[i];\n}}\n"
    );
    std::fs::write(folder.join("scaled.c"), source).unwrap();
    folder
}

#[test]
fn a_scale_that_the_file_allows_to_vary_is_part_of_the_case() {
    let stated = format!("{FILE}[fuzz]\nscalars = {{ scale = [0, \"4 / sqrt(D)\"] }}\n");
    // Without a statement it keeps its value, and nobody sees it.
    let blind = kernel("fuzz_scale_blind", FILE, "scale == 0.0f");
    object(&blind, &["--seed", "1"], 0);
    let folder = kernel("fuzz_scale", &stated, "scale == 0.0f");
    let found = object(&folder, &["--seed", "1"], 3);
    assert_eq!(smallest(&found), ("S=1,D=1; scale=0; inputs=constant; seed=0", "numerics"), "{found:#}");
    assert_eq!(found["failure"]["smallest"]["scalars"]["scale"], 0.0);
    object(&folder, &["--case", "S=3; scale=0"], 3);
    object(&folder, &["--case", "S=3; scale=0.25"], 0);
    let ran = fuzz(&folder, &["--case", "S=3; scale=1.5"]);
    assert!(ran.code == 2 && ran.err.contains("scale is 1.5, and the kernel file allows 0 to 1"), "{}", ran.err);
    // One that is wrong for every scale needs none in its case.
    let always = kernel("fuzz_scale_always", &stated, "1");
    assert_eq!(smallest(&object(&always, &["--seed", "1"], 3)).0, "S=1,D=1; inputs=constant; seed=0");
}

#[test]
fn the_usual_value_of_a_scalar_with_a_range_is_asked_about() {
    let file = FILE.replace("value = \"1 / sqrt(D)\"", "value = 2\nrange = [-3, 3]");
    for (name, guard, scale) in
        [("usual", "scale == 2.0f", "2"), ("one", "scale == 1.0f", "1"), ("zero", "scale == 0.0f", "0")]
    {
        let folder = kernel(&format!("fuzz_range_{name}"), &file, guard);
        let found = object(&folder, &["--seed", "1"], 3);
        assert_eq!(smallest(&found).0, format!("S=1,D=1; scale={scale}; inputs=constant; seed=0"), "{found:#}");
    }
}

#[test]
fn what_cannot_vary_is_refused_with_the_line() {
    for (scalars, expected) in [
        ("count = [1, 2]", "count is an integer"),
        ("scales = [0, 1]", "no scalar argument is called scales"),
        ("scale = [1]", "expected two, [lowest, highest]"),
        ("scale = [2, 1]", "ends before it begins"),
        ("scale = [0, \"BLOCK\"]", "BLOCK"),
    ] {
        let folder = kernel("fuzz_scale_wrong", &format!("{FILE}[fuzz]\nscalars = {{ {scalars} }}\n"), "0");
        let ran = fuzz(&folder, &[]);
        assert!(ran.code == 2 && ran.err.contains(expected), "{scalars}: {}", ran.err);
    }
    let both = FILE.replace("value = \"1 / sqrt(D)\"", "value = 2\nrange = [-3, 3]");
    let folder = kernel("fuzz_scale_both", &format!("{both}[fuzz]\nscalars = {{ scale = [0, 1] }}\n"), "0");
    assert!(fuzz(&folder, &[]).err.contains("scale has a range of its own"));
}
