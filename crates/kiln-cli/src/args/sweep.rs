//! Flags of `kiln sweep`.

use clap::Args;
use kiln_app::Utf8PathBuf;

use super::{BuildingArgs, ChoosingArgs, HearingArgs, MeasuringArgs, SelectingArgs};

#[derive(Debug, Args)]
#[command(
    after_help = "Every shape is checked first, then measured in turns with the baselines, as `kiln bench` does. Without --config and --study each shape has the configuration of the nearest entry in the table of tuned configurations (`kiln tune --adopt`), else the default. Dimensions that are not swept over are those of the first workload, or of --workload. The run is recorded shape by shape: after Ctrl-C, `--resume last` goes on.\n\nExamples:\n  kiln sweep kernels/softmax --dim COLS=64..8192:x2\n  kiln sweep kernels/attention --dim SQ=512..8192:x2 --dim SK=SQ --dim H=8,32 --dim HK=H --baseline cudnn\n  kiln sweep kernels/attention --minutes 30 --out maps\n  kiln sweep kernels/attention --resume last --minutes 30"
)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) selecting: SelectingArgs,
    /// A dimension and its values: 64,96,128 or 64..8192:x2 or 64..1024:+64, or the name of another dimension that it equals; once
    /// for each dimension [default: [sweep] in kernel.toml]
    #[arg(long = "dim", value_name = "NAME=VALUES", conflicts_with = "resume")]
    pub(crate) dims: Vec<String>,
    #[command(flatten)]
    pub(crate) choosing: ChoosingArgs,
    /// Measure against this baseline only; may be given several times
    #[arg(long = "baseline", value_name = "NAME", conflicts_with = "resume")]
    pub(crate) baselines: Vec<String>,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArgs,
    /// Measure until speedups are known to within plus or minus this many per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    pub(crate) width: f64,
    /// Maximum samples on each side
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub(crate) max_samples: usize,
    /// Differences below this many per cent count as equal
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0)]
    pub(crate) dead_zone: f64,
    /// Begin no shape that would not be done by then, and stop a first one that is not (it has a minute at least); coarse shapes come first, and what is left of the time goes to further shapes
    /// near a cross-over [default: the whole grid and nothing more]
    #[arg(long, value_name = "M")]
    pub(crate) minutes: Option<f64>,
    /// Go on with an interrupted sweep: a run's id, or `last`; it is measured as it was begun
    #[arg(long, value_name = "RUN", conflicts_with_all = ["config", "study", "samples", "cold", "warm", "seed"])]
    pub(crate) resume: Option<String>,
    /// Write a picture for each baseline and sweep.json to this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) building: BuildingArgs,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}
