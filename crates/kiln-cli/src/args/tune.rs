//! Flags of `kiln tune`.

use clap::Args;
use kiln_app::Utf8PathBuf;

use super::{BuildingArgs, HearingArgs, MeasuringArgs, SelectingArgs, Until};

#[derive(Debug, Args)]
#[command(
    after_help = "Phases: the default configuration, a seed of 20, a search of 100, finals (full check on fresh inputs, run-off), confirmation against the baseline, ablation. Everything is recorded under .kiln as it happens.\n\nExamples:\n  kiln tune kernels/attention\n  kiln tune kernels/softmax --trials 60 --minutes 2 --baseline numpy\n  kiln tune kernels/attention --resume\n  kiln tune kernels/attention --name before-fix --tag h200\n  kiln tune kernels/attention --all-variants\n  kiln tune kernels/matmul --arch sm_90a --until build"
)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) selecting: SelectingArgs,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArgs,
    /// Baseline to beat [default: the file's first that runs here]
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Configurations to try, the first 20 of them spread over the space [default: 120]
    #[arg(long, value_name = "N")]
    pub(crate) trials: Option<usize>,
    /// Time budget for the whole study, finals and confirmation included
    #[arg(long, value_name = "M")]
    pub(crate) minutes: Option<f64>,
    /// Money budget for the whole study, at --price
    #[arg(long, value_name = "AMOUNT", requires = "price")]
    pub(crate) cost: Option<f64>,
    /// Price of an hour of this machine: kiln predicts time and cost, and records what was spent [default: the open
    /// session's]
    #[arg(long, value_name = "AMOUNT")]
    pub(crate) price: Option<f64>,
    /// Speedup to reach [default: the file's, else 1.10]
    #[arg(long, value_name = "X")]
    pub(crate) target_speedup: Option<f64>,
    /// Stop after this step: compile what would be tried and report what would be refused; needs no GPU
    #[arg(long, value_enum, conflicts_with_all = ["resume", "replay"])]
    pub(crate) until: Option<Until>,
    /// Search strategy: auto, forest, tpe, genetic, tabu, annealing, latin or random; `kiln simulate` compares them
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) strategy: String,
    /// Start from the results of a study or a file (Kernel Tuner cache, T4) of another GPU or shape; may be repeated
    /// [default: the newest studies of this kernel in this folder]
    #[arg(long, value_name = "STUDY|FILE", conflicts_with_all = ["resume", "replay", "no_prior"])]
    pub(crate) prior: Vec<String>,
    /// Ignore earlier studies
    #[arg(long)]
    pub(crate) no_prior: bool,
    /// Continue even if the default (or else the best of the seed phase) is below half the baseline's speed, or all
    /// configurations fail alike
    #[arg(long)]
    pub(crate) no_stop: bool,
    /// Skip the ablation phase
    #[arg(long)]
    pub(crate) no_ablation: bool,
    /// Skip looking for the cause of refusals: by default the first of each kind is sanitized when the study is over, for 30 s
    /// at most
    #[arg(long)]
    pub(crate) no_sanitize: bool,
    /// Skip the profile: by default kiln says what limits a default below half the baseline's speed, the best of a study that
    /// stopped, and on a GPU with Nsight Compute the winner, for 30 s at most each
    #[arg(long)]
    pub(crate) no_profile: bool,
    /// Continue an unfinished study with its own settings [default: the newest of this kernel]
    #[arg(long, value_name = "STUDY", num_args = 0..=1, default_missing_value = "", conflicts_with = "replay")]
    pub(crate) resume: Option<String>,
    /// Repeat a study from its recorded timings, without running anything; with --out, write its winner
    #[arg(long, value_name = "STUDY")]
    pub(crate) replay: Option<String>,
    /// Folder for best.toml and the header, whatever winner is there [default: .kiln/best/NAME, which keeps the best]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<Utf8PathBuf>,
    /// Write the winner into the kernel's table of tuned configurations (`tuned` in [target.*]), which later studies start
    /// from
    #[arg(long, conflicts_with_all = ["replay", "until"])]
    pub(crate) adopt: bool,
    /// Name of the study; it works wherever an id does
    #[arg(long, value_name = "NAME", conflicts_with_all = ["replay", "until", "all_variants"])]
    pub(crate) name: Option<String>,
    /// Tag to list the study by with `kiln history --tag`; may be repeated
    #[arg(long, value_name = "TAG", conflicts_with_all = ["replay", "until"])]
    pub(crate) tag: Vec<String>,
    /// Tune every variant of the kernel, one after another; the exit code is the worst of them
    #[arg(long, conflicts_with_all = ["variant", "resume", "replay", "until"])]
    pub(crate) all_variants: bool,
    #[command(flatten)]
    pub(crate) building: BuildingArgs,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Print one JSON object at the end instead
    #[arg(long)]
    pub(crate) json: bool,
}
