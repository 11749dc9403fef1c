//! Compilations ahead of the first call: what a Python worker is asked, and what it answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The Triton kernels of a function under a configuration, for an architecture.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Compilation {
    /// The path of the Python file; empty to make ready for others, which takes longest.
    pub library: String,
    /// The function in it.
    pub symbol: String,
    /// A keyword argument for each tunable.
    pub config: Value,
    /// The compute capability as one number: 90.
    pub capability: u32,
    /// What is known of the GPU, by the names that Triton and PyTorch have for it; a function that asks for anything else is
    /// not compiled ahead.
    pub properties: Value,
    /// The arguments of each workload.
    pub workloads: Vec<Vec<AheadSlot>>,
}

/// An argument without memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AheadSlot {
    /// Its name.
    pub name: String,
    /// As in a mapped slot.
    pub role: String,
    /// As in a mapped slot.
    pub dtype: String,
    /// Its dimensions; none for a scalar.
    pub shape: Vec<usize>,
    /// Elements from one index to the next; none when they lie one after another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strides: Option<Vec<usize>>,
    /// The value of a scalar.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub value: Value,
}

/// What became of it. A worker that says neither `refused` nor `unable` has compiled everything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Compiled {
    /// Every kernel that was compiled, each specialisation by itself.
    pub kernels: Vec<AheadKernel>,
    /// The function's file, and those it has imported that are no installed packages.
    pub files: Vec<String>,
    /// What the compiler does not like.
    pub refused: Option<AheadRefusal>,
    /// Why the function cannot be compiled without a call, in words; nothing is wrong with it.
    pub unable: Option<String>,
}

/// A kernel, as Triton says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AheadKernel {
    /// Its name, which is its symbol.
    pub name: String,
    /// The key of Triton's cache.
    pub hash: String,
    /// The folder in which Triton keeps it; empty where it does not say.
    pub kept: String,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory that a launch asks for.
    pub shared: u32,
    /// What the assembler said; empty where Triton does not pass it on.
    pub log: String,
}

/// A compiler's refusal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AheadRefusal {
    /// In a line.
    pub headline: String,
    /// All of it.
    pub words: String,
}
