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
    /// Replay recorded spaces to see how few evaluations a search strategy needs, without a GPU
    Simulate(SimulateArgs),
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
            Verb::Simulate(args) => args.json,
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
    /// GPU: its number among those CUDA_VISIBLE_DEVICES shows, its UUID, or a MIG slice's; for `tune` also several of one
    /// model, such as 0,1,2, which then share the study [default: 0]
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
    /// Search strategy: auto, forest, tpe, genetic, tabu, annealing, latin or random; `kiln simulate` compares them
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) strategy: String,
    /// Start from what a study or a file (Kernel Tuner cache, T4) measured, on another GPU or another shape; may be given
    /// several times [default: the newest studies of this kernel in this folder]
    #[arg(long, value_name = "STUDY|FILE", conflicts_with_all = ["resume", "replay", "no_prior"])]
    pub(crate) prior: Vec<String>,
    /// Start from nothing
    #[arg(long)]
    pub(crate) no_prior: bool,
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
    /// Write the winner into the kernel's table of tuned configurations, the file [target.*] names under `tuned`: kiln
    /// begins with it from then on
    #[arg(long, conflicts_with_all = ["replay", "until"])]
    pub(crate) adopt: bool,
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
    /// Include holdout workloads
    #[arg(long)]
    pub(crate) all: bool,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Studies are recorded in .kiln under the current folder. T4 is the community's form of tuning results: every configuration tried with its samples, in milliseconds, or why it failed.\n\nExamples:\n  kiln history\n  kiln history kernels/attention --limit 5\n  kiln history last --export t4 --output results.json"
)]
pub(crate) struct HistoryArgs {
    /// Only studies of this kernel: its folder, its kernel.toml or its name; with --export, the study meant
    #[arg(value_name = "PATH|KERNEL|STUDY")]
    pub(crate) kernel: Option<Utf8PathBuf>,
    /// Write one study in another tool's form instead
    #[arg(long, value_name = "FORMAT", value_enum, requires = "kernel", conflicts_with_all = ["json", "limit"])]
    pub(crate) export: Option<Export>,
    /// File to write it to [default: standard output]
    #[arg(long, value_name = "FILE", requires = "export")]
    pub(crate) output: Option<Utf8PathBuf>,
    /// Of a study that tuned each workload apart: the workload meant
    #[arg(long, value_name = "NAME", requires = "export")]
    pub(crate) workload: Option<String>,
    /// The newest N
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

/// Forms a study can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Export {
    /// T4 results, which Kernel Tuner's tools read
    T4,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A recorded space holds what every configuration of a kernel took on one GPU. A search is replayed on it: each proposal is answered from the record, a failed configuration as a refusal, and each costs one evaluation. What counts is optimum/best, the share of the best possible speed, after 20, 50, 100 and 220 evaluations (and 10 with --prior).\n\nA study recorded only what it tried, so a search on it is confined to those configurations.\n\nExamples:\n  kiln simulate gemm_A100.json.gz --strategy auto,random\n  kiln simulate hub/*.json.gz --repeats 50 --figure convergence.svg\n  kiln simulate gemm_A6000.json.gz --prior gemm_A100.json.gz --budget 50\n  kiln simulate gemm_A6000.json.gz --prior gemm_A100.json.gz --invert-prior\n  kiln simulate last --strategy random,tpe --budget 50"
)]
pub(crate) struct SimulateArgs {
    /// Kernel Tuner caches and T4 files (.json, .json.gz; cut off or not), or studies of this folder: an id, `last`, a kernel's name
    #[arg(required = true, value_name = "FILE|STUDY")]
    pub(crate) files: Vec<String>,
    /// Strategies to try, with commas between: random, latin, tpe, genetic, tabu, annealing, forest, auto
    #[arg(long, value_name = "NAMES", default_value = "auto", value_delimiter = ',')]
    pub(crate) strategy: Vec<String>,
    /// Evaluations of one search
    #[arg(long, value_name = "N", default_value_t = 220, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) budget: u32,
    /// Searches with each strategy on each file, each with a seed of its own
    #[arg(long, value_name = "R", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) repeats: u32,
    /// Seed of the first search; the next have the next
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) seed: u64,
    /// What another GPU or another shape of the kernel took: a recorded file or a study that searches start from
    #[arg(long, value_name = "FILE|STUDY")]
    pub(crate) prior: Vec<String>,
    /// Exchange fast and slow in the priors: what does a misleading one cost?
    #[arg(long, requires = "prior")]
    pub(crate) invert_prior: bool,
    /// Answer with one recorded sample, drawn at random, instead of the mean
    #[arg(long)]
    pub(crate) noise: bool,
    /// Another number for a constant of the strategies
    #[arg(long, value_name = "NAME=NUMBER")]
    pub(crate) constant: Vec<String>,
    /// Searches at a time [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Draw how the best improves into this file, as SVG
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) figure: Option<Utf8PathBuf>,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kiln show last\n  kiln show attention --refusals\n  kiln show last --importance\n  kiln show 7f3a9c21 --json"
)]
pub(crate) struct ShowArgs {
    /// A study's id or a piece of it, `last`, or a kernel's name for its newest
    pub(crate) study: String,
    /// List every refusal with its reason instead
    #[arg(long)]
    pub(crate) refusals: bool,
    /// List every trial instead
    #[arg(long, conflicts_with = "refusals")]
    pub(crate) trials: bool,
    /// Tell which tunables mattered, which act together, and what values are worth adding instead
    #[arg(long, conflicts_with_all = ["refusals", "trials"])]
    pub(crate) importance: bool,
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
