//! Flags of `kiln diagnose`.

use clap::Args;
use kiln_app::Utf8PathBuf;

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("input").required(true).args(["sanitizer", "ncu"]))]
#[command(
    after_help = "Reads logs of compute-sanitizer and of the address, undefined-behaviour, leak, thread and memory sanitizers of GCC and Clang: whole, cut, coloured, with the program's output in between.\n\nExit codes: 0 clean, 1 no tool ran or a file cannot be read, 2 no file is a known tool's log, 3 a cause was found or the result is inconclusive; with --ncu 0 a diagnosis, 2 no profile in the file.\n\nExamples:\n  compute-sanitizer --tool memcheck --print-limit 100 ./app > app.memcheck.txt 2>&1\n  kiln diagnose --sanitizer app.memcheck.txt --source app.cu\n  kiln diagnose --sanitizer app.racecheck.xml --json\n  TSAN_OPTIONS=log_path=app.tsan ./app; kiln diagnose --sanitizer app.tsan.4711\n  ncu --set full -k NAME -s 2 -c 1 -o rep ./app\n  ncu --import rep.ncu-rep --csv --page raw --print-units base > raw.csv\n  kiln diagnose --ncu raw.csv --ptxas build.log --source app.cu\n  kiln diagnose --ncu raw.csv --why shared_bank_conflict"
)]
pub(crate) struct DiagnoseArgs {
    /// Log of compute-sanitizer (text or XML) or of a compiler's sanitizer; repeat it for several logs of one program, also for what it
    /// prints without a tool
    #[arg(long, value_name = "LOG")]
    pub(crate) sanitizer: Vec<Utf8PathBuf>,
    /// Raw page of Nsight Compute (CSV), or a report (.ncu-rep) where ncu is installed: names what the kernel's time goes to
    #[arg(long, value_name = "RAW.csv")]
    pub(crate) ncu: Option<Utf8PathBuf>,
    /// Details page of the same report
    #[arg(long, value_name = "CSV", requires = "ncu")]
    pub(crate) details: Option<Utf8PathBuf>,
    /// Log of the compiler with -Xptxas -v
    #[arg(long, value_name = "LOG", requires = "ncu")]
    pub(crate) ptxas: Option<Utf8PathBuf>,
    /// Show the rule of one cause with its values, and why the others rank lower
    #[arg(long, value_name = "CAUSE", requires = "ncu")]
    pub(crate) why: Option<String>,
    /// Source the log or profile speaks of; found without where it lies beside it
    #[arg(long, value_name = "FILE")]
    pub(crate) source: Vec<Utf8PathBuf>,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}
