//! Names, tags and removal of recorded studies. In: a study's id, name, or what else stands for one. Out: the study, as it is
//! called now. Refuses a name that is taken or cannot be one, and to delete a study that is running.

use kiln_core::{Fault, Report, counted};
use kiln_store::{Labels, NAME, State, Store, Study, TAG, check_label};

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

/// A study or a run that is to be deleted.
pub struct Deletable {
    id: String,
    /// None for a run, and for a study that cannot be read.
    study: Option<Study>,
    /// What it is, in words.
    pub words: String,
}

/// What names stand for, to be looked at before it is deleted: studies, runs, and what cannot be read of them. Refuses a
/// study that is running.
pub fn deletable(project: &Project, names: &[String]) -> Result<Vec<Deletable>, Failure> {
    let mut found: Vec<Deletable> = Vec::new();
    for name in names {
        let one = meant(&project.recorded_for(name)?, name)?;
        if found.iter().all(|other| other.id != one.id) {
            found.push(one);
        }
    }
    Ok(found)
}

fn meant(store: &Store, name: &str) -> Result<Deletable, Failure> {
    let study = match store.find(name) {
        Ok(study) => study,
        Err(fault) => {
            let Some(id) = store.id_of(name)? else { return Err(fault.into()) };
            let words = match store.find_run(&id) {
                Ok(Some(run)) => format!("run {} of {}", run.short_id(), run.kernel),
                Ok(None) | Err(_) => format!("{id}, which cannot be read"),
            };
            return Ok(Deletable { id, study: None, words });
        }
    };
    let trials = store.trials(&study.id).map(|trials| trials.len());
    let now = StudyNow::new(study, Vec::new(), Labels::default());
    let StudyNow { study, gone, .. } = now;
    if study.state == State::Running && !gone {
        let report = Report::error(format!("study {} is running, as process {}", study.short_id(), study.owner));
        return Err(report.hint("stop it with Ctrl-C first, or wait for it").into());
    }
    let recorded = trials.map_or("trials that cannot be read".into(), |count| counted(count as u128, "trial"));
    let words = format!("study {} of {}, {recorded}", study.short_id(), study.kernel);
    Ok(Deletable { id: study.id.clone(), study: Some(study), words })
}

/// Deletes studies and runs with everything recorded of them. What was written of their winners stays.
pub fn delete(project: &Project, doomed: &[Deletable]) -> Result<(), Failure> {
    let store = project.store()?;
    for Deletable { id, study, .. } in doomed {
        match study {
            Some(study) => store.delete(study)?,
            None => store.remove(id)?,
        }
    }
    Ok(())
}

/// Refuses labels that a study cannot have. `study` is the one that may have the name already.
pub(crate) fn fit(store: &Store, name: Option<&str>, tags: &[String], study: Option<&str>) -> Result<(), Failure> {
    // A mistake in what was typed, not a fault of the store.
    let wrong =
        |Fault { what, why, hint }: Fault| Failure::from(Report::error(format!("{what}: {why}")).maybe_hint(hint));
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
