//! One configuration's way up the gates, cheapest first: build, load, check, measure. In: a configuration. Out: an
//! [`Evaluation`]: where it was refused, or its times.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use kiln_core::{Config, Fault, Outcome, Refusal};
use kiln_judge::Rules;
use kiln_run::Gpu;
use kiln_search::{Bound, Race};

use crate::apparatus::Apparatus;
use crate::bench::{Bench, interrupted};
use crate::building::builder::Build;
use crate::building::resources::{judge_resources, oom_risk};
use crate::evaluation::{Ended, Evaluation, Measured};
use crate::kernel::Kernel;
use crate::objective::cost;
use crate::questions::check::quick;
use crate::questions::stage::Stage;
use crate::rung::Rung;
use crate::surroundings::machine::now_ms;
use crate::surroundings::peak::Peaks;
use crate::workers::seating::Seating;
use crate::workers::subject::Subject;

/// Of several workloads, being this much slower on one does not yet rule a candidate out.
const MARGIN_OF_SEVERAL: f64 = 0.3;

impl Bench<'_> {
    /// The quick check on every workload; the refusal and its workload, if it fails.
    pub fn quick_check(&mut self, subject: &Subject) -> Result<Option<(Refusal, String)>, Fault> {
        let mut seat = match self.seating.take(subject)? {
            Outcome::Passed(seat) => seat,
            Outcome::Refused(refusal) => return Ok(Some((refusal, String::new()))),
        };
        let mut failed = None;
        for stage in &mut self.stages {
            stage.fit(subject.config())?;
            let mut outcome = stage.map(&mut seat, subject)?;
            if matches!(outcome, Outcome::Passed(())) {
                outcome = quick(stage, &mut seat, 0)?;
            }
            if let Outcome::Refused(refusal) = outcome {
                failed = Some((refusal, stage.name().to_string()));
                break;
            }
        }
        if let Some((refusal, workload)) = &failed {
            self.doubt_the_file_on(subject, refusal, workload)?;
        }
        Ok(failed)
    }

    /// Takes a configuration up the whole ladder: build, load, check, measure.
    pub fn ladder(&mut self, config: &Config) -> Result<Evaluation, Fault> {
        let build = self.build(config)?;
        self.evaluate(build, 0, None)
    }

    /// Takes as many configurations up the ladder as there are devices, at most, all at the same time. `best` is what they
    /// must come near; a hopeless one is given up early.
    pub fn evaluate_all(
        &mut self,
        builds: Vec<(Build, u64)>,
        best: Option<&[Measured]>,
    ) -> Vec<Result<Evaluation, Fault>> {
        if let Err(fault) = self.fill_supplies() {
            return vec![Err(fault)];
        }
        let (mut starts, mut subjects) = (Vec::with_capacity(builds.len()), Vec::with_capacity(builds.len()));
        for (build, number) in builds {
            let (started, started_ms) = (Instant::now(), now_ms());
            let subject = self.built(build);
            subjects.push(match &subject {
                Ok(Outcome::Passed(subject)) => Some(subject.clone()),
                _ => None,
            });
            starts.push(subject.map(|subject| Start { subject, number, started, started_ms, built: Instant::now() }));
        }
        let trying = Trying {
            kernel: self.kernel,
            samples: self.settings.search_samples as u32,
            threads: self.settings.threads,
            rules: &self.rules,
            peaks: self.peaks.as_ref(),
            stopped: self.stopped,
            best,
        };
        let names: Vec<String> = self.stages.iter().map(|stage| stage.name().to_string()).collect();
        let own = Station { seating: &self.seating, stages: self.stages.iter_mut().collect(), gpu: self.gpu.as_ref() };
        let places = std::iter::once(own).chain(self.others.iter_mut().map(|device| device.place(&names)));
        let mut work = starts.into_iter().zip(places);
        let (Some((first, here)), trying) = (work.next(), &trying) else { return Vec::new() };
        let found = std::thread::scope(|scope| {
            let others: Vec<_> =
                work.map(|(start, place)| scope.spawn(move || trying.evaluate(start?, place))).collect();
            let mut found = vec![first.and_then(|start| trying.evaluate(start, here))];
            let gone = |_| Err(Fault::new("trying a configuration", "a thread ended before its time"));
            found.extend(others.into_iter().map(|other| other.join().unwrap_or_else(gone)));
            found
        });
        let doubted = found.into_iter().zip(subjects).map(|(way, subject)| {
            let way = way?;
            if let (Ended::Refused(refusal, Some(workload)), Some(subject)) = (&way.outcome, subject) {
                self.doubt_the_file_on(&subject, refusal, workload)?;
            }
            Ok(way)
        });
        doubted.collect()
    }
}

/// A configuration that was built, or refused by the compiler, and since when it is being tried.
struct Start {
    subject: Outcome<Subject>,
    number: u64,
    started: Instant,
    started_ms: i64,
    built: Instant,
}

/// Where a configuration is tried: workers, workloads set up, a device.
pub(crate) struct Station<'p, 'a> {
    pub(crate) seating: &'p Seating,
    pub(crate) stages: Vec<&'p mut Stage<'a>>,
    pub(crate) gpu: Option<&'p Gpu>,
}

/// What every configuration is tried by, wherever that is.
struct Trying<'t> {
    kernel: &'t Kernel<'t>,
    samples: u32,
    threads: usize,
    rules: &'t Rules,
    peaks: Option<&'t Peaks>,
    stopped: &'t AtomicBool,
    best: Option<&'t [Measured]>,
}

impl Trying<'_> {
    fn evaluate(&self, start: Start, place: Station<'_, '_>) -> Result<Evaluation, Fault> {
        let mut way = Evaluation {
            outcome: Ended::Measured { workloads: Vec::new(), hopeless: false, cost: f64::INFINITY },
            artifact: None,
            resources: Vec::new(),
            build_s: start.built.duration_since(start.started).as_secs_f64(),
            check_s: 0.0,
            measure_s: 0.0,
            wall_s: 0.0,
            started_ms: start.started_ms,
        };
        match start.subject {
            Outcome::Passed(subject) => {
                way.artifact = subject.key().map(String::from);
                match judge_resources(self.kernel, &subject)? {
                    Outcome::Passed(resources) => {
                        way.resources = resources;
                        self.climb(place, &subject, start.number, &mut way)?;
                    }
                    Outcome::Refused(refusal) => way.outcome = Ended::Refused(refusal, None),
                }
            }
            Outcome::Refused(refusal) => way.outcome = Ended::Refused(refusal, None),
        }
        way.wall_s = start.started.elapsed().as_secs_f64();
        Ok(way)
    }

    /// From loading to the last sample.
    fn climb(&self, place: Station<'_, '_>, subject: &Subject, number: u64, way: &mut Evaluation) -> Result<(), Fault> {
        let Station { seating, mut stages, gpu } = place;
        let mut seat = match seating.take_to_search(subject)? {
            Outcome::Passed(seat) => seat,
            Outcome::Refused(refusal) => {
                way.outcome = Ended::Refused(refusal, None);
                return Ok(());
            }
        };
        let weights: Vec<f64> = stages.iter().map(|stage| stage.weight()).collect();
        let margin = if weights.len() > 1 { MARGIN_OF_SEVERAL } else { Race::default().margin };
        let race = Race { margin, ..Race::default() };
        let mut measured: Vec<Measured> = Vec::new();
        let mut hopeless = false;
        for (place, stage) in stages.iter_mut().enumerate() {
            if self.stopped.load(Ordering::Relaxed) {
                return Err(interrupted());
            }
            stage.fit(subject.config())?;
            let risk = gpu.and_then(|gpu| oom_risk(gpu, stage.layout.bytes(), stage.exams.len()));
            if let Some(refusal) = risk {
                way.outcome = Ended::Refused(refusal, Some(stage.name().into()));
                return Ok(());
            }
            let bound = self.best.and_then(|b| Bound::samples(&b.get(place)?.samples));
            let rung = Rung {
                first: number as usize,
                samples: self.samples,
                threads: self.threads,
                race: &race,
                bound,
                cache: seating.cache,
                l2: gpu.map_or(0, |gpu| gpu.l2),
                rules: self.rules,
            };
            match rung.climb(stage, &mut seat, subject, way)? {
                Outcome::Passed((found, given_up)) => {
                    measured.push(found);
                    hopeless = given_up;
                }
                Outcome::Refused(refusal) => {
                    way.outcome = Ended::Refused(refusal, Some(stage.name().into()));
                    return Ok(());
                }
            }
            let seconds = measured.last().map_or(f64::INFINITY, Measured::median);
            if let Some(refusal) = self.peaks.and_then(|p| p.doubt(stage.flops, stage.bytes, seconds)) {
                way.outcome = Ended::Refused(refusal, Some(stage.name().into()));
                return Ok(());
            }
            if hopeless {
                break;
            }
        }
        let cost = cost(&weights, &measured, self.best);
        way.outcome = Ended::Measured { workloads: measured, hopeless, cost };
        Ok(())
    }
}
