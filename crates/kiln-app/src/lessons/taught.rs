//! The lesson beside a result.

use kiln_diagnose::lessons::Symptoms;
use kiln_session::{LessonCount, counters};
use kiln_store::AttemptsOf;
use serde::Serialize;

use super::{Shelf, Symptomatic};
use crate::project::Project;

/// A lesson that fits a result, as far as it is shown beside it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Taught {
    /// The lesson's id.
    pub id: String,
    /// The lesson in a line.
    pub title: String,
    /// What to do.
    pub remedy: String,
    /// A command that helps, with the path and configuration at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// How often it was met here and put right; none where it was never met before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here: Option<LessonCount>,
}

/// The lesson that fits a result best; none where nothing went wrong or no lesson fits.
pub fn lesson(project: &Project, result: &dyn Symptomatic, path: Option<&str>) -> Option<Taught> {
    let seen = result.symptoms();
    // Most results have nothing wrong with them, and read no folder.
    if seen == Symptoms::default() {
        return None;
    }
    let found = lesson_for(&Shelf::open(project), &seen, path, result.configuration().as_deref())?;
    let here = met(project, &found.id).filter(|count| count.met > 1 || count.worked > 0);
    Some(Taught { here, ..found })
}

/// How often a lesson was met in this project. Looking makes no store, and a store that cannot be read says nothing.
pub(crate) fn met(project: &Project, id: &str) -> Option<LessonCount> {
    let store = project.recorded().ok()??;
    let attempts = store.attempts(AttemptsOf::Lesson(id)).ok()?;
    counters(&attempts).remove(id)
}

/// The lesson that fits what is seen best.
pub fn lesson_for(shelf: &Shelf, seen: &Symptoms, path: Option<&str>, config: Option<&str>) -> Option<Taught> {
    let best = shelf.library.best(seen)?.lesson;
    let config = config.map(|config| if config.contains(' ') { format!("'{config}'") } else { config.to_string() });
    Some(Taught {
        id: best.id.clone(),
        title: best.title.clone(),
        remedy: best.remedy.clone(),
        action: best.action(path, config.as_deref(), None),
        here: None,
    })
}
