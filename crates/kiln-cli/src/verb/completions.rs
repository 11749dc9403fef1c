//! `kiln completions`: what a shell completes.

use clap::CommandFactory;
use kiln_app::{Ending, Failure};

use crate::args::{Cli, CompletionsArgs};
use crate::output;

pub(crate) fn run(args: &CompletionsArgs) -> Result<Ending, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "kiln", &mut text);
    output::data(&String::from_utf8_lossy(&text))?;
    Ok(Ending::Done)
}
