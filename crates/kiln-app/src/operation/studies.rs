//! Names, tags and removal of recorded studies. In: a study's id, name, or what else stands for one. Out: the study, as it is
//! called now. Refuses a name that is taken or cannot be one, and to delete a study that is running.

use kiln_core::{Fault, Report};
use kiln_store::{Labels, NAME, State, Store, TAG, check_label};

use crate::failure::Failure;
use crate::project::Project;
use crate::record::StudyNow;

/// A study and how it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// Its short id.
    pub short_id: String,
    /// Its kernel.
    pub kernel: String,
    /// Its name and tags.
    pub labels: Labels,
}

/// Names a study; without a name it loses the one it has.
pub fn rename(project: &Project, study: &str, name: Option<&str>) -> Result<Labelled, Failure> {
    let store = project.recorded_for(study)?;
    name.map_or(Ok(()), |name| fit(&store, Some(name), &[], None))?;
    let id = store.find(study)?.id;
    store.rename(&id, name)?;
    labelled(&store, &id)
}

/// Tags a study, or takes tags away.
pub fn retag(project: &Project, study: &str, tags: &[String], remove: bool) -> Result<Labelled, Failure> {
    let store = project.recorded_for(study)?;
    fit(&store, None, tags, None)?;
    let id = store.find(study)?.id;
    for tag in tags {
        if !remove {
            store.tag(&id, tag)?;
        } else if !store.untag(&id, tag)? {
            return Err(Report::error(format!("study {study} has no tag `{tag}`")).into());
        }
    }
    labelled(&store, &id)
}

/// The studies that names stand for, to be looked at before they are deleted. Refuses one that is running.
pub fn deletable(project: &Project, names: &[String]) -> Result<Vec<StudyNow>, Failure> {
    let mut found: Vec<StudyNow> = Vec::new();
    for name in names {
        let store = project.recorded_for(name)?;
        let study = store.find(name)?;
        if found.iter().any(|other| other.study.id == study.id) {
            continue;
        }
        let trials = store.trials(&study.id)?;
        let now = StudyNow::new(study, trials, Labels::default());
        if now.study.state == State::Running && !now.gone {
            let report =
                Report::error(format!("study {} is running, as process {}", now.study.short_id(), now.study.owner));
            return Err(report.hint("stop it with Ctrl-C first, or wait for it").into());
        }
        found.push(now);
    }
    Ok(found)
}

/// Deletes studies with everything recorded of them. What was written of their winners stays.
pub fn delete(project: &Project, studies: &[StudyNow]) -> Result<(), Failure> {
    let store = project.store()?;
    studies.iter().try_for_each(|now| store.delete(&now.study))?;
    Ok(())
}

/// Refuses labels that a study cannot have. `study` is the one that may have the name already.
pub(crate) fn fit(store: &Store, name: Option<&str>, tags: &[String], study: Option<&str>) -> Result<(), Failure> {
    // A mistake in what was typed, not a fault of the store.
    let wrong = |Fault { what, why, hint }: Fault| Failure::from(Report::error(what).label(why).maybe_hint(hint));
    tags.iter().try_for_each(|tag| check_label(TAG, tag)).map_err(wrong)?;
    let Some(name) = name else { return Ok(()) };
    check_label(NAME, name).map_err(wrong)?;
    let taken = store.labels()?.into_iter().find(|(_, labels)| labels.name.as_deref() == Some(name));
    match taken.filter(|(id, _)| Some(id.as_str()) != study) {
        None => Ok(()),
        Some((id, _)) => {
            let report = Report::error(format!("the name `{name}` is taken, by study {id}"));
            Err(report.hint("choose another, or rename that study: `kiln studies rename`").into())
        }
    }
}

fn labelled(store: &Store, id: &str) -> Result<Labelled, Failure> {
    let (study, labels) = (store.find(id)?, store.labels()?.remove(id).unwrap_or_default());
    Ok(Labelled { short_id: study.short_id().into(), kernel: study.kernel, labels })
}
