//! An apparatus that only plays: what configurations take and where they are refused is written down, and its clock moves
//! when somebody works. Whatever a study does with it is written down too.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use kiln_bench::{
    Apparatus, Baseline, Baselines, Duel, Ended, Evaluation, Event, Fought, Kernel, LEAST_ROUNDS, Lost, Measured,
    Queue, Settings, Staged, Task, Trouble, Turns, geomean,
};
use kiln_core::{Config, Fault, Gate, Outcome, Refusal, Use, Workload};
use kiln_judge::Level;
use kiln_run::Gpu;
use kiln_search::Prior;
use kiln_spec::{Choice, KernelSpec};
use kiln_study::{Budget, CacheState, Record, Summary, tune};

use crate::memory::Memory;

/// Where a configuration can be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum At {
    Build,
    Trial,
    Full,
    Suite,
    RunOff,
    Confirm,
    Ablation,
}

/// What some configurations have.
type Of<T> = Box<dyn Fn(&Config) -> Option<T>>;
type Time = Box<dyn Fn(&Config, &str) -> f64>;
type Refuse = Box<dyn Fn(&Config, At) -> Option<Refusal>>;

/// What is played.
pub(crate) struct Script {
    pub(crate) spec: KernelSpec,
    pub(crate) settings: Settings,
    /// Seconds of a call: the configuration, the workload.
    pub(crate) time: Time,
    /// Why it is refused, if it is.
    pub(crate) refuse: Refuse,
    /// Seconds of a call of the baseline; none when the file has none.
    pub(crate) baseline: Option<f64>,
    pub(crate) devices: usize,
    /// Seconds that a trial, a full check and a round take.
    pub(crate) takes: (f64, f64, f64),
    /// Seconds that the trial of one configuration takes, where that is not what others take.
    pub(crate) trial_takes: Of<f64>,
    /// What breaks under a configuration, if anything does.
    pub(crate) fault: Of<Fault>,
    /// After so much work Ctrl-C is pressed.
    pub(crate) work: usize,
    pub(crate) minutes: Option<f64>,
}

/// Two tunables of eight values, where 7 and 5 are best, and a third that matters little.
const TUNABLES: &str = r#"
    [target.cpu.tunables]
    A = { from = 0, to = 7 }
    B = { from = 0, to = 7 }
    C = [0, 1]
    [target.cpu.default]
    A = 0
    B = 0
    C = 0
"#;

fn number(config: &Config, name: &str) -> f64 {
    config.get(name).and_then(|value| value.to_string().parse().ok()).unwrap_or(0.0)
}

/// A millisecond at best.
pub(crate) fn bowl(config: &Config, _workload: &str) -> f64 {
    let (a, b, c) = (number(config, "A"), number(config, "B"), number(config, "C"));
    1e-3 * (1.0 + 0.1 * (7.0 - a).abs() + 0.1 * (5.0 - b).abs() + 0.05 * (1.0 - c))
}

/// The best of it.
pub(crate) const BEST: &str = "A=7,B=5,C=1";

pub(crate) fn refusal(gate: Gate, measured: &str) -> Refusal {
    Refusal {
        gate,
        rule: String::new(),
        measured: measured.into(),
        limit: String::new(),
        evidence: String::new(),
        hint: None,
    }
}

/// Refuses these configurations there, and nothing else.
pub(crate) fn refusing(at: At, configs: &[&str]) -> Refuse {
    let configs: Vec<String> = configs.iter().map(|c| c.to_string()).collect();
    Box::new(move |config, here| {
        (here == at && configs.contains(&config.to_string())).then(|| refusal(Gate::Numerics, "it is wrong"))
    })
}

impl Script {
    /// A kernel without workloads of its own; `more` is the rest of its file.
    pub(crate) fn new(more: &str) -> Script {
        let text = format!(
            "[kernel]\nname = \"played\"\nentry = \"f\"\n[target.cpu]\nsource = \"f.c\"\n{TUNABLES}\n\
             [[arguments]]\nname = \"x\"\ntype = \"f32[8]\"\nrole = \"in\"\n\
             [[arguments]]\nname = \"y\"\ntype = \"f32[8]\"\nrole = \"out\"\n\
             [reference]\nbuiltin = \"elementwise\"\nexpressions = {{ y = \"x\" }}\n[baselines]\nplain = \"f.c:g\"\n{more}"
        );
        let (spec, _) = kiln_spec::parse("played", text.as_bytes()).expect("the played file is right");
        // A search that learns takes longer than everything else that is played.
        let strategy = "random".to_string();
        let settings =
            Settings { seed: 1, strategy, seed_trials: 8, search_trials: 12, pairs: 6, ..Settings::default() };
        Script {
            spec,
            settings,
            time: Box::new(bowl),
            refuse: Box::new(|_, _| None),
            baseline: Some(3e-3),
            devices: 1,
            takes: (1.0, 1.0, 0.1),
            trial_takes: Box::new(|_| None),
            fault: Box::new(|_| None),
            work: usize::MAX,
            minutes: None,
        }
    }

    /// Plays it on an empty record that is kept nowhere.
    pub(crate) fn play(&self) -> Played {
        self.play_on(&Memory::default(), false)
    }

    /// Plays it from wherever the record ends.
    pub(crate) fn play_on(&self, memory: &Memory, replay: bool) -> Played {
        let selection = self.spec.select(Choice::default()).expect("the selection is right");
        let kernel = Kernel::new(selection, Utf8Path::new(".")).expect("the kernel has configurations");
        let record = match replay {
            true => Record::replay(memory, "played", CacheState::Warm),
            false => Record::in_store(memory, "played", CacheState::Warm),
        };
        let began = Instant::now();
        let stages = kernel.selection.workloads.iter().map(|w| Scene { workload: Some((*w).clone()) });
        let mut stages: Vec<Scene> = stages.collect();
        if stages.is_empty() {
            stages.push(Scene { workload: None });
        }
        let mut scripted = Scripted {
            script: self,
            kernel: &kernel,
            stages,
            began,
            spent: Cell::new(Duration::ZERO),
            worked: Cell::new(0),
            told: RefCell::new(Vec::new()),
            acts: RefCell::new(Vec::new()),
        };
        let budget = Budget::since(began, self.minutes);
        let ended = record
            .map_err(|fault| fault.to_string())
            .and_then(|record| tune(&mut scripted, &record, &budget, "played", 0.0).map_err(in_words));
        let (told, acts) = (scripted.told.take(), scripted.acts.take());
        Played { ended, told, acts, seconds: scripted.spent.get().as_secs_f64() }
    }
}

fn in_words(trouble: Trouble) -> String {
    match trouble {
        Trouble::File(report) => report.to_string(),
        Trouble::Fault(fault) => fault.to_string(),
    }
}

/// What became of a study.
pub(crate) struct Played {
    pub(crate) ended: Result<Summary, String>,
    /// What was told, a line each.
    pub(crate) told: Vec<String>,
    /// What was really done, a line each.
    pub(crate) acts: Vec<String>,
    /// How long it took, by the played clock.
    pub(crate) seconds: f64,
}

impl Played {
    pub(crate) fn summary(&self) -> &Summary {
        self.ended.as_ref().expect("the study ended")
    }

    /// The winner.
    pub(crate) fn config(&self) -> String {
        self.summary().config.as_ref().map_or(String::new(), ToString::to_string)
    }

    /// How often something was done.
    pub(crate) fn count(&self, act: &str) -> usize {
        self.acts.iter().filter(|line| line.starts_with(act)).count()
    }

    /// Whether something was told.
    pub(crate) fn heard(&self, words: &str) -> bool {
        self.told.iter().any(|line| line.contains(words))
    }
}

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

struct Scripted<'s> {
    script: &'s Script,
    kernel: &'s Kernel<'s>,
    stages: Vec<Scene>,
    began: Instant,
    spent: Cell<Duration>,
    worked: Cell<usize>,
    told: RefCell<Vec<String>>,
    acts: RefCell<Vec<String>>,
}

impl Scripted<'_> {
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

    fn share_of_limit(&self, _stage: &Scene, _seconds: f64) -> Option<f64> {
        None
    }

    fn baselines(&mut self, _only: Option<&str>) -> Result<Baselines<Actor>, Fault> {
        let name = "plain".to_string();
        Ok(match self.script.baseline {
            Some(_) => Baselines { ready: vec![Baseline { name, subject: Actor::Baseline }], skipped: Vec::new() },
            None => Baselines { ready: Vec::new(), skipped: vec![(name, "it is not there".into())] },
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
                };
                found.push(plan.subjects.iter().map(turns).collect());
            }
            self.spent.set(self.spent.get() + Duration::from_secs_f64(self.script.takes.2));
            on_round(round + 1);
            if round + 1 >= LEAST_ROUNDS && plan.deadline.is_some_and(|deadline| self.now() >= deadline) {
                break;
            }
        }
        Ok(Ok(Fought { rounds, scrutiny: Vec::new(), kernels: Vec::new() }))
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

/// Trials by configuration: how often each was made.
pub(crate) fn tried(played: &Played) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for line in played.acts.iter().filter_map(|line| line.strip_prefix("trial ")) {
        *counts.entry(line.to_string()).or_insert(0) += 1;
    }
    counts
}
