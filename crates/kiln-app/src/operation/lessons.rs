//! The library of lessons: list, show, search, add, retire, export, import. In: a project. Out: lessons with where they come
//! from, and files written. Refuses names that no lesson has, and files that are there already.

mod add;
mod calibration;
mod exchange;
mod general;
mod last;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Report, Severity, nearest};
use kiln_diagnose::lessons::{Kept, Library};
use kiln_session::LessonCount;
use kiln_study::write_whole;

use crate::failure::Failure;
use crate::lessons::{RETIRED, Retired, Shelf, met};
use crate::operation::session::one_line;
use crate::project::Project;
pub use add::{AddLessonRequest, AddedLesson, add_lesson};
pub use calibration::{GainCalibration, GainSpreads, PhaseDuration, gain_calibration};
pub use exchange::{ExportedLessons, ImportedLesson, export_lessons, import_lessons};

/// Lessons that were asked for.
#[derive(Debug, Clone)]
pub struct Lessons {
    /// The lessons.
    pub found: Vec<Kept>,
    /// What is wrong with files that therefore are not among them.
    pub mistakes: Vec<Report>,
}

/// Every lesson, retired ones too; with words those in use that have all of them, the best first.
pub fn lessons(project: &Project, words: &[String]) -> Lessons {
    let Shelf { library, mistakes, .. } = Shelf::open(project);
    // The list is whole without them: nothing failed.
    let mistakes = mistakes.into_iter().map(|report| Report { severity: Severity::Warning, ..report }).collect();
    let found = match words {
        [] => library.all().to_vec(),
        words => library.search(words).into_iter().cloned().collect(),
    };
    Lessons { found, mistakes }
}

/// One lesson.
pub fn show_lesson(project: &Project, id: &str) -> Result<Kept, Failure> {
    let shelf = Shelf::open(project);
    known(&shelf.library, id).cloned()
}

/// How often a lesson was met in this project; none where it never was.
pub fn lesson_count(project: &Project, id: &str) -> Option<LessonCount> {
    met(project, id)
}

/// Writes a file whole, in a folder that is made where there is none.
fn put(file: &Utf8Path, text: &str) -> Result<Utf8PathBuf, Failure> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_str().is_empty()) {
        fs_err::create_dir_all(folder)?;
    }
    write_whole(file, text.as_bytes())?;
    Ok(file.to_owned())
}

fn known<'a>(library: &'a Library, id: &str) -> Result<&'a Kept, Failure> {
    library.get(id).ok_or_else(|| {
        let near = nearest(id, library.all().iter().map(|kept| kept.lesson.id.as_str()));
        let hint = match near {
            Some(near) => format!("did you mean {near}?"),
            None => "`kiln lessons` lists them, `kiln lessons search WORDS` finds one".into(),
        };
        Report::error(format!("there is no lesson `{id}`")).hint(hint).into()
    })
}

/// Hides a lesson in this project, with the reason; without a reason it is shown again. Gives the file that says so.
pub fn retire_lesson(project: &Project, id: &str, because: Option<&str>) -> Result<Utf8PathBuf, Failure> {
    let shelf = Shelf::open(project);
    let kept = known(&shelf.library, id)?;
    let mut retired: Retired = crate::lessons::retired(&shelf.folder)?;
    match because.map(str::trim) {
        Some("") => return Err(Report::error("--because is empty").label("expected the reason").into()),
        Some(reason) => {
            retired.insert(id.into(), one_line(reason));
        }
        None if kept.retired.is_none() => {
            return Err(Report::error(format!("the lesson `{id}` is not retired")).into());
        }
        None => {
            retired.remove(id);
        }
    }
    let text = serde_json::to_string_pretty(&retired).map_err(std::io::Error::other)?;
    put(&shelf.folder.join(RETIRED), &format!("{text}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Stop;

    #[test]
    fn a_reason_is_kept_whole_on_one_line() {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(keep.path().into()).unwrap();
        let project = Project::here(None, Stop::never()).in_folder(&folder);
        retire_lesson(&project, "hang", Some(" we never\n hang ")).unwrap();
        assert_eq!(show_lesson(&project, "hang").unwrap().retired.as_deref(), Some("we never hang"));
    }

    #[test]
    fn a_name_that_is_nearly_right_is_offered() {
        let project = Project::here(None, Stop::never());
        assert_eq!(show_lesson(&project, "bank_conflicts").unwrap().lesson.id, "bank_conflicts");
        let said = show_lesson(&project, "bank_conflict").unwrap_err().to_string();
        assert!(said.contains("there is no lesson `bank_conflict`") && said.contains("did you mean bank_conflicts?"));
        let found = lessons(&project, &["proxy".into(), "fence".into()]).found;
        assert_eq!(found[0].lesson.id, "missing_proxy_fence");
        assert!(lessons(&project, &["zebra".into()]).found.is_empty());
    }
}
