//! Trials in order, proposals ahead of them. In: a source of configurations. Out: each evaluated, recorded and told, in the
//! order proposed. A proposal is made when exactly `ahead` others wait, so that it depends on the same outcomes whether or
//! not the study was interrupted in between.

use std::collections::VecDeque;

use kiln_core::{Config, Fault};
use kiln_space::Point;

use crate::bench::Bench;
use crate::budget::Budget;
use crate::builder::Build;
use crate::evaluation::{Evaluation, Measured};
use crate::event::Event;
use crate::record::Record;

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

    /// Measured to the end, best first, each configuration once.
    pub(crate) fn ranked(&self) -> Vec<&Tried> {
        let mut ranked: Vec<&Tried> = self.all.iter().filter(|t| t.evaluation.complete()).collect();
        ranked.sort_by(|a, b| {
            let cost = |t: &Tried| t.evaluation.cost().unwrap_or(f64::INFINITY);
            cost(a).total_cmp(&cost(b))
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
}

/// One phase of trials.
pub(crate) struct Phase<'p> {
    pub(crate) name: &'p str,
    pub(crate) planned: usize,
}

/// Runs a phase; ends early when the budget is spent or the source is dry.
pub(crate) fn run(
    bench: &mut Bench<'_>,
    record: &Record<'_>,
    budget: &Budget,
    phase: &Phase<'_>,
    source: &mut dyn Source,
    attempts: &mut Attempts,
) -> Result<(), Fault> {
    (bench.listener)(&Event::Phase { phase: phase.name, planned: phase.planned });
    let mut waiting: VecDeque<(u64, Point, Config, Option<Build>)> = VecDeque::new();
    let mut proposed = 0u64;
    loop {
        while waiting.len() < bench.settings.ahead.max(1) && proposed < phase.planned as u64 {
            let Some(point) = source.next() else { break };
            let config = bench.kernel.space.config(&point);
            let known = record.evaluation(phase.name, proposed, &config)?.is_some();
            let build = if known { None } else { Some(bench.build(&config)?) };
            waiting.push_back((proposed, point, config, build));
            proposed += 1;
        }
        let Some((number, point, config, build)) = waiting.pop_front() else { return Ok(()) };
        if build.is_some() && budget.search_is_over() {
            bench.note(format!("the time is used up: {} ends after {number} trials", phase.name));
            return Ok(());
        }
        let best = attempts.best().map(|t| t.evaluation.measured().to_vec());
        let evaluation = trial(bench, record, phase.name, number, &config, build, best.as_deref())?;
        source.told(&point, &evaluation.0);
        let (evaluation, recorded) = evaluation;
        let best = attempts.add(Tried { config: config.clone(), evaluation: evaluation.clone() });
        (bench.listener)(&Event::Trial {
            phase: phase.name,
            number,
            config: &config,
            evaluation: &evaluation,
            best,
            recorded,
        });
    }
}

/// One trial: from the record, or done and recorded. Says which.
pub(crate) fn trial(
    bench: &mut Bench<'_>,
    record: &Record<'_>,
    phase: &str,
    number: u64,
    config: &Config,
    build: Option<Build>,
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
