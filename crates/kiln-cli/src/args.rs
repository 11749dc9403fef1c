//! What can be typed.

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand};

/// Makes GPU kernels fast and proves it.
#[derive(Debug, Parser)]
#[command(name = "kiln", version, about = "Makes GPU kernels fast and proves it.", max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 a fault of the environment, 2 a mistake in the input, 3 a candidate was refused."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show a kernel's configuration space: how many configurations are valid, and what each constraint removes
    Space(SpaceArgs),
    /// Take one configuration up the static gates and show every rule with its numbers
    Gate(GateArgs),
    /// Write a commented kernel.toml with a small working kernel
    Init(InitArgs),
    /// Show what the build cache holds, or clear it
    Cache(CacheArgs),
    /// Run candidates for another kiln process
    #[command(hide = true)]
    Worker(WorkerArgs),
}

impl Verb {
    pub(crate) fn json(&self) -> bool {
        match self {
            Verb::Space(args) => args.json,
            Verb::Gate(args) => args.json,
            Verb::Cache(args) => args.json,
            Verb::Init(_) | Verb::Worker(_) => false,
        }
    }
}

/// Which of the kernel's targets, architectures and workloads is meant.
#[derive(Debug, Args)]
pub(crate) struct Selecting {
    /// A kernel's folder, its kernel.toml, a T1 file or a Kernel Tuner cache (.json, .json.gz)
    pub(crate) path: Utf8PathBuf,
    /// Target: cuda, cpu or python [default: the file's first]
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// GPU architecture, such as sm_80, sm_89 or sm_90a [default: the target's first, else sm_80]
    #[arg(long, value_name = "SM")]
    pub(crate) arch: Option<String>,
    /// Workload, or `all` for what is valid on every tuned workload at once [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// Dtype of a type variable, such as T=bf16 [default: the first of each]
    #[arg(long, value_name = "T=DTYPE")]
    pub(crate) variant: Option<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kiln space kernels/attention\n  kiln space kernels/attention --arch sm_90a --sample 5\n  kiln space space.json --list | wc -l"
)]
pub(crate) struct SpaceArgs {
    #[command(flatten)]
    pub(crate) selecting: Selecting,
    /// List every valid configuration, one a line, in the order of their index
    #[arg(long, conflicts_with = "sample")]
    pub(crate) list: bool,
    /// Draw N different valid configurations, all equally likely
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<usize>,
    /// Seed of the draw: the same seed gives the same configurations
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kiln gate kernels/attention --config \"BLOCK_M=64,WARPS=4\"\n  kiln gate kernels/attention --arch sm_89 --json"
)]
pub(crate) struct GateArgs {
    #[command(flatten)]
    pub(crate) selecting: Selecting,
    /// Values as NAME=VALUE,...; tunables left out take their default
    #[arg(long, value_name = "NAME=VALUE,...", default_value = "")]
    pub(crate) config: String,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kiln init row_softmax && kiln space row_softmax")]
pub(crate) struct InitArgs {
    /// Name of the kernel and of the folder it is written to
    #[arg(default_value = "my_kernel")]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
#[command(after_help = "The cache lies in .kiln/cache under the current folder.")]
pub(crate) struct CacheArgs {
    /// Remove everything
    #[arg(long)]
    pub(crate) clear: bool,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// What it runs
    #[arg(value_enum)]
    pub(crate) kind: WorkerKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WorkerKind {
    /// Shared libraries on this machine's processor
    Cpu,
}
