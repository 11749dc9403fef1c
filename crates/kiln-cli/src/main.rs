//! The command line. `main` reads like the data flow: arguments, a verb, an exit code.

mod args;
mod bench;
mod cache;
mod check;
mod doctor;
mod exit;
mod export;
mod forge;
mod gate;
mod history;
mod importance;
mod init;
mod load;
mod output;
mod past;
mod prior;
mod recording;
mod repeat;
mod resume;
mod seed;
mod show;
mod simulate;
mod space;
mod tune;
mod work;
mod worker;

use clap::Parser;

use args::{Cli, Verb};

fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    let result = match &cli.verb {
        Verb::Space(args) => space::run(args),
        Verb::Gate(args) => gate::run(args),
        Verb::Tune(args) => tune::run(args),
        Verb::Check(args) => check::run(args),
        Verb::Bench(args) => bench::run(args),
        Verb::History(args) => history::run(args),
        Verb::Show(args) => show::run(args),
        Verb::Simulate(args) => simulate::run(args),
        Verb::Doctor(args) => doctor::run(args),
        Verb::Init(args) => init::run(args),
        Verb::Cache(args) => cache::run(args),
        Verb::Worker(args) => worker::run(args),
    };
    exit::code(result, cli.verb.json())
}
