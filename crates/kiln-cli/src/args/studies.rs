//! Flags of the verbs about recorded studies.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(
    after_help = "A name works wherever an id does: `kiln show NAME`, `kiln bench PATH --study NAME`.\n\nExamples:\n  kiln studies rename last before-fix\n  kiln studies tag before-fix h200 paper\n  kiln studies tag before-fix paper --remove\n  kiln studies delete before-fix --yes"
)]
pub(crate) struct StudiesArgs {
    #[command(subcommand)]
    pub(crate) verb: StudiesVerb,
}

/// What to do with studies.
#[derive(Debug, Subcommand)]
pub(crate) enum StudiesVerb {
    /// Name a study; the name then works wherever an id does
    Rename {
        /// The study: an id or part of one, a name, `last`, or a kernel's name for its newest study
        study: String,
        /// The new name; omit it to remove the current one
        name: Option<String>,
    },
    /// Add tags to a study, to list it by with `kiln history --tag`
    Tag {
        /// The study
        study: String,
        /// Tags
        #[arg(required = true, value_name = "TAG")]
        tags: Vec<String>,
        /// Remove these tags instead
        #[arg(long)]
        remove: bool,
    },
    /// Delete studies with all their trials and samples, or benchmarks; best.toml files stay
    Delete {
        /// The studies, or runs that `kiln history` lists
        #[arg(required = true, value_name = "STUDY|RUN")]
        studies: Vec<String>,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kiln show last\n  kiln show flash_attention --refusals\n  kiln show last --importance\n  kiln show last --csv > trials.csv\n  kiln show 7f3a9c21 --json"
)]
pub(crate) struct ShowArgs {
    /// A study's name, the id of a study or benchmark or part of it, `last` for the last study, or a kernel's name for its newest study
    #[arg(default_value = "last")]
    pub(crate) study: String,
    /// List every refusal with its reason instead
    #[arg(long)]
    pub(crate) refusals: bool,
    /// List every trial instead
    #[arg(long, conflicts_with = "refusals")]
    pub(crate) trials: bool,
    /// Print every trial as a row of a CSV table instead: phase, state, gate, time, tunables as columns
    #[arg(long, conflicts_with_all = ["refusals", "trials", "importance", "json"])]
    pub(crate) csv: bool,
    /// Show which tunables mattered, which interact, and which values are worth adding
    #[arg(long, conflicts_with_all = ["refusals", "trials"])]
    pub(crate) importance: bool,
    /// Print one JSON object with study, notes and every trial, refusals included, instead
    #[arg(long)]
    pub(crate) json: bool,
}
