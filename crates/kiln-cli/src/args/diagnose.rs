//! Flags of `kiln diagnose`.

use clap::Args;
use kiln_app::Utf8PathBuf;

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("input").required(true).args(["sanitizer", "ncu", "predict", "calibration"]))]
#[command(
    after_help = "Reads logs of compute-sanitizer and of the address, undefined-behaviour, leak, thread and memory sanitizers of GCC and Clang: whole, cut, coloured, with the program's output in between.\n\nExit codes: 0 clean, 1 no tool ran or a file cannot be read, 2 no file is a known tool's log, 3 a cause was found or the result is inconclusive; with --ncu 0 a diagnosis, 2 no profile in the file.\n\nExamples:\n  compute-sanitizer --tool memcheck --print-limit 100 ./app > app.memcheck.txt 2>&1\n  kiln diagnose --sanitizer app.memcheck.txt --source app.cu\n  kiln diagnose --sanitizer app.racecheck.xml --json\n  TSAN_OPTIONS=log_path=app.tsan ./app; kiln diagnose --sanitizer app.tsan.4711\n  ncu --set full -k NAME -s 2 -c 1 -o rep ./app\n  ncu --import rep.ncu-rep --csv --page raw --print-units base > raw.csv\n  kiln diagnose kernels/attention --sanitizer app.memcheck.txt\n  kiln diagnose --ncu raw.csv --ptxas build.log --source app.cu\n  kiln diagnose --ncu raw.csv --why shared_bank_conflict\n  kiln diagnose --ncu after.csv --against before.csv\n  kiln diagnose kernels/matmul --predict --arch sm_90a\n  kiln diagnose --calibration"
)]
pub(crate) struct DiagnoseArgs {
    /// Kernel: its folder or its kernel.toml. A log or a profile of it counts as an attempt with it, also where it was written on
    /// another machine [default: . for --predict, all kernels for --calibration, none otherwise]
    #[arg(conflicts_with = "against")]
    pub(crate) path: Option<Utf8PathBuf>,
    /// Hold what earlier profiles promised against what came of it: every change of a kernel after `kiln profile` named a cause
    #[arg(long, conflicts_with_all = ["predict", "ncu", "sanitizer", "source", "against", "svg", "details", "source_page", "ptxas", "why"])]
    pub(crate) calibration: bool,
    /// Predict the least time and the likely bottleneck of a kernel from its cost, its launches and the GPU's peaks; runs nothing
    #[arg(long, conflicts_with_all = ["ncu", "sanitizer", "source", "against", "svg", "details", "source_page", "ptxas", "why"])]
    pub(crate) predict: bool,
    /// GPU architecture to predict for, such as sm_90a; the GPU need not be here [default: this machine's GPU]
    #[arg(long, value_name = "SM", requires = "predict", conflicts_with_all = ["ncu", "sanitizer", "calibration"])]
    pub(crate) arch: Option<String>,
    /// Board to predict for, such as h200 or rtx_4090 [default: this machine's GPU, else the fastest of the architecture]
    #[arg(long, value_name = "NAME", requires = "predict", conflicts_with_all = ["ncu", "sanitizer", "calibration"])]
    pub(crate) board: Option<String>,
    /// Workload to predict [default: every tuned workload]
    #[arg(long, value_name = "NAME", requires = "predict", conflicts_with_all = ["ncu", "sanitizer", "calibration"])]
    pub(crate) workload: Option<String>,
    /// Dtype of a type variable, such as T=bf16 [default: the first of each]
    #[arg(long, value_name = "T=DTYPE", requires = "predict", conflicts_with_all = ["ncu", "sanitizer", "calibration"])]
    pub(crate) variant: Option<String>,
    /// Configuration to predict, as NAME=VALUE,...; omitted tunables take their default
    #[arg(long, value_name = "NAME=VALUE,...", default_value = "", hide_default_value = true, requires = "predict", conflicts_with_all = ["ncu", "sanitizer", "calibration"])]
    pub(crate) config: String,
    /// Log of compute-sanitizer (text or XML) or of a compiler's sanitizer; repeat it for several logs of one program, also for what it
    /// prints without a tool
    #[arg(long, value_name = "LOG")]
    pub(crate) sanitizer: Vec<Utf8PathBuf>,
    /// Raw page of Nsight Compute (CSV), or a report (.ncu-rep) where ncu is installed: names what the kernel's time goes to
    #[arg(long, value_name = "RAW.csv")]
    pub(crate) ncu: Option<Utf8PathBuf>,
    /// Compare with another profile, of the same kernel before a change or of a baseline: what changed, and how much of the difference in
    /// time it explains
    #[arg(long, value_name = "RAW.csv", requires = "ncu", conflicts_with_all = ["why", "details", "ptxas"])]
    pub(crate) against: Option<Utf8PathBuf>,
    /// Write the kernel under the roofs, how busy each unit is and what warps wait for as SVG files into this folder
    #[arg(long, value_name = "FOLDER", requires = "ncu", conflicts_with = "against")]
    pub(crate) svg: Option<Utf8PathBuf>,
    /// Details page of the same report
    #[arg(long, value_name = "CSV", requires = "ncu")]
    pub(crate) details: Option<Utf8PathBuf>,
    /// Source page of the same report (ncu --import rep.ncu-rep --csv --page source --print-source cuda,sass): names the hot lines; a
    /// .ncu-rep has it within
    #[arg(long, value_name = "CSV", requires = "ncu", conflicts_with = "against")]
    pub(crate) source_page: Option<Utf8PathBuf>,
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
