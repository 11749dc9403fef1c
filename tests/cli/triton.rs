//! Triton kernels compiled ahead, without a GPU. Most tests use a stand-in for Triton (`stand_in/README.md`) and so show kiln's side:
//! processes, gates, cache, limit of time. The last one needs Triton and PyTorch themselves, and is skipped without them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::run::{Ran, empty_folder, root};

const KERNEL: &str = r#"
[kernel]
name = "rows"
entry = "rows.py:rows"
[target.python]
device = "cuda"
[target.python.tunables]
MODE = ["good", "big", "spills", "odd", "slow", "reads", "asks", "dies", "lingers"]
num_warps = [1, 2, 4, 8]
[target.python.default]
MODE = "good"
num_warps = 4
[[arguments]]
name = "x"
type = "f32[ROWS, COLS]"
role = "in"
[[arguments]]
name = "scale"
type = "i32"
role = "scalar"
value = "COLS"
[[arguments]]
name = "y"
type = "f32[ROWS, COLS]"
role = "out"
[[workloads]]
name = "one"
dims = { ROWS = 4, COLS = 256 }
[[workloads]]
name = "two"
dims = { ROWS = 4, COLS = 512 }
[reference]
builtin = "softmax"
"#;

const ROWS: &str = r#"
import os

import torch
import triton
from beside import BLOCK


@triton.jit
def stand_in(x):
    pass


def rows(inputs, scalars, outputs, *, MODE, num_warps):
    x = inputs["x"]
    assert x.shape == outputs["y"].shape and scalars == {"scale": x.shape[1]}
    if MODE == "reads":
        x.item()
    if MODE == "asks":
        print(torch.cuda.get_device_properties(0).multi_processor_count)
    if MODE == "dies":
        os.abort()
    while MODE == "lingers":
        pass
    more = {"big": {"SHARED": 1 << 20}, "slow": {"SECONDS": 60}}.get(MODE, {})
    block = 2048 if MODE == "spills" else BLOCK
    stand_in[(1,)](x, BLOCK=block, num_warps=3 if MODE == "odd" else num_warps, **more)
"#;

fn kernel(name: &str, file: &str) -> PathBuf {
    let folder = empty_folder(name);
    for (name, text) in [("kernel.toml", file), ("rows.py", ROWS), ("beside.py", "BLOCK = 256\n")] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    folder
}

fn run(folder: &Path, line: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.args(line.split_whitespace()).current_dir(folder).env("PYTHONPATH", root().join("tests/cli/stand_in"));
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { out: text(&output.stdout), err: text(&output.stderr), code: output.status.code().unwrap_or(-1) }
}

fn gate(folder: &Path, config: &str) -> Value {
    let ran = run(folder, &format!("gate . --arch sm_90a --until build --json {config}"));
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}\n{}{}", ran.out, ran.err))
}

/// The folder in which the stand-in keeps what it compiled.
fn kept(folder: &Path) -> PathBuf {
    let compilers = folder.join(".kiln/cache/compilers");
    std::fs::read_dir(compilers).unwrap().next().unwrap().unwrap().path().join("triton")
}

fn processes(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(kept(folder).join("processes")).unwrap();
    text.lines().map(String::from).collect()
}

#[test]
fn what_a_kernel_takes_is_known_without_a_gpu_and_cached() {
    let folder = kernel("triton_figures", KERNEL);
    let first = gate(&folder, "");
    let resources = &first["build"]["resources"][0];
    assert_eq!((&resources["kernel"], &resources["registers"]), (&"stand_in".into(), &64.into()), "{first}");
    // Of two workloads the one that takes more.
    assert_eq!((&resources["shared_bytes"], &resources["spilled_bytes"]), (&2048.into(), &0.into()), "{first}");
    assert!(first["build"]["build_s"].is_number() && processes(&folder).len() == 2, "{first}");
    // From kiln's cache, in which Triton has no part.
    assert!(gate(&folder, "")["build"]["build_s"].is_null());
    // An imported file counts, although only the entry's is named.
    std::fs::write(folder.join("beside.py"), "BLOCK = 512\n").unwrap();
    let changed = gate(&folder, "");
    assert_eq!(changed["build"]["resources"][0]["registers"], 128, "{changed}");
    // Entries that Triton has lost are compiled again.
    assert_eq!(processes(&folder).len(), 4);
    for entry in std::fs::read_dir(kept(&folder)).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() && entry.file_name() != "kiln-ptxas" {
            std::fs::remove_dir(entry.path()).unwrap();
        }
    }
    assert_eq!(gate(&folder, "")["build"]["resources"][0]["registers"], 128);
    assert_eq!(processes(&folder).len(), 6);
}

#[test]
fn refusals_are_those_of_other_compilers() {
    let folder = kernel("triton_refusals", &KERNEL.replace("[reference]", "[gates]\nspills = \"refuse\"\n[reference]"));
    for (config, gate_name, words) in [
        ("--config MODE=odd", "build_failed", "num_warps must be a power of 2"),
        ("--config MODE=big", "smem_overflow", "1049600 bytes of shared memory"),
        ("--config MODE=spills", "spills", "1028 bytes stored and 1028 loaded"),
        ("--config MODE=slow --build-limit 1", "build_timeout", "still compiling after 1 s"),
    ] {
        let said = gate(&folder, config);
        let refusal = &said["build"]["refusal"];
        assert_eq!(refusal["gate"], gate_name, "{said}");
        assert!(refusal["measured"].as_str().unwrap().contains(words), "{said}");
    }
}

#[test]
fn what_only_a_gpu_can_do_is_left_to_the_call() {
    let folder = kernel("triton_unable", KERNEL);
    for (mode, words) in [
        ("reads", "without a GPU it raises"),
        ("asks", "it asks for the GPU's multi_processor_count"),
        ("dies", "the process that compiles"),
        ("lingers", "it takes longer than 10 s without a GPU"),
    ] {
        let said = gate(&folder, &format!("--config MODE={mode}"));
        assert!(said["build"]["refusal"].is_null(), "{said}");
        let warnings = said["build"]["warnings"].to_string();
        assert!(warnings.contains("nothing was compiled without a GPU") && warnings.contains(words), "{said}");
    }
}

#[test]
fn a_few_processes_compile_everything() {
    let modes = r#"MODE = ["good", "big", "spills", "odd", "slow", "reads", "asks", "dies", "lingers"]"#;
    let file = KERNEL.replace(modes, r#"MODE = ["good", "a", "b", "spills"]"#);
    let folder = kernel("triton_processes", &file);
    let ran = run(&folder, "tune . --arch sm_90a --until build --json");
    let said: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}\n{}{}", ran.out, ran.err));
    assert_eq!(said["built"], 16, "{said}");
    let all = processes(&folder);
    let different: BTreeSet<&String> = all.iter().collect();
    // Four widths of `good`, `a` and `b` are the same to the compiler, and two processes may both have compiled one.
    assert!(all.len() >= 16, "{all:?}");
    let processors = std::thread::available_parallelism().unwrap().get();
    assert!(different.len() <= processors, "{} processes on {processors} processors", different.len());
}

#[test]
fn nothing_is_compiled_without_an_architecture_or_triton() {
    let folder = kernel("triton_none", KERNEL);
    let ran = run(&folder, "gate . --until build");
    assert!(ran.err.contains("none is named") && ran.err.contains("add --arch sm_90a"), "{}", ran.err);
    std::fs::write(folder.join("rows.py"), "import torch\ndef rows(inputs, scalars, outputs, **tunables): pass\n")
        .unwrap();
    let ran = run(&folder, "gate . --arch sm_90a --until build");
    assert!(ran.err.contains("only where its file imports triton"), "{}", ran.err);
    // The ladder without a GPU is as it was.
    let ran = run(&folder, "gate . --arch sm_90a");
    assert!(ran.code == 0 && ran.err.contains("no GPU for this code"), "{}{}", ran.out, ran.err);
}

/// Asks Triton for the same kernel as a call with real tensors would, and whether it was there.
const HIT: &str = r#"
import sys
sys.path.insert(0, sys.argv[1])
import torch, triton, softmax
from triton.backends.compiler import GPUTarget
class Driver:
    def get_current_device(self): return 0
    def get_current_stream(self, device): return 0
    def get_current_target(self): return GPUTarget("cuda", 90, 32)
triton.runtime.driver.set_active(Driver())
hits = []
triton.knobs.compilation.listener = lambda **said: hits.append(said["cache_hit"])
original = triton.runtime.jit.JITFunction.run
triton.runtime.jit.JITFunction.run = lambda self, *args, warmup, **kwargs: original(self, *args, warmup=True, **kwargs)
for rows, cols in (4096, 1024), (8192, 4096):
    x = torch.zeros(rows, cols)
    softmax.softmax({"x": x}, {}, {"y": torch.zeros(rows, cols)}, BLOCK=1024, num_warps=4, num_stages=2)
print(hits)
"#;

#[test]
fn real_triton_finds_what_was_compiled_ahead() {
    let python = std::env::var("KILN_PYTHON").unwrap_or_else(|_| "python3".into());
    let there = Command::new(&python).args(["-c", "import torch, triton; triton.knobs"]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        println!("skipped: {python} has no Triton and PyTorch");
        return;
    }
    let (folder, kernel) = (empty_folder("triton_real"), root().join("kernels/softmax_triton"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.args(["gate", kernel.to_str().unwrap(), "--arch", "sm_90a", "--until", "build", "--json"]);
    let output = command.current_dir(&folder).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let resources = &said["build"]["resources"][0];
    assert_eq!(resources["kernel"], "softmax_rows", "{said}");
    assert!((16..=64).contains(&resources["registers"].as_u64().unwrap()) && resources["spilled_bytes"] == 0, "{said}");
    let mut hit = Command::new(&python);
    hit.args(["-B", "-c", HIT, kernel.to_str().unwrap()]).env("TRITON_CACHE_DIR", kept(&folder));
    let output = hit.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.trim(), "[True, True]", "{}", String::from_utf8_lossy(&output.stderr));
}
