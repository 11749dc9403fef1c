//! Flags of `kiln fuzz`.

use clap::Args;

use super::{BuildingArgs, HearingArgs, SelectingArgs};

#[derive(Debug, Args)]
#[command(
    after_help = "Shapes are drawn around the workloads: edges of tiles, odd and extreme sizes, as far as constraints admit them; [fuzz] in kernel.toml states what dimensions may be. A failing case is shrunk to the smallest one that fails, printed with a command that replays it, and kept under .kiln/fuzz, where it runs first next time.\n\nExamples:\n  kiln fuzz kernels/softmax\n  kiln fuzz kernels/attention --suite attention --minutes 10\n  kiln fuzz kernels/softmax --study last --runs 100\n  kiln fuzz kernels/softmax --baseline numpy --cases 500\n  kiln fuzz kernels/softmax --config VEC=16 --case 'ROWS=65,COLS=7; inputs=spike; seed=3'"
)]
pub(crate) struct FuzzArgs {
    #[command(flatten)]
    pub(crate) selecting: SelectingArgs,
    /// Fuzz this configuration only, as NAME=VALUE,...; omitted tunables take their default [default: the default and
    /// others of the space]
    #[arg(
        long,
        value_name = "NAME=VALUE,...",
        default_value = "",
        hide_default_value = true,
        conflicts_with = "study"
    )]
    pub(crate) config: String,
    /// Fuzz the winner of this study only
    #[arg(long, value_name = "STUDY")]
    pub(crate) study: Option<String>,
    /// Fuzz this baseline instead of the kernel
    #[arg(long, value_name = "NAME", conflicts_with_all = ["config", "study", "runs"])]
    pub(crate) baseline: Option<String>,
    /// Check the shapes of a suite instead of drawn ones: [fuzz.suites.NAME] in kernel.toml; kernels whose reference is
    /// `attention` also have the suite `attention`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["case", "runs"])]
    pub(crate) suite: Option<String>,
    /// Check one case, such as `S=65,D=64; inputs=spike; seed=3`; omitted dimensions are those of the first workload
    #[arg(long, value_name = "CASE", conflicts_with = "runs")]
    pub(crate) case: Option<String>,
    /// Cases to check
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) cases: usize,
    /// Time budget; what was not run is reported
    #[arg(long, value_name = "M", default_value_t = 2.0)]
    pub(crate) minutes: f64,
    /// Good runs of one configuration, for each variant; 100 make it `validated`, which is recorded
    #[arg(long, value_name = "N", conflicts_with = "cases")]
    pub(crate) runs: Option<usize>,
    /// Configurations to fuzz at most, for each variant, the default included
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) configs: usize,
    /// Cases to check at the same time [default: one for each processor; 1 on a GPU and with a Python reference]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Seed of the cases [default: a new one, printed]
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
