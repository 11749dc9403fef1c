//! Flags of `kiln diagnose`.

use clap::Args;
use kiln_app::Utf8PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Reads logs of compute-sanitizer and of the address, undefined-behaviour, leak, thread and memory sanitizers of GCC and Clang: whole, cut, coloured, with the program's output in between.\n\nExit codes: 0 clean, 1 no tool ran or a file cannot be read, 2 no file is a known tool's log, 3 a cause was found or the result is inconclusive.\n\nExamples:\n  compute-sanitizer --tool memcheck --print-limit 100 ./app > app.memcheck.txt 2>&1\n  kiln diagnose --sanitizer app.memcheck.txt --source app.cu\n  kiln diagnose --sanitizer app.racecheck.xml --json\n  TSAN_OPTIONS=log_path=app.tsan ./app; kiln diagnose --sanitizer app.tsan.4711"
)]
pub(crate) struct DiagnoseArgs {
    /// Log of compute-sanitizer (text or XML) or of a compiler's sanitizer; repeat it for several logs of one program, also for what it
    /// prints without a tool
    #[arg(long, value_name = "LOG", required = true)]
    pub(crate) sanitizer: Vec<Utf8PathBuf>,
    /// Source the log speaks of; found without where it lies beside the log
    #[arg(long, value_name = "FILE")]
    pub(crate) source: Vec<Utf8PathBuf>,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}
