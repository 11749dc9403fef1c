//! Flags of `kiln compare`.

use clap::{Args, ValueEnum};
use kiln_app::Utf8PathBuf;

/// How a comparison is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For a terminal
    Text,
    /// A comment for a pull request, or a GitHub step summary
    Markdown,
    /// One JSON object
    Json,
    /// JUnit XML: a test case for each workload
    Junit,
    /// SARIF 2.1.0: a result for each regression, for code scanning
    Sarif,
    /// Bencher Metric Format
    Bencher,
    /// github-action-benchmark, customSmallerIsBetter
    BenchmarkAction,
}

/// Per cent of time that make a regression.
pub(crate) const REGRESSION: f64 = 3.0;
/// Per cent of speedup that make an improvement.
pub(crate) const IMPROVEMENT: f64 = 10.0;

/// What a verdict on two versions demands.
#[derive(Debug, Args)]
pub(crate) struct ThresholdsArgs {
    /// A regression takes more than this many per cent more time
    #[arg(long, value_name = "PERCENT", default_value_t = REGRESSION)]
    pub(crate) regression: f64,
    /// An improvement has a speedup of at least 1 plus this many per cent
    #[arg(long, value_name = "PERCENT", default_value_t = IMPROVEMENT)]
    pub(crate) improvement: f64,
}

/// How verdicts on versions are printed, and where.
#[derive(Debug, Args)]
pub(crate) struct PrintingArgs {
    /// How to print it
    #[arg(long, value_enum, default_value_t = CompareFormat::Text, conflicts_with = "json")]
    pub(crate) format: CompareFormat,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<Utf8PathBuf>,
    /// Print one JSON object instead; the same as --format json
    #[arg(long)]
    pub(crate) json: bool,
}

impl PrintingArgs {
    /// The form that is asked for in either way.
    pub(crate) fn format(&self) -> CompareFormat {
        if self.json { CompareFormat::Json } else { self.format }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 no regression, 2 the runs cannot be compared, 5 a regression.\n\nExamples:\n  kiln bench kernels/softmax --save base.json\n  kiln bench kernels/softmax --save head.json\n  kiln compare base.json head.json\n  kiln compare base.json last --format markdown >> $GITHUB_STEP_SUMMARY"
)]
pub(crate) struct CompareArgs {
    /// The run to compare with: a run file, a file of nvbench, Google Benchmark or hyperfine, a list of times, a recorded run's id, or `last`
    #[arg(value_name = "BASE")]
    pub(crate) base: String,
    /// The run that is judged
    #[arg(value_name = "CANDIDATE")]
    pub(crate) candidate: String,
    /// Compare this side of both runs, such as a baseline [default: the candidate]
    #[arg(long, value_name = "NAME")]
    pub(crate) side: Option<String>,
    /// Compare times as they are, not relative to a baseline that both runs have
    #[arg(long)]
    pub(crate) plain: bool,
    /// Compare runs of different devices, caches or threads anyway
    #[arg(long)]
    pub(crate) anyway: bool,
    #[command(flatten)]
    pub(crate) thresholds: ThresholdsArgs,
    #[command(flatten)]
    pub(crate) printing: PrintingArgs,
}
