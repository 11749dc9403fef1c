//! Lessons between projects. In: lessons, or a file. Out: one file with all of them, or lessons in the project's folder.
//! Refuses a file with mistakes as a whole, one that has a lesson twice, a lesson that is there already and different, and to
//! replace a file that kiln did not write.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Report, Severity};
use kiln_diagnose::lessons::{Kept, Lesson, Origin, is_id, parse, write};
use serde::{Deserialize, Serialize};

use super::{known, put};
use crate::failure::Failure;
use crate::kernel::read_bounded;
use crate::lessons::{Shelf, files, lesson_in};
use crate::operation::given;
use crate::project::Project;

/// The form's version.
const VERSION: u32 = 1;
/// A larger file is none of lessons.
const LARGEST: u64 = 64 << 20;

/// Where a file of lessons comes from.
const LESSONS: &str = "`kiln lessons export FILE` writes one";

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

/// Lessons that were written to a file.
#[derive(Debug, Clone)]
pub struct ExportedLessons {
    /// Their names.
    pub ids: Vec<String>,
    /// What is wrong with files of the project that therefore are not among them.
    pub left_out: Vec<Report>,
}

/// Writes lessons to a file: those named, else the project's own. Refuses to replace a file that kiln did not write, unless
/// with `force`.
pub fn export_lessons(
    project: &Project,
    file: &Utf8Path,
    ids: &[String],
    force: bool,
) -> Result<ExportedLessons, Failure> {
    let shelf = Shelf::open(project);
    let chosen: Vec<&Lesson> = match ids {
        [] => shelf.library.all().iter().filter(|kept| kept.origin == Origin::Own).map(|kept| &kept.lesson).collect(),
        ids => ids.iter().map(|id| Ok(&finished(&shelf, id)?.lesson)).collect::<Result<_, Failure>>()?,
    };
    let left_out = if ids.is_empty() { unfinished(&shelf.folder) } else { Vec::new() };
    if chosen.is_empty() && !left_out.is_empty() {
        return Err(left_out.into());
    }
    if chosen.is_empty() {
        let report = Report::error(format!("there are no lessons in {}", shelf.folder));
        return Err(report.hint("`kiln lessons add` writes one; name others to export those").into());
    }
    if !(force || is_ours(file)) {
        let report = Report::error(format!("{file} is there already, and is not a file of lessons"));
        return Err(report.hint("choose another name, or --force to replace it").into());
    }
    let left_out = left_out.into_iter().map(|report| Report { severity: Severity::Warning, ..report }).collect();
    let lessons = chosen.iter().map(|lesson| Bundled { id: lesson.id.clone(), toml: write(lesson) }).collect();
    let bundle = Bundle { kiln_lessons: VERSION, lessons };
    let text = serde_json::to_string_pretty(&bundle).map_err(std::io::Error::other)?;
    put(file, &format!("{text}\n"))?;
    Ok(ExportedLessons { ids: chosen.into_iter().map(|lesson| lesson.id.clone()).collect(), left_out })
}

/// A lesson by its name; where its file has mistakes, these.
fn finished<'s>(shelf: &'s Shelf, id: &str) -> Result<&'s Kept, Failure> {
    let file = shelf.folder.join(format!("{id}.toml"));
    match known(&shelf.library, id) {
        Err(_) if is_id(id) && file.is_file() => match lesson_in(&file) {
            Err(mistakes) => Err(mistakes.into()),
            Ok(_) => known(&shelf.library, id),
        },
        found => found,
    }
}

/// The mistakes of files in a project's folder, each file's after its name.
fn unfinished(folder: &Utf8Path) -> Vec<Report> {
    let mistakes = |file: Utf8PathBuf| Some((file.file_stem()?.to_string(), lesson_in(&file).err()?));
    let all = files(folder).into_iter().filter_map(mistakes);
    all.map(|(id, reports)| {
        let why: Vec<String> = reports.into_iter().map(|report| report.message).collect();
        let report = Report::error(format!("the lesson `{id}` is not exported: {}", why.join(", ")));
        report.hint(format!("complete {folder}/{id}.toml"))
    })
    .collect()
}

/// Whether a file may be replaced: it is not there, or an earlier export.
fn is_ours(file: &Utf8Path) -> bool {
    let bundle = || serde_json::from_slice::<Bundle>(&read_bounded(file, LARGEST).ok()?).ok();
    !file.exists() || bundle().is_some()
}

/// Takes lessons over into the project: what `export` wrote, or one lesson's TOML.
pub fn import_lessons(project: &Project, file: &Utf8Path, replace: bool) -> Result<Vec<ImportedLesson>, Failure> {
    let text = given::text(file, "lessons, as JSON from an export or as TOML", LESSONS)?;
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
    let mut all: Vec<Lesson> = Vec::new();
    for Bundled { id, toml } in &bundle.lessons {
        let lesson = parse(&format!("{file}/{id}.toml"), toml)?;
        if all.iter().any(|other| other.id == lesson.id) {
            let report = Report::error(format!("{file} has the lesson `{}` twice", lesson.id));
            return Err(report.label("expected each id once").hint("remove the one that is not meant").into());
        }
        all.push(lesson);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Stop;

    fn project() -> (tempfile::TempDir, Project, Utf8PathBuf) {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(keep.path().into()).unwrap();
        let project = Project::here(None, Stop::never()).in_folder(&folder.join(".kiln"));
        (keep, project, folder)
    }

    fn text(id: &str, cause: &str) -> String {
        format!(
            "id = \"{id}\"\ntitle = \"T\"\n[[symptom]]\ntext = [\"z\"]\n[lesson]\ncause = \"{cause}\"\nremedy = \"r\"\n"
        )
    }

    #[test]
    fn what_is_left_out_is_named_and_only_kilns_own_files_are_replaced() {
        let (_keep, project, folder) = project();
        let lessons = project.folder().join("lessons");
        put(&lessons.join("whole.toml"), &text("whole", "c")).unwrap();
        put(&lessons.join("half.toml"), &text("half", "")).unwrap();
        let file = folder.join("team.json");
        for _ in 0..2 {
            let written = export_lessons(&project, &file, &[], false).unwrap();
            assert_eq!(written.ids, ["whole"]);
            let [left] = &written.left_out[..] else { panic!("{:?}", written.left_out) };
            assert!(left.message.contains("`half` is not exported: lesson.cause is empty"), "{left}");
        }
        let said = export_lessons(&project, &file, &["half".into()], false).unwrap_err().to_string();
        assert!(said.contains("lesson.cause is empty"), "{said}");
        let mine = folder.join("thesis.json");
        fs_err::write(&mine, "{\"words\": 1}").unwrap();
        let said = export_lessons(&project, &mine, &[], false).unwrap_err().to_string();
        assert!(said.contains("is not a file of lessons") && said.contains("--force"), "{said}");
        assert_eq!(fs_err::read_to_string(&mine).unwrap(), "{\"words\": 1}");
        export_lessons(&project, &mine, &[], true).unwrap();
        assert!(is_ours(&mine));
        fs_err::remove_file(lessons.join("whole.toml")).unwrap();
        let said = export_lessons(&project, &file, &[], false).unwrap_err().to_string();
        assert!(said.contains("`half` is not exported"), "{said}");
    }

    #[test]
    fn a_file_that_has_a_lesson_twice_is_refused() {
        let (_keep, project, folder) = project();
        let file = folder.join("team.json");
        let lessons = ["one", "two"].map(|cause| Bundled { id: "ours".into(), toml: text("ours", cause) });
        let bundle = Bundle { kiln_lessons: VERSION, lessons: lessons.into() };
        fs_err::write(&file, serde_json::to_string(&bundle).unwrap()).unwrap();
        let said = import_lessons(&project, &file, true).unwrap_err().to_string();
        assert!(said.contains("has the lesson `ours` twice"), "{said}");
        assert!(!project.folder().join("lessons/ours.toml").exists());
    }
}
