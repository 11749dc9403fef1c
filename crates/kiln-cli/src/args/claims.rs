//! Flags of `kiln claims` and `kiln reproduce`.

use clap::{Args, ValueEnum};
use kiln_app::Utf8PathBuf;

use super::{BuildingArgs, HearingArgs};

/// How claims are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClaimsFormat {
    /// For a terminal
    Text,
    /// A table for a pull request or a README
    Markdown,
    /// One JSON object
    Json,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 no claim is refuted, 2 a mistake in the file, 5 a claim is refuted.\n\nA claim:\n  [[claims]]\n  claim = \"1.2 to 2.4x of PyTorch\"\n  where = \"README.md\"\n  kernel = \"kernels/attention\"\n  workload = \"s2048_d64\"\n  baseline = \"torch\"\n  speedup = [1.2, 2.4]      # or time = \"1.36 ms\" with device = \"H200\"\n\nExamples:\n  kiln claims claims.toml\n  kiln claims claims.toml --format markdown"
)]
pub(crate) struct ClaimsArgs {
    /// File of claims
    pub(crate) file: Utf8PathBuf,
    /// GPU: its index or UUID [default: 0]
    #[arg(long, value_name = "GPU")]
    pub(crate) device: Option<String>,
    /// Samples on each side (at least 25, rounded up to a multiple of 5)
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) samples: usize,
    /// Maximum samples on each side
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub(crate) max_samples: usize,
    /// Measure until figures are known to within plus or minus this many per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    pub(crate) width: f64,
    /// Seed of everything random [default: a new one]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = ClaimsFormat::Text, conflicts_with = "json")]
    pub(crate) format: ClaimsFormat,
    #[command(flatten)]
    pub(crate) building: BuildingArgs,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Print one JSON object instead; the same as --format json
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The kernel is built from its files as they are now; differences in environment and code are listed. Times are compared by the rules of `kiln compare`.\n\nExit codes: 0 reproduced, or too noisy to tell, 2 it cannot be measured again, 3 a gate refuses the configuration now, 5 it is slower now.\n\nExamples:\n  kiln reproduce last\n  kiln reproduce run.json\n  kiln reproduce run.json --path kernels/softmax"
)]
pub(crate) struct ReproduceArgs {
    /// A run file (`kiln bench --save FILE`), or the id or name of a study or a recorded run; `last` is the last study
    #[arg(value_name = "STUDY|RUNFILE")]
    pub(crate) what: String,
    /// The kernel's folder or its kernel.toml [default: where it was]
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<Utf8PathBuf>,
    /// GPU: its index or UUID [default: 0]
    #[arg(long, value_name = "GPU")]
    pub(crate) device: Option<String>,
    /// Samples on each side [default: as many as the result has]
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<usize>,
    /// Seed of everything random [default: a new one]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// A regression takes more than this many per cent more time
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0)]
    pub(crate) regression: f64,
    #[command(flatten)]
    pub(crate) building: BuildingArgs,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}
