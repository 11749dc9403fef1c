//! What a report is about. In: a name: a study, a session, a kernel. Out: everything that views of it need. Refuses a name that fits none. And the files of a
//! report: written whole, with figures in a folder of their own.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Fault, Report};
use kiln_session::SessionReport;
use kiln_study::write_whole;

use super::history::is_path;
use super::look::{LookDepth, StudyLook, look};
use super::look_kernel::{KernelLook, is_recorded, look_kernel};
use super::session::{any_session, past_session, session_status};
use crate::failure::Failure;
use crate::project::Project;

/// The word for the session that is open, else the last one.
const SESSION: &str = "session";

/// What a name stands for.
pub enum Reported {
    /// A study.
    Study(Box<StudyLook>),
    /// A session.
    Session(Box<SessionReport>),
    /// A kernel, with its newest study that came to a result.
    Kernel(Box<KernelLook>, Option<Box<StudyLook>>),
}

/// Finds what a name stands for. A kernel goes before its newest study, and a study before a session of the same id.
pub fn reported(project: &Project, name: &str) -> Result<Reported, Failure> {
    let path = Utf8Path::new(name);
    if is_path(path) || (name != "last" && is_recorded(project, name)?) {
        let found = look_kernel(project, path)?;
        let ended = found.history.studies.iter().find(|now| now.study.summary.is_some());
        let study = ended.map(|now| look(project, &now.study.id, LookDepth::Whole)).transpose()?;
        return Ok(Reported::Kernel(Box::new(found), study.map(Box::new)));
    }
    if name == SESSION {
        let found = session_status(project).or_else(|_| past_session(project, "last"))?;
        return Ok(Reported::Session(Box::new(found)));
    }
    match look(project, name, LookDepth::Whole) {
        Ok(found) => Ok(Reported::Study(Box::new(found))),
        Err(failure) => match any_session(project, name) {
            Ok(found) => Ok(Reported::Session(Box::new(found))),
            Err(_) => Err(unknown(name, failure)),
        },
    }
}

/// What was looked for is more than a study.
fn unknown(name: &str, failure: Failure) -> Failure {
    match failure {
        Failure::Fault(fault) if fault.why.starts_with("no study has that id or name") => {
            let why = "no study, session or kernel has that id or name";
            Failure::Fault(Fault { why: why.into(), what: format!("looking for `{name}`"), ..fault })
        }
        other => other,
    }
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// One HTML file.
    Html,
    /// Markdown, with its figures in a folder beside it.
    Markdown,
}

impl ReportFormat {
    /// By the name of the file. Refuses other endings.
    pub fn of(file: &Utf8Path) -> Result<ReportFormat, Failure> {
        match file.extension().map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => Ok(ReportFormat::Html),
            Some("md" | "markdown") => Ok(ReportFormat::Markdown),
            _ => {
                let report = Report::error(format!("{file} has no ending that a report is written in"));
                Err(report.label("expected .html or .md").hint("kiln report last -o report.html").into())
            }
        }
    }
}

/// Where the figures of a Markdown report lie, beside it.
pub fn figures_folder(file: &Utf8Path) -> String {
    format!("{}-figures", file.file_stem().unwrap_or("report"))
}

/// Writes a report and its figures. Folders are made where they are missing; figures that an earlier report left are written over. The text
/// comes last: one that is there has its figures.
pub fn write_report(file: &Utf8Path, text: &str, figures: &[(String, String)]) -> Result<Vec<Utf8PathBuf>, Failure> {
    let folder = file.parent().unwrap_or(Utf8Path::new("")).join(figures_folder(file));
    let drawn = figures.iter().map(|(name, svg)| put(&folder.join(name), svg.as_bytes()));
    let drawn = drawn.collect::<Result<Vec<_>, Fault>>()?;
    let text = put(file, text.as_bytes())?;
    Ok([text].into_iter().chain(drawn).collect())
}

/// Writes one picture whole.
pub fn write_picture(file: &Utf8Path, content: &[u8]) -> Result<Utf8PathBuf, Failure> {
    Ok(put(file, content)?)
}

fn put(file: &Utf8Path, content: &[u8]) -> Result<Utf8PathBuf, Fault> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_str().is_empty()) {
        fs_err::create_dir_all(folder).map_err(|error| Fault::new(format!("making {folder}"), error))?;
    }
    write_whole(file, content)?;
    Ok(file.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_how_it_is_written() {
        assert_eq!(ReportFormat::of("a/b.html".into()).unwrap(), ReportFormat::Html);
        assert_eq!(ReportFormat::of("b.md".into()).unwrap(), ReportFormat::Markdown);
        assert_eq!(ReportFormat::of("B.HTML".into()).unwrap(), ReportFormat::Html);
        assert!(ReportFormat::of("b.pdf".into()).unwrap_err().to_string().contains("expected .html or .md"));
        assert_eq!(figures_folder("x/report.md".into()), "report-figures");
    }

    #[test]
    fn figures_lie_beside_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let file = Utf8Path::from_path(folder.path()).unwrap().join("new/story.md");
        let written = write_report(&file, "text", &[("gates.svg".into(), "<svg/>".into())]).unwrap();
        assert_eq!(written.len(), 2);
        assert!(written[1].ends_with("new/story-figures/gates.svg") && written[1].is_file());
        // Where figures cannot be written, there is no text that names them, and an older one stays.
        let figures = [("gates.svg".to_string(), "<svg/>".to_string())];
        let other = file.with_file_name("other.md");
        std::fs::write(file.with_file_name("other-figures"), "a file").unwrap();
        assert!(write_report(&other, "text", &figures).is_err() && !other.exists());
    }
}
