//! `kiln studies`: names, tags and removal of recorded studies.

use std::io::{self, BufRead, IsTerminal, Write};

use kiln_app::{Ending, Failure, Labelled, Project, Report, deletable, delete, rename, retag};

use crate::args::{StudiesArgs, StudiesVerb};
use crate::output;

pub(crate) fn run(project: &Project, args: &StudiesArgs) -> Result<Ending, Failure> {
    match &args.verb {
        StudiesVerb::Rename { study, name } => told(&rename(project, study, name.as_deref())?),
        StudiesVerb::Tag { study, tags, remove } => told(&retag(project, study, tags, *remove)?),
        StudiesVerb::Delete { studies, yes } => remove(project, studies, *yes),
    }
}

fn told(of: &Labelled) -> Result<Ending, Failure> {
    let name = of.labels.name.as_deref().unwrap_or("no name");
    let tags = if of.labels.tags.is_empty() { "no tags".into() } else { of.labels.tags.join(", ") };
    output::data(&format!("study {} of {}: {name}; {tags}\n", of.short_id, of.kernel))?;
    Ok(Ending::Done)
}

/// Deletes studies, once somebody has agreed.
fn remove(project: &Project, names: &[String], yes: bool) -> Result<Ending, Failure> {
    let doomed = deletable(project, names)?;
    if !yes {
        doomed.iter().for_each(|one| output::complain(&one.words));
    }
    if !yes && !agreed(doomed.len())? {
        output::note("nothing was deleted");
        return Ok(Ending::Done);
    }
    delete(project, &doomed)?;
    output::data(&doomed.iter().map(|one| format!("deleted {}\n", one.words)).collect::<String>())?;
    Ok(Ending::Done)
}

/// Asks on a terminal. Refuses where there is nobody to ask.
fn agreed(records: usize) -> Result<bool, Failure> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let report = Report::error("deleting needs --yes where there is no terminal to ask on");
        return Err(report.hint("add --yes; deleted studies cannot be restored").into());
    }
    let which = if records == 1 { "this".to_string() } else { format!("these {records}") };
    write!(io::stderr().lock(), "delete {which} with all trials and samples? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
