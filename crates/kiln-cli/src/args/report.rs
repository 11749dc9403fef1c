//! Flags of `kiln report` and `kiln plot`.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use kiln_app::Utf8PathBuf;
use kiln_show::html::Plot;

#[derive(Debug, Args)]
#[command(
    after_help = "An .html file holds everything in itself and opens without a network. An .md file has its figures as SVG in a folder beside it (report.md: report-figures/), for a repository or a pull request. docs/report.md shows what stands in it.\n\nExamples:\n  kiln report last -o report.html\n  kiln report flash_attention -o story.md\n  kiln report session -o session.html"
)]
pub(crate) struct StoryArgs {
    /// A kernel (its folder or its name), a study (name, id or part of one, `last`), a session's id, or `session` for the one that is open, else the last
    #[arg(default_value = "last", value_name = "STUDY|SESSION|KERNEL")]
    pub(crate) of: String,
    /// File to write: .html or .md
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub(crate) output: Utf8PathBuf,
    /// Print one JSON object instead: what was written
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Several figures are numbered: x.svg, x-2.svg. That is where each workload has its own search, and for distributions. Keys of --filter: state, phase, gate, workload, top, sort, refused (hide), and t.NAME for the value of a tunable.\n\nExamples:\n  kiln plot convergence last -o convergence.svg\n  kiln plot slices last -o slices.png\n  kiln plot configurations last --filter top=50 --filter t.LANES=8,16"
)]
pub(crate) struct PlotArgs {
    /// What to draw
    #[arg(value_name = "KIND", value_parser = kinds())]
    pub(crate) kind: String,
    /// A study's name, its id or part of it, `last`, or a kernel's name for its newest study
    #[arg(default_value = "last")]
    pub(crate) study: String,
    /// File to write: .svg or .png [default: KIND.svg]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<Utf8PathBuf>,
    /// Draw only these trials; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) filter: Vec<String>,
    /// Print one JSON object instead: what was written
    #[arg(long)]
    pub(crate) json: bool,
}

fn kinds() -> PossibleValuesParser {
    let kind = |plot: Plot| PossibleValue::new(plot.name()).help(plot.meaning());
    PossibleValuesParser::new(Plot::ALL.map(kind))
}
