//! Arguments as other people's kernels have them: outputs written in part, outputs of which only the sum counts and whose size
//! is tuned, elements of two numbers, defines that are not tuned, constants on a target without constant memory, and inputs
//! that depend on each other.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::filled::has_numpy;
use crate::run::{empty_folder, kiln_in};

const FILE: &str = r#"
[kernel]
name = "smoothed"
entry = "smoothed"
[target.cpu]
source = "smoothed.c"
[target.cpu.defines]
NEIGHBOURS = 5
LAST = "(BLOCK - 1)"
[tunables]
BLOCK = [8, 32]
[default]
BLOCK = 8
[derived]
blocks = "ceildiv(H * W, BLOCK)"
[[arguments]]
name = "y"
type = "f32[H, W]"
role = "out"
written = ["1 : H - 1", "1 : W - 1"]
[[arguments]]
name = "sums"
type = "f32[blocks + 3]"
role = "out"
written = ": blocks"
compare = "sum"
[[arguments]]
name = "x"
type = "f32x2[H, W]"
role = "in"
init = "uniform"
[[arguments]]
name = "weights"
type = "f32[3]"
role = "constant"
init = "inputs.py:weights"
[[arguments]]
name = "total"
type = "f32[1]"
role = "in"
init = "inputs.py:total"
[[arguments]]
name = "h"
type = "i64"
role = "scalar"
value = "H"
[[arguments]]
name = "w"
type = "i64"
role = "scalar"
value = "W"
[[workloads]]
name = "odd"
dims = { H = 9, W = 13 }
[[workloads]]
name = "least"
dims = { H = 3, W = 3 }
use = "check"
[reference]
python = "reference.py:smoothed"
"#;

/// Ends its process where what two functions made does not belong together.
const SOURCE: &str = "#include <stdint.h>\n#include <stdlib.h>\n#include <math.h>\n\
    void smoothed(float *y, float *sums, const float *x, const float *weights, const float *total, int64_t h, int64_t w) {\n\
    if (fabsf(weights[0] + weights[1] + weights[2] - total[0]) > 1e-5f) abort();\n\
    for (int64_t r = 1; r < h - 1; ++r) for (int64_t c = 1; c < w - 1; ++c) {\n\
    const float *at = x + 2 * (r * w + c);\n\
    y[r * w + c] = total[0] * (at[0] + at[-2] + at[2] + at[-2 * w] + at[2 * w]) / NEIGHBOURS;\n}\n\
    for (int64_t b = 0; b < (h * w + LAST) / BLOCK; ++b) {\n\
    float sum = 0;\n\
    for (int64_t i = b * BLOCK; i < (b + 1) * BLOCK && i < h * w; ++i) sum += x[2 * i + 1];\n\
    sums[b] = sum;\n}\n}\n";

const INPUTS: &str = "import numpy\n\n\
    def weights(shape, dims, seed):\n\
    \x20   return numpy.random.default_rng(seed).uniform(1, 2, 3)\n\n\
    def total(shape, dims, seed):\n\
    \x20   return weights(3, dims, seed).astype('float32').sum().reshape(shape)\n";

const REFERENCE: &str = "def smoothed(inputs, scalars, outputs):\n\
    \x20   x = inputs['x'][..., 0]\n\
    \x20   assert outputs['y'].shape == x.shape and outputs['sums'].shape == (1,)\n\
    \x20   near = x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1]\n\
    \x20   outputs['y'][1:-1, 1:-1] = inputs['total'][0] * near / 5\n\
    \x20   outputs['sums'][...] = inputs['x'][..., 1].sum()\n";

fn kernel(name: &str, source: &str) -> PathBuf {
    let folder = empty_folder(name);
    for (file, text) in
        [("kernel.toml", FILE), ("smoothed.c", source), ("inputs.py", INPUTS), ("reference.py", REFERENCE)]
    {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder
}

fn refusal(folder: &Path) -> (String, String) {
    let ran = kiln_in(folder, &["check", ".", "--config", "BLOCK=32", "--json"]);
    let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
    let text = |key: &str| found["refusal"][key].as_str().unwrap_or_else(|| panic!("{found:#}")).to_string();
    assert_eq!(ran.code, 3, "{found:#}");
    (text("gate"), text("measured"))
}

#[test]
fn parts_sums_pairs_and_defines_are_right_on_every_configuration() {
    if !has_numpy() {
        return;
    }
    let folder = kernel("parts-right", SOURCE);
    for config in ["BLOCK=8", "BLOCK=32"] {
        let ran = kiln_in(&folder, &["check", ".", "--config", config]);
        assert_eq!(ran.code, 0, "{config}: {}{}", ran.out, ran.err);
    }
}

/// Timed calls have memory of another layout.
#[test]
fn timed_calls_write_their_part_and_nothing_else() {
    const TIMED: &str = "[kernel]\nname = \"shifted\"\nentry = \"shifted\"\n[target.cpu]\nsource = \"shifted.c\"\n\
        [tunables]\nWAY = [1]\n[default]\nWAY = 1\n[[arguments]]\nname = \"y\"\ntype = \"f32[N]\"\nrole = \"out\"\n\
        written = \"3 : N - 2\"\n[[arguments]]\nname = \"x\"\ntype = \"f32[N]\"\nrole = \"in\"\n\
        [[arguments]]\nname = \"n\"\ntype = \"i64\"\nrole = \"scalar\"\nvalue = \"N\"\n\
        [[workloads]]\nname = \"only\"\ndims = { N = 1003 }\n\
        [reference]\nbuiltin = \"elementwise\"\nexpressions = { y = \"2 * x\" }\n\
        [baselines]\nplain = \"plain.c:shifted\"\n";
    const RIGHT: &str = "#include <stdint.h>\nvoid shifted(float *y, const float *x, int64_t n) {\n\
        static int calls; ++calls;\nfor (int64_t i = 3; i < n - 2; ++i) y[i] = 2 * x[i];\n}\n";
    // Right in checks, and wrong once it is called often.
    let late = RIGHT.replace("++calls;", "if (++calls > 200) y[n - 1] = 0;");
    for (name, source, code) in [("parts-timed", RIGHT, 0), ("parts-late", &*late, 3)] {
        let folder = empty_folder(name);
        std::fs::write(folder.join("kernel.toml"), TIMED).unwrap();
        std::fs::write(folder.join("shifted.c"), source).unwrap();
        std::fs::write(folder.join("plain.c"), RIGHT).unwrap();
        let ran = kiln_in(&folder, &["bench", ".", "--samples", "25", "--max-samples", "25"]);
        assert_eq!(ran.code, code, "{name}: {}{}", ran.out, ran.err);
        assert!(code == 0 || ran.out.contains("out_of_bounds"), "{name}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn what_is_wrong_in_a_part_or_a_sum_is_refused_at_its_gate() {
    if !has_numpy() {
        return;
    }
    for (name, from, to, gate, words) in [
        ("edge", "for (int64_t r = 1;", "for (int64_t r = 0;", "out_of_bounds", "outside the part"),
        ("left-out", "r < h - 1", "r < h - 2", "unwritten_output", "elements of y were never written"),
        ("wrong", "/ NEIGHBOURS", "/ 4", "numerics", "y["),
        ("sum", "sums[b] = sum;", "sums[b] = b ? sum : 0;", "numerics", "the sum of sums is "),
        ("unwritten", "sums[b] = sum;", "if (b) sums[b] = sum;", "unwritten_output", "1 of 4 elements of sums"),
        ("one-more", "/ BLOCK; ++b", "/ BLOCK + 1; ++b", "out_of_bounds", "outside the part"),
    ] {
        // Two rows more would be read before the first.
        let source = SOURCE
            .replace(from, to)
            .replace("at[-2 * w]", if name == "edge" { "at[r ? -2 * w : 0]" } else { "at[-2 * w]" });
        assert_ne!(source, SOURCE, "{name}");
        let (found, measured) = refusal(&kernel(&format!("parts-{name}"), &source));
        assert!(found == gate && measured.contains(words), "{name}: {found}: {measured}");
    }
}

#[test]
fn parts_that_make_no_sense_are_shown_in_the_file() {
    if !has_numpy() {
        return;
    }
    for (name, from, to, words) in [
        ("beyond", "\"1 : H - 1\", ", "\"1 : H + 1\", ", "goes from 1 to 10"),
        ("turned", "\"1 : H - 1\", ", "\"4 : 2\", ", "goes from 4 to 2"),
        ("tuned", "\"1 : H - 1\", ", "\"BLOCK : H\", ", "BLOCK"),
    ] {
        let folder = kernel(&format!("parts-{name}"), SOURCE);
        std::fs::write(folder.join("kernel.toml"), FILE.replace(from, to)).unwrap();
        let ran = kiln_in(&folder, &["check", "."]);
        assert!(ran.code == 2 && ran.err.contains(words) && ran.err.contains("kernel.toml:"), "{name}: {}", ran.err);
    }
}
