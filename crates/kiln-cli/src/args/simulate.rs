//! Flags of `kiln simulate`.

use clap::Args;
use kiln_app::Utf8PathBuf;

use super::HearingArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "A recorded space holds the time of every configuration of a kernel on one GPU. A search is replayed on it: each proposal is answered from the record, a failed configuration as a refusal, and each costs one evaluation. The score is optimum/best, the share of the best possible speed, after 20, 50, 100 and 220 evaluations (and 10 with --prior).\n\nA study recorded only what it tried, so a search on it is confined to those configurations.\n\nExamples:\n  kiln simulate gemm_A100.json.gz --strategy auto,random\n  kiln simulate hub/*.json.gz --repeats 50 --figure convergence.svg\n  kiln simulate gemm_A6000.json.gz --prior gemm_A100.json.gz --budget 50\n  kiln simulate gemm_A6000.json.gz --prior gemm_A100.json.gz --invert-prior\n  kiln simulate last --strategy random,tpe --budget 50"
)]
pub(crate) struct SimulateArgs {
    /// Kernel Tuner caches and T4 files (.json, .json.gz; also truncated ones), or studies of this folder: an id, `last`, a kernel's name
    #[arg(required = true, value_name = "FILE|STUDY")]
    pub(crate) files: Vec<String>,
    /// Strategies to try, separated by commas: random, latin, tpe, genetic, tabu, annealing, forest, auto
    #[arg(long, value_name = "NAMES", default_value = "auto", value_delimiter = ',')]
    pub(crate) strategy: Vec<String>,
    /// Evaluations of one search
    #[arg(long, value_name = "N", default_value_t = 220, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) budget: u32,
    /// Searches per strategy and file, each with its own seed
    #[arg(long, value_name = "R", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) repeats: u32,
    /// Seed of the first search; each further search adds 1
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Recorded file or study of another GPU or shape that searches start from
    #[arg(long, value_name = "FILE|STUDY")]
    pub(crate) prior: Vec<String>,
    /// Swap fast and slow in the priors, to see what a misleading prior costs
    #[arg(long, requires = "prior")]
    pub(crate) invert_prior: bool,
    /// Answer with one recorded sample, drawn at random, instead of the mean
    #[arg(long)]
    pub(crate) noise: bool,
    /// Override a constant of the strategies
    #[arg(long, value_name = "NAME=NUMBER")]
    pub(crate) constant: Vec<String>,
    /// Searches at a time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Plot how the best improves into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) figure: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}
