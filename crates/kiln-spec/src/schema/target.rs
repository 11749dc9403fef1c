//! The schemas of targets and launches: for each kind of target the keys that fit it.

use kiln_device::Arch;
use serde_json::{Map, Value, json};

use crate::model::{CudaCompiler, TargetKind};
use crate::schema::shape::{boolean, described, extent, table, text, texts, whole, word};
use crate::schema::tables;
use crate::tables::target::{COMPILE_KEYS, DEVICES, KEYS, unfit};
use crate::tables::{implementation, launch};

/// `[target]`: at least one kind.
pub(crate) fn targets() -> Value {
    let about = |kind: TargetKind| match kind {
        TargetKind::Cuda => "CUDA C++ for an NVIDIA GPU.",
        TargetKind::Cpu => "C for this machine's processor.",
        TargetKind::Python => "A Python function, such as one that launches a Triton kernel.",
    };
    let kinds: Map<String, Value> = TargetKind::ALL
        .iter()
        .map(|(word, kind)| ((*word).to_owned(), described(target(*kind), about(*kind))))
        .collect();
    let schema = json!({ "type": "object", "additionalProperties": false, "minProperties": 1, "properties": kinds });
    described(schema, "Where the kernel can run: [target.cuda], [target.cpu] or [target.python], at least one.")
}

fn target(kind: TargetKind) -> Value {
    let keys: Vec<&str> = KEYS.into_iter().filter(|key| unfit(kind, key).is_none()).collect();
    table(&keys, &[], |name| key(kind, name))
}

fn key(kind: TargetKind, key: &str) -> Value {
    match key {
        "source" => described(
            json!({ "anyOf": [text(), texts()] }),
            "Source files, beside the kernel file; several CUDA files are compiled as one.",
        ),
        "entry" => described(text(), "What to call for this target, when it is not the kernel's entry."),
        "host" => described(boolean(false), "Whether the entry is a host function that launches the kernel itself."),
        "device" => described(word(&DEVICES), "Where a Python function works: cpu or cuda."),
        "compile" => {
            let keys: Vec<&str> =
                COMPILE_KEYS.into_iter().filter(|key| kind == TargetKind::Cuda || *key != "compiler").collect();
            described(table(&keys, &[], compile), "Compiler settings.")
        }
        "defines" => {
            let value = json!({ "type": ["string", "number", "boolean"] });
            let names = json!({ "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" });
            described(
                json!({ "type": "object", "propertyNames": names, "additionalProperties": value }),
                "What the compiler is given besides the tunables; {NAME} in a text inserts a tunable's value.",
            )
        }
        "archs" => {
            let known: Vec<&str> = Arch::all().iter().map(Arch::name).collect();
            described(
                json!({ "type": "array", "items": { "enum": known }, "uniqueItems": true }),
                "Architectures it is meant for; the first is assumed if none is requested.",
            )
        }
        "variants" => tables::variants("Other dtypes for the kernel's type variables on this target."),
        "launches" => described(
            json!({ "type": "array", "items": table(&launch::KEYS, &["grid", "block"], launch_key) }),
            "One table for each kernel launch of a call, in order.",
        ),
        "kernels" => described(
            json!({ "type": "array", "items": text(), "minItems": 1, "uniqueItems": true }),
            "Parts of the names of kernels that every timed sample must run.",
        ),
        "tunables" => tables::tunables("Tunables of this target; one of the same name replaces the shared values."),
        "default" => tables::default("Default values for this target."),
        "tuned" => described(text(), "The file with tuned configurations, which `kiln tune --adopt` writes."),
        "constraints" => tables::constraints("Constraints of this target only."),
        "derived" => tables::derived("Derived values of this target only."),
        "baselines" => tables::baselines("Baselines of this target; they come before the shared ones."),
        "arguments" => described(
            json!({ "type": "array", "items": text(), "minItems": 1, "uniqueItems": true }),
            "The arguments it takes, by name and in the file's order; all of them by default.",
        ),
        "implementation" => described(
            json!({
                "type": "object",
                "minProperties": 1,
                "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
                "additionalProperties": implementation(kind),
            }),
            "Several implementations, [target.KIND.implementation.NAME], which compete in one study.",
        ),
        _ => json!({}),
    }
}

/// One of several implementations.
fn implementation(kind: TargetKind) -> Value {
    let keys: Vec<&str> =
        implementation::KEYS.into_iter().filter(|key| implementation::unfit_here(kind, key).is_none()).collect();
    table(&keys, &[], |name| match name {
        "archs" => {
            let known = Arch::all().iter().flat_map(|arch| [arch.name().to_owned(), format!("{}+", arch.name())]);
            described(
                json!({ "type": "array", "items": { "enum": known.collect::<Vec<_>>() }, "uniqueItems": true }),
                "Architectures it runs on, such as sm_90a, or sm_80+ for it and newer ones; all by default.",
            )
        }
        "tunables" => {
            tables::tunables("Tunables of this implementation; one of the same name replaces the target's values.")
        }
        "default" => tables::default("Default values for this implementation."),
        "constraints" => tables::constraints("Constraints of this implementation only."),
        "derived" => tables::derived("Derived values of this implementation only."),
        other => key(kind, other),
    })
}

fn compile(key: &str) -> Value {
    match key {
        "include" => described(texts(), "Include folders, relative to the kernel file."),
        "std" => described(text(), "The language standard, such as c++17."),
        "flags" => described(
            texts(),
            "Further flags. {NAME} inserts a tunable's value; \"FLAG if NAME\" passes the flag only if NAME is true.",
        ),
        "compiler" => described(word(&CudaCompiler::ALL), "The CUDA compiler; NVRTC by default if it is installed."),
        _ => json!({}),
    }
}

fn launch_key(key: &str) -> Value {
    match key {
        "grid" => described(extent(3), "Blocks along x, y, z."),
        "block" => described(extent(3), "Threads along x, y, z."),
        "shared" => described(whole(), "Dynamic shared memory in bytes."),
        "cluster" => described(extent(3), "Blocks of a cluster along x, y, z."),
        "cooperative" => described(boolean(false), "Whether it is a cooperative launch."),
        "entry" => described(text(), "The kernel launched, when it is not the target's entry."),
        "zero" => described(texts(), "Scratch arguments set to zero before this launch."),
        _ => json!({}),
    }
}
