//! `kiln try` with a command that is not kiln's: run as it is, and recorded with the hypothesis.

use std::process::{Command, ExitStatus};

use kiln_app::{Ending, Failure, Fault, Project, Supposed, suppose};

use crate::args::TryArgs;

pub(crate) fn run(project: &Project, args: &TryArgs) -> Result<Ending, Failure> {
    let (program, words) = args.command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let supposed = Supposed::new(&args.hypothesis, &args.command)?;
    let (name, value) = supposed.handed_on();
    suppose(project, supposed, || {
        let status = Command::new(program).args(words).env(name, value).status();
        // Its exit status in words: `exit status: 7`, `signal: 9 (SIGKILL)`.
        let failed = |status: ExitStatus| (!status.success()).then(|| status.to_string());
        status.map(failed).map_err(|e| Fault::new(format!("running {program}"), e))
    })
}
