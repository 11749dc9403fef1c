//! Inputs from `init = "file.py:function"`: what the kernel reads comes from the function, and each way in which that can go
//! wrong is reported with the argument, the function and the user's own line.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::run::{Ran, empty_folder, kiln_in};

/// Ends its process for any number that the function did not make.
const SOURCE: &str = "#include <stdint.h>\n#include <stdlib.h>\n\
    void next(const int32_t *x, const float *w, int32_t *y, int64_t n) {\n\
    for (int64_t i = 0; i < n; ++i) { if (x[i] % 7 || w[i] != 0.25f * (float)i) abort(); y[i] = x[i] + 1; }\n}\n";

const FILE: &str = r#"
[kernel]
name = "next"
entry = "next"
[tunables]
WAY = [1]
[target.cpu]
source = "next.c"
[[arguments]]
name = "x"
type = "i32[N]"
role = "in"
init = "inputs.py:sevens"
[[arguments]]
name = "w"
type = "f32[N]"
role = "in"
init = "inputs.py:Weights.rising"
[[arguments]]
name = "y"
type = "i32[N]"
role = "out"
[[arguments]]
name = "n"
type = "i64"
role = "scalar"
value = "N"
[[workloads]]
name = "only"
dims = { N = 64, kind = "plain" }
[reference]
builtin = "elementwise"
expressions = { y = "x + 1" }
[baselines]
plain = "plain.c:next"
"#;

const RIGHT: &str = "import numpy\n\n\
    def sevens(shape, dims, seed):\n\
    \x20   assert shape == (64,) and dims == {'N': 64, 'kind': 'plain'} and type(seed) is int\n\
    \x20   return 7 * numpy.random.default_rng(seed).integers(-1000, 1000, shape)\n\n\
    class Weights:\n\
    \x20   @staticmethod\n\
    \x20   def rising(shape, dims, seed):\n\
    \x20       return [0.25 * i for i in range(shape[0])]\n";

/// Whether inputs can be made here.
pub(crate) fn has_numpy() -> bool {
    let there = kiln_run::find_python().is_ok_and(|python| python.numpy.is_some());
    if !there {
        println!("skipped: no Python with NumPy");
    }
    there
}

fn kernel(name: &str) -> PathBuf {
    let folder = empty_folder(name);
    std::fs::write(folder.join("kernel.toml"), FILE).unwrap();
    for file in ["next.c", "plain.c"] {
        std::fs::write(folder.join(file), SOURCE).unwrap();
    }
    std::fs::write(folder.join("inputs.py"), RIGHT).unwrap();
    folder
}

/// What `kiln check` says of a file of functions.
fn check(folder: &Path, inputs: &str) -> Ran {
    std::fs::write(folder.join("inputs.py"), inputs).unwrap();
    kiln_in(folder, &["check", "."])
}

#[test]
fn kernels_read_what_the_function_made() {
    if !has_numpy() {
        return;
    }
    let folder = kernel("filled");
    let ran = check(&folder, RIGHT);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let note = "inputs from init functions repeat every 4 calls";
    let bench = ["bench", ".", "--samples", "25", "--max-samples", "25", "--json"];
    let ran = kiln_in(&folder, &bench);
    let object: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
    // How well so short calls are known depends on the machine, and may be said too.
    assert!(object["workloads"][0]["notes"].as_array().unwrap().contains(&note.into()), "{object:#}");
    let tune = ["tune", ".", "--samples", "25", "--no-stop", "--no-ablation", "--target-speedup", "0.01"];
    let ran = kiln_in(&folder, &tune);
    assert!(ran.out.contains(&format!("\n  {note}\n")), "{}{}", ran.out, ran.err);
}

#[test]
fn functions_that_fail_are_reported_with_the_users_own_line() {
    if !has_numpy() {
        return;
    }
    let folder = kernel("unfilled");
    let path = folder.canonicalize().unwrap().join("inputs.py").to_str().unwrap().to_string();
    let returns =
        |value: &str| RIGHT.replace("return 7 * numpy.random.default_rng(seed).integers(-1000, 1000, shape)", value);
    let cases = [
        (returns("raise KeyError('M')"), format!("{path}:5: KeyError: 'M'")),
        (returns("return missing"), format!("{path}:5: NameError: name 'missing' is not defined")),
        (returns("return numpy.zeros(65, 'i4')"), "`sevens` returned shape [65], expected [64]".into()),
        (returns("return 7"), "`sevens` returned shape [], expected [64]".into()),
        (returns("return numpy.zeros(shape)"), "`sevens` returned float64, expected integers".into()),
        (returns("return numpy.full(shape, 'a')"), "`sevens` returned <U1, expected integers".into()),
        (returns("return numpy.full(shape, 7 << 40)"), "`sevens` returned numbers that i32 does not hold".into()),
        (returns("pass"), "`sevens` returned nothing, expected an array of shape [64]".into()),
        (RIGHT.replace("def sevens", "def eights"), format!("{path} has no function `sevens`")),
        (
            RIGHT.replace("sevens(shape, dims, seed)", "sevens(shape)"),
            "kiln calls it as sevens(shape, dims, seed)".into(),
        ),
        (
            format!("import no_such_module\n{RIGHT}"),
            format!("{path}:1: ModuleNotFoundError: No module named 'no_such_"),
        ),
        (format!("{RIGHT}def broken(:\n"), format!("{path}:11: SyntaxError")),
    ];
    for (inputs, words) in cases {
        let ran = check(&folder, &inputs);
        let (code, said) = (ran.code, ran.err);
        assert_eq!(code, 1, "{words}: {said}");
        assert!(
            said.starts_with("error: filling x with inputs.py:sevens: ") && said.contains(&words),
            "{words}: {said}"
        );
        assert!(!said.contains("filling.py"), "{said}");
    }
    let ran = check(&folder, &RIGHT.replace("0.25 * i for", "float('nan') for"));
    let said = "error: filling w with inputs.py:Weights.rising: element 0 is NaN\n";
    assert_eq!((ran.code, &*ran.err), (1, said));
}

#[test]
fn a_file_of_functions_that_is_not_there_is_named() {
    if !has_numpy() {
        return;
    }
    let folder = kernel("unfound");
    std::fs::remove_file(folder.join("inputs.py")).unwrap();
    let ran = kiln_in(&folder, &["check", "."]);
    let path = folder.canonicalize().unwrap().join("inputs.py").to_str().unwrap().to_string();
    let said = format!(
        "error: filling x with inputs.py:sevens: {path}: no such file\n  = hint: init names a file relative to the kernel file\n"
    );
    assert_eq!((ran.code, ran.err), (1, said));
}
