//! What can be typed.

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand};

/// Makes GPU kernels fast and proves it.
#[derive(Debug, Parser)]
#[command(name = "kiln", version, about = "Makes GPU kernels fast and proves it.", max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 a fault of the environment, 2 a mistake in the input, 3 a candidate was refused, 4 the speedup aimed at was not reached, 130 interrupted."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show a kernel's configuration space: how many configurations are valid, and what each constraint removes
    Space(SpaceArgs),
    /// Take one configuration up the ladder of gates: every rule with its numbers, then build, run and check
    Gate(GateArgs),
    /// Find the fastest configuration that is right, and prove it against a baseline
    Tune(TuneArgs),
    /// Check that one configuration is right, on fresh inputs
    Check(CheckArgs),
    /// Measure one configuration against baselines
    Bench(BenchArgs),
    /// List past studies, newest first
    History(HistoryArgs),
    /// Tell a study's story: what was asked, how the search went, what it came to, what was refused and why
    Show(ShowArgs),
    /// Examine this machine: compiler, Python, disk, memory, load, workers; each finding with why it matters and the fix
    Doctor(DoctorArgs),
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
            Verb::Tune(args) => args.json,
            Verb::Check(args) => args.json,
            Verb::Bench(args) => args.json,
            Verb::History(args) => args.json,
            Verb::Show(args) => args.json,
            Verb::Doctor(args) => args.json,
            Verb::Init(_) | Verb::Worker(_) => false,
        }
    }
}

/// Which of the kernel's targets, architectures and workloads is meant.
#[derive(Debug, Clone, Args)]
pub(crate) struct Selecting {
    /// A kernel's folder, its kernel.toml, a T1 file or a Kernel Tuner cache (.json, .json.gz)
    pub(crate) path: Utf8PathBuf,
    /// Target: cuda, cpu or python [default: the file's first; where something is run, its first that can be]
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// GPU architecture, such as sm_80, sm_89 or sm_90a [default: this machine's GPU, else the target's first, else sm_80]
    #[arg(long, value_name = "SM")]
    pub(crate) arch: Option<String>,
    /// Workload, or `all` for what is valid on every tuned workload at once [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// Dtype of a type variable, such as T=bf16 [default: the first of each]
    #[arg(long, value_name = "T=DTYPE")]
    pub(crate) variant: Option<String>,
    /// GPU: its number among those CUDA_VISIBLE_DEVICES shows, its UUID, or a MIG slice's [default: 0]
    #[arg(long, value_name = "GPU")]
    pub(crate) device: Option<String>,
}

/// How far a command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Until {
    /// Compile and look at what the compiler says; run nothing
    Build,
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
    after_help = "Examples:\n  kiln gate kernels/attention --config \"BLOCK_M=64,WARPS=4\"\n  kiln gate kernels/matmul --arch sm_89 --until build"
)]
pub(crate) struct GateArgs {
    #[command(flatten)]
    pub(crate) selecting: Selecting,
    /// Values as NAME=VALUE,...; tunables left out take their default
    #[arg(long, value_name = "NAME=VALUE,...", default_value = "")]
    pub(crate) config: String,
    /// Only the rules of the kernel file: build and run nothing
    #[arg(long)]
    pub(crate) r#static: bool,
    /// Stop after this step; needs no GPU
    #[arg(long, value_enum, conflicts_with = "static")]
    pub(crate) until: Option<Until>,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

/// How times are taken.
#[derive(Debug, Args)]
pub(crate) struct Measuring {
    /// Samples on each side, five from each pair of fresh workers
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) samples: usize,
    /// Flush the caches before every sample [default on a GPU]
    #[arg(long, conflicts_with = "warm")]
    pub(crate) cold: bool,
    /// Leave the caches as the call before left them [default on a processor]
    #[arg(long)]
    pub(crate) warm: bool,
    /// Threads a kernel may use, the same on both sides
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: usize,
    /// Do not keep measurement on one processor and builds on the others
    #[arg(long)]
    pub(crate) no_pin: bool,
    /// Seed of everything random [default: a new one, printed and recorded]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Phases: the default configuration, a seed of 20, a search of 100, finals (full check on fresh inputs, run against each other), confirmation against the baseline, ablation. Everything is recorded under .kiln as it happens.\n\nExamples:\n  kiln tune kernels/attention\n  kiln tune kernels/softmax --trials 60 --minutes 2 --baseline numpy\n  kiln tune kernels/attention --resume\n  kiln tune kernels/matmul --arch sm_90a --until build"
)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) selecting: Selecting,
    #[command(flatten)]
    pub(crate) measuring: Measuring,
    /// Baseline to beat [default: the file's first that can be run here]
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Configurations to try, the first 20 of them spread over the space [default: 120]
    #[arg(long, value_name = "N")]
    pub(crate) trials: Option<usize>,
    /// Stop searching in time to end after this many minutes
    #[arg(long, value_name = "M")]
    pub(crate) minutes: Option<f64>,
    /// Stop searching in time to spend no more than this, at --price
    #[arg(long, value_name = "AMOUNT", requires = "price")]
    pub(crate) cost: Option<f64>,
    /// Price of an hour of this machine
    #[arg(long, value_name = "AMOUNT", requires = "cost")]
    pub(crate) price: Option<f64>,
    /// Speedup to reach [default: the file's, else 1.10]
    #[arg(long, value_name = "X")]
    pub(crate) target_speedup: Option<f64>,
    /// Stop after this step: build what would be tried, say what would be refused, run nothing; needs no GPU
    #[arg(long, value_enum, conflicts_with_all = ["resume", "replay"])]
    pub(crate) until: Option<Until>,
    /// Search strategy: tpe, random or latin
    #[arg(long, value_name = "NAME", default_value = "tpe")]
    pub(crate) strategy: String,
    /// Go on even if the best of the seed phase is under half the baseline's speed
    #[arg(long)]
    pub(crate) no_stop: bool,
    /// Leave out what each choice is worth
    #[arg(long)]
    pub(crate) no_ablation: bool,
    /// Go on with an unfinished study, the newest of this kernel unless named; it keeps its own settings
    #[arg(long, value_name = "STUDY", num_args = 0..=1, default_missing_value = "", conflicts_with = "replay")]
    pub(crate) resume: Option<String>,
    /// Repeat a study from its recorded timings, without running anything
    #[arg(long, value_name = "STUDY")]
    pub(crate) replay: Option<String>,
    /// Folder for best.toml and the header [default: .kiln/best/NAME]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<Utf8PathBuf>,
    /// Print one JSON object at the end instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kiln check kernels/attention\n  kiln check kernels/softmax --config \"VEC=16,CHAINS=4\" --full"
)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) selecting: Selecting,
    /// Values as NAME=VALUE,...; tunables left out take their default
    #[arg(long, value_name = "NAME=VALUE,...", default_value = "")]
    pub(crate) config: String,
    /// The whole suite: every distribution, every workload, more reruns
    #[arg(long)]
    pub(crate) full: bool,
    /// Seed of the inputs [default: a new one, printed]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kiln bench kernels/attention\n  kiln bench kernels/attention --study last --baseline numpy\n  kiln bench kernels/softmax --config VEC=16 --cold --samples 200"
)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) selecting: Selecting,
    #[command(flatten)]
    pub(crate) measuring: Measuring,
    /// Values as NAME=VALUE,...; tunables left out take their default
    #[arg(long, value_name = "NAME=VALUE,...", default_value = "", conflicts_with = "study")]
    pub(crate) config: String,
    /// The winner of a study instead
    #[arg(long, value_name = "STUDY")]
    pub(crate) study: Option<String>,
    /// One baseline instead of all
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Go on measuring until speedups are known to plus or minus this many per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    pub(crate) width: f64,
    /// Samples on each side at most
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub(crate) max_samples: usize,
    /// Differences below this many per cent do not matter
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0)]
    pub(crate) dead_zone: f64,
    /// Workloads kept back from tuning too
    #[arg(long)]
    pub(crate) all: bool,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Studies are recorded in .kiln under the current folder.\n\nExamples:\n  kiln history\n  kiln history kernels/attention --limit 5"
)]
pub(crate) struct HistoryArgs {
    /// Only studies of this kernel: its folder, its kernel.toml or its name
    #[arg(value_name = "PATH|KERNEL")]
    pub(crate) kernel: Option<Utf8PathBuf>,
    /// The newest N
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  kiln show last\n  kiln show attention --refusals\n  kiln show 7f3a9c21 --json")]
pub(crate) struct ShowArgs {
    /// A study's id or a piece of it, `last`, or a kernel's name for its newest
    pub(crate) study: String,
    /// List every refusal with its reason instead
    #[arg(long)]
    pub(crate) refusals: bool,
    /// List every trial instead
    #[arg(long, conflicts_with = "refusals")]
    pub(crate) trials: bool,
    /// Print one JSON object with study, trials and notes instead
    #[arg(long, conflicts_with_all = ["refusals", "trials"])]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit code 1 when something fails; warnings alone give 0.")]
pub(crate) struct DoctorArgs {
    /// Do what is safe: make .kiln, trim the build cache, remove what killed builds left behind
    #[arg(long)]
    pub(crate) fix: bool,
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
    /// For nvrtc: the file that says what to compile
    pub(crate) order: Option<std::path::PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WorkerKind {
    /// Shared libraries on this machine's processor
    Cpu,
    /// Kernels on a GPU
    Cuda,
    /// One compilation by NVRTC
    Nvrtc,
}
