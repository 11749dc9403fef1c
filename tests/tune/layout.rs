//! Arguments that do not simply lie one after another: scratch whose size is tuned, padded rows, alignment beyond a cache
//! line. The kernel ends its process when what it is given is not what the file says.

use std::path::Path;

use crate::{folder, run};

const KERNEL: &str = r#"
[kernel]
name = "layouts"
entry = "layouts"
[target.cpu]
source = "layouts.c"
[target.cpu.tunables]
PARTS = [1, 2, 8]
[target.cpu.default]
PARTS = 1
[[arguments]]
name = "x"
type = "f32[ROWS, COLS]"
role = "in"
strides = ["COLS + 3", "1"]
[[arguments]]
name = "partial"
type = "f32[ROWS, PARTS]"
role = "scratch"
[[arguments]]
name = "y"
type = "f32[ROWS]"
role = "out"
alignment = ALIGNMENT
[[workloads]]
name = "w"
dims = { ROWS = 16, COLS = 64 }
[reference]
builtin = "reduction"
"#;

const SOURCE: &str = r"
#include <stdint.h>
#include <stdlib.h>
void layouts(const float *x, float *partial, float *y) {
    if ((uintptr_t)y % 2048) abort();
    for (int r = 0; r < 16; r++) {
        for (int p = 0; p < PARTS + OVER; p++) partial[r * PARTS + p] = 0;
        for (int c = 0; c < 64; c++) partial[r * PARTS + c % PARTS] += x[r * 67 + c];
        y[r] = 0;
        for (int p = 0; p < PARTS; p++) y[r] += partial[r * PARTS + p];
    }
}
";

fn write(folder: &Path, alignment: &str, over: &str) {
    std::fs::write(folder.join("kernel.toml"), KERNEL.replace("ALIGNMENT", alignment)).unwrap();
    std::fs::write(folder.join("layouts.c"), SOURCE.replace("OVER", over)).unwrap();
}

#[test]
fn tuned_scratch_padded_rows_and_alignment_are_given_as_stated() {
    let folder = folder("layout");
    write(&folder, "2048", "0");
    let (summary, _) = run(&folder, "tune . --json --seed 1 --samples 25 --no-ablation");
    assert_eq!((&summary["trials"], &summary["refused"]), (&3.into(), &serde_json::json!({})), "{summary}");
    assert_eq!(run(&folder, "check . --config PARTS=8 --json").1, 0);
    // One number beyond the scratch of this configuration, well inside that of another.
    write(&folder, "2048", "1");
    let (gate, code) = run(&folder, "gate . --config PARTS=2 --json");
    assert_eq!(code, 3);
    // Right behind it lies a page that cannot be touched.
    assert!(gate.to_string().contains("runtime_failed"), "{gate}");
    // More than mapped memory can have.
    write(&folder, "8192", "0");
    let (said, code) = run(&folder, "check . --json");
    assert_eq!(code, 1);
    assert!(said["errors"][0]["hint"].as_str().unwrap().contains("4096"), "{said}");
}
