//! A report: the whole story in one file. In: a study, a session or a kernel. Out: its title and sections, as HTML or Markdown.

use kiln_app::{Reported, StudyLook, TrialFilter};

use super::{Section, View, kernel_sections, session_sections, study_sections, why_sections};

/// The sections that stand before why a configuration won.
const BEFORE_WHY: &str = "result";

/// The title and the sections of a report.
pub fn report_sections(reported: &Reported, view: &View) -> (String, Vec<Section>) {
    match reported {
        Reported::Study(look) => {
            let study = &look.story.now.study;
            (format!("{}: study {}", study.kernel, study.short_id()), story(look, view))
        }
        Reported::Session(report) => {
            let kernel = report.session.kernel.as_ref().map_or(String::new(), |kernel| format!(" on {kernel}"));
            (format!("Session {}{kernel}", report.session.short_id()), session_sections(report, view))
        }
        Reported::Kernel(look, study) => {
            let mut sections = kernel_sections(look, view);
            sections.extend(study.as_ref().map(|study| story(study, view)).unwrap_or_default());
            (format!("The story of {}", look.kernel), sections)
        }
    }
}

/// A study and why it came out as it did.
fn story(look: &StudyLook, view: &View) -> Vec<Section> {
    let mut sections = study_sections(look, &TrialFilter::default(), view);
    let at = sections.iter().position(|section| section.id == BEFORE_WHY).map_or(1, |at| at + 1);
    sections.splice(at..at, why_sections(look, view));
    sections
}
