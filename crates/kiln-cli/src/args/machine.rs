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
#[command(
    after_help = "With --from, kiln reads a kernel you have and writes a kernel.toml with what it found: the signature, what may be tuned, the launch. What only you know is a line that begins with `# ?`; all of them are listed at the end. The file compiles and `kiln space` works while questions are open. kiln runs none of your code: C and CUDA are read and then checked by the compiler, Python is read by its own parser.\n\nExamples:\n  kiln init row_softmax && kiln space row_softmax\n  kiln init --from stencil.cu\n  kiln init --from gemm.cu tuned/gemm --entry gemm_tiled\n  kiln init --from softmax_triton.py\n  kiln init --from kernel_tuner_script.py"
)]
pub(crate) struct InitArgs {
    /// Name of the kernel and of the folder it is written to; with --from the folder [default: my_kernel; with --from beside
    /// FILE]
    pub(crate) name: Option<String>,
    /// Begin with this kernel instead of a sample: a .cu, .cpp, .c or .py file (Triton or a plain function), or a script of
    /// Kernel Tuner
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<kiln_app::Utf8PathBuf>,
    /// The kernel in FILE, if it has several
    #[arg(long, value_name = "NAME", requires = "from")]
    pub(crate) entry: Option<String>,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  kiln schema > kernel.schema.json\nThen, in a kernel.toml, for editors with Taplo (Even Better TOML):\n  #:schema ./kernel.schema.json"
)]
pub(crate) struct SchemaArgs {}

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
