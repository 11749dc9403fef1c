//! Flags of the verbs about one configuration or one space of a kernel.

use clap::Args;
use kiln_app::Utf8PathBuf;

use super::{BuildingArgs, ChoosingArgs, HearingArgs, MeasuringArgs, SelectingArgs, Until};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kiln space kernels/attention\n  kiln space kernels/attention --arch sm_90a --sample 5\n  kiln space space.json --list | wc -l"
)]
pub(crate) struct SpaceArgs {
    #[command(flatten)]
    pub(crate) selecting: SelectingArgs,
    /// List every valid configuration, one per line, in index order
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
    after_help = "Examples:\n  kiln gate kernels/attention --config \"BLOCK_M=64,WARPS=4\"\n  kiln gate kernels/matmul --arch sm_89 --until build\n  kiln gate kernels/attention --arch all"
)]
pub(crate) struct GateArgs {
    #[command(flatten)]
    pub(crate) selecting: SelectingArgs,
    /// Configuration, as NAME=VALUE,...; omitted tunables take their default
    #[arg(long, value_name = "NAME=VALUE,...", default_value = "")]
    pub(crate) config: String,
    /// Evaluate only the rules of the kernel file; build and run nothing
    #[arg(long)]
    pub(crate) r#static: bool,
    /// Stop after this step; needs no GPU
    #[arg(long, value_enum, conflicts_with = "static")]
    pub(crate) until: Option<Until>,
    #[command(flatten)]
    pub(crate) building: BuildingArgs,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kiln check kernels/attention\n  kiln check kernels/softmax --config \"VEC=16,CHAINS=4\" --full\n  kiln check kernels/softmax --study last\n  kiln check kernels/softmax --workload short"
)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) selecting: SelectingArgs,
    #[command(flatten)]
    pub(crate) choosing: ChoosingArgs,
    /// Run the whole suite: every distribution, every workload, more reruns
    #[arg(long)]
    pub(crate) full: bool,
    /// Seed of the inputs [default: a new one, printed]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) building: BuildingArgs,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kiln bench kernels/attention\n  kiln bench kernels/softmax --study last --baseline numpy\n  kiln bench kernels/softmax --config VEC=16 --cold --samples 200\n  kiln bench kernels/softmax --config VEC=16 --against VEC=8\n  kiln bench kernels/softmax --baselines"
)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) selecting: SelectingArgs,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArgs,
    #[command(flatten)]
    pub(crate) choosing: ChoosingArgs,
    /// Compare with another configuration or with the winner of a study; add --baseline to include a baseline
    #[arg(long, value_name = "NAME=VALUE,...|STUDY")]
    pub(crate) against: Option<String>,
    /// Measure the baselines alone; needs no working configuration
    #[arg(long, conflicts_with_all = ["config", "study", "against"])]
    pub(crate) baselines: bool,
    /// Measure against this baseline only
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Measure until speedups are known to within plus or minus this many per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    pub(crate) width: f64,
    /// Maximum samples on each side
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub(crate) max_samples: usize,
    /// Differences below this many per cent count as equal
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0)]
    pub(crate) dead_zone: f64,
    /// Include holdout workloads
    #[arg(long)]
    pub(crate) all: bool,
    /// Write every sample to a run file, for `kiln compare`
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) building: BuildingArgs,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}
