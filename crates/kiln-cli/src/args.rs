//! What can be typed: the verbs here, their flags in files by kind.

mod bisect;
mod capture;
mod ci;
mod claims;
mod compare;
mod diagnose;
mod export;
mod fuzz;
mod history;
mod kernel;
mod lessons;
mod machine;
mod mcp;
mod next;
mod profile;
mod properties;
mod report;
mod review;
mod sanitize;
mod selecting;
mod serve;
mod session;
mod simulate;
mod studies;
mod sweep;
mod tune;

use clap::{Parser, Subcommand};

pub(crate) use bisect::BisectArgs;
pub(crate) use capture::CaptureArgs;
pub(crate) use ci::{CiArgs, MAX_SAMPLES, WIDTH};
pub(crate) use claims::{ClaimsArgs, ClaimsFormat, ReproduceArgs};
pub(crate) use compare::{CompareArgs, CompareFormat, IMPROVEMENT, PrintingArgs, REGRESSION, ThresholdsArgs};
pub(crate) use diagnose::DiagnoseArgs;
pub(crate) use export::ExportArgs;
pub(crate) use fuzz::FuzzArgs;
pub(crate) use history::HistoryArgs;
pub(crate) use kernel::{BenchArgs, CheckArgs, GateArgs, SpaceArgs};
pub(crate) use lessons::{AddLessonArgs, LessonsArgs, LessonsVerb};
pub(crate) use machine::{
    CacheArgs, CompletionsArgs, DoctorArgs, ExplainArgs, InitArgs, ManArgs, SchemaArgs, WorkerArgs,
};
pub(crate) use mcp::{ClientArg, McpArgs};
pub(crate) use next::NextArgs;
pub(crate) use profile::ProfileArgs;
pub(crate) use report::{PlotArgs, StoryArgs};
pub(crate) use review::{ReviewArgs, ReviewVerb};
pub(crate) use sanitize::{DebugArgs, SanitizeArgs};
pub(crate) use selecting::{BuildingArgs, ChoosingArgs, HearingArgs, MeasuringArgs, SelectingArgs, Until};
pub(crate) use serve::ServeArgs;
pub(crate) use session::{ReportArgs, RetireArgs, SessionArgs, SessionVerb, StartArgs, TryArgs};
pub(crate) use simulate::SimulateArgs;
pub(crate) use studies::{ShowArgs, StudiesArgs, StudiesVerb};
pub(crate) use sweep::SweepArgs;
pub(crate) use tune::TuneArgs;

/// Makes GPU kernels fast and proves it.
#[derive(Debug, Parser)]
#[command(name = "kiln", version, about = "Makes GPU kernels fast and proves it.", max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 a fault of the environment, 2 a mistake in the input, 3 a candidate was refused, 4 the target speedup was not reached, 5 a regression, 130 interrupted."
)]
pub(crate) struct Cli {
    /// File that studies are recorded in and read from [env: KILN_STORE] [default: .kiln/kiln.db]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) store: Option<String>,
    /// Show more, such as the compiler's command when a build fails
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Show only warnings and results: no progress, no notes
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// When to colour verdicts and headings [default: auto]
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Color::Auto, hide_default_value = true)]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// When text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it
    Auto,
    /// Also in files and pipes
    Always,
    /// Without colour
    Never,
}

impl From<Color> for kiln_show::Colour {
    fn from(color: Color) -> kiln_show::Colour {
        match color {
            Color::Auto => kiln_show::Colour::Auto,
            Color::Always => kiln_show::Colour::Always,
            Color::Never => kiln_show::Colour::Never,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show a kernel's configuration space: how many configurations are valid, and what each constraint removes
    Space(SpaceArgs),
    /// Take one configuration through the gates: evaluate every rule, then build, run and check it
    Gate(GateArgs),
    /// Find the fastest correct configuration and prove it against a baseline
    Tune(TuneArgs),
    /// Check that one configuration is correct, on fresh inputs
    Check(CheckArgs),
    /// Check shapes, inputs and configurations that nobody listed, and shrink what fails to the smallest failing case
    Fuzz(FuzzArgs),
    /// Measure one configuration against baselines or another configuration, or the baselines alone
    Bench(BenchArgs),
    /// Measure a kernel against its baselines over a grid of shapes: where it wins, where it loses, where that turns
    Sweep(SweepArgs),
    /// Guard kernels in CI: build, check, and compare their speed with a base commit or a committed ratchet
    Ci(CiArgs),
    /// Find the commit that broke a kernel or made it slow: build, check or measure commits in temporary worktrees
    Bisect(BisectArgs),
    /// Compare two runs, measured at different times: regression, improvement, or no significant difference
    Compare(CompareArgs),
    /// Check claimed figures: confirmed, refuted with the measured figure, or unverifiable here and why
    Claims(ClaimsArgs),
    /// Measure a recorded result again, and list what differs in environment, code and result
    Reproduce(ReproduceArgs),
    /// Name the cause behind a sanitizer's log, or what a kernel's time goes to by a profile of ncu, from any machine
    Diagnose(DiagnoseArgs),
    /// Find what limits a kernel: profile one configuration or a baseline, name the cause, its evidence and the fixes
    Profile(ProfileArgs),
    /// Find the cause of a fault: run one configuration under memory and race checkers, name cause, line and fix
    Sanitize(SanitizeArgs),
    /// Run the smallest failing case of a debug build once and show what the kernel printed or asserted
    Debug(DebugArgs),
    /// Run a Python program and turn its calls of a kernel or operation into workloads, weighted by time
    Capture(CaptureArgs),
    /// Write a package of the winners: sources, header, launcher, compiled code and a Python module, with a test
    Export(ExportArgs),
    /// Say what to do next with a kernel: one step, its command, the reason and the way to it, from what is recorded
    Next(NextArgs),
    /// List past studies and benchmarks, newest first; find when a kernel became slower, and the last good commit
    History(HistoryArgs),
    /// Show a study: settings, progress of the search, verdict, refusals and their reasons; or a benchmark
    Show(ShowArgs),
    /// Write the story of a study, a session or a kernel as one HTML file, or as Markdown with figures
    Report(StoryArgs),
    /// Draw one figure of a study as SVG or PNG: convergence, slices, parallel coordinates, gate funnel and others
    Plot(PlotArgs),
    /// Name, tag or delete recorded studies
    Studies(StudiesArgs),
    /// Replay recorded spaces to see how few evaluations a search strategy needs, without a GPU
    Simulate(SimulateArgs),
    /// Examine this machine (compilers, Python, disk, memory, load, GPUs) and suggest fixes
    Doctor(DoctorArgs),
    /// Write a commented kernel.toml: with a small working kernel, or from a kernel you have (--from)
    Init(InitArgs),
    /// Print the JSON Schema of kernel.toml, for completion and checks in editors
    Schema(SchemaArgs),
    /// Show what the build cache holds, or clear it
    Cache(CacheArgs),
    /// Explain a gate, a verdict or a cause: what it means, its usual causes, what to do
    Explain(ExplainArgs),
    /// What was learned from failures: list, search and show lessons, add your own, share them
    Lessons(LessonsArgs),
    /// Work towards a goal within a budget: kiln times, counts, warns, and reports at the end
    Session(SessionArgs),
    /// Stop working on a kernel and use its baseline, with the reason
    Retire(RetireArgs),
    /// Run a command to see whether you are right, and record both
    Try(TryArgs),
    /// Hand a study to a person for review, and attach their remarks to trials, decisions, lessons and causes
    Review(ReviewArgs),
    /// Show what is recorded in a browser, and follow studies while they run
    Serve(ServeArgs),
    /// Serve kiln's abilities as tools to an assistant (MCP), or write kiln into its settings (--install)
    Mcp(McpArgs),
    /// Write shell completions
    Completions(CompletionsArgs),
    /// Write man pages
    Man(ManArgs),
    /// Run candidates for another kiln process
    #[command(hide = true)]
    Worker(WorkerArgs),
}

/// What is tried: `kiln try` with a command of kiln's is that command, with a hypothesis.
pub(crate) fn supposed(cli: Cli) -> (Cli, Result<Option<kiln_app::Supposed>, kiln_app::Failure>) {
    let Verb::Try(args) = &cli.verb else { return (cli, Ok(None)) };
    if args.command.first().is_none_or(|word| word != "kiln") {
        return (cli, Ok(None));
    }
    // A mistake in it is told as if it had been typed alone.
    let (supposed, inner) = (kiln_app::Supposed::new(&args.hypothesis, &args.command), Cli::parse_from(&args.command));
    let color = if inner.color == Color::Auto { cli.color } else { inner.color };
    let (verbose, quiet) = (inner.verbose || cli.verbose, inner.quiet || cli.quiet);
    (Cli { store: inner.store.or(cli.store), verbose, quiet, color, verb: inner.verb }, supposed.map(Some))
}
