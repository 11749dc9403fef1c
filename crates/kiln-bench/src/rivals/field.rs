//! Who can be measured where. In: others than the candidate (baselines, another configuration), and workloads set up. Out:
//! groups of workloads that are measured in the same rounds, on which the same of them are right and can be called, and why the
//! rest cannot: one that fails on some workload is no reason not to measure the others.

use kiln_core::{Fault, Outcome, Refusal};
use serde::Serialize;

use crate::bench::Bench;
use crate::duels::duel::Lost;
use crate::questions::check::quick;
use crate::questions::stage::Stage;
use crate::rivals::baseline::Baseline;
use crate::workers::subject::Subject;

/// Somebody the candidate is measured against.
#[derive(Debug, Clone)]
pub struct Rival {
    /// Its name: that of a baseline, or a configuration.
    pub name: String,
    /// What is called.
    pub subject: Subject,
    /// Whether its claims about time are judged as the candidate's are.
    pub judged: bool,
}

impl Rival {
    /// A baseline.
    pub fn baseline(baseline: &Baseline) -> Rival {
        Rival { name: baseline.name.clone(), subject: baseline.subject.clone(), judged: false }
    }

    /// Under which name it takes part.
    pub(crate) fn entry(&self) -> (String, Subject) {
        let kind = if self.judged { "candidate" } else { "baseline" };
        (format!("{kind}:{}", self.name), self.subject.clone())
    }
}

/// Why somebody is not measured on a workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unmeasured {
    /// Its name.
    pub name: String,
    /// What refused it.
    #[serde(flatten)]
    pub refusal: Refusal,
}

/// Workloads that are measured together, with the same rivals.
pub(crate) struct Group<'a> {
    /// Their places among all.
    pub(crate) places: Vec<usize>,
    pub(crate) stages: Vec<Stage<'a>>,
    /// The rivals, by their places.
    pub(crate) able: Vec<usize>,
}

impl Group<'_> {
    /// Leaves somebody out who was right before and has lost now: the others can be measured all the same.
    pub(crate) fn leave_out(&mut self, able: usize, lost: Lost, rivals: &[Rival], unmeasured: &mut [Vec<Unmeasured>]) {
        let name = &rivals[self.able.remove(able)].name;
        let Lost { mut refusal, workload, .. } = lost;
        refusal.evidence = format!("{} on {workload}", refusal.evidence).trim_start().to_string();
        for place in &self.places {
            unmeasured[*place].push(Unmeasured { name: name.clone(), refusal: refusal.clone() });
        }
    }
}

/// Sorts workloads by who can be measured there; for each of them, why others cannot.
pub(crate) fn groups<'a>(
    bench: &Bench<'a>,
    mut stages: Vec<Stage<'a>>,
    rivals: &[Rival],
) -> Result<(Vec<Group<'a>>, Vec<Vec<Unmeasured>>), Fault> {
    let mut able: Vec<Vec<usize>> = vec![Vec::new(); stages.len()];
    let mut failed: Vec<Vec<Unmeasured>> = vec![Vec::new(); stages.len()];
    for (number, rival) in rivals.iter().enumerate() {
        for (place, refusal) in refusals(bench, &mut stages, &rival.subject)?.into_iter().enumerate() {
            match refusal {
                Some(refusal) => failed[place].push(Unmeasured { name: rival.name.clone(), refusal }),
                None => able[place].push(number),
            }
        }
    }
    let mut groups: Vec<Group<'a>> = Vec::new();
    // One at a time on a GPU: who loses there has lost on that workload alone, and the rounds of the others stand.
    let apart = bench.kernel.on_gpu();
    for (place, (stage, able)) in stages.into_iter().zip(able).enumerate() {
        match groups.iter_mut().find(|group| !apart && group.able == able) {
            Some(group) => {
                group.places.push(place);
                group.stages.push(stage);
            }
            None => groups.push(Group { places: vec![place], stages: vec![stage], able }),
        }
    }
    Ok((groups, failed))
}

/// The quick check of a subject on each of these workloads.
fn refusals(bench: &Bench<'_>, stages: &mut [Stage<'_>], subject: &Subject) -> Result<Vec<Option<Refusal>>, Fault> {
    let mut seat = None;
    let mut found = Vec::with_capacity(stages.len());
    for stage in stages {
        bench.go_on()?;
        if seat.is_none() {
            seat = match bench.seating().take(subject)? {
                Outcome::Passed(taken) => Some(taken),
                Outcome::Refused(refusal) => {
                    found.push(Some(refusal));
                    continue;
                }
            };
        }
        let Some(here) = &mut seat else { continue };
        stage.fit(subject.config())?;
        let outcome = match stage.map(here, subject)? {
            Outcome::Passed(()) => quick(stage, here, 0)?,
            refused => refused,
        };
        found.push(match outcome {
            Outcome::Passed(()) => None,
            Outcome::Refused(refusal) => {
                // Its worker may be gone, or not be what it was.
                seat = None;
                Some(refusal)
            }
        });
    }
    Ok(found)
}
