//! The settings of a new study. In: a request. Out: everything that decides what is done, to be recorded with the study.
//! Refuses numbers that mean nothing, and names of strategies and baselines that there are not.

use kiln_core::Report;
use kiln_store::Store;
use kiln_study::{Budget, Kernel, Machine, Settings};

use super::TuneRequest;
use crate::failure::Failure;
use crate::kernel::Opened;
use crate::operation::session::current;
use crate::project::Project;
use crate::record::{Whose, prior};
use crate::seed::seed;

/// The settings of a new study.
pub(crate) fn settings(
    project: &Project,
    request: &TuneRequest,
    opened: &Opened<'_>,
    store: &Store,
    whose: &Whose,
    devices: usize,
) -> Result<Settings, Failure> {
    sensible(request)?;
    opened.baseline(request.baseline.as_deref())?;
    let priors = match (&request.prior[..], request.no_prior) {
        ([], false) => prior::automatic(store, &opened.kernel, whose)?,
        (named, _) => named.to_vec(),
    };
    let defaults = Settings::default();
    let (seed_trials, search_trials) = match request.trials {
        Some(trials) => (trials.min(defaults.seed_trials), trials.saturating_sub(defaults.seed_trials)),
        None => (defaults.seed_trials, defaults.search_trials),
    };
    let known = kiln_search::Kind::parse(&request.strategy);
    known.map_err(|e| Report::error(format!("--strategy: {e}")))?;
    let (measuring, card) = (&request.measuring, opened.card.as_ref());
    Ok(Settings {
        seed: seed(measuring.seed)?,
        strategy: request.strategy.clone(),
        priors,
        seed_trials,
        search_trials,
        pairs: measuring.checked_samples()?.div_ceil(defaults.pair_samples),
        workload: request.selecting.workload.clone(),
        implementation: request.selecting.implementation.clone(),
        baseline: request.baseline.clone().or(to_beat(project, &opened.kernel)?),
        stop_rule: request.stop_rule,
        cache: measuring.cache_state(card),
        ahead: match card {
            // Compilers for a GPU run on every processor, and must have something to do; so must every GPU, when another
            // takes long.
            Some(_) => Machine::look().cpus.len().max(defaults.ahead).max(2 * devices),
            None => defaults.ahead,
        },
        threads: measuring.checked_threads()?,
        pin: measuring.pin,
        build_timeout: project.build_limit().map_or(defaults.build_timeout, |limit| limit.as_secs_f64()),
        ablation: request.ablation,
        target_speedup: request.target_speedup,
        ..defaults
    })
}

/// The baseline that the open session is to beat, where the kernel is the session's and has it.
fn to_beat(project: &Project, kernel: &Kernel<'_>) -> Result<Option<String>, Failure> {
    let session = current(project)?.filter(|session| session.kernel.as_deref() == Some(kernel.name()));
    // The first one is taken anyway, and another where that cannot be measured.
    let has = |name: &String| kernel.selection.target.baselines.iter().skip(1).any(|own| *own.name == **name);
    Ok(session.and_then(|session| session.baseline).filter(has))
}

/// Refuses numbers that mean nothing.
fn sensible(request: &TuneRequest) -> Result<(), Failure> {
    let above_zero = |flag: &str, value: Option<f64>| match value {
        Some(v) if !(v.is_finite() && v > 0.0) => {
            Err(Report::error(format!("--{flag} {v} is out of range")).label("expected a number above 0"))
        }
        _ => Ok(()),
    };
    above_zero("minutes", request.minutes)?;
    above_zero("cost", request.cost)?;
    above_zero("price", request.price)?;
    above_zero("target-speedup", request.target_speedup)?;
    Ok(())
}

/// Minutes the study may take, given or bought.
pub(crate) fn minutes(request: &TuneRequest) -> Option<f64> {
    let bought = request.cost.zip(request.price).map(|(cost, price)| Budget::minutes_for(cost, price));
    match (request.minutes, bought) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
