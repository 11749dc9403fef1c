//! What a study begins with: the default configuration, and where implementations compete the default of every other one, so
//! that none is judged unseen. In: the kernel, what is on record. Out: the first that is sound, and the best.

use kiln_bench::{Apparatus, Event};
use kiln_core::{Config, Fault, Workload};

use crate::course::Course;
use crate::phases::attempts::{Attempts, Tried};
use crate::phases::proposals::trial;

/// How the beginning went.
#[derive(Default)]
pub(crate) struct Begun {
    /// The first that was not refused: the default, where there is nothing wrong with it.
    pub(crate) first: Option<Config>,
    /// The best, and whether it was on record.
    pub(crate) best: Option<(Tried, bool)>,
}

/// The configurations to begin with, the default first. A study that goes on begins as it began, also when the table of tuned
/// configurations has changed since.
pub(crate) fn openings<A: Apparatus>(
    bench: &A,
    course: Course<'_>,
    default: Option<&Config>,
    workloads: &[Option<&Workload>],
) -> Vec<Config> {
    let Some(default) = default else { return Vec::new() };
    let kernel = bench.kernel();
    let mut all = vec![default.clone()];
    let others = kernel.openings(workloads).into_iter().filter(|own| own.implementation() != default.implementation());
    for (number, own) in (1..).zip(others.filter(|own| own.implementation().is_some())) {
        let begun = course.record.config_at(&course.phase("default"), number).and_then(|text| kernel.read_config(text));
        all.push(begun.unwrap_or(own));
    }
    all
}

/// Tries them.
pub(crate) fn try_openings<A: Apparatus>(
    bench: &mut A,
    course: Course<'_>,
    openings: &[Config],
    attempts: &mut Attempts,
) -> Result<Begun, Fault> {
    let phase = course.phase("default");
    let mut begun = Begun::default();
    if !openings.is_empty() {
        bench.tell(&Event::Phase { phase: &phase, planned: openings.len() });
    }
    for (number, config) in (0..).zip(openings) {
        let (evaluation, recorded) = trial(bench, course.record, &phase, number, config, None, None)?;
        let tried = Tried { config: config.clone(), evaluation: evaluation.clone() };
        let best = attempts.add(tried.clone());
        bench.tell(&Event::Trial { phase: &phase, number, config, evaluation: &evaluation, best, recorded });
        if let Some(refusal) = evaluation.refusal() {
            let what = called(config, openings.len());
            bench.note(format!("{what} is refused by {}: {}", refusal.gate, refusal.measured));
            continue;
        }
        begun.first.get_or_insert_with(|| config.clone());
        if best || begun.best.is_none() {
            begun.best = Some((tried, recorded));
        }
    }
    Ok(begun)
}

/// What a configuration to begin with is called.
pub(crate) fn called(config: &Config, openings: usize) -> String {
    match config.implementation().filter(|_| openings > 1) {
        Some(name) => format!("the default configuration of {name}"),
        None => "the default configuration".into(),
    }
}
