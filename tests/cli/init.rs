//! `kiln init`: the files it writes open, and the kernel in them computes the right thing.

use std::path::Path;
use std::process::Command;

use crate::planted::toolkit;
use crate::run::{empty_folder, kiln_in};

/// Calls the kernel on rows with known values and prints the greatest error against a double-precision softmax.
const CALLER: &str = r#"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
void sample(const float *x, float *y, int64_t rows, int64_t cols);
int main(void) {
    enum { ROWS = 5, COLS = 1040 };
    float *x = malloc(sizeof(float) * ROWS * COLS), *y = malloc(sizeof(float) * ROWS * COLS);
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < ROWS * COLS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        x[i] = (float)(state % 20001) / 1000.0f - 10.0f;
        y[i] = NAN;
    }
    sample(x, y, ROWS, COLS);
    double worst = 0;
    for (int r = 0; r < ROWS; r++) {
        double max = -1e30, sum = 0;
        for (int c = 0; c < COLS; c++) max = fmax(max, x[r * COLS + c]);
        for (int c = 0; c < COLS; c++) sum += exp(x[r * COLS + c] - max);
        for (int c = 0; c < COLS; c++) {
            double right = exp(x[r * COLS + c] - max) / sum, error = fabs(y[r * COLS + c] - right) / (right + 1e-9);
            if (!(error <= worst)) worst = error;
        }
    }
    printf("%g\n", worst);
    return 0;
}
"#;

#[test]
fn the_kernel_it_writes_is_right_in_every_configuration() {
    let folder = empty_folder("init");
    let ran = kiln_in(&folder, &["init", "sample"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    std::fs::write(folder.join("caller.c"), CALLER).unwrap();
    let list = kiln_in(&folder, &["space", "sample", "--workload", "large", "--list"]).out;
    assert_eq!(list.lines().count(), 20);
    for config in list.lines() {
        let error: f64 = compiled(&folder, config).trim().parse().unwrap();
        assert!(error < 1e-4, "{config}: {error}");
    }
}

/// Compiles one configuration with the caller and gives what it prints.
fn compiled(folder: &Path, config: &str) -> String {
    let defines = config.split(',').map(|c| format!("-D{}", c.replace("=true", "=1").replace("=false", "=0")));
    let cc = Command::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-o", "caller", "caller.c", "sample/sample.c"])
        .args(defines)
        .arg("-lm")
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr));
    let run = Command::new(folder.join("caller")).output().unwrap();
    assert!(run.status.success());
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn both_targets_open_without_a_warning() {
    let folder = empty_folder("init_targets");
    kiln_in(&folder, &["init", "sample"]);
    for target in ["cpu", "cuda"] {
        let ran = kiln_in(&folder, &["space", "sample", "--target", target]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{target}");
        // Up the whole ladder where that is possible: a kernel for a GPU is built, where there is a toolkit.
        let end: &[&str] = if target == "cpu" || toolkit() { &[] } else { &["--static"] };
        let ran = kiln_in(&folder, &[&["gate", "sample", "--target", target], end].concat());
        assert_eq!(ran.code, 0, "{target}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn nothing_is_overwritten_and_odd_names_are_refused() {
    let folder = empty_folder("init_again");
    assert_eq!(kiln_in(&folder, &["init"]).code, 0);
    std::fs::write(folder.join("my_kernel/kernel.toml"), "mine").unwrap();
    let again = kiln_in(&folder, &["init"]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("exists already"));
    assert_eq!(std::fs::read_to_string(folder.join("my_kernel/kernel.toml")).unwrap(), "mine");
    assert_eq!(kiln_in(&folder, &["init", "9 lives"]).code, 2);
}
