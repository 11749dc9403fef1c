//! Flags of `kiln simulate`.

use clap::Args;
use kiln_app::Utf8PathBuf;

use super::HearingArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "A recorded space holds what every configuration of a kernel took on one GPU. A search is replayed on it: each proposal is answered from the record, a failed configuration as a refusal, and each costs one evaluation. What counts is optimum/best, the share of the best possible speed, after 20, 50, 100 and 220 evaluations (and 10 with --prior).\n\nA study recorded only what it tried, so a search on it is confined to those configurations.\n\nExamples:\n  kiln simulate gemm_A100.json.gz --strategy auto,random\n  kiln simulate hub/*.json.gz --repeats 50 --figure convergence.svg\n  kiln simulate gemm_A6000.json.gz --prior gemm_A100.json.gz --budget 50\n  kiln simulate gemm_A6000.json.gz --prior gemm_A100.json.gz --invert-prior\n  kiln simulate last --strategy random,tpe --budget 50"
)]
pub(crate) struct SimulateArgs {
    /// Kernel Tuner caches and T4 files (.json, .json.gz; cut off or not), or studies of this folder: an id, `last`, a kernel's name
    #[arg(required = true, value_name = "FILE|STUDY")]
    pub(crate) files: Vec<String>,
    /// Strategies to try, with commas between: random, latin, tpe, genetic, tabu, annealing, forest, auto
    #[arg(long, value_name = "NAMES", default_value = "auto", value_delimiter = ',')]
    pub(crate) strategy: Vec<String>,
    /// Evaluations of one search
    #[arg(long, value_name = "N", default_value_t = 220, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) budget: u32,
    /// Searches with each strategy on each file, each with a seed of its own
    #[arg(long, value_name = "R", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) repeats: u32,
    /// Seed of the first search; the next have the next
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) seed: u64,
    /// What another GPU or another shape of the kernel took: a recorded file or a study that searches start from
    #[arg(long, value_name = "FILE|STUDY")]
    pub(crate) prior: Vec<String>,
    /// Exchange fast and slow in the priors: what does a misleading one cost?
    #[arg(long, requires = "prior")]
    pub(crate) invert_prior: bool,
    /// Answer with one recorded sample, drawn at random, instead of the mean
    #[arg(long)]
    pub(crate) noise: bool,
    /// Another number for a constant of the strategies
    #[arg(long, value_name = "NAME=NUMBER")]
    pub(crate) constant: Vec<String>,
    /// Searches at a time [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Draw how the best improves into this file, as SVG
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) figure: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}
