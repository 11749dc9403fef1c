//! Flags of the verbs about this machine and folder.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Exits with 1 if a finding fails; warnings alone exit with 0.")]
pub(crate) struct DoctorArgs {
    /// A kernel's folder or its kernel.toml, to check the versions its [environment] requires
    pub(crate) path: Option<kiln_app::Utf8PathBuf>,
    /// Apply safe fixes: create .kiln, trim the build cache, remove leftovers of killed builds, and create .kiln/venv with
    /// NumPy (from PyPI) if Python has none
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kiln init row_softmax && kiln space row_softmax")]
pub(crate) struct InitArgs {
    /// Name of the kernel and of the folder it is written to
    #[arg(default_value = "my_kernel")]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
#[command(after_help = "The cache is in .kiln/cache under the current folder.")]
pub(crate) struct CacheArgs {
    /// Remove everything
    #[arg(long)]
    pub(crate) clear: bool,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kiln explain\n  kiln explain numerics\n  kiln explain too_noisy\n  kiln explain race_shared_raw"
)]
pub(crate) struct ExplainArgs {
    /// The name of a gate, a verdict or a cause, as kiln prints it [default: list all]
    pub(crate) name: Option<String>,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kiln completions bash > ~/.local/share/bash-completion/completions/kiln\n  kiln completions zsh > ~/.zfunc/_kiln\n  kiln completions fish > ~/.config/fish/completions/kiln.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  kiln man | man -l -\n  kiln man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write the pages of all commands into this folder instead of kiln's own page to standard output
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<kiln_app::Utf8PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// What it runs
    #[arg(value_enum)]
    pub(crate) kind: WorkerKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WorkerKind {
    /// Shared libraries on this machine's processor
    Cpu,
    /// Kernels on a GPU
    Cuda,
    /// Compilations by NVRTC
    Nvrtc,
}

impl From<WorkerKind> for kiln_app::WorkerKind {
    fn from(kind: WorkerKind) -> kiln_app::WorkerKind {
        match kind {
            WorkerKind::Cpu => kiln_app::WorkerKind::Cpu,
            WorkerKind::Cuda => kiln_app::WorkerKind::Cuda,
            WorkerKind::Nvrtc => kiln_app::WorkerKind::Nvrtc,
        }
    }
}
