//! One remark or note, from whoever looks at a study. In: what it is about, whose it is, the words. Out: whether it is new. Refuses a remark about what is not
//! here, and words that are none or too many.

use kiln_core::Report;
use kiln_formats::RemarkAbout;
use kiln_store::{Remark, Study};

use super::add::{AddedRemarks, subject};
use crate::failure::Failure;
use crate::lessons::Shelf;
use crate::operation::session::now;
use crate::project::Project;

/// The most characters of a remark or a note.
const MOST: usize = 10_000;
/// The most characters of a name.
const MOST_NAME: usize = 200;
/// What notes by people are.
const KIND: &str = "note";

/// A remark that somebody makes, or answers another with: it is about the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRemark {
    /// What it is about.
    pub about: RemarkAbout,
    /// Whose it is.
    pub reviewer: String,
    /// The words.
    pub text: String,
}

/// Attaches a remark.
pub fn add_remark(project: &Project, new: &NewRemark) -> Result<AddedRemarks, Failure> {
    let reviewer = said("reviewer", "a name", &new.reviewer, MOST_NAME)?;
    let text = said("text", "a remark", &new.text, MOST)?;
    let name = match &new.about {
        RemarkAbout::Trial { study, .. } | RemarkAbout::Decision { study } => study,
        RemarkAbout::Lesson { lesson: name } | RemarkAbout::Cause { kernel: name, .. } => name,
    };
    let store = project.recorded_for(name)?;
    let about = subject(&store, &Shelf::open(project), &new.about, Report::error)?;
    let (id, at_ms) = (Study::new_id(), now());
    let remark = Remark { id, at_ms, about, reviewer, text, kiln_version: env!("CARGO_PKG_VERSION").into() };
    let added = store.record_remarks(&[remark])?;
    Ok(AddedRemarks { added, known: 1 - added })
}

/// Notes something about a study.
pub fn add_note(project: &Project, study: &str, text: &str) -> Result<(), Failure> {
    let text = said("text", "a note", text, MOST)?;
    let store = project.recorded_for(study)?;
    let id = store.find(study)?.id;
    Ok(store.note(&id, now(), KIND, &text)?)
}

/// Words without what surrounds them. Refuses none, too many, and those that would control a terminal.
fn said(field: &str, what: &str, words: &str, most: usize) -> Result<String, Report> {
    let words = words.trim();
    let count = words.chars().count();
    if count == 0 {
        return Err(Report::error(format!("`{field}` is empty")).label(format!("expected {what}")));
    }
    if count > most {
        let report = Report::error(format!("`{field}` has {count} characters"));
        return Err(report.label(format!("expected at most {most}")));
    }
    if words.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err(Report::error(format!("`{field}` has control characters")).label("expected text"));
    }
    Ok(words.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Stop;

    #[test]
    fn words_are_words() {
        assert_eq!(said("text", "a note", " a\nb ", 5).unwrap(), "a\nb");
        for (words, why) in [(" \n", "is empty"), ("abcdef", "has 6 characters"), ("a\u{1b}[2J", "control characters")]
        {
            assert!(said("text", "a note", words, 5).unwrap_err().message.contains(why), "{words}");
        }
    }

    #[test]
    fn remarks_about_nothing_are_refused_and_an_answer_is_about_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::here(Some(folder.path().join("kiln.db").to_string_lossy().into()), Stop::never());
        let cause = |cause: &str| RemarkAbout::Cause { kernel: "k".into(), cause: cause.into() };
        let new = |about, text: &str| NewRemark { about, reviewer: "Ada".into(), text: text.into() };
        assert!(add_remark(&project, &new(cause("small_grid"), "why?")).is_err(), "there is no store");
        let store = project.store().unwrap();
        assert_eq!(add_remark(&project, &new(cause("small_grid"), "why?")).unwrap().added, 1);
        assert_eq!(add_remark(&project, &new(cause("small_grid"), "why?")).unwrap().known, 1);
        assert_eq!(add_remark(&project, &new(cause("small_grid"), "too few blocks")).unwrap().added, 1);
        assert_eq!(store.remarks().unwrap().len(), 2);
        assert!(add_remark(&project, &new(cause("small_gird"), "?")).unwrap_err().to_string().contains("did you mean"));
        assert!(add_note(&project, "none", "words").is_err());
    }
}
