//! Flags of `kiln sanitize` and `kiln debug`.

use clap::Args;

use super::{BuildingArgs, ChoosingArgs, HearingArgs, SelectingArgs};

#[derive(Debug, Args)]
#[command(
    after_help = "On a GPU compute-sanitizer runs the candidate, built with line information: memcheck, racecheck, initcheck and synccheck. On the processor the compiler's address and undefined-behaviour sanitizers are built in. Without --workload the smallest workload and one whose sizes no tile divides are used. A clean result is not a proof.\n\nExit codes: 0 clean, 1 no tool could run, 3 a cause was found, the result is inconclusive, or a gate refused the configuration before any tool ran.\n\nExamples:\n  kiln sanitize kernels/softmax\n  kiln sanitize kernels/attention --config BLOCK_M=64 --workload s65_d64\n  kiln sanitize kernels/matmul --tool racecheck --limit 120\n  kiln sanitize kernels/softmax --case 'COLS=17,ROWS=1; inputs=spike; seed=3'\n  kiln sanitize kernels/softmax --study last --json"
)]
pub(crate) struct SanitizeArgs {
    #[command(flatten)]
    pub(crate) selecting: SelectingArgs,
    #[command(flatten)]
    pub(crate) choosing: ChoosingArgs,
    /// Case to run instead of workloads, as `kiln fuzz` prints it: `S=65,D=64; inputs=spike; seed=3`; omitted dimensions are those
    /// of --workload, else of the smallest workload
    #[arg(long, value_name = "CASE", default_value = "", hide_default_value = true, conflicts_with = "seed")]
    pub(crate) case: String,
    /// Tool of compute-sanitizer: memcheck, racecheck, initcheck or synccheck; may be repeated [default: all; memcheck for
    /// Python]
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) tool: Vec<String>,
    /// Seconds that one run of a tool may take [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) limit: Option<f64>,
    /// Seed of the inputs [default: a new one, printed]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) building: BuildingArgs,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The debug build has line information and assertions, and defines KILN_DEBUG: put what only a debug build shall print behind #ifdef KILN_DEBUG. It is called once, on the smallest workload that fails the quick check; output is kept up to 64 KiB.\n\nExit codes: 0 the result is correct, 3 it is not.\n\nExamples:\n  kiln debug kernels/softmax\n  kiln debug kernels/attention --workload s65_d64\n  kiln debug kernels/softmax --config VEC=16 --case COLS=17,ROWS=1"
)]
pub(crate) struct DebugArgs {
    #[command(flatten)]
    pub(crate) selecting: SelectingArgs,
    #[command(flatten)]
    pub(crate) choosing: ChoosingArgs,
    /// Case to run, as `kiln fuzz` prints it: `S=65,D=64; inputs=spike; seed=3`; omitted dimensions are those of --workload,
    /// else of the smallest workload
    #[arg(long, value_name = "CASE", default_value = "", hide_default_value = true, conflicts_with = "seed")]
    pub(crate) case: String,
    /// Seconds that the call may take [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) limit: Option<f64>,
    /// Seed of the inputs [default: a new one, printed]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) building: BuildingArgs,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}
