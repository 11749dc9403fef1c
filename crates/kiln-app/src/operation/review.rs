//! Review by a person. In: a study or a kernel; or a file with remarks. Out: everything an expert needs to judge it, as records; or the remarks attached to
//! trials, decisions, lessons and causes. Refuses remarks about what is not there: the file as a whole, with every mistake.

mod add;
mod one;
mod template;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Report;
use kiln_formats::{FileRemark, RemarkAbout};
use kiln_store::{Filter, ProfileRecord, Remark, RemarkSubject, Run};
use kiln_study::write_whole;

use super::show::{Shown, Story, show};
use crate::failure::Failure;
use crate::project::Project;
use crate::record::profiles::{AppliedFix, applied};
pub use add::{AddedRemarks, add_remarks};
pub use one::{NewRemark, add_note, add_remark};

/// Everything that is recorded of a study and its kernel.
pub struct Review {
    /// The study, with its trials, notes and remarks.
    pub story: Story,
    /// Every study of the kernel: id, when it began, verdict, and the speedup where one was confirmed; newest first.
    pub studies: Vec<ReviewedStudy>,
    /// Benchmarks of the kernel, newest first.
    pub runs: Vec<Run>,
    /// Profiles of the kernel, oldest first.
    pub profiles: Vec<ProfileRecord>,
    /// What fixes promised and gave.
    pub fixes: Vec<AppliedFix>,
    /// Remarks about the kernel's causes.
    pub causes: Vec<Remark>,
}

/// A study of the same kernel.
#[derive(Debug, Clone)]
pub struct ReviewedStudy {
    /// Its id.
    pub id: String,
    /// When it began, in milliseconds since 1970.
    pub started_ms: i64,
    /// What it ran on.
    pub device: Option<String>,
    /// The verdict; none where it has not ended.
    pub verdict: Option<String>,
    /// The speedup and its interval, where one was confirmed.
    pub speedup: Option<(f64, [f64; 2])>,
}

/// Gathers what is recorded of a study, or of a kernel's newest.
pub fn review(project: &Project, name: &str) -> Result<Review, Failure> {
    let story = match show(project, name)? {
        Shown::Study(story) => *story,
        Shown::Run(run) => {
            let report = Report::error(format!("{name} is a benchmark of {}", run.kernel));
            return Err(report
                .label("expected a study, or a kernel that has one")
                .hint(format!("kiln review export {}; `kiln history` lists studies", run.kernel))
                .into());
        }
    };
    let (store, kernel) = (project.recorded_for(name)?, story.now.study.kernel.clone());
    let filter = Filter { kernel: Some(kernel.clone()), limit: None };
    let studied = |study: kiln_store::Study| ReviewedStudy {
        device: study.device().map(String::from),
        speedup: study.speedup(),
        verdict: study.verdict.clone(),
        started_ms: study.started_ms,
        id: study.id,
    };
    let profiles = store.profiles(Some(&kernel))?;
    Ok(Review {
        studies: store.studies(&filter)?.into_iter().map(studied).collect(),
        runs: store.runs(&filter)?,
        fixes: applied(&profiles),
        profiles,
        causes: of_kernel(&store.remarks()?, &kernel),
        story,
    })
}

/// The remarks about causes of a kernel.
fn of_kernel(all: &[Remark], kernel: &str) -> Vec<Remark> {
    let of = |own: &&Remark| matches!(&own.about, RemarkSubject::Cause(name, _) if name == kernel);
    all.iter().filter(of).cloned().collect()
}

/// The remarks about a cause of a kernel, or about a lesson; none where there is no store.
pub fn remarks_about(project: &Project, about: &RemarkSubject) -> Result<Vec<Remark>, Failure> {
    let Some(store) = project.recorded()? else { return Ok(Vec::new()) };
    Ok(store.remarks()?.into_iter().filter(|own| own.about == *about).collect())
}

/// Remarks as a file has them.
pub fn file_remarks(remarks: &[Remark]) -> Vec<FileRemark> {
    let about = |about: &RemarkSubject| match about.clone() {
        RemarkSubject::Trial(study, phase, number) => RemarkAbout::Trial { study, phase, number },
        RemarkSubject::Decision(study) => RemarkAbout::Decision { study },
        RemarkSubject::Lesson(lesson) => RemarkAbout::Lesson { lesson },
        RemarkSubject::Cause(kernel, cause) => RemarkAbout::Cause { kernel, cause },
    };
    let written = |own: &Remark| FileRemark {
        about: about(&own.about),
        reviewer: own.reviewer.clone(),
        at: jiff::Timestamp::from_millisecond(own.at_ms).ok().map(|at| at.to_string()),
        text: own.text.clone(),
        line: 0,
    };
    remarks.iter().map(written).collect()
}

/// Which file shows that a folder is an earlier export, and how it begins.
const MARK: (&str, &str) = ("report.md", "# Review of ");
/// The template that a reviewer fills in.
const TEMPLATE: &str = "remarks.toml";

/// A review's files, as they lie in its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenReview {
    /// Those that were written.
    pub files: Vec<Utf8PathBuf>,
    /// The template for remarks.
    pub template: Utf8PathBuf,
    /// Templates that somebody has written in: they stay as they are.
    pub kept: Vec<Utf8PathBuf>,
}

/// Writes a review's files into a folder. What somebody wrote is never replaced. Refuses a folder that has other things in it.
pub fn write_review(folder: &Utf8Path, files: &[(String, String)]) -> Result<WrittenReview, Failure> {
    let is_review = || fs_err::read_to_string(folder.join(MARK.0)).is_ok_and(|text| text.starts_with(MARK.1));
    let others = folder.is_dir() && fs_err::read_dir(folder)?.next().is_some() && !is_review();
    if others || folder.is_file() {
        let report = Report::error(format!("{folder} is there already, and is not a review"));
        return Err(report
            .label("expected a new or empty folder, or an earlier export")
            .hint("choose another with -o FOLDER")
            .into());
    }
    let (template, kept) = template::place(folder, TEMPLATE);
    let mut written = Vec::with_capacity(files.len());
    for (name, text) in files {
        let (file, text) = match name.as_str() {
            TEMPLATE => (template.clone(), template::marked(text)),
            name => (folder.join(name), text.clone()),
        };
        if let Some(parent) = file.parent() {
            fs_err::create_dir_all(parent)?;
        }
        write_whole(&file, text.as_bytes())?;
        written.push(file);
    }
    Ok(WrittenReview { files: written, template, kept })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_wrote_is_kept_and_what_nobody_touched_is_replaced() {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(keep.path().join("review")).unwrap();
        let write = |study: &str| {
            let files =
                [("report.md", "# Review of k\n"), (TEMPLATE, study)].map(|(n, t)| (n.to_string(), t.to_string()));
            write_review(&folder, &files).unwrap()
        };
        let read = |file: &Utf8Path| fs_err::read_to_string(file).unwrap();
        assert_eq!(write("study = 1\n").template, folder.join(TEMPLATE));
        let again = write("study = 2\n");
        assert!(again.kept.is_empty() && read(&again.template).starts_with("study = 2\n"));
        // A comment is enough.
        let mine = read(&again.template).replace("study = 2", "study = 2 # hm");
        fs_err::write(&again.template, &mine).unwrap();
        for study in ["study = 3\n", "study = 4\n"] {
            let beside = write(study);
            assert_eq!((read(&folder.join(TEMPLATE)), &beside.kept), (mine.clone(), &vec![folder.join(TEMPLATE)]));
            assert_eq!(beside.template, folder.join("remarks-2.toml"));
            assert!(read(&beside.template).starts_with(study));
            assert!(beside.files.contains(&beside.template) && !beside.files.contains(&folder.join(TEMPLATE)));
        }
        // A report of one's own is no review.
        fs_err::write(folder.join(MARK.0), "# My thesis\n").unwrap();
        assert!(write_review(&folder, &[]).unwrap_err().to_string().contains("is not a review"));
    }
}
