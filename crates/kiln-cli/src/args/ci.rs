//! Flags of `kiln ci`.

use clap::Args;
use kiln_app::{Selecting, Utf8PathBuf};

use super::{BuildingArgs, HearingArgs, MeasuringArgs, PrintingArgs, ThresholdsArgs};

/// Per cent to which speedups are measured.
pub(crate) const WIDTH: f64 = 1.0;
/// Samples on each side at most.
pub(crate) const MAX_SAMPLES: usize = 200;

#[derive(Debug, Args)]
#[command(
    after_help = "Steps: doctor, build, check, fuzz, sanitize, bench. The first that fails ends the kernel; the others go on. A regression counts only if a second measurement in fresh processes confirms it.\n\nExit codes: 0 passed, 1 a fault of the environment, 2 a mistake in the input, 3 a gate refused a kernel, 5 a regression.\n\nExamples:\n  kiln ci kernels/softmax --update                 # the first time: write kiln-ratchet.toml\n  kiln ci kernels/softmax                          # compare with it\n  kiln ci kernels/* --base origin/main             # compare with a commit, measured in turns\n  kiln ci --base HEAD~1 --format markdown --out comment.md"
)]
pub(crate) struct CiArgs {
    /// Kernel folders or their kernel.toml files
    #[arg(default_value = ".")]
    pub(crate) paths: Vec<Utf8PathBuf>,
    /// Compare with this commit: it is checked out into a temporary folder, and both versions are measured in turns
    #[arg(long, value_name = "COMMIT", conflicts_with_all = ["ratchet", "update"])]
    pub(crate) base: Option<String>,
    /// Compare with this file [default: kiln-ratchet.toml beside the kernel file]
    #[arg(long, value_name = "FILE")]
    pub(crate) ratchet: Option<Utf8PathBuf>,
    /// Write confirmed improvements, and workloads that are not there yet, to the ratchet
    #[arg(long)]
    pub(crate) update: bool,
    /// Skip the fuzz step (30 drawn cases, 9 seconds at most)
    #[arg(long, conflicts_with = "nightly")]
    pub(crate) no_fuzz: bool,
    /// Fuzz up to 1,000 cases or 5 minutes, and run every sanitizer, also on the processor
    #[arg(long)]
    pub(crate) nightly: bool,
    /// Configuration, as NAME=VALUE,... [default: the ratchet's, else that of best.toml, else the file's default]
    #[arg(long, value_name = "NAME=VALUE,...", default_value = "", hide_default_value = true)]
    pub(crate) config: String,
    /// Target: cuda, cpu or python [default: the first that can run here]
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Only this workload [default: all that are tuned]
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// Dtype of a type variable, such as T=bf16 [default: the first of each]
    #[arg(long, value_name = "T=DTYPE")]
    pub(crate) variant: Option<String>,
    /// GPU: its index or UUID [default: 0]
    #[arg(long, value_name = "GPU")]
    pub(crate) device: Option<String>,
    #[command(flatten)]
    pub(crate) thresholds: ThresholdsArgs,
    /// Measure until speedups are known to within plus or minus this many per cent
    #[arg(long, value_name = "PERCENT", default_value_t = WIDTH)]
    pub(crate) width: f64,
    /// Maximum samples on each side
    #[arg(long, value_name = "N", default_value_t = MAX_SAMPLES)]
    pub(crate) max_samples: usize,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArgs,
    #[command(flatten)]
    pub(crate) printing: PrintingArgs,
    /// Append Markdown to this file as well [default: $GITHUB_STEP_SUMMARY, where it is set]
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) building: BuildingArgs,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
}

impl From<&CiArgs> for Selecting {
    fn from(args: &CiArgs) -> Selecting {
        Selecting {
            target: args.target.clone(),
            workload: args.workload.clone(),
            variant: args.variant.clone(),
            device: args.device.clone(),
            ..Selecting::default()
        }
    }
}
