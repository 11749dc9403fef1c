//! Flags that several verbs share.

use clap::Args;
use kiln_app::{Measuring, Selecting, Utf8PathBuf};
use kiln_show::Command;

/// Which of the kernel's targets, architectures and workloads is meant.
#[derive(Debug, Clone, Args)]
pub(crate) struct SelectingArgs {
    /// A kernel's folder or its kernel.toml; `space` and `gate` also take a T1 file or a Kernel Tuner cache (.json, .json.gz)
    #[arg(default_value = ".")]
    pub(crate) path: Utf8PathBuf,
    /// Target: cuda, cpu or python [default: the file's first; for commands that run something, the first that can run here]
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// GPU architecture, such as sm_80, sm_89 or sm_90a; `gate` also takes `all`: one row per architecture, nothing is run [default: this machine's GPU, else the target's first, else sm_80]
    #[arg(long, value_name = "SM")]
    pub(crate) arch: Option<String>,
    /// Workload, or `all` for every tuned workload at once [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// Dtype of a type variable, such as T=bf16 [default: the first of each]
    #[arg(long, value_name = "T=DTYPE")]
    pub(crate) variant: Option<String>,
    /// One of the target's implementations [default: all that run on the architecture compete; without a study, the first's default]
    #[arg(long, value_name = "NAME")]
    pub(crate) implementation: Option<String>,
    /// GPU: its index among those CUDA_VISIBLE_DEVICES shows, its UUID or a MIG slice's UUID; `tune` also takes several GPUs
    /// of one model, such as 0,1,2, which share the study [default: 0]
    #[arg(long, value_name = "GPU")]
    pub(crate) device: Option<String>,
}

impl From<&SelectingArgs> for Selecting {
    fn from(args: &SelectingArgs) -> Selecting {
        let SelectingArgs { path, target, arch, workload, variant, implementation, device } = args.clone();
        Selecting { path, target, arch, workload, variant, implementation, device }
    }
}

/// Which configuration.
#[derive(Debug, Args)]
pub(crate) struct ChoosingArgs {
    /// Configuration, as NAME=VALUE,...; omitted tunables take their default
    #[arg(
        long,
        value_name = "NAME=VALUE,...",
        default_value = "",
        hide_default_value = true,
        conflicts_with = "study"
    )]
    pub(crate) config: String,
    /// Use the winner of this study
    #[arg(long, value_name = "STUDY")]
    pub(crate) study: Option<String>,
}

/// How far a command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Until {
    /// Compile and report resources; run nothing
    Build,
}

/// How times are taken.
#[derive(Debug, Args)]
pub(crate) struct MeasuringArgs {
    /// Samples on each side, five from each pair of fresh workers (at least 25, rounded up to a multiple of 5) [default: 100; on a
    /// GPU `bench` ends after 40 where these tell twice as much as --width asks for]
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<usize>,
    /// Flush the caches before every sample [default on a GPU]
    #[arg(long, conflicts_with = "warm")]
    pub(crate) cold: bool,
    /// Measure with warm caches [default on a processor]
    #[arg(long)]
    pub(crate) warm: bool,
    /// Threads a kernel may use, the same on both sides
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: usize,
    /// Do not pin measurements to one processor and builds to the others
    #[arg(long)]
    pub(crate) no_pin: bool,
    /// Seed of everything random [default: a new one, printed and recorded]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
}

impl MeasuringArgs {
    /// How times are taken where at most so many samples are: the usual number gives way, one that was typed does not.
    pub(crate) fn at_most(&self, max_samples: usize) -> Measuring {
        let measuring = Measuring::from(self);
        let samples = if self.samples.is_some() { measuring.samples } else { measuring.samples.min(max_samples) };
        Measuring { samples, ..measuring }
    }
}

impl From<&MeasuringArgs> for Measuring {
    fn from(args: &MeasuringArgs) -> Measuring {
        let MeasuringArgs { samples, cold, warm, threads, no_pin, seed } = *args;
        Measuring { samples: samples.unwrap_or(Command::SAMPLES), cold, warm, threads, pin: !no_pin, seed }
    }
}

/// How long compilers may take.
#[derive(Debug, Args)]
pub(crate) struct BuildingArgs {
    /// Refuse a build that takes longer [default: 120; 300 with --until build]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) build_limit: Option<f64>,
}

/// Who else is told what happens.
#[derive(Debug, Args)]
pub(crate) struct HearingArgs {
    /// Write events to this file, one JSON object per line; `-` is standard output, and results then go to standard error
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<Utf8PathBuf>,
}
