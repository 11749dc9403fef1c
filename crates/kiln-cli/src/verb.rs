//! The verbs, one file each: arguments, an operation, a view.

mod asking;
mod bench;
mod bisect;
mod cache;
mod capture;
mod check;
mod ci;
mod claims;
mod compare;
mod completions;
mod debug;
mod diagnose;
mod doctor;
mod explain;
mod export;
mod forge;
mod fuzz;
mod gate;
mod history;
mod init;
mod lessons;
mod man;
mod mcp;
mod next;
mod profile;
mod report;
mod reproduce;
mod review;
mod sanitize;
mod schema;
mod serve;
mod session;
mod show;
mod simulate;
mod space;
mod studies;
mod supposed;
mod sweep;
mod tune;
mod variants;
mod worker;

use kiln_app::{Ending, Failure, Project};

use crate::args::Verb;

/// Does what was typed.
pub(crate) fn run(project: &Project, verb: &Verb) -> Result<Ending, Failure> {
    match verb {
        Verb::Space(args) => space::run(args),
        Verb::Gate(args) => gate::run(project, args),
        Verb::Tune(args) if args.all_variants => variants::run(project, args),
        Verb::Tune(args) => tune::run(project, args),
        Verb::Check(args) => check::run(project, args),
        Verb::Fuzz(args) => fuzz::run(project, args),
        Verb::Bench(args) => bench::run(project, args),
        Verb::Sweep(args) => sweep::run(project, args),
        Verb::Ci(args) => ci::run(project, args),
        Verb::Bisect(args) => bisect::run(project, args),
        Verb::Claims(args) => claims::run(project, args),
        Verb::Reproduce(args) => reproduce::run(project, args),
        Verb::Compare(args) => compare::run(project, args),
        Verb::Diagnose(args) => diagnose::run(project, args),
        Verb::Profile(args) => profile::run(project, args),
        Verb::Sanitize(args) => sanitize::run(project, args),
        Verb::Debug(args) => debug::run(project, args),
        Verb::Capture(args) => capture::run(project, args),
        Verb::Export(args) => export::run(project, args),
        Verb::Next(args) => next::run(project, args),
        Verb::History(args) => history::run(project, args),
        Verb::Show(args) => show::run(project, args),
        Verb::Report(args) => report::run(project, args),
        Verb::Plot(args) => report::plot(project, args),
        Verb::Studies(args) => studies::run(project, args),
        Verb::Simulate(args) => simulate::run(project, args),
        Verb::Doctor(args) => doctor::run(project, args),
        Verb::Init(args) => init::run(project, args),
        Verb::Schema(_) => schema::run(),
        Verb::Cache(args) => cache::run(project, args),
        Verb::Explain(args) => explain::run(args),
        Verb::Lessons(args) => lessons::run(project, args),
        Verb::Session(args) => session::run(project, args),
        Verb::Retire(args) => session::retired(project, args),
        Verb::Try(args) => supposed::run(project, args),
        Verb::Review(args) => review::run(project, args),
        Verb::Serve(args) => serve::run(project, args),
        Verb::Mcp(args) => mcp::run(project, args),
        Verb::Completions(args) => completions::run(args),
        Verb::Man(args) => man::run(args),
        Verb::Worker(args) => worker::run(args),
    }
}
