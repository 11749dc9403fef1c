//! A study's story or a benchmark, from its record. In: a name. Out: the study as it stands now, with its trials and remarks,
//! or the run. Refuses a name that fits neither, or several.

use kiln_store::{Note, Run};

use crate::failure::Failure;
use crate::project::Project;
use crate::record::resume::SOURCES;
use crate::record::{StudyNow, of_winners};

/// Everything recorded of a study but its samples.
pub struct Story {
    /// The study as it stands now, with its trials in the order recorded.
    pub now: StudyNow,
    /// Remarks, in the order noted.
    pub notes: Vec<Note>,
}

impl Story {
    /// The hash of the sources that the study measured, where it noted one.
    pub fn sources(&self) -> Option<&str> {
        self.notes.iter().rfind(|note| note.kind == SOURCES).map(|note| note.text.as_str())
    }
}

/// What a name stands for.
pub enum Shown {
    /// A study.
    Study(Box<Story>),
    /// A benchmark.
    Run(Box<Run>),
}

/// Reads a study: an id or a piece of it, `last`, or a kernel's name for its newest; or a benchmark, by its id or a piece.
pub fn show(project: &Project, name: &str) -> Result<Shown, Failure> {
    let store = project.recorded_for(name)?;
    let study = match store.find(name) {
        Ok(study) => study,
        Err(fault) => {
            let run = store.find_run(name)?;
            return Ok(Shown::Run(Box::new(run.ok_or(fault)?)));
        }
    };
    let labels = store.labels()?.remove(&study.id).unwrap_or_default();
    let (trials, notes) = (store.trials(&study.id)?, store.notes(&study.id)?);
    let validated = of_winners(&store, &study, &store.validations(Some(&study.kernel))?)?;
    let remarks = store.remarks_of(&study.id)?;
    let now = StudyNow { validated, remarks, ..StudyNow::new(study, trials, labels) };
    Ok(Shown::Study(Box::new(Story { now, notes })))
}
