//! The command line. `main` reads like the data flow: arguments, an operation, a view, an exit code.

mod args;
mod exit;
mod hearing;
mod interrupt;
mod output;
mod place;
mod verb;

use clap::Parser;
use kiln_app::{Project, Supposed};

use args::Cli;

fn main() -> std::process::ExitCode {
    if let Some(word) = std::env::args_os().find(|word| word.to_str().is_none()) {
        output::failure(None, &format!("error: the argument `{}` is not UTF-8", word.to_string_lossy()));
        return exit::bad_input();
    }
    let (cli, supposed) = args::supposed(Cli::parse());
    output::set_tone(cli.verbose, cli.quiet);
    output::set_colour(cli.color.into(), cli.verb.for_people());
    output::set_json(cli.verb.prints_json());
    let project = Project::here(place::chosen(cli.store.as_ref()), interrupt::stop(&cli.verb));
    let (thought, refused) = supposed.map_or_else(|failure| (None, Err(failure)), |thought| (thought, Ok(())));
    // Inside a command that is tried, what is recorded belongs to that.
    let project = project.supposing(thought.or_else(Supposed::around));
    let limited = refused.and_then(|()| project.clone().limited(cli.verb.build_limit()));
    let ended = limited.and_then(|project| verb::run(&project, &cli.verb));
    let ended = remembered(&project, ended);
    let code = exit::code(ended, cli.verb.json(), &project);
    output::warnings(&project.notices());
    code
}

/// Records a hypothesis whose command leaves no attempt of its own.
fn remembered(
    project: &Project,
    ended: Result<kiln_app::Ending, kiln_app::Failure>,
) -> Result<kiln_app::Ending, kiln_app::Failure> {
    kiln_app::supposed(project, &ended);
    ended
}
