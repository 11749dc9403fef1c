//! The best of the search, looked at again: a full check on inputs nobody has seen, then a run against each other. Lucky
//! timings of the search do not survive this. Whoever is refused here leaves, and the next in line takes its place.

use std::time::Duration;

use kiln_bench::{Apparatus, Duel, Ended, Evaluation, Event, Fought, Rounds, Staged, Trouble, geomean};
use kiln_core::{Config, Fault, Outcome, Value};
use kiln_judge::Level;

use crate::course::Course;
use crate::phases::attempts::{Attempts, Tried};
use crate::phases::contenders::Ranks;
use crate::phases::face::{Match, face};
use crate::recording::record::{ENDED, Record};
use crate::recording::summary::Late;

/// How many times the wanted number of finalists are looked at before giving up.
const DEPTH: usize = 10;
/// Refused finalists from which on what they have in common is suspected.
const SUSPICIOUS: usize = 3;
/// Rounds of the run against each other.
const ROUNDS: usize = 6;
/// The best of an implementation is among the finalists when it takes at most this many times as long as the best of all.
const NEAR: f64 = 1.25;
/// Of the time that is left before the confirmation, what one more finalist may take, and the run against each other.
const SHARE_OF_ONE: f64 = 0.25;
const RUN_OFF_SHARE: f64 = 0.3;

/// A configuration that passed the full check.
#[derive(Debug, Clone)]
pub(crate) struct Finalist<S> {
    pub(crate) config: Config,
    pub(crate) subject: S,
}

/// Those that may still win, and where the record of finals goes on.
pub(crate) struct Finals<'t, A: Apparatus> {
    /// Those that were not looked at yet, with their rank. Best first: measured to the end, then those that were given up
    /// early, perhaps beside one that only seemed fast.
    queue: Vec<(usize, &'t Tried)>,
    /// How many may still be looked at.
    left: usize,
    /// Who was refused so far.
    refused: Vec<&'t Config>,
    wanted: usize,
    /// Runs against each other so far.
    matches: u64,
    /// Ranks of those that stand for an implementation near the front: they come first, so that what was found of another
    /// one is not left to how lucky its timings were.
    represent: Vec<usize>,
    /// What the last run against each other came to.
    pub(crate) ranks: Ranks,
    finalists: Vec<Finalist<A::Subject>>,
    course: Course<'t>,
}

impl<'t, A: Apparatus> Finals<'t, A> {
    pub(crate) fn new(bench: &A, attempts: &'t Attempts, course: Course<'t>) -> Finals<'t, A> {
        let queue = attempts.ranked();
        let represent = representatives(&queue);
        let wanted = bench.settings().finalists.max(1).max(represent.len()).min(queue.len());
        let queue: Vec<_> = queue.into_iter().enumerate().collect();
        let (left, refused, finalists) = (wanted * DEPTH, Vec::new(), Vec::new());
        Finals { queue, left, refused, wanted, matches: 0, represent, ranks: Vec::new(), finalists, course }
    }

    /// Finalists, best first, as many as are wanted while there are any; none when nobody is left.
    pub(crate) fn ranked(&mut self, bench: &mut A, late: &mut Vec<Late>) -> Result<Vec<Finalist<A::Subject>>, Trouble> {
        let phase = self.course.phase("final");
        bench.tell(&Event::Phase { phase: &phase, planned: self.wanted });
        loop {
            self.fill(bench, &phase, late)?;
            match self.run_off(bench)? {
                None => return Ok(std::mem::take(&mut self.finalists)),
                // The next one in line takes its place, and all begin anew.
                Some(refused) => late.push(refused),
            }
        }
    }

    /// Takes who is next until there are enough, or no time for more.
    fn fill(&mut self, bench: &mut A, phase: &str, late: &mut Vec<Late>) -> Result<(), Trouble> {
        let Course { record, budget, .. } = self.course;
        while self.finalists.len() < self.wanted {
            let began = bench.now();
            // Where time is short each is worth a decision; else answers are made once for all of them.
            let left = self.wanted - self.finalists.len();
            let careful = budget.left(began).is_some() || record.end(phase).is_some();
            let at_once = if careful { 1 } else { left };
            let batch = self.next(at_once);
            if batch.is_empty() {
                break;
            }
            for (number, finalist, way, recorded) in looked_at(bench, record, phase, &batch, Level::Full)? {
                tell_trial(bench, phase, number, &finalist, &way, recorded);
                match way.refusal() {
                    Some(refusal) => {
                        late.push(Late::new(phase, &finalist.config, refusal));
                        self.refused.extend(batch.iter().filter(|(n, _)| *n == number).map(|(_, tried)| &tried.config));
                    }
                    None => self.finalists.push(finalist),
                }
            }
            self.shorten(bench, phase, bench.now().saturating_duration_since(began))?;
        }
        Ok(())
    }

    /// Who is next. Once several were refused, those that have nothing in common with all of them come first: where one choice
    /// makes a kernel wrong, every configuration with it is, however fast they are and however many.
    fn next(&mut self, count: usize) -> Vec<(usize, &'t Tried)> {
        let common = shared_by(&self.refused);
        let suspect = |tried: &Tried| !common.is_empty() && common.iter().all(|(n, v)| tried.config.get(n) == Some(*v));
        let mut order: Vec<(usize, &'t Tried)> = std::mem::take(&mut self.queue);
        // Beside one that was refused others were given up that need not have been.
        let late = |tried: &Tried| self.refused.is_empty() && !tried.evaluation.complete();
        let cost = |tried: &Tried| tried.evaluation.cost().unwrap_or(f64::INFINITY);
        let extra = |rank: &usize| !self.represent.contains(rank);
        order.sort_by(|(m, a), (n, b)| {
            let (one, other) = ((suspect(a), late(a), extra(m)), (suspect(b), late(b), extra(n)));
            one.cmp(&other).then(cost(a).total_cmp(&cost(b)))
        });
        let count = count.min(self.left).min(order.len());
        self.left -= count;
        self.queue = order.split_off(count);
        order
    }

    /// Wants no more finalists than there are, once one more would take too much of what is left.
    fn shorten(&mut self, bench: &A, phase: &str, each: Duration) -> Result<(), Fault> {
        let (Course { record, budget, .. }, have) = (self.course, self.finalists.len());
        if have == 0 || have >= self.wanted {
            return Ok(());
        }
        let rest = self.course.rest_takes(bench);
        let left = budget.left(bench.now()).map(|left| left.saturating_sub(rest));
        let short = left.is_some_and(|left| each > left.mul_f64(SHARE_OF_ONE));
        match record.end(phase) {
            Some(end) if end == have as u64 => self.wanted = have,
            None if short && !record.is_replay() => {
                let finalists = if have == 1 { "finalist" } else { "finalists" };
                bench.note(format!("time is short: there is none for more than {have} {finalists}"));
                record.note(ENDED, &format!("{phase} {have}"))?;
                self.wanted = have;
            }
            _ => {}
        }
        Ok(())
    }

    /// Sorts finalists by a run against each other; the one that is refused there leaves.
    fn run_off(&mut self, bench: &mut A) -> Result<Option<Late>, Trouble> {
        let (Course { record, budget, .. }, now) = (self.course, bench.now());
        let phase = self.course.phase("run-off");
        if self.finalists.len() < 2 || record.end(&phase) == Some(self.matches) {
            return Ok(None);
        }
        if budget.is_over(now) && !record.holds(&phase, self.matches) {
            bench.note(format!("the time is used up: there is no {phase}, finalists are as the search ranked them"));
            record.note(ENDED, &format!("{phase} {}", self.matches))?;
            return Ok(None);
        }
        let weights: Vec<f64> = bench.stages().iter().map(Staged::weight).collect();
        let subjects: Vec<(String, A::Subject)> =
            self.finalists.iter().map(|f| (f.config.to_string(), f.subject.clone())).collect();
        let duel = Duel {
            subjects: &subjects,
            rounds: ROUNDS,
            samples: bench.settings().pair_samples,
            purpose: &phase,
            deadline: budget.deadline(now, RUN_OFF_SHARE, self.course.rest_takes(bench)),
        };
        let (number, config) = (self.matches, &self.finalists[0].config);
        let found = Match { phase: &phase, number, config, duel, shown: true, peers: true };
        self.matches += 1;
        match face(bench, record, bench.stages(), found)? {
            Ok(Fought { rounds, .. }) => {
                let cost = |place| geomean(medians(&rounds, &weights, place));
                let finalists = std::mem::take(&mut self.finalists).into_iter().enumerate();
                let mut order: Vec<(f64, Finalist<A::Subject>)> =
                    finalists.map(|(place, f)| (cost(place), f)).collect();
                order.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.ranks = order.iter().map(|(cost, finalist)| (finalist.config.clone(), *cost)).collect();
                self.finalists = order.into_iter().map(|(_, finalist)| finalist).collect();
                Ok(None)
            }
            Err(defeat) => {
                let gone = self.finalists.remove(defeat.subject.min(self.finalists.len() - 1));
                Ok(Some(Late::new(&phase, &gone.config, &defeat.refusal)))
            }
        }
    }
}

/// The ranks of the best of each implementation, of those near the front; none where there are no implementations.
fn representatives(ranked: &[&Tried]) -> Vec<usize> {
    let front = ranked.first().and_then(|best| best.evaluation.cost()).unwrap_or(f64::INFINITY);
    let (mut seen, mut found): (Vec<&str>, Vec<usize>) = (Vec::new(), Vec::new());
    for (rank, tried) in ranked.iter().enumerate().filter(|(_, tried)| tried.evaluation.complete()) {
        let Some(name) = tried.config.implementation().filter(|name| !seen.contains(name)) else { continue };
        seen.push(name);
        found.extend(tried.evaluation.cost().filter(|cost| *cost <= NEAR * front).map(|_| rank));
    }
    found
}

/// The choices that all of several configurations share; none while there are few.
fn shared_by<'c>(refused: &[&'c Config]) -> Vec<(&'c str, &'c Value)> {
    let Some((first, others)) = refused.split_first().filter(|(_, others)| others.len() + 1 >= SUSPICIOUS) else {
        return Vec::new();
    };
    let all = |name: &str, value: &Value| others.iter().all(|other| other.get(name) == Some(value));
    first.iter().filter(|(name, value)| all(name, value)).map(|(name, value)| (&**name, value)).collect()
}

/// Whether the whole suite of questions finds nothing wrong with a winner.
pub(crate) fn suite<A: Apparatus>(
    bench: &mut A,
    course: Course<'_>,
    number: usize,
    finalist: &Finalist<A::Subject>,
) -> Result<Option<Late>, Trouble> {
    let looked = look(bench, course, ("suite", Level::Suite), number, &finalist.config)?;
    Ok(looked.err())
}

/// A configuration that no trial stands for, looked at as finalists are: the finalist, or how it was refused.
pub(crate) fn look<A: Apparatus>(
    bench: &mut A,
    course: Course<'_>,
    (phase, level): (&str, Level),
    number: usize,
    config: &Config,
) -> Result<Result<Finalist<A::Subject>, Late>, Trouble> {
    let phase = course.phase(phase);
    bench.tell(&Event::Phase { phase: &phase, planned: 1 });
    let evaluation = Evaluation {
        outcome: Ended::Measured { workloads: Vec::new(), hopeless: false, cost: f64::INFINITY },
        artifact: None,
        resources: Vec::new(),
        build_s: 0.0,
        check_s: 0.0,
        measure_s: 0.0,
        wall_s: 0.0,
        started_ms: 0,
        station: None,
    };
    let tried = Tried { config: config.clone(), evaluation };
    let mut looked = looked_at(bench, course.record, &phase, &[(number, &tried)], level)?;
    let Some((number, finalist, way, recorded)) = looked.pop() else {
        return Err(Fault::new(format!("looking at {config}"), "nothing came of it").into());
    };
    tell_trial(bench, &phase, number, &finalist, &way, recorded);
    Ok(match way.refusal() {
        Some(refusal) => Err(Late::new(&phase, config, refusal)),
        None => Ok(finalist),
    })
}

fn tell_trial<A: Apparatus>(
    bench: &A,
    phase: &str,
    number: usize,
    finalist: &Finalist<A::Subject>,
    evaluation: &Evaluation,
    recorded: bool,
) {
    let (number, config, best) = (number as u64, &finalist.config, false);
    bench.tell(&Event::Trial { phase, number, config, evaluation, best, recorded });
}

/// Its number, what was looked at, how that went, and whether it was on record.
type LookedAt<S> = (usize, Finalist<S>, Evaluation, bool);

/// Configurations built again and checked in full, all on the same fresh inputs; what is on record is taken from it, and
/// it is said which.
fn looked_at<A: Apparatus>(
    bench: &mut A,
    record: &Record<'_>,
    phase: &str,
    batch: &[(usize, &Tried)],
    level: Level,
) -> Result<Vec<LookedAt<A::Subject>>, Trouble> {
    let mut found = Vec::with_capacity(batch.len());
    for (number, tried) in batch {
        let recorded = record.evaluation(phase, *number as u64, &tried.config)?;
        let was_recorded = recorded.is_some();
        let mut way = recorded.unwrap_or_else(|| tried.evaluation.clone());
        let mut subject = A::nothing();
        if !record.is_replay() {
            let build = bench.build(&tried.config)?;
            match bench.built(build)? {
                Outcome::Passed(built) => {
                    way.artifact = A::key(&built).map(String::from);
                    subject = built;
                }
                Outcome::Refused(refusal) => way.outcome = Ended::Refused(refusal, None),
            }
        }
        found.push((*number, Finalist { config: tried.config.clone(), subject }, way, was_recorded));
    }
    let started = std::time::Instant::now();
    let fresh = |(.., way, recorded): &LookedAt<A::Subject>| !recorded && way.refusal().is_none();
    let subjects: Vec<&A::Subject> =
        found.iter().filter(|one| fresh(one)).map(|(_, finalist, ..)| &finalist.subject).collect();
    let share = 1.0 / subjects.len().max(1) as f64;
    let purpose = format!("{phase} {}", batch.first().map_or(0, |(number, _)| *number));
    let mut failed = match subjects.is_empty() {
        true => Vec::new(),
        false => bench.examine(&subjects, level, &purpose)?,
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

/// Weights and medians of one subject, by workload.
pub(crate) fn medians(rounds: &Rounds, weights: &[f64], subject: usize) -> Vec<(f64, f64)> {
    let median = |rounds: &Vec<Vec<kiln_bench::Turns>>| {
        let all: Vec<f64> = rounds.iter().flat_map(|r| r[subject].samples.iter().copied()).collect();
        kiln_stats::median(&all).unwrap_or(f64::INFINITY)
    };
    weights.iter().copied().zip(rounds.iter().map(median)).collect()
}
