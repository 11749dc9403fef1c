//! Trials in order, proposals ahead of them. In: a source of configurations. Out: each evaluated, recorded and told, in the
//! order proposed. A proposal is made when exactly `ahead` others wait, so that it depends on the same outcomes whether or
//! not the study was interrupted in between. Proposals run ahead into the next phase, so that builders go on while one
//! phase ends. With several devices as many trials are made at a time.

use std::collections::VecDeque;

use kiln_bench::{Apparatus, Evaluation, Event, Measured};
use kiln_core::{Config, Fault, Refusal};
use kiln_space::Point;

use crate::budget::Budget;
use crate::recording::record::{ENDED, Record};

/// A configuration that was tried.
#[derive(Debug, Clone)]
pub(crate) struct Tried {
    pub(crate) config: Config,
    pub(crate) evaluation: Evaluation,
}

/// Everything tried so far.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    pub(crate) all: Vec<Tried>,
    best: Option<usize>,
}

impl Attempts {
    /// The best that was measured to the end.
    pub(crate) fn best(&self) -> Option<&Tried> {
        self.best.map(|i| &self.all[i])
    }

    /// Takes an outcome in; says whether it is the best now.
    pub(crate) fn add(&mut self, tried: Tried) -> bool {
        let cost = |t: &Tried| if t.evaluation.complete() { t.evaluation.cost() } else { None };
        let better = match (cost(&tried), self.best().and_then(cost)) {
            (Some(new), Some(old)) => new < old,
            (Some(_), None) => true,
            (None, _) => false,
        };
        self.all.push(tried);
        if better {
            self.best = Some(self.all.len() - 1);
        }
        better
    }

    /// Why all of them were refused, when there are enough and one is as the other.
    pub(crate) fn alike(&self) -> Option<&Refusal> {
        let mut refusals = self.all.iter().map(|tried| tried.evaluation.refusal());
        let first = refusals.next()??;
        let same = |other: &Refusal| (other.gate, &other.measured) == (first.gate, &first.measured);
        (self.all.len() >= ALIKE && refusals.all(|refusal| refusal.is_some_and(same))).then_some(first)
    }

    /// Those that were measured, each configuration once: to the end, best first; then those that were given up early,
    /// which may have been so beside one that only seemed fast.
    pub(crate) fn ranked(&self) -> Vec<&Tried> {
        let mut ranked: Vec<&Tried> = self.all.iter().filter(|t| t.evaluation.cost().is_some()).collect();
        ranked.sort_by(|a, b| {
            let order = |t: &Tried| (!t.evaluation.complete(), t.evaluation.cost().unwrap_or(f64::INFINITY));
            let (a, b) = (order(a), order(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let mut seen: Vec<&Config> = Vec::new();
        ranked.retain(|t| {
            let new = !seen.contains(&&t.config);
            seen.push(&t.config);
            new
        });
        ranked
    }
}

/// Where configurations come from and outcomes go to.
pub(crate) trait Source {
    /// The next configuration; none when there is none left.
    fn next(&mut self) -> Option<Point>;
    /// What became of one.
    fn told(&mut self, point: &Point, evaluation: &Evaluation);
    /// Whether what it proposes depends on what became of others. If not, it costs nothing to ask far ahead.
    fn listens(&self) -> bool;
    /// The share of the best cost it expects the next configuration to save; none when it cannot tell.
    fn promise(&self) -> Option<f64>;
}

/// Configurations that are refused for one reason before the rest are thought to be, too.
const ALIKE: usize = 6;
/// How much further ahead a source is asked that does not listen: a build that takes long must not leave others idle.
const FURTHER: usize = 4;

/// One phase of trials.
pub(crate) struct Phase {
    pub(crate) name: String,
    pub(crate) planned: usize,
    /// Whether it may end when nothing more is expected of it.
    pub(crate) may_end: bool,
}

/// Phases that follow each other, with what was proposed for them.
pub(crate) struct Line<B> {
    phases: Vec<Phase>,
    /// Proposals made so far: in which phase, and the number of the next one there.
    next: (usize, u64),
    waiting: VecDeque<Waiting<B>>,
}

impl<B> Line<B> {
    pub(crate) fn new(phases: Vec<Phase>) -> Line<B> {
        Line { phases, next: (0, 0), waiting: VecDeque::new() }
    }

    /// Nothing more is proposed, in this phase or a later one.
    fn end(&mut self) {
        self.waiting.clear();
        self.next = (self.phases.len(), 0);
    }

    /// Where the next proposal belongs; none when all are made.
    fn place(&mut self) -> Option<(usize, u64)> {
        while self.next.1 >= self.phases.get(self.next.0)?.planned as u64 {
            self.next = (self.next.0 + 1, 0);
        }
        Some(self.next)
    }
}

/// Trials before a search may end early, and how often in a row it must expect less than times scatter.
const LEAST_TRIALS: usize = 60;
const IN_A_ROW: usize = 20;

/// Runs one of the phases of a line; ends early when the budget is spent or the source is dry.
pub(crate) fn run<A: Apparatus>(
    bench: &mut A,
    record: &Record<'_>,
    budget: &Budget,
    line: &mut Line<A::Build>,
    which: usize,
    source: &mut dyn Source,
    attempts: &mut Attempts,
) -> Result<(), Fault> {
    let Phase { name, planned, may_end } = &line.phases[which];
    let (name, may_end) = (&*name.clone(), *may_end);
    bench.tell(&Event::Phase { phase: name, planned: *planned });
    let ahead = bench.settings().ahead.max(bench.devices()) * if source.listens() { 1 } else { FURTHER };
    let mut hopeless = 0;
    loop {
        while line.waiting.len() < ahead {
            let Some((phase, number)) = line.place() else { break };
            let Some(point) = source.next() else { break };
            let config = bench.kernel().space.config(&point);
            // A search that ended early had proposals ahead that were never tried: a replay must not ask for those.
            let known = record.is_replay() || record.evaluation(&line.phases[phase].name, number, &config)?.is_some();
            let build = if known { None } else { Some(bench.build(&config)?) };
            line.waiting.push_back(Waiting { phase, number, point, config, build });
            line.next.1 += 1;
        }
        let due = line.waiting.iter().take(bench.devices()).take_while(|waiting| waiting.phase == which).count();
        let batch: Vec<_> = line.waiting.drain(..due).collect();
        let Some(Waiting { number, .. }) = batch.first() else { return Ok(()) };
        let ended = record.end(name).is_some_and(|end| *number >= end);
        if ended || batch.iter().any(|trial| trial.build.is_some()) && budget.search_is_over(bench.now()) {
            bench.note(format!("the time is used up: {name} ends after {number} trials"));
            if !ended {
                record.note(ENDED, &format!("{name} {number}"))?;
            }
            line.end();
            return Ok(());
        }
        let best = attempts.best().map(|t| t.evaluation.measured().to_vec());
        for (Waiting { number, point, config, .. }, (evaluation, recorded)) in
            trials(bench, record, name, batch, best.as_deref())?
        {
            source.told(&point, &evaluation);
            hopeless = if may_end && expects_less(source, attempts) { hopeless + 1 } else { 0 };
            let best = attempts.add(Tried { config: config.clone(), evaluation: evaluation.clone() });
            bench.tell(&Event::Trial { phase: name, number, config: &config, evaluation: &evaluation, best, recorded });
        }
        if bench.settings().stop_rule && attempts.alike().is_some() {
            line.end();
            return Ok(());
        }
        if hopeless >= IN_A_ROW && attempts.all.len() >= LEAST_TRIALS {
            let words = "the most promising configuration is expected to save less than times scatter";
            bench.note(format!("{name}: {words}: it ends after {} trials", attempts.all.len()));
            return Ok(());
        }
    }
}

/// Whether a source expects to save less than what the best one's samples scatter by.
fn expects_less(source: &dyn Source, attempts: &Attempts) -> bool {
    let Some(promise) = source.promise() else { return false };
    let noise = attempts.best().and_then(|best| best.evaluation.measured().iter().filter_map(scatter).reduce(f64::max));
    noise.is_some_and(|noise| promise < noise)
}

/// How far the median of some samples may be off: the standard error of a median, from their middle half.
fn scatter(measured: &Measured) -> Option<f64> {
    let mut samples = measured.samples.clone();
    samples.sort_by(f64::total_cmp);
    let at = |share: f64| samples.get((share * samples.len().saturating_sub(1) as f64).round() as usize).copied();
    let (low, middle, high) = (at(0.25)?, at(0.5)?, at(0.75)?);
    // The middle half of a normal distribution is 1.35 standard deviations wide, and a median's error 1.25 of a mean's.
    (middle > 0.0).then(|| (high - low) / middle / 1.35 * 1.25 / (samples.len() as f64).sqrt())
}

/// A proposal on its way.
struct Waiting<B> {
    /// Which of the phases it is for, and its number there.
    phase: usize,
    number: u64,
    point: Point,
    config: Config,
    /// None for what the record holds.
    build: Option<B>,
}

/// What was proposed, what became of it, and whether that was on record.
type Trial<B> = (Waiting<B>, (Evaluation, bool));

/// Trials at the same time, one on each device: from the record, or done and recorded. Says which.
fn trials<A: Apparatus>(
    bench: &mut A,
    record: &Record<'_>,
    phase: &str,
    mut batch: Vec<Waiting<A::Build>>,
    best: Option<&[Measured]>,
) -> Result<Vec<Trial<A::Build>>, Fault> {
    let builds: Vec<(A::Build, u64)> = batch.iter_mut().filter_map(|w| Some((w.build.take()?, w.number))).collect();
    if !builds.is_empty() {
        bench.go_on()?;
    }
    let mut done = bench.evaluate_all(builds, best).into_iter();
    let mut found = Vec::with_capacity(batch.len());
    let mut trouble = None;
    for waiting in batch {
        let known = record.evaluation(phase, waiting.number, &waiting.config)?;
        let evaluation = match known {
            Some(evaluation) => (evaluation, true),
            None => match done.next() {
                Some(Ok(evaluation)) => {
                    record.keep(phase, waiting.number, &waiting.config, &evaluation)?;
                    (evaluation, false)
                }
                Some(Err(fault)) => {
                    // What the other devices found is kept all the same.
                    trouble.get_or_insert(fault);
                    continue;
                }
                None => return Err(Fault::new("trying a configuration", "nothing came of it")),
            },
        };
        found.push((waiting, evaluation));
    }
    trouble.map_or(Ok(found), Err)
}

/// One trial: from the record, or done and recorded. Says which.
pub(crate) fn trial<A: Apparatus>(
    bench: &mut A,
    record: &Record<'_>,
    phase: &str,
    number: u64,
    config: &Config,
    build: Option<A::Build>,
    best: Option<&[Measured]>,
) -> Result<(Evaluation, bool), Fault> {
    if let Some(evaluation) = record.evaluation(phase, number, config)? {
        return Ok((evaluation, true));
    }
    bench.go_on()?;
    let build = match build {
        Some(build) => build,
        None => bench.build(config)?,
    };
    let evaluation = bench.evaluate(build, number, best)?;
    record.keep(phase, number, config, &evaluation)?;
    Ok((evaluation, false))
}
