//! Flags of `kiln capture`.

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Ends with the program's exit code; with 1 if nothing was captured.\n\nExamples:\n  kiln capture --op softmax_rows -- python train.py --steps 10\n  kiln capture --op aten.mm -- python -m package.train\n  kiln capture --op model:attention --into kernels/attention/kernel.toml -- python train.py"
)]
pub(crate) struct CaptureArgs {
    /// What to record: a Triton kernel (`softmax_rows`), a PyTorch operation (`aten.mm`, `torch.mm`) or a Python function
    /// (`module:function`, `__main__:function`); may contain * and ? [default: every Triton kernel]
    #[arg(long, value_name = "NAME")]
    pub(crate) op: Vec<String>,
    /// Where to write the workloads [default: workloads.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<String>,
    /// Show what the workloads change in a kernel file, instead of writing them to a file of their own
    #[arg(long, value_name = "FILE")]
    pub(crate) into: Option<String>,
    /// Write that change into the kernel file
    #[arg(long, requires = "into")]
    pub(crate) write: bool,
    /// A dimension of the kernel file that calls do not give
    #[arg(long, value_name = "NAME=VALUE", requires = "into")]
    pub(crate) dim: Vec<String>,
    /// How many workloads to write at most, those that take the most time [default: 16]
    #[arg(long, value_name = "N")]
    pub(crate) most: Option<u32>,
    /// Save the arrays of the first call of each kind as .npy files in this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) values: Option<String>,
    /// MiB of values to save at most [default: 256]
    #[arg(long, value_name = "MIB", requires = "values")]
    pub(crate) values_limit: Option<f64>,
    /// The program, as you would run it: python train.py --steps 10
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<String>,
}

impl CaptureArgs {
    /// The same flags for the Python package.
    pub(crate) fn options(&self) -> Vec<String> {
        let mut options: Vec<String> = self.op.iter().map(|name| format!("--op={name}")).collect();
        let mut say = |flag: &str, value: Option<String>| options.extend(value.map(|value| format!("{flag}={value}")));
        say("--out", self.out.clone());
        say("--into", self.into.clone());
        say("--most", self.most.map(|most| most.to_string()));
        say("--values", self.values.clone());
        say("--values-limit", self.values_limit.map(|limit| limit.to_string()));
        options.extend(self.dim.iter().map(|dim| format!("--dim={dim}")));
        options.extend(self.write.then(|| "--write".into()));
        options
    }
}
