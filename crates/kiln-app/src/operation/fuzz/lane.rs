//! One variant of a kernel, ready to be asked: its bench, what shapes may be, and what was built. In: an opened kernel and
//! configurations. Out: subjects by configuration; those that a gate refuses before they run are set aside.

use std::sync::{Mutex, PoisonError};

use kiln_core::{Config, Fault, Outcome, Refusal, Report, Workload};
use kiln_judge::{
    CaseSource, Distribution, DrawnCase, Fit, FuzzCase, Generator, Room, Shape, Signature, Work, fit, shape_text,
    tiles, workload_of,
};
use kiln_study::{Baselines, Bench, Cases, Kernel, Subject, Tried};

use crate::failure::Failure;

/// Numbers and operations of a drawn case at most, on a processor and on a GPU: a case is to take a moment.
const SMALL: (f64, f64) = (1e6, 2e8);
const SMALL_ON_GPU: (f64, f64) = (3e7, 5e10);

/// A variant that can be asked.
pub(super) struct Lane<'b, 'a> {
    pub(super) bench: &'b Bench<'a>,
    pub(super) room: Room,
    /// The configurations that are asked about, the chosen one first; one that is empty for a baseline.
    pub(super) configs: Vec<Config>,
    cases: Cases<'b, 'a>,
    subjects: Mutex<Vec<(Config, Outcome<Subject>)>>,
    /// Whether configurations may be built that were not asked for: a baseline has none.
    is_baseline: bool,
}

impl<'b, 'a> Lane<'b, 'a> {
    /// A lane for these configurations, of which some may be refused; those are given back.
    pub(super) fn new(
        bench: &'b Bench<'a>,
        configs: &[Config],
        baseline: Option<&str>,
    ) -> Result<(Lane<'b, 'a>, Vec<(Config, Refusal)>), Failure> {
        let mut lane = Lane {
            bench,
            room: Room::of(&bench.kernel.selection),
            configs: Vec::new(),
            cases: Cases::new(bench),
            subjects: Mutex::default(),
            is_baseline: baseline.is_some(),
        };
        let mut refused = Vec::new();
        if let Some(name) = baseline {
            match lane.baseline(name)? {
                Outcome::Passed(()) => lane.configs.push(Config::default()),
                Outcome::Refused(refusal) => refused.push((Config::default(), refusal)),
            }
            return Ok((lane, refused));
        }
        for config in configs {
            match lane.subject(config)? {
                Outcome::Passed(_) => lane.configs.push(config.clone()),
                Outcome::Refused(refusal) => refused.push((config.clone(), refusal)),
            }
        }
        Ok((lane, refused))
    }

    fn baseline(&self, name: &str) -> Result<Outcome<()>, Failure> {
        let mut found = Baselines::find(self.bench, Some(name))?;
        if let Some(skipped) = found.skipped.pop() {
            return Ok(Outcome::Refused(skipped.refusal));
        }
        let Some(ready) = found.ready.pop() else {
            return Err(Fault::new("choosing a baseline", format!("there is no baseline `{name}`")).into());
        };
        self.known().push((Config::default(), Outcome::Passed(ready.subject)));
        Ok(Outcome::Passed(()))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Vec<(Config, Outcome<Subject>)>> {
        self.subjects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is called for a configuration; built the first time.
    fn subject(&self, config: &Config) -> Result<Outcome<Subject>, Fault> {
        let config = if self.is_baseline { &Config::default() } else { config };
        if let Some((_, known)) = self.known().iter().find(|(c, _)| c == config) {
            return Ok(known.clone());
        }
        let made = self.cases.subject(config)?;
        self.known().push((config.clone(), made.clone()));
        Ok(made)
    }

    /// Cases that may be asked about at the same time.
    pub(super) fn at_once(&self) -> usize {
        self.cases.at_once()
    }

    /// Asks about a case. A configuration that cannot be built, or that a rule of the file refuses, excludes it.
    pub(super) fn ask(&self, case: &FuzzCase) -> Result<Tried, Fault> {
        let work = match self.fit(&case.shape, &case.config) {
            Fit::Fits(work) => work,
            Fit::Excluded(why) => return Ok(Tried::Excluded(why)),
        };
        if let Some(why) = self.beyond(case) {
            return Ok(Tried::Excluded(why));
        }
        if !case.config.is_empty() && !self.bench.kernel.allows(&case.config) && !self.configs.contains(&case.config) {
            return Ok(Tried::Excluded("the configuration breaks a rule".into()));
        }
        match self.subject(&case.config)? {
            Outcome::Passed(subject) => self.cases.ask(&subject, case, Some(work)),
            Outcome::Refused(refusal) => Ok(Tried::Excluded(format!("{} refuses the configuration", refusal.gate))),
        }
    }

    /// How much work a shape is, or why it is none of this kernel's.
    pub(super) fn fit(&self, shape: &Shape, config: &Config) -> Fit {
        let kernel = self.bench.kernel;
        let some = if config.is_empty() { kernel.default_config().unwrap_or_default() } else { config.clone() };
        fit(&kernel.selection, &workload_of(shape), &some)
    }

    /// Whether a shape makes sense for a configuration: every rule holds there.
    pub(super) fn admits(&self, shape: &Shape, config: &Config) -> bool {
        let holds = self.bench.kernel.unfit(config, Some(&workload_of(shape))).is_none();
        holds && matches!(self.fit(shape, config), Fit::Fits(_))
    }

    /// Whether a shape is small enough to be drawn.
    fn is_small(&self, shape: &Shape, config: &Config) -> bool {
        let Fit::Fits(Work { numbers: own, flops: operations }) = self.fit(shape, config) else { return false };
        let (numbers, flops) = if self.bench.kernel.on_gpu() { SMALL_ON_GPU } else { SMALL };
        own <= numbers && operations.unwrap_or(0.0) <= flops
    }

    /// Why a case that was typed makes no sense here.
    pub(super) fn objection(&self, case: &FuzzCase) -> Option<Report> {
        let shape = shape_text(&case.shape);
        if let Some(refusal) = self.bench.kernel.unfit(&case.config, Some(&workload_of(&case.shape))) {
            let report = Report::error(format!("--case: {shape} breaks the constraint {}", refusal.rule));
            let label = format!("expected {}, found {} with {}", refusal.limit, refusal.measured, refusal.evidence);
            let hint = refusal.hint.unwrap_or_else(|| "choose another shape, or another --config".into());
            return Some(report.label(label).hint(hint));
        }
        if let Some(why) = self.beyond(case) {
            let report = Report::error(format!("--case: {why}")).label("expected a number that it may be");
            return Some(report.hint("[fuzz] scalars in kernel.toml, or the argument's range, states it"));
        }
        let Fit::Excluded(why) = self.fit(&case.shape, &case.config) else { return None };
        let report = Report::error(format!("--case: {shape} is no shape of this kernel"));
        Some(report.label(why).hint("choose another shape; [fuzz] in kernel.toml states which there are"))
    }

    /// What a call of a shape takes; none where the file gives no answer.
    pub(super) fn signature(&self, shape: &Shape, config: &Config) -> Option<Signature> {
        let kernel = self.bench.kernel;
        let config = if config.is_empty() { kernel.default_config().unwrap_or_default() } else { config.clone() };
        Signature::under(&kernel.selection, Some(&workload_of(shape)), &config).ok()
    }

    /// Why the scalars of a case make no sense, where they do not.
    fn beyond(&self, case: &FuzzCase) -> Option<String> {
        let told = !case.scalars.is_empty();
        told.then(|| self.signature(&case.shape, &case.config)?.objection(&case.scalars)).flatten()
    }

    /// The tiles of a configuration.
    pub(super) fn tiles(&self, config: &Config, shape: &Shape) -> Vec<i64> {
        tiles(&self.bench.kernel.selection, config, shape)
    }

    /// The case of a number.
    pub(super) fn draw(&self, seed: u64, number: u64, inputs: &[Distribution]) -> Option<DrawnCase> {
        self.drawing(seed, inputs, |generator| generator.case(number))
    }

    /// Whether any shape but the workloads' own can be drawn.
    pub(super) fn can_move(&self) -> bool {
        self.drawing(0, &[], |generator| generator.can_move())
    }

    fn drawing<R>(&self, seed: u64, inputs: &[Distribution], ask: impl Fn(&Generator<'_>) -> R) -> R {
        let source = CaseSource {
            room: &self.room,
            configs: &self.configs,
            inputs,
            signature: &|shape: &Shape, config: &Config| self.signature(shape, config),
            tiles: &|config: &Config, shape: &Shape| self.tiles(config, shape),
            admits: &|shape: &Shape, config: &Config| self.admits(shape, config),
            is_small: &|shape: &Shape, config: &Config| self.is_small(shape, config),
        };
        ask(&Generator::new(source, seed))
    }

    /// The shape of the workload that stands for those that say nothing.
    pub(super) fn usual(&self) -> Shape {
        self.room.bases.first().cloned().unwrap_or_default()
    }

    /// The distributions that say something about this kernel's inputs, the declared one first.
    pub(super) fn inputs(&self) -> Vec<Distribution> {
        let signature = self.signature(&self.usual(), &Config::default());
        let suits = |inputs: &Distribution| signature.as_ref().is_some_and(|signature| signature.suits(*inputs));
        Distribution::FUZZED.into_iter().filter(suits).collect()
    }
}

/// The configurations of a kernel to ask about: the chosen one, then others of the space.
pub(super) fn configurations(kernel: &Kernel<'_>, chosen: &Config, most: usize, seed: u64) -> Vec<Config> {
    let others = kernel.space.sample(most.saturating_sub(1), seed);
    let others = others.iter().map(|point| kernel.space.config(point)).filter(|config| config != chosen);
    std::iter::once(chosen.clone()).chain(others).collect()
}

/// Refuses a kernel without a workload to begin with.
pub(super) fn has_workloads(kernel: &Kernel<'_>) -> Result<(), Failure> {
    let target = kernel.target();
    let any = |w: &&Workload| w.is_for(target) && kernel.selection.answers(w);
    if kernel.selection.spec.workloads.iter().any(|w| any(&w)) {
        return Ok(());
    }
    let report = Report::error(format!("{} has no workloads for target {target}", kernel.name()));
    Err(report.hint("add [[workloads]]: shapes are drawn around theirs").into())
}
