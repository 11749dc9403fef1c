//! Flags of `kiln diagnose`.

use clap::Args;
use kiln_app::Utf8PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing found, 1 no tool ran, 3 a cause was found.\n\nExamples:\n  compute-sanitizer --tool memcheck --print-limit 100 ./app > app.memcheck.txt 2>&1\n  kiln diagnose --sanitizer app.memcheck.txt --source app.cu\n  kiln diagnose --sanitizer app.racecheck.xml --json"
)]
pub(crate) struct DiagnoseArgs {
    /// Log of compute-sanitizer (text or XML) or of a compiler's address or undefined-behaviour sanitizer; repeat it for several tools' logs of one program
    #[arg(long, value_name = "LOG", required = true)]
    pub(crate) sanitizer: Vec<Utf8PathBuf>,
    /// Source the log speaks of; found without where it lies beside the log
    #[arg(long, value_name = "FILE")]
    pub(crate) source: Vec<Utf8PathBuf>,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}
