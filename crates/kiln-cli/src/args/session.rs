//! Flags of `kiln session`, `kiln retire` and `kiln try`.

use clap::{Args, Subcommand};
use kiln_app::Utf8PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "A session is a stretch of work with a goal, a time budget and prices. While one is open, commands in this folder join it by themselves: kiln times the phases, counts the money, warns when it is time to stop or to profile, and at the end writes a report that is compared with earlier sessions.\n\nExamples:\n  kiln session start kernels/attention --goal \"1.2x s512_d64\" --budget 4h --price 3.5/h\n  kiln session status\n  kiln session decide --option \"keep tuning; 2h; 1.15x\" --option \"use the baseline\" --choose 2 --because \"0.9x after 3 h\"\n  kiln session end --out reports\n  kiln session list"
)]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    pub(crate) verb: SessionVerb,
    /// Print one JSON object instead
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionVerb {
    /// Begin a session; on a terminal, kiln asks for what the flags leave out
    Start(Box<StartArgs>),
    /// Show how the open session stands: time, money, phases, warnings
    Status,
    /// End the open session and print its report
    End {
        /// What the assistant cost in all, instead of its hourly price
        #[arg(long, value_name = "AMOUNT")]
        assistant_cost: Option<f64>,
        #[command(flatten)]
        printing: ReportArgs,
    },
    /// Record a choice: the options with time, cost and best case, the chosen one and why
    Decide {
        /// An option as "WHAT; TIME; BEST CASE", such as "keep tuning; 2h; 1.15x"; may be repeated
        /// [default: go on, use the baseline, or stop here]
        #[arg(long = "option", value_name = "OPTION")]
        options: Vec<String>,
        /// The chosen option: its number, or its words; one that begins with "stop" or "use the baseline" ends the work
        #[arg(long, value_name = "OPTION")]
        choose: String,
        /// Why
        #[arg(long, value_name = "REASON")]
        because: String,
    },
    /// List sessions that are over, oldest first
    List {
        /// At most this many, the newest
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Show the report of a session that is over
    Report {
        /// The end of its id, or `last`
        #[arg(default_value = "last")]
        id: String,
        #[command(flatten)]
        printing: ReportArgs,
    },
}

/// How a report is printed.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Print the report as Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Folder to write report.md, report.json and sessions.svg to
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<Utf8PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// Kernel the session is about: its folder or its kernel.toml
    pub(crate) path: Option<Utf8PathBuf>,
    /// What to reach: a speedup over the baseline and a workload it is measured on, or words without a number
    #[arg(long, value_name = "\"1.2x s512_d64\"")]
    pub(crate) goal: Option<String>,
    /// Time it may take, such as 4h, 90m or 1h30m [default: 3h]
    #[arg(long, value_name = "TIME")]
    pub(crate) budget: Option<String>,
    /// Price of an hour of the GPU, such as 3.5/h
    #[arg(long, value_name = "PRICE")]
    pub(crate) price: Option<String>,
    /// Price of an hour of the engineer
    #[arg(long, value_name = "PRICE")]
    pub(crate) engineer_price: Option<String>,
    /// Price of an hour of the assistant
    #[arg(long, value_name = "PRICE")]
    pub(crate) assistant_price: Option<String>,
    /// What reaching the goal is worth, in the same money; kiln warns when the time left costs more
    #[arg(long, value_name = "AMOUNT")]
    pub(crate) worth: Option<f64>,
    /// GPU it is about [default: the one here]
    #[arg(long, value_name = "NAME")]
    pub(crate) gpu: Option<String>,
    /// Baseline to beat [default: the kernel's first]
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Smallest case that shows the problem [default: the kernel's smallest workload]
    #[arg(long, value_name = "WORKLOAD")]
    pub(crate) smallest: Option<String>,
    /// When it is done, in words [default: the goal]
    #[arg(long, value_name = "WORDS")]
    pub(crate) criteria: Option<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A retired kernel is no longer worked on: its baseline is used. `kiln history` and `kiln ci` say so.\n\nExamples:\n  kiln retire kernels/attention --because 'PyTorch is faster from 2.9 on'\n  kiln retire kernels/attention --undo"
)]
pub(crate) struct RetireArgs {
    /// Kernel: its folder, its kernel.toml or its name
    #[arg(value_name = "KERNEL")]
    pub(crate) kernel: Utf8PathBuf,
    /// Why, for whoever wonders later
    #[arg(long, value_name = "REASON", required_unless_present = "undo")]
    pub(crate) because: Option<String>,
    /// Work on it again
    #[arg(long, conflicts_with = "because")]
    pub(crate) undo: bool,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Records the hypothesis with the command and its outcome; the session's report shows them as a table. A kiln command prints and exits as ever. Any other command passes if it exits with 0, else kiln exits with 3.\n\nExamples:\n  kiln try \"need a 3-D grid\" -- kiln fuzz kernels/attention --case 'SQ=65,SK=65'\n  kiln try \"the extension is stale\" -- python check.py"
)]
pub(crate) struct TryArgs {
    /// What you think is so
    #[arg(value_name = "HYPOTHESIS", value_parser = thought)]
    pub(crate) hypothesis: String,
    /// The command that shows it
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// A hypothesis that says something.
fn thought(words: &str) -> Result<String, String> {
    if words.trim().is_empty() { Err("it is empty: expected what you think is so".into()) } else { Ok(words.into()) }
}
