//! The best of the search, looked at again: a full check on inputs nobody has seen, then a run against each other. Lucky
//! timings of the search do not survive this.

use kiln_core::{Config, Gate, Outcome};
use kiln_judge::Level;

use crate::bench::Bench;
use crate::check::examine;
use crate::duel::{Duel, Rounds};
use crate::evaluation::{Ended, Evaluation};
use crate::event::Event;
use crate::face::{Match, face};
use crate::objective::geomean;
use crate::proposals::Attempts;
use crate::record::Record;
use crate::stage::{Stage, Trouble};
use crate::subject::Subject;

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
    for (number, tried) in ranked.iter().take(wanted * DEPTH).enumerate() {
        if finalists.len() == wanted {
            break;
        }
        let mut way = tried.evaluation.clone();
        let recorded = record.evaluation(&phase, number as u64, &tried.config)?;
        let mut subject = Subject::nothing();
        if !record.is_replay() {
            let build = bench.build(&tried.config)?;
            match bench.built(build)? {
                Outcome::Passed(built) => subject = built,
                Outcome::Refused(refusal) => way.outcome = Ended::Refused(refusal, None),
            }
        }
        let was_recorded = recorded.is_some();
        let way = match recorded {
            Some(way) => way,
            None => {
                let way = checked(bench, &subject, way, &phase, number as u64)?;
                record.keep(&phase, number as u64, &tried.config, &way)?;
                way
            }
        };
        (bench.listener)(&Event::Trial {
            phase: &phase,
            number: number as u64,
            config: &tried.config,
            evaluation: &way,
            best: false,
            recorded: was_recorded,
        });
        match way.refusal() {
            Some(refusal) => late.push(refusal.gate),
            None => finalists.push(Finalist { config: tried.config.clone(), subject }),
        }
    }
    run_off(bench, record, finalists, prefix, late)
}

/// The full check; its outcome takes the place of the quick one's.
fn checked(
    bench: &Bench<'_>,
    subject: &Subject,
    mut way: Evaluation,
    phase: &str,
    number: u64,
) -> Result<Evaluation, Trouble> {
    let started = std::time::Instant::now();
    if way.refusal().is_none() {
        let purpose = format!("{phase} {number}");
        if let Some((refusal, workload)) = examine(bench, subject, Level::Full, &purpose, |_| {})? {
            way.outcome = Ended::Refused(refusal, Some(workload));
        }
    }
    way.check_s = started.elapsed().as_secs_f64();
    (way.wall_s, way.build_s, way.measure_s) = (way.check_s, 0.0, 0.0);
    way.started_ms = crate::machine::now_ms();
    Ok(way)
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
    let median = |rounds: &Vec<Vec<crate::duel::Turns>>| {
        let all: Vec<f64> = rounds.iter().flat_map(|r| r[subject].samples.iter().copied()).collect();
        kiln_stats::median(&all).unwrap_or(f64::INFINITY)
    };
    weights.iter().copied().zip(rounds.iter().map(median)).collect()
}
