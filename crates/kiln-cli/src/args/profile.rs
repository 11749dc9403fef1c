//! Flags of `kiln profile`.

use clap::{Args, ValueEnum};
use kiln_app::{ProfileLevel, Utf8PathBuf};

use super::{BuildingArgs, ChoosingArgs, HearingArgs, SelectingArgs};

/// How much is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// What the diagnosis reads: seconds
    Quick,
    /// Everything Nsight Compute collects, with the source's lines
    Full,
}

impl From<Level> for ProfileLevel {
    fn from(level: Level) -> ProfileLevel {
        match level {
            Level::Quick => ProfileLevel::Quick,
            Level::Full => ProfileLevel::Full,
        }
    }
}

/// `all` is of other commands.
const WORKLOAD: &str = "Workload to profile [default: the largest that is tuned for]";

#[derive(Debug, Args)]
#[command(mut_arg("workload", |arg| arg.help(WORKLOAD)))]
#[command(
    after_help = "On a GPU Nsight Compute (ncu) watches one call after two warm-up calls; the call is repeated for each pass, and never timed by kiln. The diagnosis names the cause, cites the metrics that say so, and lists the fixes; the report stays under .kiln/profiles for `ncu-ui` and `kiln diagnose --ncu`. Without ncu, without permission to read counters, and on the processor, the diagnosis is coarse: from the compiler's resources and occupancy, or from the machine code and where in it the time goes, beside the measured time and what this machine can do. Without --workload the largest tuned workload is profiled.\n\nExit codes: 0 a diagnosis, 1 nothing could be profiled or the baseline cannot run, 3 the configuration was refused: it breaks a rule, does not build, crashes or hangs. A wrong result is a note.\n\nExamples:\n  kiln profile kernels/matmul\n  kiln profile kernels/attention --workload s2048_d64 --level full\n  kiln profile kernels/attention --baseline flash\n  kiln profile kernels/matmul --study last --json\n  kiln profile kernels/matmul --target cpu"
)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) selecting: SelectingArgs,
    #[command(flatten)]
    pub(crate) choosing: ChoosingArgs,
    /// Baseline to profile instead of a configuration; needs no candidate that works
    #[arg(long, value_name = "NAME", conflicts_with_all = ["config", "study"])]
    pub(crate) baseline: Option<String>,
    /// How much to collect
    #[arg(long, value_enum, default_value_t = Level::Quick)]
    pub(crate) level: Level,
    /// Seconds that the profiler may take [default: 60; 180 with --level full]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) limit: Option<f64>,
    /// Seed of the inputs [default: a new one]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) building: BuildingArgs,
    #[command(flatten)]
    pub(crate) hearing: HearingArgs,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<Utf8PathBuf>,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use crate::args::Cli;
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_help_says_which_workload_is_profiled() {
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("profile").unwrap().render_long_help().to_string();
        assert!(
            help.contains("[default: the largest that is tuned for]") && !help.contains("[default: all]"),
            "{help}"
        );
        let others = command.find_subcommand_mut("check").unwrap().render_long_help().to_string();
        assert!(others.contains("[default: all]"), "{others}");
    }

    /// A flag that would be passed over is refused.
    #[test]
    fn flags_of_another_input_are_refused() {
        let of_prediction = ["--arch=sm_80", "--board=h200", "--workload=w", "--variant=T=bf16", "--config=A=1"];
        let of_profile =
            ["--why=x", "--svg=f", "--details=d", "--ptxas=p", "--source-page=s", "--against=a", "--source=s"];
        let refused = |words: &[&str]| Cli::try_parse_from([&["kiln", "diagnose"], words].concat()).is_err();
        for flag in of_prediction {
            assert!(refused(&["--ncu=raw.csv", flag]) && refused(&["--sanitizer=log", flag]), "{flag}");
            assert!(refused(&["--calibration", flag]) && !refused(&["k", "--predict", flag]), "{flag}");
        }
        for flag in of_profile {
            assert!(refused(&["k", "--predict", flag]) && refused(&["--calibration", flag]), "{flag}");
            assert!(!refused(&["--ncu=raw.csv", flag]), "{flag}");
        }
    }
}
