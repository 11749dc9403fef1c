//! A kernel of two configurations and two variants, for tests of what is said around a study.

use std::path::{Path, PathBuf};

use crate::run::{Ran, empty_folder, kiln_in};

pub(crate) const FILE: &str = r#"
[kernel]
name = "twice"
entry = "twice"
variants = { T = ["f32", "f64"] }
[tunables]
WAY = [1, 2]
[default]
WAY = 1
[target.cpu]
source = "twice.c"
[[arguments]]
name = "x"
type = "T[N]"
role = "in"
[[arguments]]
name = "y"
type = "T[N]"
role = "out"
[[arguments]]
name = "n"
type = "i64"
role = "scalar"
value = "N"
[[workloads]]
name = "only"
# Calls of a microsecond would need twice as much processor time in a benchmark.
dims = { N = 65536 }
[reference]
builtin = "elementwise"
expressions = { y = "2 * x" }
[baselines]
plain = "plain.c:twice"
"#;

pub(crate) const SOURCE: &str = "#include <stdint.h>\nvoid twice(const T *x, T *y, int64_t n) {\n\
                                 for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n";

/// Writes the kernel into a folder, which is made.
pub(crate) fn written(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let files = [("kernel.toml", FILE), ("twice.c", SOURCE), ("plain.c", SOURCE)];
    files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
}

/// A working folder with the kernel in it under `twice`.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = empty_folder(name);
    written(&folder.join("twice"));
    folder
}

/// Changes one of the kernel's files.
pub(crate) fn rewrite(folder: &Path, file: &str, from: &str, to: &str) {
    let path = folder.join("twice").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file}: {from}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

/// A short study; whether it reaches anything is the machine's doing.
pub(crate) fn tune(folder: &Path, path: &str, more: &[&str]) -> Ran {
    let ran = kiln_in(folder, &[&["tune", path, "--samples", "25", "--no-ablation", "--no-stop"], more].concat());
    assert!(matches!(ran.code, 0 | 4), "{}{}", ran.out, ran.err);
    ran
}
