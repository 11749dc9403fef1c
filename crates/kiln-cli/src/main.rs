//! The command line. `main` reads like the data flow: arguments, a verb, an exit code.

mod args;
mod cache;
mod exit;
mod gate;
mod init;
mod load;
mod output;
mod space;
mod worker;

use clap::Parser;

use args::{Cli, Verb};

fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    let result = match &cli.verb {
        Verb::Space(args) => space::run(args),
        Verb::Gate(args) => gate::run(args),
        Verb::Init(args) => init::run(args),
        Verb::Cache(args) => cache::run(args),
        Verb::Worker(args) => worker::run(args),
    };
    exit::code(result, cli.verb.json())
}
