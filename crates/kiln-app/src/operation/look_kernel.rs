//! Everything that views of one kernel need. In: a kernel's folder, its kernel.toml or its name. Out: its studies and runs, how its times
//! changed, its profiles with what they diagnose, its sweeps, its tuned table, attempts with what they met, sessions, remarks
//! and what to do next. Nothing is run and nothing is recorded. Refuses a name that nothing is recorded of.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Fault, Report};
use kiln_diagnose::lessons::Kept as KeptLesson;
use kiln_diagnose::profile::ProfileDiagnosis;
use kiln_session::{Attempted, SessionRow};
use kiln_store::{AttemptsOf, Filter, ProfileRecord, Remark, RemarkSubject, Run, Store};
use kiln_study::best_config;

use crate::failure::Failure;
use crate::kernel::KernelFile;
use crate::operation::diagnose::profile::{ProfileDiagnoseRequest, diagnose_profile};
use crate::operation::history::{Changes, ChangesRequest, History, HistoryRequest, changes, history, is_path};
use crate::operation::lessons::show_lesson;
use crate::operation::next::{NextRequest, NextStep, next};
use crate::operation::session::past_sessions;
use crate::operation::sweep::SweepStory;
use crate::project::Project;
use crate::record::profiles::{AppliedFix, applied};
use crate::record::{StudyNow, Whose};

/// Studies and runs looked at, the newest.
const NEWEST: u32 = 200;
/// Attempts looked at, the newest.
const ATTEMPTS: u32 = 2000;
/// Raw pages of profiles that are read, the newest.
const PAGES: usize = 12;
/// Sweeps that are drawn, the newest.
const SWEEPS: usize = 3;

/// One kernel, as views show it.
pub struct KernelLook {
    /// Its name.
    pub kernel: String,
    /// Where it lies, as it was typed last.
    pub path: String,
    /// Its studies, runs and validations, the newest first.
    pub history: History,
    /// Its times over commits, with their changes of level; none where that cannot be computed.
    pub changes: Option<Changes>,
    /// Its profiles, oldest first.
    pub profiles: Vec<ProfileRecord>,
    /// What the newest profiles diagnose, where their pages are still there: the profile's place, and the diagnosis.
    pub diagnoses: Vec<(usize, ProfileDiagnosis)>,
    /// Fixes that were applied, with what they promised and gave.
    pub fixes: Vec<AppliedFix>,
    /// Its sweeps over shapes, the newest first.
    pub sweeps: Vec<(Run, SweepStory)>,
    /// What `best.toml` holds, or why it cannot be read.
    pub tuned: Result<Vec<TunedEntry>, Fault>,
    /// Lessons that commands on it met, with how often.
    pub lessons: Vec<MetLesson>,
    /// Commands on it that judged something, oldest first.
    pub attempts: Vec<Attempted>,
    /// Sessions about it that are over, oldest first.
    pub sessions: Vec<SessionRow>,
    /// Remarks on it, its studies, its causes and the lessons that it met, oldest first.
    pub remarks: Vec<Remark>,
    /// What to do next, with the tree and the checklists; or the mistakes because of which that cannot be said.
    pub next: Result<NextStep, Vec<Report>>,
    /// When it was looked at, in milliseconds since 1970.
    pub at_ms: i64,
}

/// A tuned configuration, as `best.toml` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TunedEntry {
    /// The target.
    pub target: String,
    /// The variant, as the user would type it.
    pub variant: String,
    /// The workload.
    pub workload: String,
    /// The configuration.
    pub config: String,
}

/// A lesson that was met.
#[derive(Debug, Clone)]
pub struct MetLesson {
    /// Its id.
    pub id: String,
    /// Commands that met it.
    pub times: usize,
    /// When it was met last, in milliseconds since 1970.
    pub last_ms: i64,
    /// What it says; none where it is not known any more.
    pub lesson: Option<KeptLesson>,
}

/// Looks at a kernel: its folder, its kernel.toml or its name. A name that is recorded stands for its records also where the file in a folder of
/// that name has mistakes, or holds a kernel that nothing is recorded of.
pub fn look_kernel(project: &Project, kernel: &Utf8Path) -> Result<KernelLook, Failure> {
    let is_word = !kernel.as_str().contains('/') && !kernel.is_file();
    let by_name = is_word && is_path(kernel) && {
        match KernelFile::read(kernel) {
            Ok(file) if file.spec.name == kernel.as_str() => false,
            Ok(file) => !is_recorded(project, &file.spec.name)? && is_recorded(project, kernel.as_str())?,
            Err(_) => is_recorded(project, kernel.as_str())?,
        }
    };
    looked(project, kernel, by_name)
}

/// Looks at a kernel by its name, whatever lies in a folder of this name.
pub fn look_named_kernel(project: &Project, name: &str) -> Result<KernelLook, Failure> {
    let kernel = Utf8Path::new(name);
    // Where the folder holds it, another kernel of its name is none of it.
    let is_there = is_path(kernel) && KernelFile::read(kernel).is_ok_and(|file| file.spec.name == name);
    looked(project, kernel, !is_there)
}

/// Whether anything is recorded of a kernel of that name.
pub(super) fn is_recorded(project: &Project, name: &str) -> Result<bool, Failure> {
    let Some(store) = project.recorded()? else { return Ok(false) };
    let filter = Filter { kernel: Some(name.into()), limit: Some(1) };
    Ok(!store.studies(&filter)?.is_empty()
        || !store.runs(&filter)?.is_empty()
        || !store.attempts(AttemptsOf::Kernel(name, 1))?.is_empty()
        || !store.profiles(Some(name))?.is_empty())
}

fn looked(project: &Project, kernel: &Utf8Path, by_name: bool) -> Result<KernelLook, Failure> {
    let request =
        HistoryRequest { kernel: Some(kernel.to_owned()), by_name, limit: NEWEST, ..HistoryRequest::default() };
    let history = history(project, &request)?;
    let name = history.kernel.clone().unwrap_or_else(|| kernel.to_string());
    let store = project.recorded_for(&name)?;
    let (profiles, attempts) = (store.profiles(Some(&name))?, store.attempts(AttemptsOf::Kernel(&name, ATTEMPTS))?);
    if history.studies.is_empty() && history.runs.is_empty() && profiles.is_empty() && attempts.is_empty() {
        let others = history.others.join(", ");
        let report = Report::error(format!("nothing is recorded of a kernel `{name}`"));
        let hint = if others.is_empty() {
            "the first study makes a record: `kiln tune`".into()
        } else {
            format!("kernels with records: {others}")
        };
        return Err(report.hint(hint).into());
    }
    let typed = history.studies.first().map(|now| (now.study.started_ms, now.study.path.clone()));
    let ran = history.runs.first().map(|run| (run.started_ms, run.path.clone()));
    let path = typed.into_iter().chain(ran).max().map_or_else(|| kernel.to_string(), |(_, path)| path);
    let changes = changes(
        project,
        &ChangesRequest { kernel: kernel.to_owned(), by_name, min_change: MIN_CHANGE, ..ChangesRequest::default() },
    );
    let sweeps = history.runs.iter().filter_map(|run| Some((run.clone(), SweepStory::of(run.sweep()?)))).take(SWEEPS);
    let sessions = past_sessions(project)?.into_iter().filter(|row| row.kernel.as_deref() == Some(&name));
    let lessons = met(project, &attempts);
    Ok(KernelLook {
        changes: changes.ok(),
        diagnoses: diagnoses(project, &profiles),
        fixes: applied(&profiles),
        sweeps: sweeps.collect(),
        tuned: tuned(project, &Whose::at(&name, Utf8Path::new(&path)), &history),
        sessions: sessions.collect(),
        remarks: remarks(&store, &name, &history, &lessons)?,
        lessons,
        next: advised(project, kernel, by_name, Utf8Path::new(&path)),
        at_ms: jiff::Timestamp::now().as_millisecond(),
        kernel: name,
        path,
        history,
        profiles,
        attempts,
    })
}

/// What to do next. What is read of a kernel whose file has mistakes is its records alone, and says too little.
fn advised(project: &Project, kernel: &Utf8Path, by_name: bool, path: &Utf8Path) -> Result<NextStep, Vec<Report>> {
    if by_name && is_path(path) {
        KernelFile::read(path).map_err(|failure| failure.reports())?;
    }
    next(project, &NextRequest { kernel: Some(kernel.to_owned()), by_name }).map_err(|failure| failure.reports())
}

/// Change that counts, in per cent: what `kiln history --changes` uses unless told otherwise.
const MIN_CHANGE: f64 = 2.0;

/// What the newest profiles with a page say.
fn diagnoses(project: &Project, profiles: &[ProfileRecord]) -> Vec<(usize, ProfileDiagnosis)> {
    let pages = profiles.iter().enumerate().rev().filter_map(|(place, own)| Some((place, own.page.as_deref()?)));
    let read = |(place, page): (usize, &str)| {
        let request = ProfileDiagnoseRequest { page: Utf8PathBuf::from(page), ..ProfileDiagnoseRequest::default() };
        Some((place, diagnose_profile(project, &request).ok()?.diagnosis))
    };
    // A page that was deleted costs its picture only.
    let mut found: Vec<_> = pages.take(PAGES).filter_map(read).collect();
    found.reverse();
    found
}

/// What is written of winners, for each target, variant and workload that a study tuned.
fn tuned(project: &Project, whose: &Whose, history: &History) -> Result<Vec<TunedEntry>, Fault> {
    let folder = whose.best(project);
    let mut found: Vec<TunedEntry> = Vec::new();
    for study in history.studies.iter().map(|now| &now.study) {
        let Some(summary) = study.summary.as_ref().and_then(|summary| summary.read().ok()) else { continue };
        for workload in summary.workloads.iter().filter(|workload| !workload.holdout) {
            let of = |one: &TunedEntry| {
                one.target == study.target && one.variant == study.variant && one.workload == workload.name
            };
            if found.iter().any(of) {
                continue;
            }
            let written = best_config(&folder, &study.target, &study.variant, &[&workload.name])?;
            if let Some(config) = written.and_then(|all| all.into_iter().next()) {
                let (target, variant) = (study.target.clone(), study.variant.clone());
                found.push(TunedEntry { target, variant, workload: workload.name.clone(), config });
            }
        }
    }
    Ok(found)
}

fn met(project: &Project, attempts: &[Attempted]) -> Vec<MetLesson> {
    let mut found: Vec<MetLesson> = Vec::new();
    for attempt in attempts {
        let Some(id) = &attempt.lesson else { continue };
        match found.iter_mut().find(|one| one.id == *id) {
            Some(one) => (one.times, one.last_ms) = (one.times + 1, attempt.at_ms),
            None => {
                let lesson = show_lesson(project, id).ok();
                found.push(MetLesson { id: id.clone(), times: 1, last_ms: attempt.at_ms, lesson });
            }
        }
    }
    found.sort_by(|a, b| b.times.cmp(&a.times).then(b.last_ms.cmp(&a.last_ms)));
    found
}

fn remarks(store: &Store, name: &str, history: &History, lessons: &[MetLesson]) -> Result<Vec<Remark>, Fault> {
    let own = |remark: &Remark| is_about(&remark.about, name, &history.studies, lessons);
    Ok(store.remarks()?.into_iter().filter(own).collect())
}

/// Whether a remark belongs to a kernel: it is about its causes, its studies, or lessons that it met.
fn is_about(about: &RemarkSubject, name: &str, studies: &[StudyNow], lessons: &[MetLesson]) -> bool {
    match about {
        RemarkSubject::Cause(kernel, _) => kernel == name,
        RemarkSubject::Trial(study, ..) | RemarkSubject::Decision(study) => {
            studies.iter().any(|now| now.study.id == *study)
        }
        RemarkSubject::Lesson(id) => lessons.iter().any(|met| met.id == *id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_on_lessons_that_a_kernel_met_are_its_own() {
        let met = MetLesson { id: "profile_first".into(), times: 1, last_ms: 0, lesson: None };
        let own = |about: &RemarkSubject| is_about(about, "k", &[], std::slice::from_ref(&met));
        assert!(own(&RemarkSubject::Lesson("profile_first".into())) && !own(&RemarkSubject::Lesson("hang".into())));
        assert!(
            own(&RemarkSubject::Cause("k".into(), "x".into())) && !own(&RemarkSubject::Cause("l".into(), "x".into()))
        );
    }
}
