//! What a study starts from. In: files and studies named with `--prior`, or none. Out: what they measured; where none is
//! named, the newest studies of the same kernel in this folder. Refuses what is neither file nor study.

use std::sync::Arc;

use kiln_core::counted;
use kiln_formats::Recorded;
use kiln_search::{Observation, Prior};
use kiln_store::{Filter, State, Store};
use kiln_study::Kernel;

use crate::failure::Failure;
use crate::project::Project;
use crate::record::{Whose, recording};
use crate::teller::Teller;

/// Studies looked through for some to start from, and how many are used.
const NEWEST: u32 = 20;
const USED: usize = 3;
/// A study that tried fewer has nothing to teach.
const LEAST: usize = 10;

/// The newest ended studies of this kernel and target, by their identifiers.
pub(crate) fn automatic(store: &Store, kernel: &Kernel<'_>, whose: &Whose) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for study in store.studies(&Filter { kernel: Some(kernel.name().into()), limit: Some(NEWEST) })? {
        if names.len() == USED {
            break;
        }
        let ended = matches!(study.state, State::Finished | State::Interrupted);
        let timed = |trial: &kiln_store::Trial| trial.cost.is_some();
        if ended
            && whose.is(&study)
            && study.target == kernel.target()
            // What cannot be read has nothing to teach either.
            && store.trials(&study.id).is_ok_and(|trials| trials.iter().filter(|t| timed(t)).count() >= LEAST)
        {
            names.push(study.id);
        }
    }
    Ok(names)
}

/// What these files and studies measured.
pub(crate) fn read(project: &Project, names: &[String], teller: &Teller<'_>) -> Result<Vec<Arc<Prior>>, Failure> {
    let mut priors = Vec::new();
    for name in names {
        for (label, recording) in recording::find(project, name)? {
            let trials = recording.rows.iter().map(|row| {
                let values = row.point.iter().zip(&recording.values).map(|(at, list)| list[*at as usize].clone());
                let config = kiln_core::Config::new(recording.names.iter().cloned().zip(values).collect());
                let observation = match &row.outcome {
                    Recorded::Time { seconds, .. } => Observation::Time(*seconds),
                    Recorded::Failed { .. } => Observation::Failed,
                };
                (recording::own(config), observation)
            });
            let prior = Prior { label, trials: trials.collect() };
            let measured = counted(prior.trials.len() as u128, "configuration");
            teller.note(format!("starting from what {} measured, {measured}", prior.label));
            priors.push(Arc::new(prior));
        }
    }
    Ok(priors)
}
