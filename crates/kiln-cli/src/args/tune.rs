//! Flags of `kiln tune`.

use clap::Args;
use kiln_app::Utf8PathBuf;

use super::{BuildingArgs, HearingArgs, MeasuringArgs, SelectingArgs, Until};

#[derive(Debug, Args)]
#[command(
    after_help = "Phases: the default configuration, a seed of 20, a search of 100, finals (full check on fresh inputs, run against each other), confirmation against the baseline, ablation. Everything is recorded under .kiln as it happens.\n\nExamples:\n  kiln tune kernels/attention\n  kiln tune kernels/softmax --trials 60 --minutes 2 --baseline numpy\n  kiln tune kernels/attention --resume\n  kiln tune kernels/attention --name before-fix --tag h200\n  kiln tune kernels/attention --all-variants\n  kiln tune kernels/matmul --arch sm_90a --until build"
)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) selecting: SelectingArgs,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArgs,
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
    /// Name of the study, which then stands for it wherever an id does
    #[arg(long, value_name = "NAME", conflicts_with_all = ["replay", "until", "all_variants"])]
    pub(crate) name: Option<String>,
    /// Tag to list the study by with `kiln history --tag`; may be given several times
    #[arg(long, value_name = "TAG", conflicts_with_all = ["replay", "until"])]
    pub(crate) tag: Vec<String>,
    /// Tune every variant of the kernel, one after another, and show a table last; the exit code is the worst
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
