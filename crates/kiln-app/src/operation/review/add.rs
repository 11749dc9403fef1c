//! Remarks from a file into the store. In: a file. Out: how many were new. Every remark is about something that is here: a trial or a study of the store, a lesson on
//! the shelf, a cause that diagnoses name; else the file is refused as a whole, with every mistake.

use camino::Utf8Path;
use kiln_core::{Report, nearest};
use kiln_diagnose::coarse::CodeCause;
use kiln_diagnose::profile::Bottleneck;
use kiln_formats::{FileRemark, RemarkAbout, read_remarks};
use kiln_store::{Remark, RemarkSubject, Store, Study};
use serde::Serialize;

use crate::failure::Failure;
use crate::lessons::Shelf;
use crate::operation::given;
use crate::project::Project;

/// Where a file of remarks comes from.
const REVIEW: &str = "`kiln review export` writes a template, remarks.toml";

/// Remarks that were attached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AddedRemarks {
    /// How many were new.
    pub added: usize,
    /// How many were here already.
    pub known: usize,
}

/// Attaches the remarks of a file.
pub fn add_remarks(project: &Project, file: &Utf8Path) -> Result<AddedRemarks, Failure> {
    let text = given::text(file, "a file of remarks", REVIEW)?;
    let listed = read_remarks(file.as_str(), &text)?;
    let store = project.store()?;
    let shelf = Shelf::open(project);
    let (mut remarks, mut mistakes) = (Vec::new(), Vec::new());
    for own in &listed {
        let wrong = |what: String| Report::error(format!("{file}, line {}: {what}", own.line));
        match subject(&store, &shelf, &own.about, wrong) {
            Ok(about) => match when(own) {
                Some(at_ms) => remarks.push(Remark {
                    id: Study::new_id(),
                    at_ms,
                    about,
                    reviewer: own.reviewer.clone(),
                    text: own.text.clone(),
                    kiln_version: env!("CARGO_PKG_VERSION").into(),
                }),
                None => mistakes.push(
                    wrong(format!("`{}` is no moment", own.at.as_deref().unwrap_or_default()))
                        .label("expected RFC 3339, such as 2026-11-18T16:00:00Z"),
                ),
            },
            Err(report) => mistakes.push(report),
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes.into());
    }
    let added = store.record_remarks(&remarks)?;
    Ok(AddedRemarks { added, known: remarks.len() - added })
}

/// When a remark was made: now, where the file does not say.
fn when(own: &FileRemark) -> Option<i64> {
    let now = || Some(jiff::Timestamp::now().as_millisecond());
    own.at.as_ref().map_or_else(now, |at| at.parse::<jiff::Timestamp>().ok().map(|at| at.as_millisecond()))
}

/// What a remark is about, found here.
pub(super) fn subject(
    store: &Store,
    shelf: &Shelf,
    about: &RemarkAbout,
    wrong: impl Fn(String) -> Report,
) -> Result<RemarkSubject, Report> {
    let study = |name: &str| {
        let none = |fault: kiln_core::Fault| {
            let hint = fault.hint.unwrap_or_else(|| "`kiln history` lists studies".into());
            wrong(format!("there is no study `{name}` here: {}", fault.why))
                .label("expected an id or a name")
                .hint(hint)
        };
        store.find(name).map_err(none)
    };
    match about {
        RemarkAbout::Decision { study: name } => Ok(RemarkSubject::Decision(study(name)?.id)),
        RemarkAbout::Trial { study: name, phase, number } => {
            let study = study(name)?;
            let trials = store.trials(&study.id).map_err(|fault| wrong(fault.to_string()))?;
            if trials.iter().any(|trial| trial.phase == *phase && trial.number == *number) {
                return Ok(RemarkSubject::Trial(study.id, phase.clone(), *number));
            }
            let last = trials.iter().filter(|trial| trial.phase == *phase).map(|trial| trial.number).max();
            let mut phases: Vec<&str> = trials.iter().map(|trial| trial.phase.as_str()).collect();
            phases.dedup();
            let expected = match last {
                Some(last) => format!("expected a number from 0 to {last}"),
                None => format!("expected one of the phases {}", phases.join(", ")),
            };
            let hint = format!("`kiln show {} --trials` lists them", study.short_id());
            Err(wrong(format!("study {} has no trial {number} in phase `{phase}`", study.short_id()))
                .label(expected)
                .hint(hint))
        }
        RemarkAbout::Lesson { lesson } => {
            if shelf.library.get(lesson).is_some() {
                return Ok(RemarkSubject::Lesson(lesson.clone()));
            }
            let near = nearest(lesson, shelf.library.all().iter().map(|kept| kept.lesson.id.as_str()));
            let hint = near.map_or("`kiln lessons` lists them".to_string(), |near| format!("did you mean {near}?"));
            Err(wrong(format!("there is no lesson `{lesson}`")).label("expected the id of a lesson").hint(hint))
        }
        RemarkAbout::Cause { kernel, cause } => {
            let known = || Bottleneck::ALL.iter().map(|own| own.id()).chain(CodeCause::ALL.iter().map(|own| own.id()));
            if known().any(|id| id == cause) {
                return Ok(RemarkSubject::Cause(kernel.clone(), cause.clone()));
            }
            let hint = nearest(cause, known()).map(|near| format!("did you mean {near}?"));
            Err(wrong(format!("`{cause}` is no cause of a kernel's time"))
                .label("expected a cause of docs/diagnosis.md or docs/coarse.md")
                .maybe_hint(hint))
        }
    }
}
