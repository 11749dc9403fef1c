//! Flags of `kiln mcp`.

use std::net::SocketAddr;

use clap::{Args, ValueEnum};
use kiln_app::Utf8PathBuf;
use kiln_serve::mcp::Client;

#[derive(Debug, Args)]
#[command(
    after_help = "Assistants that speak the Model Context Protocol call kiln's abilities as tools: next, describe, doctor, gate, check, fuzz, sanitize, bench, compare, claims, profile, diagnose, tune_start, tune_status, tune_stop, history, show, lessons_search, lessons_show. Every result with a verdict says how sure it is, what was not checked and what may be claimed. Paths stay inside the project, no tool takes a shell command, and sizes and times are bounded; but a tool that runs a kernel runs its code: serve a project whose code you would run.\n\nWithout --http the protocol is spoken on standard input and output, and a client starts kiln itself: --install writes that into its settings.\n\nExamples:\n  kiln mcp --install claude-code\n  kiln mcp --install codex --print\n  kiln mcp --read-only\n  kiln mcp --project ~/kernels\n  KILN_MCP_TOKEN=secret kiln mcp --http 127.0.0.1:8631"
)]
pub(crate) struct McpArgs {
    /// The project's folder [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Option<Utf8PathBuf>,
    /// Offer only tools that look: nothing is run, nothing is written
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Serve over HTTP at this address, path /mcp, such as 127.0.0.1:8631; port 0 takes a free one. Requests need the token in
    /// KILN_MCP_TOKEN, else a new one, which is printed
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with_all = ["install", "print"])]
    pub(crate) http: Option<SocketAddr>,
    /// With --http, another name that requests may call this machine by, such as gpu1.lab:8631; may be repeated
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Write kiln into this client's settings, and a skill file where the client reads one
    #[arg(long, value_name = "CLIENT", value_enum)]
    pub(crate) install: Option<ClientArg>,
    /// With --install, print the files instead of writing them
    #[arg(long, requires = "install")]
    pub(crate) print: bool,
    /// With --install, replace an entry and a skill that kiln did not write
    #[arg(long, requires = "install")]
    pub(crate) force: bool,
}

/// A client by its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientArg(pub(crate) Client);

impl ValueEnum for ClientArg {
    fn value_variants<'a>() -> &'a [ClientArg] {
        static ALL: [ClientArg; Client::ALL.len()] = {
            let mut all = [ClientArg(Client::ClaudeCode); Client::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = ClientArg(Client::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
}
