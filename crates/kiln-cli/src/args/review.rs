//! Flags of `kiln review`.

use clap::{Args, Subcommand};
use kiln_app::Utf8PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "The folder holds a report, the evidence (JSON, CSV) and figures (SVG): whoever reads it needs no kiln. It has a template for remarks, remarks.toml, which comes back with `kiln review add`. Remarks then show in `kiln show`, `kiln history`, `kiln lessons show` and `kiln profile`.\n\nExamples:\n  kiln review export last -o review\n  kiln review export matmul\n  kiln review add review/remarks.toml"
)]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    pub(crate) verb: ReviewVerb,
    /// Print one JSON object instead
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do for a review.
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewVerb {
    /// Write a folder that a person can read without kiln: report, evidence, figures, template for remarks
    Export {
        /// A study's name or id, `last`, or a kernel's name for its newest study
        #[arg(default_value = "last")]
        study: String,
        /// Folder to write [default: review-KERNEL]
        #[arg(short, long, value_name = "FOLDER")]
        output: Option<Utf8PathBuf>,
    },
    /// Attach the remarks of a file to trials, decisions, lessons and causes
    Add {
        /// File of remarks, as docs/review.md describes it
        file: Utf8PathBuf,
    },
}
