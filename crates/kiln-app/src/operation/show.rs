//! A study's story, from its record. In: a name. Out: the study as it stands now, with its trials and remarks. Refuses a
//! name that fits no study, or several.

use kiln_store::Note;

use crate::failure::Failure;
use crate::project::Project;
use crate::record::StudyNow;

/// Everything recorded of a study but its samples.
pub struct Story {
    /// The study as it stands now, with its trials in the order recorded.
    pub now: StudyNow,
    /// Remarks, in the order noted.
    pub notes: Vec<Note>,
}

/// Reads a study: an id or a piece of it, `last`, or a kernel's name for its newest.
pub fn show(project: &Project, name: &str) -> Result<Story, Failure> {
    let store = project.recorded_for(name)?;
    let study = store.find(name)?;
    let (trials, notes) = (store.trials(&study.id)?, store.notes(&study.id)?);
    Ok(Story { now: StudyNow::new(study, trials), notes })
}
