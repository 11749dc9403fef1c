//! `kiln show STUDY --importance`: which tunables mattered. In: a study's record. Out: shares of the variation, pairs, values
//! worth adding; for each workload where they were tuned apart. Refuses a study whose kernel file this kiln cannot read.

use std::sync::Arc;

use kiln_core::{Config, Fault};
use kiln_search::{LEAST_TIMED, Observation, importance};
use kiln_show::ImportanceView;
use kiln_space::{Problem, Space};
use kiln_spec::Choice;
use kiln_store::{Study, Trial};
use serde_json::json;

use crate::exit::{Failure, Success};
use crate::output;
use crate::recording::SEARCHING;

pub(crate) fn run(study: &Study, trials: &[Trial], json: bool) -> Result<Success, Failure> {
    let space = space(study)?;
    let mut campaigns: Vec<&str> = Vec::new();
    for trial in trials.iter().filter(|trial| SEARCHING.contains(&part(trial).1)) {
        if !campaigns.contains(&part(trial).0) {
            campaigns.push(part(trial).0);
        }
    }
    let mut objects = Vec::new();
    let mut text = String::new();
    for workload in campaigns {
        let of = |trial: &&Trial| part(trial).0 == workload && SEARCHING.contains(&part(trial).1);
        let observed = trials.iter().filter(of).filter_map(|trial| {
            let point = space.locate(&Config::parse(&trial.config).ok()?)?;
            Some((point, trial.cost.map_or(Observation::Failed, Observation::Time)))
        });
        let observed: Vec<_> = observed.collect();
        let timed = observed.iter().filter(|(_, observation)| observation.cost().is_some()).count();
        let found = importance(&space, &observed);
        let view = ImportanceView { workload, timed, importance: found.as_ref(), least: LEAST_TIMED };
        objects.push(view.json());
        text.push_str(&view.to_string());
    }
    output::data(&if json { format!("{}\n", json!({ "study": study.id, "importance": objects })) } else { text })?;
    Ok(Success::Done)
}

/// A trial's workload, empty where all were tuned together, and its phase.
fn part(trial: &Trial) -> (&str, &str) {
    trial.phase.rsplit_once('/').unwrap_or(("", &trial.phase))
}

/// The space the study searched, from the kernel file as it was then.
fn space(study: &Study) -> Result<Arc<Space>, Failure> {
    let words = || format!("reading the kernel file of study {}", study.id);
    let (spec, _) = kiln_spec::parse(&study.path, study.spec_text.as_bytes())
        .map_err(|reports| Fault::new(words(), reports.first().map_or(String::new(), ToString::to_string)))?;
    let workload = study.options["workload"].as_str();
    let variant = Some(study.variant.as_str()).filter(|variant| !variant.is_empty());
    let choice = Choice { target: Some(&study.target), arch: study.arch.as_deref(), workload, variant };
    let selection = spec.select(choice)?;
    let problem = Problem::from_selection(&selection).map_err(|e| Fault::new(words(), e))?;
    Ok(Arc::new(Space::build(&problem).map_err(|e| e.report(&selection))?))
}
