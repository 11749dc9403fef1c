//! The best of the search, looked at again: a full check on inputs nobody has seen, then a run against each other. Lucky
//! timings of the search do not survive this.

use kiln_bench::{Bench, Duel, Ended, Evaluation, Event, Rounds, Stage, Subject, Trouble, examine_all, geomean};
use kiln_core::{Config, Gate, Outcome};
use kiln_judge::Level;

use crate::face::{Match, face};
use crate::proposals::{Attempts, Tried};
use crate::record::Record;

/// How many times the wanted number of finalists are looked at before giving up.
const DEPTH: usize = 5;
/// Rounds of the run against each other.
const ROUNDS: usize = 6;

/// A configuration that passed the full check.
#[derive(Debug, Clone)]
pub(crate) struct Finalist {
    pub(crate) config: Config,
    pub(crate) subject: Subject,
}

/// Finalists, best first.
pub(crate) fn finals(
    bench: &mut Bench<'_>,
    record: &Record<'_>,
    attempts: &Attempts,
    prefix: &str,
    late: &mut Vec<Gate>,
) -> Result<Vec<Finalist>, Trouble> {
    let phase = format!("{prefix}final");
    let ranked = attempts.ranked();
    let wanted = bench.settings.finalists.max(1).min(ranked.len());
    (bench.listener)(&Event::Phase { phase: &phase, planned: wanted });
    let mut finalists: Vec<Finalist> = Vec::new();
    let mut next = ranked.iter().take(wanted * DEPTH).enumerate();
    while finalists.len() < wanted {
        let batch: Vec<_> = next.by_ref().take(wanted - finalists.len()).collect();
        if batch.is_empty() {
            break;
        }
        for (number, finalist, way, recorded) in looked_at(bench, record, &phase, &batch)? {
            let (number, config, evaluation, best) = (number as u64, &finalist.config, &way, false);
            (bench.listener)(&Event::Trial { phase: &phase, number, config, evaluation, best, recorded });
            match way.refusal() {
                Some(refusal) => late.push(refusal.gate),
                None => finalists.push(finalist),
            }
        }
    }
    run_off(bench, record, finalists, prefix, late)
}

/// Configurations built again and checked in full, all on the same fresh inputs; what is on record is taken from it, and
/// it is said which.
fn looked_at(
    bench: &mut Bench<'_>,
    record: &Record<'_>,
    phase: &str,
    batch: &[(usize, &&Tried)],
) -> Result<Vec<(usize, Finalist, Evaluation, bool)>, Trouble> {
    let mut found = Vec::with_capacity(batch.len());
    for (number, tried) in batch {
        let recorded = record.evaluation(phase, *number as u64, &tried.config)?;
        let was_recorded = recorded.is_some();
        let mut way = recorded.unwrap_or_else(|| tried.evaluation.clone());
        let mut subject = Subject::nothing();
        if !record.is_replay() {
            let build = bench.build(&tried.config)?;
            match bench.built(build)? {
                Outcome::Passed(built) => subject = built,
                Outcome::Refused(refusal) => way.outcome = Ended::Refused(refusal, None),
            }
        }
        found.push((*number, Finalist { config: tried.config.clone(), subject }, way, was_recorded));
    }
    let started = std::time::Instant::now();
    let fresh = |(.., way, recorded): &(usize, Finalist, Evaluation, bool)| !recorded && way.refusal().is_none();
    let subjects: Vec<&Subject> =
        found.iter().filter(|one| fresh(one)).map(|(_, finalist, ..)| &finalist.subject).collect();
    let share = 1.0 / subjects.len().max(1) as f64;
    let purpose = format!("{phase} {}", batch.first().map_or(0, |(number, _)| *number));
    let mut failed = match subjects.is_empty() {
        true => Vec::new(),
        false => examine_all(bench, &subjects, Level::Full, &purpose, |_| {})?,
    }
    .into_iter();
    let seconds = started.elapsed().as_secs_f64() * share;
    for (number, finalist, way, recorded) in &mut found {
        if *recorded {
            continue;
        }
        // The full check's outcome takes the place of the quick one's.
        if way.refusal().is_none()
            && let Some((refusal, workload)) = failed.next().flatten()
        {
            way.outcome = Ended::Refused(refusal, Some(workload));
        }
        (way.check_s, way.wall_s, way.build_s, way.measure_s) = (seconds, seconds, 0.0, 0.0);
        way.started_ms = kiln_bench::now_ms();
        record.keep(phase, *number as u64, &finalist.config, way)?;
    }
    Ok(found)
}

/// Sorts finalists by a run against each other. One that is refused there leaves, and the others begin anew.
fn run_off(
    bench: &mut Bench<'_>,
    record: &Record<'_>,
    mut finalists: Vec<Finalist>,
    prefix: &str,
    late: &mut Vec<Gate>,
) -> Result<Vec<Finalist>, Trouble> {
    let phase = format!("{prefix}run-off");
    let weights: Vec<f64> = bench.stages.iter().map(Stage::weight).collect();
    let samples = bench.settings.pair_samples;
    let mut number = 0;
    while finalists.len() > 1 {
        let subjects: Vec<(String, Subject)> =
            finalists.iter().map(|f| (f.config.to_string(), f.subject.clone())).collect();
        let duel = Duel { subjects: &subjects, rounds: ROUNDS, samples, purpose: &phase };
        let config = &finalists[0].config;
        let found = Match { phase: &phase, number, config, duel, shown: true, peers: true };
        match face(bench, record, &bench.stages, found)? {
            Ok(rounds) => {
                let cost = |place| geomean(medians(&rounds, &weights, place));
                let mut order: Vec<(f64, Finalist)> =
                    finalists.into_iter().enumerate().map(|(place, f)| (cost(place), f)).collect();
                order.sort_by(|a, b| a.0.total_cmp(&b.0));
                return Ok(order.into_iter().map(|(_, finalist)| finalist).collect());
            }
            Err(defeat) => {
                late.push(defeat.refusal.gate);
                finalists.remove(defeat.subject.min(finalists.len() - 1));
                number += 1;
            }
        }
    }
    Ok(finalists)
}

/// Weights and medians of one subject, by workload.
pub(crate) fn medians(rounds: &Rounds, weights: &[f64], subject: usize) -> Vec<(f64, f64)> {
    let median = |rounds: &Vec<Vec<kiln_bench::Turns>>| {
        let all: Vec<f64> = rounds.iter().flat_map(|r| r[subject].samples.iter().copied()).collect();
        kiln_stats::median(&all).unwrap_or(f64::INFINITY)
    };
    weights.iter().copied().zip(rounds.iter().map(median)).collect()
}
