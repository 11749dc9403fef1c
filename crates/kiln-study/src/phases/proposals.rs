//! Trials ahead of which proposals are made. In: a source of configurations. Out: each evaluated, recorded and told, in the
//! order proposed. A proposal is made when exactly so many before it are not told yet, so that it depends on the same
//! outcomes whether or not the study was interrupted in between, and whichever device was faster. Proposals run ahead into
//! the next phase, so that builders go on while one phase ends. A device that is free takes the first trial that is built: it
//! waits for another only when everything proposed has begun. A trial that was passed over is made before the phase ends.

use std::collections::VecDeque;
use std::collections::btree_map::{BTreeMap, OccupiedEntry};

use kiln_bench::{Apparatus, Evaluation, Event, Measured, Queue, Task};
use kiln_core::{Config, Fault};
use kiln_space::Point;

use crate::budget::Budget;
use crate::phases::attempts::{Attempts, Tried};
use crate::recording::record::{ENDED, Record};

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
    let (name, may_end) = (name.clone(), *may_end);
    bench.tell(&Event::Phase { phase: &name, planned: *planned });
    // From the settings alone, whatever devices there are now: a replay has none.
    let ahead = bench.settings().ahead.max(1) * if source.listens() { 1 } else { FURTHER };
    let mut trials = Trials {
        record,
        budget,
        line,
        which,
        name,
        may_end,
        ahead,
        source,
        attempts,
        begun: BTreeMap::new(),
        latest: None,
        hopeless: 0,
        over: None,
        trouble: None,
    };
    trials.propose(bench)?;
    bench.evaluate_all(&mut trials)?;
    if let Some(fault) = trials.trouble {
        return Err(fault);
    }
    if matches!(trials.over, Some(Over::Alike | Over::Time)) {
        trials.line.end();
    }
    Ok(())
}

/// Why a phase ends before all that was planned is done.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Over {
    /// Everything is refused for one reason. Trials that had begun may still show otherwise.
    Alike,
    /// The time is used up.
    Time,
    /// Little is expected of this phase.
    Hopeless,
}

/// A trial that has begun, and what became of it, once it has ended: with whether that was on record.
type Begun<B> = (Waiting<B>, Option<(Evaluation, bool)>);

/// One phase on its way.
struct Trials<'t, B> {
    record: &'t Record<'t>,
    budget: &'t Budget,
    line: &'t mut Line<B>,
    which: usize,
    name: String,
    may_end: bool,
    ahead: usize,
    source: &'t mut dyn Source,
    attempts: &'t mut Attempts,
    /// Those that have begun and are not told, by number.
    begun: BTreeMap<u64, Begun<B>>,
    /// The highest number of those that have begun.
    latest: Option<u64>,
    /// How often in a row little was expected.
    hopeless: usize,
    over: Option<Over>,
    /// A fault on some device: what the others find is kept all the same.
    trouble: Option<Fault>,
}

impl<B> Trials<'_, B> {
    /// Asks for proposals until as many wait, or are being tried, as may.
    fn propose<A: Apparatus<Build = B>>(&mut self, bench: &mut A) -> Result<(), Fault> {
        while self.line.waiting.len() + self.begun.len() < self.ahead {
            let Some((phase, number)) = self.line.place() else { break };
            let Some(point) = self.source.next() else { break };
            let config = bench.kernel().space.config(&point);
            let phase_name = &self.line.phases[phase].name;
            // A search that ended early had proposals ahead that were never tried: a replay must not ask for those.
            let known = self.record.is_replay() || self.record.evaluation(phase_name, number, &config)?.is_some();
            let build = if known { None } else { Some(bench.build(&config)?) };
            self.line.waiting.push_back(Waiting { phase, number, point, config, build });
            self.line.next.1 += 1;
        }
        Ok(())
    }

    /// Tells outcomes, in the order of proposals, as far as they are there; after each of them, proposals are made.
    fn tell<A: Apparatus<Build = B>>(&mut self, bench: &mut A) -> Result<(), Fault> {
        loop {
            // Those that were passed over come first.
            let passed_over = self.line.waiting.front().filter(|first| first.phase == self.which);
            let passed_over = passed_over.map_or(u64::MAX, |first| first.number);
            let ended =
                |first: &OccupiedEntry<'_, u64, Begun<B>>| first.get().1.is_some() && *first.key() < passed_over;
            let Some(entry) = self.begun.first_entry().filter(ended) else { return Ok(()) };
            let (number, (Waiting { point, config, .. }, Some((evaluation, recorded)))) = entry.remove_entry() else {
                return Ok(());
            };
            self.source.told(&point, &evaluation);
            self.hopeless =
                if self.may_end && expects_less(self.source, self.attempts) { self.hopeless + 1 } else { 0 };
            let best = self.attempts.add(Tried { config: config.clone(), evaluation: evaluation.clone() });
            let (phase, config, evaluation) = (&*self.name, &config, &evaluation);
            bench.tell(&Event::Trial { phase, number, config, evaluation, best, recorded });
            self.look_for_the_end(bench);
            if self.over.is_none() {
                self.propose(bench)?;
            }
        }
    }

    /// Whether a trial has begun, now or in an earlier run, or was passed over by one that has.
    fn has_begun(&self, number: u64) -> bool {
        self.record.reached(&self.name, number) || self.latest.is_some_and(|latest| number < latest)
    }

    /// The place in line of the trial to begin with. What is on record comes in its turn; once the end is near, so does all.
    fn soonest<A: Apparatus<Build = B>>(&self, bench: &A) -> usize {
        let ending = self.over.is_some() || self.budget.search_is_over(bench.now());
        let end = self.record.end(&self.name);
        let may = |waiting: &&Waiting<B>| {
            waiting.phase == self.which
                && end.is_none_or(|end| waiting.number < end)
                && (!ending || self.has_begun(waiting.number))
        };
        let mut builds = Vec::new();
        for waiting in self.line.waiting.iter().take_while(may) {
            match &waiting.build {
                Some(build) => builds.push(build),
                None => break,
            }
        }
        if builds.len() > 1 { bench.soonest(&builds) } else { 0 }
    }

    /// Whether going on is worth it.
    fn look_for_the_end<A: Apparatus<Build = B>>(&mut self, bench: &A) {
        if !matches!(self.over, None | Some(Over::Alike)) {
            return;
        }
        let (name, tried) = (&self.name, self.attempts.all.len());
        if bench.settings().stop_rule && self.attempts.alike().is_some() {
            self.over = Some(Over::Alike);
        } else if self.hopeless >= IN_A_ROW && tried >= LEAST_TRIALS {
            let words = "the expected gain is below the noise";
            bench.note(format!("{name}: {words}: stopped after {tried} trials"));
            self.over = Some(Over::Hopeless);
        } else {
            self.over = None;
        }
    }
}

impl<A: Apparatus> Queue<A> for Trials<'_, A::Build> {
    fn next(&mut self, bench: &mut A) -> Result<Option<Task<A::Build>>, Fault> {
        while let Some(first) = self.line.waiting.front().filter(|first| first.phase == self.which) {
            let number = first.number;
            // What had begun when the end was seen is part of the study, and all before it: now as on the first time.
            let begun = self.has_begun(number);
            if self.trouble.is_some() || self.over == Some(Over::Time) || self.over.is_some() && !begun {
                return Ok(None);
            }
            let ended = self.record.end(&self.name).is_some_and(|end| number >= end);
            if ended || !begun && first.build.is_some() && self.budget.search_is_over(bench.now()) {
                bench.note(format!("the time for it is used up: {} ends after {number} trials", self.name));
                if !ended {
                    self.record.note(ENDED, &format!("{} {number}", self.name))?;
                }
                self.over = Some(Over::Time);
                return Ok(None);
            }
            let place = self.soonest(bench);
            let Some(mut waiting) = self.line.waiting.remove(place) else { break };
            let number = waiting.number;
            self.latest = self.latest.max(Some(number));
            let known = self.record.evaluation(&self.name, number, &waiting.config)?.map(|known| (known, true));
            let (build, done) = (waiting.build.take(), known.is_some());
            self.begun.insert(number, (waiting, known));
            if done {
                self.tell(bench)?;
                continue;
            }
            bench.go_on()?;
            let Some(build) = build else { return Err(Fault::new("trying a configuration", "it was never built")) };
            let best = self.attempts.best().map(|best| best.evaluation.measured().to_vec());
            return Ok(Some(Task { build, number, best }));
        }
        Ok(None)
    }

    fn ended(&mut self, bench: &mut A, number: u64, outcome: Result<Evaluation, Fault>) -> Result<(), Fault> {
        let Some((waiting, found)) = self.begun.get_mut(&number) else { return Ok(()) };
        match outcome {
            Ok(evaluation) => {
                self.record.keep(&self.name, number, &waiting.config, &evaluation)?;
                *found = Some((evaluation, false));
            }
            Err(fault) => {
                self.trouble.get_or_insert(fault);
            }
        }
        if self.trouble.is_some() { Ok(()) } else { self.tell(bench) }
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
