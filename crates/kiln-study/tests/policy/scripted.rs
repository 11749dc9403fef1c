//! An apparatus that only plays: what configurations take and where they are refused is written down, and its clock moves
//! when somebody works. Whatever a study does with it is written down too.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kiln_bench::{
    Apparatus, Baseline, Baselines, Duel, Ended, Evaluation, Event, Fought, Kernel, LEAST_ROUNDS, Lost, Measured,
    Queue, Settings, Staged, Task, Trouble, Turns, geomean,
};
use kiln_core::{Config, Fault, Outcome, Refusal, Use, Workload};
use kiln_judge::Level;
use kiln_run::Gpu;
use kiln_search::Prior;

use crate::script::{At, Script};

/// A workload, played.
pub(crate) struct Scene {
    workload: Option<Workload>,
}

impl Staged for Scene {
    fn name(&self) -> &str {
        self.workload.as_ref().map_or("", |w| &w.name)
    }

    fn workload(&self) -> Option<&Workload> {
        self.workload.as_ref()
    }

    fn weight(&self) -> f64 {
        self.workload.as_ref().map_or(1.0, |w| w.weight)
    }
}

/// Who is measured: a configuration, the baseline, or nobody.
#[derive(Debug, Clone)]
pub(crate) enum Actor {
    Config(Config),
    Baseline,
    Nobody,
}

pub(crate) struct Scripted<'s> {
    script: &'s Script,
    kernel: &'s Kernel<'s>,
    stages: Vec<Scene>,
    began: Instant,
    spent: Cell<Duration>,
    worked: Cell<usize>,
    told: RefCell<Vec<String>>,
    acts: RefCell<Vec<String>>,
}

impl<'s> Scripted<'s> {
    pub(crate) fn new(script: &'s Script, kernel: &'s Kernel<'s>, began: Instant) -> Scripted<'s> {
        let stages = kernel.selection.workloads.iter().map(|w| Scene { workload: Some((*w).clone()) });
        let mut stages: Vec<Scene> = stages.collect();
        if stages.is_empty() {
            stages.push(Scene { workload: None });
        }
        let (spent, worked) = (Cell::new(Duration::ZERO), Cell::new(0));
        Scripted { script, kernel, stages, began, spent, worked, told: RefCell::default(), acts: RefCell::default() }
    }

    /// What was told and what was done, a line each, and how long it took by the played clock.
    pub(crate) fn heard(&mut self) -> (Vec<String>, Vec<String>, f64) {
        (self.told.take(), self.acts.take(), self.spent.get().as_secs_f64())
    }

    fn act(&self, what: String, seconds: f64) {
        self.acts.borrow_mut().push(what);
        self.worked.set(self.worked.get() + 1);
        self.spent.set(self.spent.get() + Duration::from_secs_f64(seconds));
    }

    fn seconds(&self, actor: &Actor, workload: &str) -> f64 {
        match actor {
            Actor::Config(config) => (self.script.time)(config, workload),
            Actor::Baseline => self.script.baseline.unwrap_or(f64::NAN),
            Actor::Nobody => panic!("nobody is measured"),
        }
    }

    /// Samples that scatter a little, the same every time.
    fn samples(&self, seconds: f64, count: usize, round: usize) -> Vec<f64> {
        (0..count).map(|i| seconds * (1.0 + 0.002 * ((i * 7 + round * 3) % 5) as f64)).collect()
    }

    fn evaluated(&self, config: &Config, best: Option<&[Measured]>) -> Evaluation {
        let mut way = Evaluation {
            station: None,
            outcome: Ended::Measured { workloads: Vec::new(), hopeless: false, cost: f64::INFINITY },
            artifact: Some(config.to_string()),
            resources: Vec::new(),
            build_s: 0.0,
            check_s: 0.0,
            measure_s: 0.0,
            wall_s: self.script.takes.0,
            started_ms: 0,
        };
        let refused = [At::Build, At::Trial].into_iter().find_map(|at| (self.script.refuse)(config, at));
        if let Some(refusal) = refused {
            way.outcome = Ended::Refused(refusal, None);
            return way;
        }
        let (mut workloads, mut costs, mut hopeless) = (Vec::new(), Vec::new(), false);
        for (place, stage) in self.stages.iter().enumerate() {
            let seconds = (self.script.time)(config, stage.name());
            let samples = self.samples(seconds, 9, 0);
            workloads.push(Measured { workload: stage.name().into(), samples, calls: 1 });
            costs.push((stage.weight(), seconds));
            hopeless = best.and_then(|best| best.get(place)).is_some_and(|best| seconds > 1.3 * best.median());
            if hopeless {
                break;
            }
        }
        way.outcome = Ended::Measured { workloads, hopeless, cost: geomean(costs) };
        way
    }
}

impl Apparatus for Scripted<'_> {
    type Stage = Scene;
    type Build = Config;
    type Subject = Actor;

    fn kernel(&self) -> &Kernel<'_> {
        self.kernel
    }

    fn settings(&self) -> &Settings {
        &self.script.settings
    }

    fn tell(&self, event: &Event<'_>) {
        let line = match event {
            Event::Note { text } => format!("note {text}"),
            Event::Phase { phase, planned } => format!("phase {phase} {planned}"),
            Event::Trial { phase, number, config, best, recorded, .. } => {
                format!("trial {phase} {number} {config} best={best} recorded={recorded}")
            }
            Event::Step { phase, done, .. } => format!("step {phase} {done}"),
            Event::Ablation { tunable, worth } => format!("ablation {tunable} {}", worth.unwrap_or(0.0)),
            Event::Baseline { name, workload, .. } => format!("baseline {name} {workload}"),
            Event::FirstLook { baseline, workload, ratio } => format!("first look {baseline} {workload} {ratio:.2}"),
            Event::Finished => "finished".into(),
            other => format!("{other:?}"),
        };
        self.told.borrow_mut().push(line);
    }

    fn go_on(&self) -> Result<(), Fault> {
        if self.worked.get() >= self.script.work { Err(Fault::new("playing", "interrupted")) } else { Ok(()) }
    }

    fn now(&self) -> Instant {
        self.began + self.spent.get()
    }

    fn devices(&self) -> usize {
        self.script.devices
    }

    fn gpu(&self) -> Option<&Gpu> {
        None
    }

    fn priors(&self) -> Vec<Arc<Prior>> {
        Vec::new()
    }

    fn stages(&self) -> &[Scene] {
        &self.stages
    }

    fn exchange_stages(&mut self, stages: Vec<Scene>) -> Vec<Scene> {
        std::mem::replace(&mut self.stages, stages)
    }

    fn proving_stages(&self, kept_back: bool, _purpose: &str, _live: bool) -> Result<Vec<Scene>, Trouble> {
        let mut scenes: Vec<Scene> = self.stages.iter().map(|s| Scene { workload: s.workload.clone() }).collect();
        let further = self.script.spec.workloads.iter().filter(|w| kept_back && w.use_for == Use::Holdout);
        scenes.extend(further.map(|w| Scene { workload: Some(w.clone()) }));
        Ok(scenes)
    }

    fn level_takes(&self, _level: Level) -> Duration {
        Duration::from_secs_f64(self.script.takes.1)
    }

    fn proving_takes(&self, _kept_back: bool) -> Duration {
        Duration::ZERO
    }

    fn share_of_limit(&self, _stage: &Scene, _seconds: f64) -> Option<f64> {
        None
    }

    fn baselines(&mut self, _only: Option<&str>) -> Result<Baselines<Actor>, Fault> {
        let name = "plain".to_string();
        Ok(match self.script.baseline {
            Some(_) => Baselines { ready: vec![Baseline { name, subject: Actor::Baseline }], skipped: Vec::new() },
            None => Baselines { ready: Vec::new(), skipped: vec![kiln_bench::Unmeasured { name, refusal: absent() }] },
        })
    }

    fn measure_baseline(&mut self, baseline: &Baseline<Actor>) -> Result<Evaluation, Fault> {
        self.act(format!("baseline {}", baseline.name), self.script.takes.0);
        let row = |stage: &Scene| Measured {
            workload: stage.name().into(),
            samples: self.samples(self.seconds(&baseline.subject, stage.name()), 9, 0),
            calls: 1,
        };
        let workloads = self.stages.iter().map(row).collect();
        let mut way = self.evaluated(&Config::default(), None);
        way.outcome = Ended::Measured { workloads, hopeless: false, cost: 1.0 };
        Ok(way)
    }

    fn expect_calls_of(&mut self, _seconds: f64) {}

    fn build(&mut self, config: &Config) -> Result<Config, Fault> {
        Ok(config.clone())
    }

    fn soonest(&self, builds: &[&Config]) -> usize {
        (self.script.soonest)(builds)
    }

    fn built(&mut self, build: Config) -> Result<Outcome<Actor>, Fault> {
        Ok(match (self.script.refuse)(&build, At::Build) {
            Some(refusal) => Outcome::Refused(refusal),
            None => Outcome::Passed(Actor::Config(build)),
        })
    }

    fn quiet(&mut self) {}

    fn evaluate_all(&mut self, queue: &mut dyn Queue<Self>) -> Result<(), Fault> {
        let (mut running, mut worked): (Vec<(Duration, Task<Config>)>, _) = (Vec::new(), Ok(()));
        loop {
            while worked.is_ok() && running.len() < self.script.devices {
                match queue.next(self) {
                    Ok(Some(task)) => {
                        let seconds = (self.script.trial_takes)(&task.build).unwrap_or(self.script.takes.0);
                        self.act(format!("trial {}", task.build), 0.0);
                        running.push((self.spent.get() + Duration::from_secs_f64(seconds), task));
                    }
                    found => {
                        worked = found.map(|_| ());
                        break;
                    }
                }
            }
            let Some(first) = (0..running.len()).min_by_key(|i| (running[*i].0, running[*i].1.number)) else {
                return worked;
            };
            let (end, Task { build, number, best }) = running.remove(first);
            self.spent.set(self.spent.get().max(end));
            let outcome = match (self.script.fault)(&build) {
                Some(fault) => Err(fault),
                None => Ok(self.evaluated(&build, best.as_deref())),
            };
            worked = worked.and(queue.ended(self, number, outcome));
        }
    }

    fn examine(
        &mut self,
        subjects: &[&Actor],
        level: Level,
        _purpose: &str,
    ) -> Result<Vec<Option<(Refusal, String)>>, Trouble> {
        let at = if level == Level::Suite { At::Suite } else { At::Full };
        let each = |actor: &&Actor| {
            let Actor::Config(config) = actor else { panic!("nobody is examined") };
            self.act(format!("{at:?} {config}"), self.script.takes.1);
            (self.script.refuse)(config, at).map(|refusal| (refusal, String::new()))
        };
        Ok(subjects.iter().map(each).collect())
    }

    fn duel(
        &self,
        stages: &[Scene],
        plan: Duel<'_, Actor>,
        on_round: &mut dyn FnMut(usize),
    ) -> Result<Result<Fought, Lost>, Fault> {
        let at = match plan.purpose.rsplit('/').next().unwrap_or_default() {
            "run-off" => At::RunOff,
            "ablation" => At::Ablation,
            _ => At::Confirm,
        };
        self.go_on()?;
        self.act(format!("duel {} {:?}", plan.purpose, plan.subjects.first().map(|(_, actor)| actor)), 0.0);
        for (subject, (_, actor)) in plan.subjects.iter().enumerate() {
            if let Actor::Config(config) = actor
                && let Some(refusal) = (self.script.refuse)(config, at)
            {
                return Ok(Err(Lost { subject, refusal, workload: String::new() }));
            }
        }
        let mut rounds = vec![Vec::new(); stages.len()];
        for round in 0..plan.rounds {
            for (stage, found) in stages.iter().zip(&mut rounds) {
                let turns = |(_, actor): &(String, Actor)| Turns {
                    samples: self.samples(self.seconds(actor, stage.name()), plan.samples, round),
                    calls: 1,
                    order: Vec::new(),
                };
                found.push(plan.subjects.iter().map(turns).collect());
            }
            self.spent.set(self.spent.get() + Duration::from_secs_f64(self.script.takes.2));
            on_round(round + 1);
            if round + 1 >= LEAST_ROUNDS && plan.deadline.is_some_and(|deadline| self.now() >= deadline) {
                break;
            }
        }
        Ok(Ok(Fought { rounds, scrutiny: Vec::new(), kernels: Vec::new(), states: Vec::new() }))
    }

    fn nothing() -> Actor {
        Actor::Nobody
    }

    fn key(actor: &Actor) -> Option<&str> {
        match actor {
            Actor::Nobody => None,
            _ => Some("key"),
        }
    }
}

/// Why a baseline is not there.
fn absent() -> kiln_core::Refusal {
    serde_json::from_value(serde_json::json!({
        "gate": "build_failed", "rule": "", "measured": "it is not there", "limit": "", "evidence": ""
    }))
    .unwrap()
}
