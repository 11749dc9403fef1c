//! What a kernel file says, checked and typed: the nouns the rest of kiln works from. Every expression in it has been
//! parsed and its names are known to resolve; every name is unique where it must be.

use std::ops::Range;
use std::sync::Arc;

use kiln_core::{Place, Value, Workload};
use kiln_device::Arch;
use kiln_expr::Expression;

use crate::tables::environment::Requirement;
use crate::tables::export::Export;
use crate::tables::fuzz::Fuzz;
use crate::tables::sweep::Sweep;
use crate::tables::tuned::TunedTable;

mod argument;
mod implementation;

pub use argument::*;
pub use implementation::*;

/// A whole kernel file.
#[derive(Debug, Clone)]
pub struct KernelSpec {
    /// The text it was read from, for messages about it later.
    pub source: Source,
    /// The kernel's name.
    pub name: String,
    /// What it does, in the author's words.
    pub description: Option<String>,
    /// The symbol that is launched or called; a target may name its own.
    pub entry: Option<String>,
    /// True when the entry is a host function that launches by itself.
    pub host: bool,
    /// Where the kernel can run, in file order; at least one.
    pub targets: Vec<Target>,
    /// The kernel's arguments, in order.
    pub arguments: Vec<Argument>,
    /// The work one call does.
    pub cost: Cost,
    /// The workloads, in file order.
    pub workloads: Vec<Workload>,
    /// How workloads are weighed against each other.
    pub objective: Objective,
    /// What is right.
    pub reference: Option<Reference>,
    /// Which of the soft gates refuse.
    pub gates: SoftGates,
    /// Which versions of what it is made for.
    pub environment: Vec<Requirement>,
    /// What shapes it is made for, and suites of them.
    pub fuzz: Fuzz,
    /// How the exported function is called.
    pub export: Export,
    /// The grid of shapes to measure.
    pub sweep: Sweep,
}

/// A file's name and text.
#[derive(Debug, Clone)]
pub struct Source {
    /// As the user gave it.
    pub name: String,
    /// All of it.
    pub text: Arc<str>,
}

impl Source {
    /// The place of a byte range in this file.
    pub fn place(&self, span: Range<usize>) -> Place {
        Place::of(&self.name, &self.text, span)
    }
}

/// One kind of device the kernel can run on, with one or several implementations that compete there.
#[derive(Debug, Clone)]
pub struct Target {
    /// `cuda`, `cpu` or `python`.
    pub kind: TargetKind,
    /// True when a Python function works on a GPU.
    pub on_gpu: bool,
    /// Architectures it is meant for; the first is assumed when none is asked for and no device is there.
    pub archs: Vec<Arch>,
    /// Type variables and the dtypes each takes on this target, checked and tuned apart.
    pub variants: Vec<(Arc<str>, Vec<Dtype>)>,
    /// Where winners are kept that take the default's place.
    pub tuned: TunedTable,
    /// What is fast, by name: the target's own first, then those of all targets; the first is the default.
    pub baselines: Vec<Baseline>,
    /// The arguments that baselines take, in the file's order; all of them when none are named.
    pub arguments: Option<Vec<String>>,
    /// The ways to build and run it, in file order: one without a name, or those the file names.
    pub implementations: Vec<Implementation>,
}

impl Target {
    /// Every combination of dtypes for its type variables, as it would be typed, in the order of the file; one that is empty
    /// where it has no type variables.
    pub fn dtype_combinations(&self) -> Vec<String> {
        let mut all = vec![String::new()];
        for (name, dtypes) in &self.variants {
            let with = |before: &String| {
                let comma = if before.is_empty() { "" } else { "," };
                dtypes.iter().map(|dtype| format!("{before}{comma}{name}={}", dtype.name())).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with).collect();
        }
        all
    }
}

/// The backends a target can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// CUDA C++ for an NVIDIA GPU.
    Cuda,
    /// C for this machine's processor.
    Cpu,
    /// A Python function (Triton, NumPy).
    Python,
}

impl TargetKind {
    /// Every kind with its word in the file.
    pub const ALL: [(&'static str, TargetKind); 3] =
        [("cuda", TargetKind::Cuda), ("cpu", TargetKind::Cpu), ("python", TargetKind::Python)];

    /// The word in the file.
    pub fn name(self) -> &'static str {
        match self {
            TargetKind::Cuda => "cuda",
            TargetKind::Cpu => "cpu",
            TargetKind::Python => "python",
        }
    }
}

/// Compiler settings of a target.
#[derive(Debug, Clone, Default)]
pub struct Compile {
    /// Names and texts that are defined besides the tunables; `{NAME}` stands for a tunable's value.
    pub defines: Vec<(String, String)>,
    /// Include folders, beside the kernel file.
    pub include: Vec<String>,
    /// The language standard, e.g. `c++17`.
    pub std: Option<String>,
    /// Further flags: `{NAME}` stands for a tunable's value, and `FLAG if NAME` is given only where NAME is true.
    pub flags: Vec<String>,
    /// The CUDA compiler: NVRTC where there is one when none is named.
    pub compiler: Option<CudaCompiler>,
}

/// The CUDA compilers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CudaCompiler {
    /// The library: fast, device code only.
    Nvrtc,
    /// The program: host code too.
    Nvcc,
}

impl CudaCompiler {
    /// Every compiler with its word in the file.
    pub const ALL: [(&'static str, CudaCompiler); 2] = [("nvrtc", CudaCompiler::Nvrtc), ("nvcc", CudaCompiler::Nvcc)];
}

/// A tunable and the values it may take, in file order, without doubles.
#[derive(Debug, Clone)]
pub struct Tunable {
    /// Its name.
    pub name: Arc<str>,
    /// Its values; at least one.
    pub values: Vec<Value>,
    /// Where the file names it.
    pub span: Range<usize>,
}

/// A named intermediate value.
#[derive(Debug, Clone)]
pub struct Derived {
    /// Its name.
    pub name: Arc<str>,
    /// How it is computed.
    pub formula: Formula,
}

/// A rule a configuration must keep.
#[derive(Debug, Clone)]
pub struct Constraint {
    /// Its name, shown when it refuses.
    pub name: Arc<str>,
    /// What must be true.
    pub formula: Formula,
    /// The author's advice when it refuses.
    pub hint: Option<String>,
}

/// An expression and where it stands in the file.
#[derive(Debug, Clone)]
pub struct Formula {
    /// The expression.
    pub expression: Expression,
    /// The span of its text in the file (without quotes). Offsets inside the expression can be added to its start only
    /// when `verbatim`.
    pub span: Range<usize>,
    /// True when the file holds the expression's text as it is, without escapes.
    pub verbatim: bool,
}

impl Formula {
    /// The span in the file of a part of the expression, or of the whole where parts cannot be told.
    pub fn part(&self, part: Range<usize>) -> Range<usize> {
        if self.verbatim { self.span.start + part.start..self.span.start + part.end } else { self.span.clone() }
    }

    /// A formula from a file whose reader does not know positions; it is looked for when it must be shown.
    pub fn unplaced(expression: Expression) -> Formula {
        Formula { expression, span: 0..0, verbatim: false }
    }

    /// The place in `source` of a part of the expression, or of the whole where parts cannot be told.
    pub fn place(&self, source: &Source, part: Range<usize>) -> Place {
        let text = self.expression.text();
        // In quotes first: a short expression may stand inside some other word.
        let quoted = || source.text.find(&format!("\"{text}\"")).map(|at| at + 1);
        let found = if self.span.is_empty() { quoted().or_else(|| source.text.find(text)) } else { None };
        match found {
            Some(at) => source.place(at + part.start..at + part.end),
            None => source.place(self.part(part)),
        }
    }
}

/// One launch of a CUDA kernel.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The kernel launched, when it is not the target's entry.
    pub entry: Option<String>,
    /// Blocks along x, y, z: one to three expressions.
    pub grid: Vec<Formula>,
    /// Threads along x, y, z: one to three expressions.
    pub block: Vec<Formula>,
    /// Dynamic shared memory in bytes.
    pub shared: Option<Formula>,
    /// Blocks in a cluster along x, y, z.
    pub cluster: Vec<Formula>,
    /// A cooperative launch.
    pub cooperative: bool,
    /// Scratch arguments set to zero before this launch.
    pub zero: Vec<String>,
}

/// The work of one call, as expressions.
#[derive(Debug, Clone, Default)]
pub struct Cost {
    /// Floating-point operations.
    pub flops: Option<Formula>,
    /// Bytes that must move.
    pub bytes: Option<Formula>,
}

/// How the winner is chosen.
#[derive(Debug, Clone)]
pub struct Objective {
    /// One winner for each workload instead of one over all (weighted geometric mean).
    pub per_workload: bool,
    /// The speedup that counts as success.
    pub target_speedup: f64,
}

/// What is correct, and how exactly.
#[derive(Debug, Clone)]
pub struct Reference {
    /// Where the correct answer comes from.
    pub origin: Origin,
    /// Tolerances by output name; outputs that are not named use the dtype's default.
    pub tolerance: Vec<(String, Tolerance)>,
    /// False when two runs may differ within the tolerance.
    pub deterministic: bool,
    /// For the builtin `elementwise`: each output's element from those of the inputs, by their names.
    pub expressions: Vec<(String, Formula)>,
}

/// Where reference answers come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// An operation kiln knows itself.
    Builtin(String),
    /// `file.py:function`.
    Python(Callable),
    /// Another kernel's folder or file.
    Kernel(String),
}

/// Allowed error of one output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Absolute part.
    pub abs: f64,
    /// Part relative to the reference value.
    pub rel: f64,
}

/// A named opponent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub callable: Callable,
}

/// `file:function`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callable {
    /// The file, beside the kernel file.
    pub file: String,
    /// The function in it.
    pub function: String,
}

/// The gates that only warn unless the file says otherwise.
#[derive(Debug, Clone)]
pub struct SoftGates {
    /// Refuse kernels that spill registers.
    pub spills: bool,
    /// What occupancy is asked for; none when any will do.
    pub occupancy: Option<LeastOccupancy>,
}

/// The occupancy that is asked for.
#[derive(Debug, Clone)]
pub struct LeastOccupancy {
    /// A share of the warps there can be, from 0 to 1.
    pub least: Formula,
    /// Refuse kernels below it, instead of warning of them.
    pub refuses: bool,
}
