//! Lessons between projects. In: lessons, or a file. Out: one file with all of them, or lessons in the project's folder.
//! Refuses a file with mistakes as a whole, and a lesson that is there already and different.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Report;
use kiln_diagnose::lessons::{Lesson, Origin, parse, write};
use serde::{Deserialize, Serialize};

use super::{known, put};
use crate::failure::Failure;
use crate::lessons::Shelf;
use crate::project::Project;

/// The form's version.
const VERSION: u32 = 1;

/// Lessons in a file: each as the text of its own file.
#[derive(Serialize, Deserialize)]
struct Bundle {
    kiln_lessons: u32,
    lessons: Vec<Bundled>,
}

#[derive(Serialize, Deserialize)]
struct Bundled {
    id: String,
    toml: String,
}

/// A lesson that was taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportedLesson {
    /// Its name.
    pub id: String,
    /// Whether it was there already, the same.
    pub known: bool,
}

/// Writes lessons to a file: those named, else the project's own. Gives their names.
pub fn export_lessons(project: &Project, file: &Utf8Path, ids: &[String]) -> Result<Vec<String>, Failure> {
    let shelf = Shelf::open(project);
    let chosen: Vec<&Lesson> = match ids {
        [] => shelf.library.all().iter().filter(|kept| kept.origin == Origin::Own).map(|kept| &kept.lesson).collect(),
        ids => ids.iter().map(|id| Ok(&known(&shelf.library, id)?.lesson)).collect::<Result<_, Failure>>()?,
    };
    if chosen.is_empty() {
        let report = Report::error(format!("there are no lessons in {}", shelf.folder));
        return Err(report.hint("`kiln lessons add` writes one; name others to export those").into());
    }
    let lessons = chosen.iter().map(|lesson| Bundled { id: lesson.id.clone(), toml: write(lesson) }).collect();
    let bundle = Bundle { kiln_lessons: VERSION, lessons };
    let text = serde_json::to_string_pretty(&bundle).map_err(std::io::Error::other)?;
    put(file, &format!("{text}\n"))?;
    Ok(chosen.into_iter().map(|lesson| lesson.id.clone()).collect())
}

/// Takes lessons over into the project: what `export` wrote, or one lesson's TOML.
pub fn import_lessons(project: &Project, file: &Utf8Path, replace: bool) -> Result<Vec<ImportedLesson>, Failure> {
    let text = fs_err::read_to_string(file)?;
    let lessons =
        if file.extension() == Some("toml") { vec![parse(file.as_str(), &text)?] } else { bundled(file, &text)? };
    let folder = Shelf::open(project).folder;
    let place = |lesson: &Lesson| -> Utf8PathBuf { folder.join(format!("{}.toml", lesson.id)) };
    // Everything is compared before anything is written.
    let mut states = Vec::new();
    for lesson in &lessons {
        let there = std::fs::read_to_string(place(lesson)).ok();
        let same = there.as_deref().and_then(|text| parse(place(lesson).as_str(), text).ok()).as_ref() == Some(lesson);
        if there.is_some() && !same && !replace {
            let report = Report::error(format!("{} is there already, with other words", place(lesson)));
            return Err(report.hint("--replace replaces it").into());
        }
        states.push(same);
    }
    for (lesson, same) in lessons.iter().zip(&states) {
        if !same {
            put(&place(lesson), &write(lesson))?;
        }
    }
    Ok(lessons.into_iter().zip(states).map(|(lesson, known)| ImportedLesson { id: lesson.id, known }).collect())
}

fn bundled(file: &Utf8Path, text: &str) -> Result<Vec<Lesson>, Failure> {
    let expected = "expected a file that `kiln lessons export` wrote, or a lesson's .toml";
    let bundle: Bundle =
        serde_json::from_str(text).map_err(|error| Report::error(format!("{file}: {error}")).label(expected))?;
    if bundle.kiln_lessons != VERSION {
        let report = Report::error(format!("{file} has version {} of the form", bundle.kiln_lessons));
        return Err(report.label(format!("expected {VERSION}")).hint("use a newer kiln").into());
    }
    let mut all = Vec::new();
    for Bundled { id, toml } in &bundle.lessons {
        all.push(parse(&format!("{file}/{id}.toml"), toml)?);
    }
    Ok(all)
}
