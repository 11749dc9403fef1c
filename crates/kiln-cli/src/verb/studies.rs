//! `kiln studies`: names, tags and removal of recorded studies.

use std::io::{self, BufRead, IsTerminal, Write};

use kiln_app::{Ending, Failure, Labelled, Project, Report, StudyNow, deletable, delete, rename, retag};

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
    let studies = deletable(project, names)?;
    for StudyNow { study, trials, .. } in &studies {
        output::complain(&format!("study {} of {}, {} trials recorded", study.short_id(), study.kernel, trials.len()));
    }
    if !yes && !agreed(studies.len())? {
        output::note("nothing was deleted");
        return Ok(Ending::Done);
    }
    delete(project, &studies)?;
    output::data(&format!(
        "deleted {}\n",
        if studies.len() == 1 { "1 study".into() } else { format!("{} studies", studies.len()) }
    ))?;
    Ok(Ending::Done)
}

/// Asks on a terminal. Refuses where there is nobody to ask.
fn agreed(studies: usize) -> Result<bool, Failure> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let report = Report::error("deleting needs --yes where there is no terminal to ask on");
        return Err(report.hint("add --yes; what is deleted cannot be had back").into());
    }
    let which = if studies == 1 { "this study".to_string() } else { format!("these {studies} studies") };
    write!(io::stderr().lock(), "delete {which} with all trials and samples? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
