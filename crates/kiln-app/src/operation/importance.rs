//! Which tunables mattered in a study. In: a study's name. Out: shares of the variation, pairs, values worth adding; for each
//! workload where they were tuned apart. Refuses a study whose kernel file this kiln cannot read.

use std::sync::Arc;

use kiln_core::Fault;
use kiln_search::{Importance, Observation};
use kiln_space::{Problem, Space};
use kiln_spec::{Choice, KernelSpec};
use kiln_store::{PhaseId, Study, Trial};

use crate::failure::Failure;
use crate::project::Project;

/// What mattered in one campaign of a study: all its workloads, or one of those tuned apart.
pub struct Important {
    /// The workload; empty when all were tuned together.
    pub workload: String,
    /// Configurations with a time.
    pub timed: usize,
    /// What mattered; none where too little was measured.
    pub importance: Option<Importance>,
}

/// What mattered in a study, and its id.
pub fn importance(project: &Project, name: &str) -> Result<(String, Vec<Important>), Failure> {
    let store = project.recorded_for(name)?;
    let study = store.find(name)?;
    let found = mattering(&study, &store.trials(&study.id)?)?;
    Ok((study.id, found))
}

/// What mattered in the trials of a study.
pub(crate) fn mattering(study: &Study, trials: &[Trial]) -> Result<Vec<Important>, Failure> {
    let spec = spec(study)?;
    let variant = Some(study.variant.as_str()).filter(|variant| !variant.is_empty());
    let workload = study.workload();
    let selection = spec.select(Choice {
        target: Some(&study.target),
        arch: study.arch.as_deref(),
        workload: workload.as_deref(),
        variant,
        implementation: study.implementation().as_deref(),
        runs_on: None,
    })?;
    let problem = Problem::from_selection(&selection).map_err(|e| Fault::new(reading(study), e))?;
    let space = Arc::new(Space::build(&problem).map_err(|e| e.report(&selection))?);
    let mut campaigns: Vec<Option<&str>> = Vec::new();
    for phase in trials.iter().map(Trial::phase_id).filter(PhaseId::is_searching) {
        if !campaigns.contains(&phase.workload) {
            campaigns.push(phase.workload);
        }
    }
    let found = |workload: Option<&str>| {
        let of = |trial: &&Trial| trial.phase_id().workload == workload && trial.phase_id().is_searching();
        let observed = trials.iter().filter(of).filter_map(|trial| {
            let point = space.locate(&selection.recorded_config(&trial.config)?)?;
            Some((point, trial.cost.map_or(Observation::Failed, Observation::Time)))
        });
        let observed: Vec<_> = observed.collect();
        let timed = observed.iter().filter(|(_, observation)| observation.cost().is_some()).count();
        let workload = workload.unwrap_or_default().into();
        Important { workload, timed, importance: kiln_search::importance(&space, &observed) }
    };
    Ok(campaigns.into_iter().map(found).collect())
}

/// The kernel file as it was when the study began.
fn spec(study: &Study) -> Result<KernelSpec, Failure> {
    let (spec, _) = kiln_spec::parse(&study.path, study.spec_text.as_bytes())
        .map_err(|reports| Fault::new(reading(study), reports.first().map_or(String::new(), ToString::to_string)))?;
    Ok(spec)
}

fn reading(study: &Study) -> String {
    format!("reading the kernel file of study {}", study.id)
}
