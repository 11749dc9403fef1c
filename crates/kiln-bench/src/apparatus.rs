//! What a study needs of whoever builds, tries and measures. In: configurations. Out: evaluations, refusals, times. A study is
//! written against this and nothing else, so that every rule of it can be tried with an apparatus that only plays.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kiln_core::{Config, Fault, Outcome, Refusal, Workload};
use kiln_judge::{Distribution, Level};
use kiln_run::Gpu;
use kiln_search::Prior;

use crate::bench::Bench;
use crate::building::builder::Build;
use crate::duels::duel::{Duel, Fought, Lost, SETS, duel};
use crate::evaluation::{Evaluation, Measured};
use crate::event::Event;
use crate::kernel::Kernel;
use crate::questions::check::examine_all;
use crate::questions::stage::{Stage, Trouble};
use crate::rivals::baseline::{Baseline, Baselines};
use crate::settings::Settings;
use crate::workers::subject::Subject;

/// A workload that is set up.
pub trait Staged {
    /// The workload's name; empty where the file has none.
    fn name(&self) -> &str;
    /// The workload.
    fn workload(&self) -> Option<&Workload>;
    /// Its weight in the objective.
    fn weight(&self) -> f64;
}

/// A configuration that is to be tried.
pub struct Task<B> {
    /// Its build.
    pub build: B,
    /// Its number.
    pub number: u64,
    /// What it must come near; a hopeless one is given up early.
    pub best: Option<Vec<Measured>>,
}

/// Configurations for devices that come for them.
pub trait Queue<A: Apparatus + ?Sized> {
    /// The next one; none when nothing can be tried until another has ended, or nothing is left.
    fn next(&mut self, bench: &mut A) -> Result<Option<Task<A::Build>>, Fault>;
    /// What became of one, in whichever order they end.
    fn ended(&mut self, bench: &mut A, number: u64, outcome: Result<Evaluation, Fault>) -> Result<(), Fault>;
}

/// A queue of one.
struct One<B> {
    task: Option<Task<B>>,
    found: Option<Result<Evaluation, Fault>>,
}

impl<A: Apparatus + ?Sized> Queue<A> for One<A::Build> {
    fn next(&mut self, _bench: &mut A) -> Result<Option<Task<A::Build>>, Fault> {
        Ok(self.task.take())
    }

    fn ended(&mut self, _bench: &mut A, _number: u64, outcome: Result<Evaluation, Fault>) -> Result<(), Fault> {
        self.found = Some(outcome);
        Ok(())
    }
}

/// Whoever builds, tries and measures.
pub trait Apparatus {
    /// A workload that is set up.
    type Stage: Staged;
    /// A build that was asked for.
    type Build;
    /// What is called and measured.
    type Subject: Clone;

    /// The kernel.
    fn kernel(&self) -> &Kernel<'_>;
    /// How it is done.
    fn settings(&self) -> &Settings;
    /// Tells whoever listens.
    fn tell(&self, event: &Event<'_>);
    /// A fault once the user wants to stop.
    fn go_on(&self) -> Result<(), Fault>;
    /// The time, for budgets.
    fn now(&self) -> Instant;
    /// How many configurations can be tried at the same time.
    fn devices(&self) -> usize;
    /// The GPU, for targets that work on one.
    fn gpu(&self) -> Option<&Gpu>;
    /// What other studies measured, for searches to start from.
    fn priors(&self) -> Vec<Arc<Prior>>;

    /// The workloads that are tuned for now, smallest first.
    fn stages(&self) -> &[Self::Stage];
    /// Takes others in their place.
    fn exchange_stages(&mut self, stages: Vec<Self::Stage>) -> Vec<Self::Stage>;
    /// The same workloads set up again with inputs nobody has seen, and behind them those that were kept back, if they are
    /// wanted. Nothing is run there unless it is live.
    fn proving_stages(&self, kept_back: bool, purpose: &str, live: bool) -> Result<Vec<Self::Stage>, Trouble>;
    /// About how long it takes to make and ask the questions of a level; nothing where that cannot be told.
    fn level_takes(&self, level: Level) -> Duration;
    /// The same for making the stages of a proof, with those that are kept back if they are wanted.
    fn proving_takes(&self, kept_back: bool) -> Duration;
    /// The share of what this machine can do at best that a time is; none when the file states no cost.
    fn share_of_limit(&self, stage: &Self::Stage, seconds: f64) -> Option<f64>;

    /// Baselines that can be had; only one when it is named.
    fn baselines(&mut self, only: Option<&str>) -> Result<Baselines<Self::Subject>, Fault>;
    /// Checks and measures a baseline like a candidate. One that is wrong is a fault.
    fn measure_baseline(&mut self, baseline: &Baseline<Self::Subject>) -> Result<Evaluation, Fault>;
    /// Calls may take as long as a baseline that takes so many seconds makes reasonable.
    fn expect_calls_of(&mut self, seconds: f64);

    /// Asks for a candidate's build.
    fn build(&mut self, config: &Config) -> Result<Self::Build, Fault>;
    /// Which of some builds is tried next, by its place: the first that is ready, as soon as one is. Where it cannot wait for
    /// that, or has waited long, the first of all.
    fn soonest(&self, builds: &[&Self::Build]) -> usize;
    /// Waits for it.
    fn built(&mut self, build: Self::Build) -> Result<Outcome<Self::Subject>, Fault>;
    /// Waits until no build is running, so that nothing disturbs what is measured next.
    fn quiet(&mut self);
    /// Takes what a queue holds up the ladder, as many at a time as there are devices: one that is free takes the next.
    fn evaluate_all(&mut self, queue: &mut dyn Queue<Self>) -> Result<(), Fault>;
    /// Puts subjects through the same fresh questions; for each the refusal and the workload, if it failed one.
    fn examine(
        &mut self,
        subjects: &[&Self::Subject],
        level: Level,
        purpose: &str,
    ) -> Result<Vec<Option<(Refusal, String)>>, Trouble>;
    /// Measures subjects against each other.
    fn duel(
        &self,
        stages: &[Self::Stage],
        plan: Duel<'_, Self::Subject>,
        on_round: &mut dyn FnMut(usize),
    ) -> Result<Result<Fought, Lost>, Fault>;

    /// Stands for a subject where everything about it is on record.
    fn nothing() -> Self::Subject;
    /// The key of what was built; none where nothing was.
    fn key(subject: &Self::Subject) -> Option<&str>;

    /// Says something.
    fn note(&self, text: String) {
        self.tell(&Event::Note { text });
    }

    /// Takes one configuration up the ladder.
    fn evaluate(&mut self, build: Self::Build, number: u64, best: Option<&[Measured]>) -> Result<Evaluation, Fault> {
        let best = best.map(<[Measured]>::to_vec);
        let mut one = One { task: Some(Task { build, number, best }), found: None };
        self.evaluate_all(&mut one)?;
        one.found.unwrap_or_else(|| Err(Fault::new("trying a configuration", "nothing came of it")))
    }

    /// Whether the kernel file's rules let a configuration be used on a workload; says so where they do not.
    fn fits(&self, config: &Config, workload: Option<&Workload>) -> bool {
        let Some(refusal) = self.kernel().unfit(config, workload) else { return true };
        let name = workload.map_or("", |w| &w.name);
        let (rule, limit, with) = (refusal.rule, refusal.limit, refusal.evidence);
        self.note(format!("{config} is not used on {name}: {rule} does not hold there, {limit} with {with}"));
        false
    }
}

impl Staged for Stage<'_> {
    fn name(&self) -> &str {
        Stage::name(self)
    }

    fn workload(&self) -> Option<&Workload> {
        self.workload
    }

    fn weight(&self) -> f64 {
        Stage::weight(self)
    }
}

impl<'a> Apparatus for Bench<'a> {
    type Stage = Stage<'a>;
    type Build = Build;
    type Subject = Subject;

    fn kernel(&self) -> &Kernel<'_> {
        self.kernel
    }

    fn settings(&self) -> &Settings {
        self.settings
    }

    fn tell(&self, event: &Event<'_>) {
        (self.listener)(event);
    }

    fn go_on(&self) -> Result<(), Fault> {
        Bench::go_on(self)
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn devices(&self) -> usize {
        Bench::devices(self)
    }

    fn gpu(&self) -> Option<&Gpu> {
        self.gpu.as_ref()
    }

    fn priors(&self) -> Vec<Arc<Prior>> {
        self.priors.clone()
    }

    fn stages(&self) -> &[Stage<'a>] {
        &self.stages
    }

    fn exchange_stages(&mut self, stages: Vec<Stage<'a>>) -> Vec<Stage<'a>> {
        std::mem::replace(&mut self.stages, stages)
    }

    fn proving_stages(&self, kept_back: bool, purpose: &str, live: bool) -> Result<Vec<Stage<'a>>, Trouble> {
        let mut workloads: Vec<Option<&'a Workload>> = self.stages.iter().map(|stage| stage.workload).collect();
        if kept_back {
            workloads.extend(self.kept_back());
        }
        let sets: &[Distribution] = if live { &SETS } else { &[] };
        Bench::stages(self, &workloads, purpose, sets)
    }

    fn level_takes(&self, level: Level) -> Duration {
        Bench::level_takes(self, level)
    }

    fn proving_takes(&self, kept_back: bool) -> Duration {
        Bench::proving_takes(self, kept_back)
    }

    fn share_of_limit(&self, stage: &Stage<'a>, seconds: f64) -> Option<f64> {
        self.peaks.as_ref().and_then(|peaks| peaks.share(stage.flops, stage.bytes, seconds))
    }

    fn baselines(&mut self, only: Option<&str>) -> Result<Baselines, Fault> {
        Baselines::find(self, only)
    }

    fn measure_baseline(&mut self, baseline: &Baseline) -> Result<Evaluation, Fault> {
        Bench::measure_baseline(self, baseline)
    }

    fn expect_calls_of(&mut self, seconds: f64) {
        Bench::expect_calls_of(self, seconds);
    }

    fn build(&mut self, config: &Config) -> Result<Build, Fault> {
        Bench::build(self, config)
    }

    fn soonest(&self, builds: &[&Build]) -> usize {
        Bench::soonest(self, builds)
    }

    fn built(&mut self, build: Build) -> Result<Outcome<Subject>, Fault> {
        Bench::built(self, build)
    }

    fn quiet(&mut self) {
        Bench::quiet(self);
    }

    fn evaluate_all(&mut self, queue: &mut dyn Queue<Self>) -> Result<(), Fault> {
        Bench::evaluate_all(self, queue)
    }

    fn examine(
        &mut self,
        subjects: &[&Subject],
        level: Level,
        purpose: &str,
    ) -> Result<Vec<Option<(Refusal, String)>>, Trouble> {
        examine_all(self, subjects, level, purpose, |_| {})
    }

    fn duel(
        &self,
        stages: &[Stage<'a>],
        plan: Duel<'_>,
        on_round: &mut dyn FnMut(usize),
    ) -> Result<Result<Fought, Lost>, Fault> {
        duel(self, stages, plan, on_round, |_| 0)
    }

    fn nothing() -> Subject {
        Subject::nothing()
    }

    fn key(subject: &Subject) -> Option<&str> {
        subject.key()
    }
}
