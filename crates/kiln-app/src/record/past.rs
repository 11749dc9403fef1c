//! Studies as they stand now. In: records. Out: the same with what the record alone does not say: a study that says it runs,
//! while its process is gone, was interrupted.

use std::collections::BTreeSet;

use camino::Utf8Path;
use kiln_core::Fault;
use kiln_store::{Labels, Remark, State, Store, Study, Trial, Validation};
use kiln_study::Machine;

use crate::record::validated::of_winners;

/// A study as it stands now.
pub struct StudyNow {
    /// The record.
    pub study: Study,
    /// Whether the process that ran it last is known to be over.
    pub gone: bool,
    /// Its trials, in the order recorded; a list has them only of studies whose summary does not count them.
    pub trials: Vec<Trial>,
    /// Its name and tags.
    pub labels: Labels,
    /// What was validated of its winners.
    pub validated: Vec<Validation>,
    /// What reviewers remarked on it and its trials, oldest first.
    pub remarks: Vec<Remark>,
}

impl StudyNow {
    pub(crate) fn new(study: Study, trials: Vec<Trial>, labels: Labels) -> StudyNow {
        let gone = is_gone(&study.owner, &Machine::look().host);
        StudyNow { study, gone, trials, labels, validated: Vec::new(), remarks: Vec::new() }
    }

    /// Whether it runs, as far as this machine can know.
    pub fn is_running(&self) -> bool {
        self.study.state == State::Running && !self.gone
    }

    /// How it stands: as recorded, but interrupted when the process that ran it is gone.
    pub fn state(&self) -> State {
        if self.gone && self.study.state == State::Running { State::Interrupted } else { self.study.state }
    }
}

/// How many configurations a study tried, and how many of them only the ablation did: as it counted them, none where it did not;
/// from its trials while there is no count.
pub fn configurations_tried(study: &Study, trials: &[Trial]) -> (usize, Option<usize>) {
    if let Some(counted) = study.tried() {
        return (counted, study.ablated());
    }
    let own = |trial: &Trial| (trial.phase_id().workload.map(String::from), trial.config.clone());
    let searching = || trials.iter().filter(|trial| trial.phase_id().is_searching());
    let ablation: BTreeSet<_> = trials.iter().filter(|trial| trial.phase_id().name == "ablation").map(own).collect();
    let searched: BTreeSet<_> = match ablation.is_empty() {
        true => BTreeSet::new(),
        false => searching().map(own).collect(),
    };
    let ablated = ablation.difference(&searched).count();
    (searching().count() + ablated, Some(ablated))
}

/// Studies as they stand now, for a list.
pub(crate) fn as_they_stand(store: &Store, studies: Vec<Study>) -> Result<Vec<StudyNow>, Fault> {
    let (mut now, mut labels) = (Vec::with_capacity(studies.len()), store.labels()?);
    let (validations, remarks) = (store.validations(None)?, store.remarks()?);
    for study in studies {
        // What was counted at the end needs no trials for that.
        let trials = if study.tried().is_some() { Ok(Vec::new()) } else { store.trials(&study.id) };
        let Ok(trials) = trials else {
            store.leave_out(&study.id);
            continue;
        };
        let called = labels.remove(&study.id).unwrap_or_default();
        let validated = of_winners(store, &study, &validations)?;
        let remarks = remarks.iter().filter(|own| own.is_of(&study.id)).cloned().collect();
        now.push(StudyNow { validated, remarks, ..StudyNow::new(study, trials, called) });
    }
    Ok(now)
}

/// Whether the process `pid@host` is known to be over. Of another host's nothing is known.
pub(crate) fn is_gone(owner: &str, here: &str) -> bool {
    match owner.split_once('@') {
        Some((pid, host)) => host == here && pid.parse::<u32>().is_ok() && !Utf8Path::new("/proc").join(pid).exists(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_of_this_host_can_be_known_to_be_gone() {
        let alive = std::process::id();
        // Beyond the greatest number a process can have.
        let gone = u32::MAX;
        assert!(!is_gone(&format!("{alive}@here"), "here"));
        assert!(is_gone(&format!("{gone}@here"), "here"));
        assert!(!is_gone(&format!("{gone}@elsewhere"), "here"));
        assert!(!is_gone("somebody", "here"));
        assert!(!is_gone("../x@here", "here"));
    }
}
