//! The workbench: compiler, cache, interpreter, workloads set up, limits. In: a configuration. Out: an [`Evaluation`]: its
//! way up the ladder, gate by gate, cheapest first, to its times.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use kiln_build::{Cache, Compiler, Limits as BuildLimits, Pool, Ticket};
use kiln_core::{Config, Fault, Gate, Outcome, Refusal, Workload};
use kiln_judge::{Level, Rules};
use kiln_run::{Limits, Python, find_python};
use kiln_search::{Bound, Decision, Race};
use kiln_spec::TargetKind;

use crate::check::{questions, quick};
use crate::compile::request;
use crate::drawing::derive;
use crate::evaluation::{Ended, Evaluation, Measured};
use crate::event::{Event, Listener};
use crate::kernel::Kernel;
use crate::machine::{Machine, now_ms};
use crate::measure::warm_up;
use crate::objective::cost;
use crate::outside::Oracle;
use crate::peak::Peaks;
use crate::seat::{Seat, Seating, Subject};
use crate::settings::Settings;
use crate::stage::{Stage, Trouble};

/// Samples taken between two looks at the race.
const LAP: u32 = 3;
/// Of several workloads, being this much slower on one does not yet rule a candidate out.
const MARGIN_OF_SEVERAL: f64 = 0.3;
/// Times below this share of what the arithmetic alone takes at the measured peak are not believed.
const BELIEVABLE: f64 = 0.7;

/// Bytes a worker may take beyond four times its buffers: an interpreter with its libraries fits, a leak does not.
const ROOM: u64 = 1 << 30;

/// Everything candidates are tried with.
pub struct Bench<'a> {
    /// The kernel.
    pub kernel: &'a Kernel<'a>,
    /// How it is done.
    pub settings: &'a Settings,
    /// The machine.
    pub machine: Machine,
    /// Python, where there is one.
    pub python: Result<Python, Fault>,
    /// The C compiler, where there is one.
    pub compiler: Result<Compiler, Fault>,
    /// What this machine can do at best; known after it was measured.
    pub peaks: Option<Peaks>,
    pub(crate) rules: Rules,
    pub(crate) stages: Vec<Stage<'a>>,
    pub(crate) cache: Cache,
    pub(crate) listener: Listener<'a>,
    oracle: Option<Oracle>,
    stopped: &'a AtomicBool,
    pool: Option<Pool>,
    seating: Seating,
}

/// A build that was asked for, or what needs none.
pub(crate) enum Build {
    Asked(Ticket),
    Ready(Subject),
}

/// Where a bench gets things from.
pub struct Surroundings<'a> {
    /// The kiln binary, for workers.
    pub program: Utf8PathBuf,
    /// The build cache.
    pub cache: Cache,
    /// Who is told.
    pub listener: Listener<'a>,
    /// Set when the user wants to stop.
    pub stopped: &'a AtomicBool,
    /// False when nothing will be run, and no questions are needed.
    pub live: bool,
}

impl<'a> Bench<'a> {
    /// Sets the workloads up, smallest first, with the questions of the quick check.
    pub fn new(kernel: &'a Kernel<'a>, settings: &'a Settings, around: Surroundings<'a>) -> Result<Bench<'a>, Trouble> {
        let machine = Machine::look();
        let rules = Rules::of(&kernel.selection)?;
        let cpus = if settings.pin { machine.measuring() } else { Vec::new() };
        let memory = settings.memory.unwrap_or(machine.memory_available / 5 * 4);
        let limits = Limits { time: Duration::from_secs(60), memory };
        let seating = Seating::new(around.program, cpus, settings, limits);
        let mut bench = Bench {
            kernel,
            settings,
            machine,
            python: find_python(),
            compiler: Compiler::find(),
            peaks: None,
            rules,
            stages: Vec::new(),
            cache: around.cache,
            listener: around.listener,
            oracle: None,
            stopped: around.stopped,
            pool: None,
            seating,
        };
        if around.live {
            bench.oracle = Oracle::find(&bench)?;
        }
        let mut workloads: Vec<Option<&'a Workload>> = kernel.selection.workloads.iter().map(|w| Some(*w)).collect();
        if workloads.is_empty() {
            workloads.push(None);
        }
        for workload in workloads {
            let questions = if around.live { questions(&Level::Quick.plan()) } else { Vec::new() };
            bench.stages.push(bench.stage(workload, "quick", &questions)?);
        }
        bench.stages.sort_by(|a, b| size(a).total_cmp(&size(b)));
        if settings.memory.is_none() {
            let most = bench.stages.iter().map(|s| s.layout.bytes()).max().unwrap_or(0) as u64;
            bench.seating.limits.memory = memory.min(ROOM + 4 * most);
        }
        bench.question_the_questions()?;
        Ok(bench)
    }

    /// A workload set up with fresh inputs for a purpose.
    pub(crate) fn stage(
        &self,
        workload: Option<&'a Workload>,
        purpose: &str,
        distributions: &[kiln_judge::Distribution],
    ) -> Result<Stage<'a>, Trouble> {
        let seed = derive(self.settings.seed, &["stage", purpose], 0);
        let ask = |s: &kiln_judge::Signature, i: &kiln_judge::Inputs| self.answer(s, i);
        let outside: Option<kiln_judge::Outside<'_>> = self.oracle.is_some().then_some(&ask);
        Stage::new(&self.kernel.selection, workload, &self.rules, distributions, seed, outside)
    }

    /// A check that an empty answer would pass proves nothing.
    fn question_the_questions(&self) -> Result<(), Fault> {
        for stage in &self.stages {
            for null in stage.exams.iter().flat_map(|exam| exam.nulls()) {
                if let Some(fault) = null.fault() {
                    return Err(fault);
                }
                if let Some(note) = null.note() {
                    self.note(format!("workload {}: {note}", stage.name()));
                }
            }
        }
        Ok(())
    }

    /// Says something.
    pub(crate) fn note(&self, text: String) {
        (self.listener)(&Event::Note { text });
    }

    /// A fault once the user wants to stop.
    pub(crate) fn go_on(&self) -> Result<(), Fault> {
        if self.stopped.load(Ordering::Relaxed) { Err(Fault::new("tuning", "interrupted")) } else { Ok(()) }
    }

    /// Where right answers come from, when not from kiln itself.
    pub(crate) fn answer(
        &self,
        signature: &kiln_judge::Signature,
        inputs: &kiln_judge::Inputs,
    ) -> Result<Vec<kiln_judge::Tensor>, Fault> {
        match &self.oracle {
            Some(oracle) => oracle.answer(self, signature, inputs),
            None => Err(Fault::new("asking the reference", "there is none")),
        }
    }

    pub(crate) fn seating(&self) -> &Seating {
        &self.seating
    }

    /// Calls may take as long as the slowest baseline makes reasonable.
    pub(crate) fn expect_calls_of(&mut self, seconds: f64) {
        self.seating.limits.time = Duration::from_secs_f64(self.settings.patience + 50.0 * seconds);
    }

    pub(crate) fn build_limits(&self) -> BuildLimits {
        BuildLimits { timeout: Duration::from_secs_f64(self.settings.build_timeout), ..BuildLimits::default() }
    }

    /// Asks for a candidate's build.
    pub(crate) fn build(&mut self, config: &Config) -> Result<Build, Fault> {
        let target = self.kernel.selection.target;
        if target.kind == TargetKind::Python {
            let python = self.python.as_ref().map_err(Clone::clone)?;
            let entry = target.entry.as_ref().or(self.kernel.selection.spec.entry.as_ref());
            return Ok(Build::Ready(Subject::Python {
                interpreter: python.interpreter.clone(),
                file: self.kernel.folder.join(target.sources.first().map_or("", String::as_str)),
                function: entry.cloned().unwrap_or_default(),
                config: Some(serde_json::json!(config)),
            }));
        }
        let request = request(self.kernel, config)?;
        let compiler = self.compiler.as_ref().map_err(Clone::clone)?;
        if self.pool.is_none() {
            let cpus = if self.settings.pin { self.machine.building() } else { Vec::new() };
            let threads = if cpus.is_empty() { self.machine.cpus.len().saturating_sub(1).max(1) } else { cpus.len() };
            // A builder's processes run where the builder does, away from what is being measured.
            let start = move || {
                let _ = kiln_run::pin_thread(&cpus);
            };
            self.pool = Some(Pool::new(threads, compiler.clone(), self.cache.clone(), self.build_limits(), start));
        }
        match &self.pool {
            Some(pool) => Ok(Build::Asked(pool.ask(request))),
            None => Err(Fault::new("building", "there is no builder")),
        }
    }

    /// Keeps the build cache within its bound.
    pub fn trim_cache(&self) -> Result<(), Fault> {
        self.cache.trim().map(|_| ())
    }

    /// Waits until no build is running, so that nothing disturbs what is measured next.
    pub(crate) fn quiet(&mut self) {
        self.pool = None;
    }

    /// Waits for a build.
    pub(crate) fn built(&self, build: Build) -> Result<Outcome<Subject>, Fault> {
        match build {
            Build::Ready(subject) => Ok(Outcome::Passed(subject)),
            Build::Asked(ticket) => Ok(ticket.wait()?.map(|a| Subject::Library { path: a.library, key: a.key })),
        }
    }

    /// Builds a configuration and waits for it.
    pub fn subject(&mut self, config: &Config) -> Result<Outcome<Subject>, Fault> {
        let build = self.build(config)?;
        self.built(build)
    }

    /// The quick check on every workload; the refusal and its workload, if it fails.
    pub fn quick_check(&mut self, subject: &Subject) -> Result<Option<(Refusal, String)>, Fault> {
        let mut seat = match self.seating.take(subject)? {
            Outcome::Passed(seat) => seat,
            Outcome::Refused(refusal) => return Ok(Some((refusal, String::new()))),
        };
        for stage in &mut self.stages {
            let mut outcome = seat.map(&stage.layout, &stage.arena)?;
            if matches!(outcome, Outcome::Passed(())) {
                outcome = quick(stage, &mut seat, 0)?;
            }
            if let Outcome::Refused(refusal) = outcome {
                return Ok(Some((refusal, stage.name().into())));
            }
        }
        Ok(None)
    }

    /// Takes a configuration up the whole ladder: build, load, check, measure.
    pub fn ladder(&mut self, config: &Config) -> Result<Evaluation, Fault> {
        let build = self.build(config)?;
        self.evaluate(build, 0, None)
    }

    /// Takes a configuration up the ladder. `best` is what it must come near; a hopeless one is given up early.
    pub(crate) fn evaluate(
        &mut self,
        build: Build,
        number: u64,
        best: Option<&[Measured]>,
    ) -> Result<Evaluation, Fault> {
        let started = Instant::now();
        let mut way = Evaluation {
            outcome: Ended::Measured { workloads: Vec::new(), hopeless: false, cost: f64::INFINITY },
            artifact: None,
            build_s: 0.0,
            check_s: 0.0,
            measure_s: 0.0,
            wall_s: 0.0,
            started_ms: now_ms(),
        };
        let subject = self.built(build)?;
        way.build_s = started.elapsed().as_secs_f64();
        match subject {
            Outcome::Passed(subject) => {
                way.artifact = subject.key().map(String::from);
                self.climb(&subject, number, best, &mut way)?;
            }
            Outcome::Refused(refusal) => way.outcome = Ended::Refused(refusal, None),
        }
        way.wall_s = started.elapsed().as_secs_f64();
        Ok(way)
    }

    /// From loading to the last sample.
    fn climb(
        &mut self,
        subject: &Subject,
        number: u64,
        best: Option<&[Measured]>,
        way: &mut Evaluation,
    ) -> Result<(), Fault> {
        let mut seat = match self.seating.take(subject)? {
            Outcome::Passed(seat) => seat,
            Outcome::Refused(refusal) => {
                way.outcome = Ended::Refused(refusal, None);
                return Ok(());
            }
        };
        let weights: Vec<f64> = self.stages.iter().map(Stage::weight).collect();
        let margin = if weights.len() > 1 { MARGIN_OF_SEVERAL } else { Race::default().margin };
        let race = Race { margin, ..Race::default() };
        let mut measured: Vec<Measured> = Vec::new();
        let mut hopeless = false;
        for (place, stage) in self.stages.iter_mut().enumerate() {
            if self.stopped.load(Ordering::Relaxed) {
                return Err(Fault::new("tuning", "interrupted"));
            }
            let bound = best.and_then(|b| Bound::samples(&b.get(place)?.samples));
            let samples = self.settings.search_samples as u32;
            match rung(stage, &mut seat, number as usize, samples, &race, bound, way)? {
                Outcome::Passed((found, given_up)) => {
                    measured.push(found);
                    hopeless = given_up;
                }
                Outcome::Refused(refusal) => {
                    way.outcome = Ended::Refused(refusal, Some(stage.name().into()));
                    return Ok(());
                }
            }
            if let Some(refusal) = unbelievable(stage, self.peaks.as_ref(), measured.last()) {
                way.outcome = Ended::Refused(refusal, Some(stage.name().into()));
                return Ok(());
            }
            if hopeless {
                break;
            }
        }
        let cost = cost(&weights, &measured, best);
        way.outcome = Ended::Measured { workloads: measured, hopeless, cost };
        Ok(())
    }
}

/// One workload: check, warm up, sample in laps, check what the timed calls left.
fn rung(
    stage: &mut Stage<'_>,
    seat: &mut Seat,
    first: usize,
    samples: u32,
    race: &Race,
    bound: Option<Bound>,
    way: &mut Evaluation,
) -> Result<Outcome<(Measured, bool)>, Fault> {
    let checking = Instant::now();
    passed!(seat.map(&stage.layout, &stage.arena)?);
    let checked = quick(stage, seat, first);
    way.check_s += checking.elapsed().as_secs_f64();
    passed!(checked?);

    let measuring = Instant::now();
    let mut found = Measured { workload: stage.name().into(), samples: Vec::new(), calls: 1 };
    let mut hopeless = false;
    let outcome = stage.pose(first, || {
        let pace = passed!(warm_up(seat)?);
        found.calls = pace.calls;
        while (found.samples.len() as u32) < samples && !hopeless {
            let lap = LAP.min(samples - found.samples.len() as u32);
            found.samples.extend(passed!(seat.time(lap, pace.calls)?));
            hopeless = bound.is_some_and(|bound| race.decide(bound, &found.samples) == Decision::Hopeless);
        }
        Ok(Outcome::Passed(()))
    });
    way.measure_s += measuring.elapsed().as_secs_f64();
    passed!(outcome?);
    Ok(Outcome::Passed((found, hopeless)))
}

/// A time that the arithmetic alone cannot be done in.
fn unbelievable(stage: &Stage<'_>, peaks: Option<&Peaks>, measured: Option<&Measured>) -> Option<Refusal> {
    let (flops, peaks, seconds) = (stage.flops?, peaks?, measured?.median());
    let floor = flops / peaks.flops;
    (seconds < BELIEVABLE * floor).then(|| Refusal {
        gate: Gate::BelowRoofline,
        rule: "flops".into(),
        measured: format!("{seconds:.3e} s"),
        limit: format!("{floor:.3e} s at the {:.1} GFLOP/s this machine was measured to do", peaks.flops / 1e9),
        evidence: format!("{flops:.3e} floating-point operations by [cost]"),
        hint: Some("does the kernel do all the work? is [cost] flops right?".into()),
    })
}

/// What makes one workload smaller than another.
fn size(stage: &Stage<'_>) -> f64 {
    stage.flops.or(stage.bytes).unwrap_or(stage.layout.bytes() as f64)
}
