//! Flags of `kiln export`.

use clap::Args;
use kiln_app::Utf8PathBuf;

use super::{BuildingArgs, HearingArgs};

#[derive(Debug, Args)]
#[command(
    after_help = "Without --config and --study, the tuned table of the kernel is exported: the configuration tuned for the nearest shape serves a call, [default] all others. Nothing is run; no GPU is needed. docs/export.md describes the folder.\n\nExamples:\n  kiln export kernels/attention --arch sm_90a\n  kiln export kernels/softmax --study last -o softmax-export\n  kiln export kernels/matmul --config \"BLOCK_N=128\" --arch sm_80 --arch sm_90a"
)]
pub(crate) struct ExportArgs {
    /// A kernel's folder or its kernel.toml
    #[arg(default_value = ".")]
    pub(crate) path: Utf8PathBuf,
    /// Target: cuda, cpu or python [default: the study's, else the file's first]
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Export this one of the target's implementations alone
    #[arg(long, value_name = "NAME", conflicts_with = "study")]
    pub(crate) implementation: Option<String>,
    /// GPU architecture to compile for, such as sm_80 or sm_90a; may be given several times [default: this machine's GPU,
    /// else every architecture of the target]
    #[arg(long, value_name = "SM")]
    pub(crate) arch: Vec<String>,
    /// Export this configuration alone, as NAME=VALUE,...; omitted tunables take their default
    #[arg(long, value_name = "NAME=VALUE,...", conflicts_with = "study")]
    pub(crate) config: Option<String>,
    /// Export the winners of this study
    #[arg(long, value_name = "STUDY")]
    pub(crate) study: Option<String>,
    /// Folder to write [default: NAME-export]
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<Utf8PathBuf>,
    /// Replace the folder even if it holds files that kiln did not write
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) building: BuildingArgs,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}
