//! The best of the search, looked at again: a full check on inputs nobody has seen, then a run against each other. Lucky
//! timings of the search do not survive this. Whoever is refused here leaves, and the next in line takes its place.

use kiln_bench::{Apparatus, Duel, Ended, Evaluation, Event, Fought, Rounds, Staged, Trouble, geomean};
use kiln_core::{Config, Outcome};
use kiln_judge::Level;

use crate::face::{Match, face};
use crate::proposals::{Attempts, Tried};
use crate::record::Record;
use crate::summary::Late;

/// How many times the wanted number of finalists are looked at before giving up.
const DEPTH: usize = 10;
/// Rounds of the run against each other.
const ROUNDS: usize = 6;

/// A configuration that passed the full check.
#[derive(Debug, Clone)]
pub(crate) struct Finalist<S> {
    pub(crate) config: Config,
    pub(crate) subject: S,
}

/// Those that may still win, and where the record of finals goes on.
pub(crate) struct Finals<'t, A: Apparatus> {
    /// Best first: measured to the end, then those that were given up early, perhaps beside one that only seemed fast.
    queue: std::iter::Enumerate<std::vec::IntoIter<&'t Tried>>,
    wanted: usize,
    /// Runs against each other so far.
    matches: u64,
    finalists: Vec<Finalist<A::Subject>>,
    prefix: &'t str,
}

impl<'t, A: Apparatus> Finals<'t, A> {
    pub(crate) fn new(bench: &A, attempts: &'t Attempts, prefix: &'t str) -> Finals<'t, A> {
        let queue = attempts.ranked();
        let wanted = bench.settings().finalists.max(1).min(queue.len());
        let queue: Vec<&Tried> = queue.into_iter().take(wanted * DEPTH).collect();
        Finals { queue: queue.into_iter().enumerate(), wanted, matches: 0, finalists: Vec::new(), prefix }
    }

    /// Finalists, best first, as many as are wanted while there are any; none when nobody is left.
    pub(crate) fn ranked(
        &mut self,
        bench: &mut A,
        record: &Record<'_>,
        late: &mut Vec<Late>,
    ) -> Result<Vec<Finalist<A::Subject>>, Trouble> {
        let phase = format!("{}final", self.prefix);
        bench.tell(&Event::Phase { phase: &phase, planned: self.wanted });
        loop {
            self.fill(bench, record, &phase, late)?;
            match self.run_off(bench, record)? {
                None => return Ok(std::mem::take(&mut self.finalists)),
                // The next one in line takes its place, and all begin anew.
                Some(refused) => late.push(refused),
            }
        }
    }

    /// Takes who is next until there are enough.
    fn fill(&mut self, bench: &mut A, record: &Record<'_>, phase: &str, late: &mut Vec<Late>) -> Result<(), Trouble> {
        while self.finalists.len() < self.wanted {
            let batch: Vec<_> = self.queue.by_ref().take(self.wanted - self.finalists.len()).collect();
            if batch.is_empty() {
                break;
            }
            for (number, finalist, way, recorded) in looked_at(bench, record, phase, &batch, Level::Full)? {
                let (number, config, evaluation, best) = (number as u64, &finalist.config, &way, false);
                bench.tell(&Event::Trial { phase, number, config, evaluation, best, recorded });
                match way.refusal() {
                    Some(refusal) => late.push(Late::new(phase, &finalist.config, refusal)),
                    None => self.finalists.push(finalist),
                }
            }
        }
        Ok(())
    }

    /// Sorts finalists by a run against each other; the one that is refused there leaves.
    fn run_off(&mut self, bench: &mut A, record: &Record<'_>) -> Result<Option<Late>, Trouble> {
        if self.finalists.len() < 2 {
            return Ok(None);
        }
        let phase = format!("{}run-off", self.prefix);
        let weights: Vec<f64> = bench.stages().iter().map(Staged::weight).collect();
        let subjects: Vec<(String, A::Subject)> =
            self.finalists.iter().map(|f| (f.config.to_string(), f.subject.clone())).collect();
        let duel =
            Duel { subjects: &subjects, rounds: ROUNDS, samples: bench.settings().pair_samples, purpose: &phase };
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

/// Whether the whole suite of questions finds nothing wrong with a winner.
pub(crate) fn suite<A: Apparatus>(
    bench: &mut A,
    record: &Record<'_>,
    number: usize,
    finalist: &Finalist<A::Subject>,
    prefix: &str,
) -> Result<Option<Late>, Trouble> {
    let phase = format!("{prefix}suite");
    bench.tell(&Event::Phase { phase: &phase, planned: 1 });
    let evaluation = Evaluation {
        outcome: Ended::Measured { workloads: Vec::new(), hopeless: false, cost: f64::INFINITY },
        artifact: A::key(&finalist.subject).map(String::from),
        resources: Vec::new(),
        build_s: 0.0,
        check_s: 0.0,
        measure_s: 0.0,
        wall_s: 0.0,
        started_ms: 0,
    };
    let tried = Tried { config: finalist.config.clone(), evaluation };
    let looked = looked_at(bench, record, &phase, &[(number, &tried)], Level::Suite)?;
    let mut late = None;
    for (number, finalist, way, recorded) in looked {
        let (number, config, evaluation, best) = (number as u64, &finalist.config, &way, false);
        bench.tell(&Event::Trial { phase: &phase, number, config, evaluation, best, recorded });
        late = way.refusal().map(|refusal| Late::new(&phase, &finalist.config, refusal));
    }
    Ok(late)
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
                Outcome::Passed(built) => subject = built,
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
