//! What was found in a source, in the terms of a kernel.toml. Everything that is a guess has a question beside it.

use kiln_core::Value;

/// Where it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundTarget {
    /// CUDA C++.
    Cuda,
    /// C for the processor.
    Cpu,
    /// A Python function on the processor.
    Python,
    /// A Python function that launches kernels on a GPU.
    PythonCuda,
}

/// A kernel, as far as its source shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The kernel's name.
    pub name: String,
    /// What is launched or called, such as `matmul<float, {TILE}>`.
    pub entry: String,
    /// True when the entry launches by itself.
    pub host: bool,
    /// Where it runs.
    pub target: FoundTarget,
    /// Source files, relative to the kernel.toml.
    pub sources: Vec<String>,
    /// Compiler flags.
    pub flags: Vec<String>,
    /// The CUDA compiler, where only one of them can compile it.
    pub compiler: Option<&'static str>,
    /// The arguments in order.
    pub arguments: Vec<FoundArgument>,
    /// What may be tuned.
    pub tunables: Vec<FoundTunable>,
    /// What could be tuned if the source let it.
    pub fixed: Vec<Fixed>,
    /// Rules, by name.
    pub constraints: Vec<(String, String)>,
    /// How a kernel is launched.
    pub launch: Option<FoundLaunch>,
    /// Dimensions and their values.
    pub dims: Vec<(String, i64)>,
    /// Arrays in constant memory.
    pub constants: Vec<ConstantArray>,
    /// Kernels that a Python function runs.
    pub kernels: Vec<String>,
    /// Questions about the whole.
    pub questions: Vec<String>,
}

/// An argument.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundArgument {
    /// Its name.
    pub name: String,
    /// Its dtype.
    pub dtype: String,
    /// Its shape, empty for a scalar.
    pub shape: Vec<String>,
    /// `in`, `out`, `inout` or `scalar`.
    pub role: &'static str,
    /// A scalar's value.
    pub value: String,
    /// What only the author knows.
    pub questions: Vec<String>,
}

/// A tunable.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundTunable {
    /// Its name.
    pub name: String,
    /// Its values; at least one.
    pub values: Vec<Value>,
    /// The value known to be good.
    pub default: Value,
    /// What only the author knows.
    pub questions: Vec<String>,
}

/// A number that the source fixes.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixed {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: i64,
    /// Its line, from 1.
    pub line: usize,
    /// `#define` or `constexpr`.
    pub how: &'static str,
}

/// A launch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoundLaunch {
    /// Blocks along x, y, z.
    pub grid: Vec<String>,
    /// Threads along x, y, z.
    pub block: Vec<String>,
    /// Whether the kernel has dynamic shared memory.
    pub dynamic_shared: bool,
    /// What only the author knows.
    pub questions: Vec<String>,
}

/// An array in constant memory, which no argument fills.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstantArray {
    /// Its name.
    pub name: String,
    /// Its declaration, such as `float d_filter[33 * 33]`.
    pub declaration: String,
    /// Its line, from 1.
    pub line: usize,
}
