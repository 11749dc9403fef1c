//! What is played: a kernel, its settings, what configurations take and where they are refused. In: a script. Out: what became
//! of the study, what was told and what was really done.

use std::collections::HashMap;
use std::time::Instant;

use camino::Utf8Path;
use kiln_bench::{Apparatus, Kernel, Settings, Trouble};
use kiln_core::{Config, Fault, Gate, Refusal};
use kiln_spec::{Choice, KernelSpec};
use kiln_study::{Budget, CacheState, Record, Summary, tune};

use crate::memory::Memory;
use crate::scripted::Scripted;

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
type Soonest = Box<dyn Fn(&[&Config]) -> usize>;
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
    /// Which of some builds is ready first.
    pub(crate) soonest: Soonest,
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
        Script::with(TUNABLES, more)
    }

    /// The same with other tables of the target.
    pub(crate) fn with(target: &str, more: &str) -> Script {
        let text = format!(
            "[kernel]\nname = \"played\"\nentry = \"f\"\n[target.cpu]\nsource = \"f.c\"\n{target}\n\
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
            soonest: Box::new(|_| 0),
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
        let mut scripted = Scripted::new(self, &kernel, began);
        let budget = Budget::since(began, self.minutes);
        let ended = record.map_err(|fault| fault.to_string()).and_then(|record| {
            tune(&mut scripted, &record, &budget, "played", 0.0, &mut |bench, _| bench.note("slow".into()))
                .map_err(in_words)
        });
        let (told, acts, seconds) = scripted.heard();
        Played { ended, told, acts, seconds }
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

    /// Configurations tried before the finals.
    pub(crate) fn searched(&self) -> usize {
        self.summary().trials - self.summary().ablated.expect("a study of this kiln counts them")
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

/// Trials by configuration: how often each was made.
pub(crate) fn tried(played: &Played) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for line in played.acts.iter().filter_map(|line| line.strip_prefix("trial ")) {
        *counts.entry(line.to_string()).or_insert(0) += 1;
    }
    counts
}
