//! Flags of `kiln history`.

use clap::Args;
use kiln_app::Utf8PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Studies are recorded in .kiln under the current folder. T4 is a format for tuning results that other tools read: every configuration tried with its samples, in milliseconds, or why it failed.\n\nExamples:\n  kiln history\n  kiln history kernels/attention --limit 5\n  kiln history kernels/attention --changes --device H200 --since 90d\n  kiln history kernels/attention --csv > history.csv\n  kiln history kernels/attention --last-good fast\n  kiln history --series times.csv\n  kiln history last --export t4 --output results.json"
)]
pub(crate) struct HistoryArgs {
    /// Only studies of this kernel: its folder, its kernel.toml or its name; with --export, the study to export
    #[arg(value_name = "PATH|KERNEL|STUDY")]
    pub(crate) kernel: Option<Utf8PathBuf>,
    /// Show when the kernel became faster or slower: changes of level in its runs, with the commits and the bisection to run
    #[arg(long, requires = "kernel", conflicts_with_all = ["export", "tag"])]
    pub(crate) changes: bool,
    /// Print every run of the kernel as a row of a CSV table instead, with its level
    #[arg(long, requires = "kernel", conflicts_with_all = ["export", "tag", "json"])]
    pub(crate) csv: bool,
    /// Name the newest commit recorded as good: it builds, is correct (check), or is fast
    #[arg(
        long,
        value_name = "build|check|fast",
        num_args = 0..=1,
        default_missing_value = "check",
        conflicts_with_all = ["export", "tag", "changes", "csv"]
    )]
    pub(crate) last_good: Option<String>,
    /// Look for changes of level in this file instead: CSV with titles, or JSON lists of numbers; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kernel", "export", "tag", "changes", "csv", "last_good"])]
    pub(crate) series: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) which: WhichRunsArgs,
    /// Export one study in another tool's format
    #[arg(long, value_name = "FORMAT", value_enum, requires = "kernel", conflicts_with_all = ["json", "limit"])]
    pub(crate) export: Option<Export>,
    /// File to write it to [default: standard output]
    #[arg(long, value_name = "FILE", requires = "export")]
    pub(crate) output: Option<Utf8PathBuf>,
    /// Only records of this workload; with --export, of a study that tuned each workload separately
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// Only studies with this tag
    #[arg(long, value_name = "TAG", conflicts_with = "export")]
    pub(crate) tag: Option<String>,
    /// Show the newest N
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

/// The least change of level that is reported, in per cent.
const MIN_CHANGE: f64 = 2.0;

/// Which records are listed, and which runs `--changes` and `--csv` are about.
#[derive(Debug, Args)]
pub(crate) struct WhichRunsArgs {
    /// Only records of devices or hosts whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) device: Option<String>,
    /// Only records of this target
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Only records of this variant, such as T=bf16
    #[arg(long, value_name = "T=DTYPE")]
    pub(crate) variant: Option<String>,
    /// Only records of this configuration, as `kiln show RUN` prints it, in any order; of studies, their winner's
    #[arg(long, value_name = "NAME=VALUE,...", conflicts_with = "any_config")]
    pub(crate) config: Option<String>,
    /// Take runs of all configurations as one series
    #[arg(long)]
    pub(crate) any_config: bool,
    /// Only records since a date, such as 2026-03-01, or 30d for the last 30 days
    #[arg(long, value_name = "DATE|DAYS")]
    pub(crate) since: Option<String>,
    /// Order runs by the time they were measured [default: by commit]
    #[arg(long)]
    pub(crate) by_time: bool,
    /// Smallest change of level to report [default: 2]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) min_change: Option<f64>,
}

impl WhichRunsArgs {
    /// The least change, as it was typed or as it is usual.
    pub(crate) fn min_change(&self) -> f64 {
        self.min_change.unwrap_or(MIN_CHANGE)
    }
}

/// Forms a study can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Export {
    /// T4 results, which Kernel Tuner's tools read
    T4,
}
