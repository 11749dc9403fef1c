//! What changes while somebody looks: studies that other processes run, remarks that others add. In: a project, looked at again and again. Out: which studies
//! changed since the look before, and whether anything else did. A look costs microseconds while nothing happens.

use std::collections::BTreeMap;

use kiln_store::{State, Store, StudyStamp};
use kiln_study::Machine;
use serde::Serialize;

use crate::failure::Failure;
use crate::project::Project;
use crate::record::is_gone;

/// What changed between two looks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Ids of studies that are new or different, or were deleted.
    pub studies: Vec<String>,
    /// Whether something changed that is of no study: benchmarks, profiles, sessions, decisions, remarks.
    pub others: bool,
}

impl Changed {
    /// True when nothing did.
    pub fn is_empty(&self) -> bool {
        self.studies.is_empty() && !self.others
    }
}

/// A watch on a project's store.
pub struct Watch {
    project: Project,
    store: Option<Store>,
    change: Option<i64>,
    /// Stamps of studies by id, once they were read.
    studies: Option<BTreeMap<String, String>>,
    others: String,
    /// Studies that say they run, with their owners.
    running: Vec<(String, String)>,
}

impl Watch {
    /// A watch that has not looked yet.
    pub fn new(project: &Project) -> Watch {
        let (studies, others, running) = Default::default();
        Watch { project: project.clone(), store: None, change: None, studies, others, running }
    }

    /// What changed since the last look. The first tells of nothing: it is what the next is compared with.
    pub fn look(&mut self) -> Result<Changed, Failure> {
        if self.store.is_none() {
            self.store = self.project.recorded()?;
        }
        let Some(store) = &self.store else {
            // The first study of all is a change too.
            self.studies.get_or_insert_default();
            return Ok(Changed::default());
        };
        let change = store.change()?;
        if self.studies.is_some() && change.is_some() && change == self.change && !self.has_one_gone() {
            return Ok(Changed::default());
        }
        let (stamps, others) = (store.stamps()?, store.other_stamp()?);
        let here = Machine::look().host;
        let mut now = BTreeMap::new();
        self.running.clear();
        for StudyStamp { id, state, owner, stamp, .. } in stamps {
            let gone = state == State::Running.name() && is_gone(&owner, &here);
            if state == State::Running.name() && !gone {
                self.running.push((id.clone(), owner));
            }
            now.insert(id, format!("{stamp} {gone}"));
        }
        let before = self.studies.replace(now);
        let others_differ = std::mem::replace(&mut self.others, others) != self.others;
        self.change = change;
        let (Some(before), Some(now)) = (before, &self.studies) else { return Ok(Changed::default()) };
        let mut studies: Vec<String> =
            now.iter().filter(|(id, stamp)| before.get(*id) != Some(*stamp)).map(|(id, _)| id.clone()).collect();
        studies.extend(before.into_keys().filter(|id| !now.contains_key(id)));
        Ok(Changed { studies, others: others_differ })
    }

    /// Whether the process of a study that ran at the last look is over: nothing is written when one is killed.
    fn has_one_gone(&self) -> bool {
        !self.running.is_empty() && {
            let here = Machine::look().host;
            self.running.iter().any(|(_, owner)| is_gone(owner, &here))
        }
    }
}

/// The id of the study that a name stands for, and what differs once anything about it was recorded: for whoever keeps what was read. Refuses a name that fits
/// no study, or several.
pub fn study_stamp(project: &Project, name: &str) -> Result<(String, String), Failure> {
    let store = project.recorded_for(name)?;
    let id = store.find(name)?.id;
    let stamp = store.stamp(&id)?;
    let words = |own: StudyStamp| format!("{} {}", own.stamp, is_gone(&own.owner, &Machine::look().host));
    Ok((id, stamp.map(words).unwrap_or_default()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::project::Stop;
    use kiln_store::Kept;
    use serde_json::json;

    pub(crate) fn study(owner: String) -> kiln_store::Study {
        kiln_store::Study {
            id: kiln_store::Study::new_id(),
            started_ms: 1,
            ended_ms: None,
            state: State::Running,
            owner,
            kernel: "k".into(),
            path: "kernel.toml".into(),
            target: "cpu".into(),
            arch: None,
            variant: String::new(),
            seed: 1,
            strategy: "random".into(),
            options: Kept::found(json!({})),
            environment: Kept::found(json!({})),
            git_commit: None,
            spec_hash: String::new(),
            spec_text: String::new(),
            kiln_version: "0".into(),
            verdict: None,
            summary: None,
            seconds: 0.0,
        }
    }

    #[test]
    fn a_watch_tells_of_each_change_once() {
        let folder = tempfile::tempdir().unwrap();
        let place: String = folder.path().join("kiln.db").to_string_lossy().into();
        let project = Project::here(Some(place.clone()), Stop::never());
        let mut watch = Watch::new(&project);
        assert!(watch.look().unwrap().is_empty());
        assert!(!std::path::Path::new(&place).exists(), "looking makes no store");
        let other = Store::open(&place).unwrap();
        let begun = study("1@elsewhere".into());
        other.begin(&begun).unwrap();
        assert_eq!(watch.look().unwrap().studies, std::slice::from_ref(&begun.id));
        assert!(watch.look().unwrap().is_empty());
        other.note(&begun.id, 1, "load", "busy").unwrap();
        assert_eq!(watch.look().unwrap(), Changed { studies: vec![begun.id.clone()], others: false });
        assert!(watch.look().unwrap().is_empty());
    }

    #[test]
    fn a_process_that_was_killed_is_a_change_though_nothing_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::here(Some(folder.path().join("kiln.db").to_string_lossy().into()), Stop::never());
        let mut process = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let begun = study(format!("{}@{}", process.id(), Machine::look().host));
        project.store().unwrap().begin(&begun).unwrap();
        let mut watch = Watch::new(&project);
        assert!(watch.look().unwrap().is_empty() && watch.look().unwrap().is_empty());
        let before = study_stamp(&project, &begun.id).unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
        assert_eq!(watch.look().unwrap().studies, std::slice::from_ref(&begun.id));
        assert_ne!(study_stamp(&project, &begun.id).unwrap(), before);
        assert!(watch.look().unwrap().is_empty());
    }
}
