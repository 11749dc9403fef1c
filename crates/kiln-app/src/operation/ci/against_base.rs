//! The work against a base commit, measured in turns. In: a case, and the base's own kernel file and sources in a worktree. Out: a
//! verdict on every workload. A base that lacks the kernel, does not build or is wrong blames nobody: its workloads are new.

use camino::Utf8PathBuf;
use kiln_core::{Config, Outcome};
use kiln_formats::RATCHET;
use kiln_spec::changed_tables;
use kiln_study::{Kernel, Rival, Versus, best_config};

use super::base::Base;
use super::choice::{Case, From, recorded};
use super::course::{Course, Stepped, ratchet};
use super::measure::{concluded, confirmed, fought, named, refused, with_bench};
use super::verdict::{CiVerdict, CiWorkload};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Opened, Selecting, complete, folder, kernel, runnable};
use crate::operation::versions::{Ground, ground};

/// What the base takes part as.
const NAME: &str = "base";
/// Files that a note names.
const MOST_FILES: usize = 8;

/// Measures every case.
pub(super) fn measured(course: &mut Course<'_>, base: &Base) -> Result<Stepped, Failure> {
    let there = course.bases.worktree(base)?.path(&course.selecting.path);
    let there = there.map(|path| (KernelFile::read(&path), path));
    course.kernel.notes.extend(differences(base, course, there.as_ref().and_then(|(file, _)| file.as_ref().ok()))?);
    let (mut found, mut unguarded) = (Vec::new(), Vec::new());
    for case in course.cases.clone() {
        let opened = Opened::unexamined(course.file, &case.selecting)?;
        let other = match &there {
            None => Err("the base does not have this kernel".to_string()),
            Some((Err(failure), _)) => Err(format!("the base's kernel file cannot be read: {}", said(failure))),
            Some((Ok(file), path)) => version(&opened, &case, file, path),
        };
        match other {
            Err(why) => found.extend(names(&opened).iter().map(|w| new(w, &case, &why))),
            Ok(other) => {
                unguarded.extend(left_out(&opened, &other.0));
                match twice(course, &opened, &case, &other)? {
                    Outcome::Passed(more) => found.extend(more),
                    Outcome::Refused(refusal) => return Ok(refused(refusal)),
                }
            }
        }
    }
    unguarded.sort_unstable();
    unguarded.dedup();
    if !unguarded.is_empty() {
        let names = unguarded.join(", ");
        course
            .kernel
            .notes
            .push(format!("the base measures workloads that the work does not: {names}; they are not guarded"));
    }
    Ok(concluded(course, found))
}

/// What a reviewer must know: the work is judged by its own kernel file, reference and baselines.
fn differences(base: &Base, course: &Course<'_>, theirs: Option<&KernelFile>) -> Result<Vec<String>, Failure> {
    let mut notes = Vec::new();
    let changed = base.changed(folder(&course.selecting.path))?;
    if !changed.is_empty() {
        let more = changed.len().saturating_sub(MOST_FILES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let files = changed[..changed.len().min(MOST_FILES)].join(", ");
        notes.push(format!("changed since the base: {files}{more}"));
    }
    let Some(theirs) = theirs else { return Ok(notes) };
    let parts = changed_tables(&theirs.spec.source.text, &course.file.spec.source.text);
    if !parts.is_empty() {
        notes.push(format!(
            "the kernel file's {} changed: the work is checked by its own file, so review the change",
            parts.join(", ")
        ));
    }
    Ok(notes)
}

/// Workloads that the base measures and the work does not: gone, or with another use or other targets.
fn left_out(opened: &Opened<'_>, theirs: &Kernel<'_>) -> Vec<String> {
    let ours = names(opened);
    let theirs = theirs.selection.workloads.iter().map(|workload| workload.name.to_string());
    theirs.filter(|name| !ours.contains(name)).collect()
}

/// The base's kernel and its configuration, or why there is none that compares.
fn version<'f>(
    opened: &Opened<'_>,
    case: &Case,
    file: &'f KernelFile,
    path: &Utf8PathBuf,
) -> Result<(Kernel<'f>, Config), String> {
    let ours = &opened.kernel;
    let selecting = Selecting {
        path: path.clone(),
        target: Some(ours.target().into()),
        variant: Some(ours.variant()).filter(|variant| !variant.is_empty()),
        ..case.selecting.clone()
    };
    let why = |failure: Failure| format!("the base's kernel file does not compare: {}", said(&failure));
    let (selection, _) = runnable(file, &selecting).map_err(why)?;
    let theirs = kernel(selection, path).map_err(why)?;
    // What is committed is each version's own; what is not holds for both.
    let typed = match case.from {
        From::Asked => case.typed.clone(),
        From::Best => {
            let names = names(opened);
            let wanted: Vec<&str> = match &case.selecting.workload {
                Some(one) => vec![one.as_str()],
                None => names.iter().map(String::as_str).collect(),
            };
            let own = best_config(folder(path), theirs.target(), &theirs.variant(), &wanted).ok().flatten();
            own.and_then(|own| own.into_iter().next()).unwrap_or_else(|| case.typed.clone())
        }
        From::Default => String::new(),
        From::Ratchet => {
            let committed = ratchet(&folder(path).join(RATCHET)).ok().flatten();
            let workload =
                case.selecting.workload.clone().or_else(|| names(opened).first().cloned()).unwrap_or_default();
            let device = opened.card.as_ref().map(|card| card.name.as_str());
            let own = committed.and_then(|committed| recorded(&committed, &theirs, &workload, device));
            own.unwrap_or_else(|| case.typed.clone())
        }
    };
    let fill = |typed: &str| complete(&theirs.selection, &theirs.problem, typed).map(|(config, _)| config);
    let config = fill(&typed).or_else(|_| fill("")).map_err(why)?;
    Ok((theirs, config))
}

/// Measured once, and what seems to be slower once more.
fn twice(
    course: &Course<'_>,
    opened: &Opened<'_>,
    case: &Case,
    other: &(Kernel<'_>, Config),
) -> Result<Outcome<Vec<CiWorkload>>, Failure> {
    let first = match once(course, opened, case, other, &names(opened), 0)? {
        Outcome::Passed(first) => first,
        refused => return Ok(refused),
    };
    let suspects = named(&first, CiVerdict::Regression);
    if suspects.is_empty() {
        return Ok(Outcome::Passed(first));
    }
    course.teller.note(format!("slower on {}: measuring again before saying so", suspects.join(", ")));
    Ok(match once(course, opened, case, other, &suspects, 1)? {
        Outcome::Passed(second) => Outcome::Passed(confirmed(first, second)),
        refused => refused,
    })
}

/// One measurement of these workloads.
fn once(
    course: &Course<'_>,
    opened: &Opened<'_>,
    case: &Case,
    (theirs, config): &(Kernel<'_>, Config),
    only: &[String],
    number: u64,
) -> Result<Outcome<Vec<CiWorkload>>, Failure> {
    with_bench(course, opened, case, number, |bench, subject| {
        let wanted = |name: &str| only.iter().any(|one| one == name);
        let base = match bench.version(theirs, config) {
            Ok(Outcome::Passed(base)) => base,
            Ok(Outcome::Refused(refusal)) => {
                let why = format!("the base does not build: {}: {}", refusal.gate, refusal.measured);
                return Ok(Outcome::Passed(only.iter().map(|w| new(w, case, &why)).collect()));
            }
            Err(fault) => return Err(fault.into()),
        };
        let (mut found, mut kept) = (Vec::new(), Vec::new());
        for stage in bench.stages.iter().filter(|stage| wanted(stage.name())) {
            match ground(bench, stage, subject, (theirs, config), &base)? {
                Ground::Incomparable(why) => found.push(new(stage.name(), case, &why)),
                Ground::Identical => {
                    let config = case.config.to_string();
                    found.push(CiWorkload::unmeasured(stage.name(), &config, CiVerdict::Identical, ""));
                }
                Ground::Open => kept.push(stage.name().to_string()),
            }
        }
        bench.stages.retain(|stage| kept.iter().any(|name| name == stage.name()));
        if !bench.stages.is_empty() {
            let rival = Rival { name: NAME.into(), subject: base, judged: true };
            match fought(course, bench, (subject, &[rival]), case)? {
                Outcome::Passed(figures) => found.extend(figures.iter().map(|figure| judged(figure, case))),
                Outcome::Refused(refusal) => return Ok(Outcome::Refused(refusal)),
            }
        }
        found.sort_by_key(|w| only.iter().position(|name| *name == w.workload));
        Ok(Outcome::Passed(found))
    })
}

/// What one workload's samples say.
fn judged(figure: &Versus, case: &Case) -> CiWorkload {
    match (figure.baselines.first(), figure.unmeasured.first()) {
        (Some(base), _) => CiWorkload::in_turns(&figure.workload, &case.config.to_string(), &base.comparison),
        (None, Some(one)) => {
            let why = format!("the base is refused: {}: {}", one.refusal.gate, one.refusal.measured);
            new(&figure.workload, case, &why)
        }
        (None, None) => new(&figure.workload, case, "the base could not be measured"),
    }
}

fn new(workload: &str, case: &Case, why: &str) -> CiWorkload {
    CiWorkload::unmeasured(workload, &case.config.to_string(), CiVerdict::New, why)
}

/// The workloads of a case; one without a name where the file has none.
pub(super) fn names(opened: &Opened<'_>) -> Vec<String> {
    let names: Vec<String> = opened.kernel.selection.workloads.iter().map(|w| w.name.to_string()).collect();
    if names.is_empty() { vec![String::new()] } else { names }
}

fn said(failure: &Failure) -> String {
    failure.reports().first().map_or_else(String::new, |report| report.message.clone())
}
