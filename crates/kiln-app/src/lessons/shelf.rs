//! The folders that lessons lie in. In: a project, the environment. Out: one library, and what is wrong with files in it.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Report;
use kiln_diagnose::lessons::{Lesson, Library, Origin, parse};

use crate::project::Project;

/// Names a folder with a team's lessons.
pub const SHARED: &str = "KILN_LESSONS";
/// Lessons that are hidden and why, in the project's folder.
pub(crate) const RETIRED: &str = "retired.json";
/// A larger file is no lesson.
const LARGEST: u64 = 1 << 20;

/// Why each hidden lesson is.
pub(crate) type Retired = BTreeMap<String, String>;

/// Every lesson at hand.
#[derive(Debug, Clone)]
pub struct Shelf {
    /// The lessons.
    pub library: Library,
    /// What is wrong with files that therefore are not among them.
    pub mistakes: Vec<Report>,
    /// Where the project's own lie.
    pub folder: Utf8PathBuf,
    /// Where a team's lie, if a folder is named.
    pub shared: Option<Utf8PathBuf>,
}

impl Shelf {
    /// Reads every folder.
    pub fn open(project: &Project) -> Shelf {
        let folder = project.folder().join("lessons");
        let shared = std::env::var(SHARED).ok().filter(|name| !name.is_empty()).map(Utf8PathBuf::from);
        Shelf::read(folder, shared)
    }

    pub(crate) fn read(folder: Utf8PathBuf, shared: Option<Utf8PathBuf>) -> Shelf {
        let (mut found, mut mistakes) = (Vec::new(), Vec::new());
        let own = [Some((&folder, Origin::Own)), shared.as_ref().map(|shared| (shared, Origin::Shared))];
        for (place, origin) in own.into_iter().flatten() {
            // A project without lessons has no folder; a shared one that was named is expected to be there.
            if origin == Origin::Shared && !place.is_dir() {
                let report = Report::warning(format!("there is no folder {place}"));
                mistakes.push(report.label(format!("expected lessons there: {SHARED} names it")));
            }
            for file in files(place) {
                match lesson(&file) {
                    Ok(lesson) => found.push((lesson, origin)),
                    Err(reports) => mistakes.extend(reports),
                }
            }
        }
        let retired = match retired(&folder) {
            Ok(retired) => retired,
            Err(report) => {
                mistakes.push(report);
                Retired::new()
            }
        };
        let library = Library::new(found, |id| retired.get(id).cloned());
        Shelf { library, mistakes, folder, shared }
    }
}

/// The lesson files of a folder, by name.
pub(crate) fn files(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
    let mut files: Vec<Utf8PathBuf> = entries.map(|entry| entry.into_path()).collect();
    files.retain(|file| file.extension() == Some("toml"));
    files.sort();
    files
}

/// One file's lesson.
pub(crate) fn lesson(file: &Utf8Path) -> Result<Lesson, Vec<Report>> {
    let unreadable = |why: &dyn std::fmt::Display| vec![Report::error(format!("{file} cannot be read: {why}"))];
    let about = fs_err::metadata(file).map_err(|error| unreadable(&error))?;
    // Reading a pipe would wait for whoever writes into it.
    if !about.is_file() {
        return Err(vec![Report::error(format!("{file} is not a plain file")).label("expected a lesson")]);
    }
    if about.len() > LARGEST {
        return Err(vec![Report::error(format!("{file} is too large")).label("expected a lesson of at most 1 MiB")]);
    }
    let text = fs_err::read_to_string(file).map_err(|error| unreadable(&error))?;
    parse(file.as_str(), &text)
}

/// What is hidden in a project's folder.
pub(crate) fn retired(folder: &Utf8Path) -> Result<Retired, Report> {
    let file = folder.join(RETIRED);
    if !std::fs::metadata(&file).is_ok_and(|about| about.is_file() && about.len() <= LARGEST) {
        return Ok(Retired::new());
    }
    let Ok(text) = std::fs::read_to_string(&file) else { return Ok(Retired::new()) };
    serde_json::from_str(&text).map_err(|error| {
        Report::error(format!("{file}: {error}")).label("expected an object of ids and reasons").hint("remove the file")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LESSON: &str =
        "id = \"ours\"\ntitle = \"Ours\"\n[[symptom]]\ntext = [\"zebra\"]\n[lesson]\ncause = \"c\"\nremedy = \"r\"\n";

    #[test]
    fn own_and_shared_lessons_are_read_and_mistakes_cost_nothing_else() {
        let (own, team) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(own.path().join("ours.toml"), LESSON).unwrap();
        std::fs::write(own.path().join("broken.toml"), "id = ").unwrap();
        std::fs::create_dir(own.path().join("folder.toml")).unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(own.path().join("pipe.toml")).status();
        let odd = 2 + usize::from(pipe.is_ok_and(|made| made.success()));
        std::fs::write(team.path().join("theirs.toml"), LESSON.replace("ours", "theirs")).unwrap();
        std::fs::write(own.path().join(RETIRED), "{\"hang\": \"we never hang\"}").unwrap();
        let place = |folder: &tempfile::TempDir| Utf8Path::from_path(folder.path()).unwrap().to_owned();
        let shelf = Shelf::read(place(&own), Some(place(&team)));
        let origin = |id: &str| shelf.library.get(id).map(|kept| kept.origin);
        assert_eq!((origin("ours"), origin("theirs")), (Some(Origin::Own), Some(Origin::Shared)));
        assert_eq!(shelf.mistakes.len(), odd, "{:?}", shelf.mistakes);
        assert_eq!(shelf.library.get("hang").unwrap().retired.as_deref(), Some("we never hang"));
        let none = Shelf::read(place(&own).join("none"), Some(place(&team).join("none")));
        assert_eq!(none.library, Library::default());
        assert_eq!(none.mistakes.len(), 1, "a shared folder that was named is missed");
    }
}
