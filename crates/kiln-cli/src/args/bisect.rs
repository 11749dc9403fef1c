//! Flags of `kiln bisect`.

use clap::Args;

use super::{BuildingArgs, HearingArgs, MAX_SAMPLES, MeasuringArgs, SelectingArgs, WIDTH};

#[derive(Debug, Args)]
#[command(
    after_help = "Commits are checked out into temporary worktrees; your own tree is not touched. Ctrl-C saves what is known, and the same command goes on from there.\n\nExamples:\n  kiln bisect kernels/attention --until build\n  kiln bisect kernels/attention --good v1.2 --until check\n  kiln bisect kernels/attention --good v1.2 --bad main --until fast:3% --workload s512_d64"
)]
pub(crate) struct BisectArgs {
    #[command(flatten)]
    pub(crate) selecting: SelectingArgs,
    /// A commit that is good [default: the newest recorded as good, else found by walking back in doubling steps]
    #[arg(long, value_name = "REV")]
    pub(crate) good: Option<String>,
    /// A commit that is bad
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub(crate) bad: String,
    /// What a good commit does: `build`, `check` (it is correct), or `fast:3%` (it takes at most 3 % more time than --good)
    #[arg(long, value_name = "build|check|fast:N%", default_value = "check")]
    pub(crate) until: String,
    /// Configuration, as NAME=VALUE,... [default: each commit's own default]
    #[arg(long, value_name = "NAME=VALUE,...", default_value = "", hide_default_value = true)]
    pub(crate) config: String,
    /// Forget what an interrupted bisection found
    #[arg(long)]
    pub(crate) restart: bool,
    /// Measure until times are known to within plus or minus this many per cent
    #[arg(long, value_name = "PERCENT", default_value_t = WIDTH)]
    pub(crate) width: f64,
    /// Maximum samples on each side of one measurement
    #[arg(long, value_name = "N", default_value_t = MAX_SAMPLES)]
    pub(crate) max_samples: usize,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArgs,
    #[command(flatten)]
    pub(crate) building: BuildingArgs,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}
