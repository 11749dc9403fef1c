//! One configuration's way up the gates, cheapest first: build, load, check, measure. In: a configuration. Out: an
//! [`Evaluation`]: where it was refused, or its times.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use kiln_core::{Config, Fault, Outcome, Refusal};
use kiln_judge::Rules;
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
use crate::stations::Station;
use crate::surroundings::machine::now_ms;
use crate::surroundings::peak::Peaks;
use crate::workers::seat::Seat;
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
        // Waited for before anything else is done, so that what is shown as its time is its time.
        let (started, started_ms) = (Instant::now(), now_ms());
        let built = self.subject(config)?;
        let build_s = started.elapsed().as_secs_f64();
        let way = match built {
            Outcome::Passed(subject) => self.evaluate(Build::Ready(subject), 0, None)?,
            Outcome::Refused(refusal) => {
                Evaluation { outcome: Ended::Refused(refusal, None), ..Evaluation::begun(0.0, 0) }
            }
        };
        Ok(Evaluation { build_s, wall_s: way.wall_s + build_s, started_ms, ..way })
    }
}

/// What every configuration is tried by, wherever that is.
pub(crate) struct Trying<'t> {
    pub(crate) kernel: &'t Kernel<'t>,
    pub(crate) samples: u32,
    pub(crate) threads: usize,
    pub(crate) rules: &'t Rules,
    pub(crate) peaks: Option<&'t Peaks>,
    pub(crate) stopped: &'t AtomicBool,
    /// The workloads that are tuned for now.
    pub(crate) workloads: &'t [String],
}

/// A configuration that is tried: its number, what it must come near, since when.
pub(crate) struct Attempt {
    pub(crate) number: u64,
    pub(crate) best: Option<Vec<Measured>>,
    pub(crate) started: Instant,
    pub(crate) started_ms: i64,
}

impl Trying<'_> {
    /// What becomes of a configuration that was built, or refused by the compiler.
    pub(crate) fn evaluate(
        &self,
        attempt: &Attempt,
        subject: Outcome<Subject>,
        station: &mut Station<'_>,
    ) -> Result<Evaluation, Fault> {
        let mut way = Evaluation::begun(attempt.started.elapsed().as_secs_f64(), attempt.started_ms);
        match subject {
            Outcome::Passed(subject) => {
                way.artifact = subject.key().map(String::from);
                match judge_resources(self.kernel, &subject)? {
                    Outcome::Passed(resources) => {
                        way.resources = resources;
                        self.climb(station, &subject, attempt, &mut way)?;
                    }
                    Outcome::Refused(refusal) => way.outcome = Ended::Refused(refusal, None),
                }
            }
            Outcome::Refused(refusal) => way.outcome = Ended::Refused(refusal, None),
        }
        way.wall_s = attempt.started.elapsed().as_secs_f64();
        Ok(way)
    }

    /// From loading to the last sample. Foreign code that is refused in a process that had another configuration before is tried
    /// in a fresh one: what that left there may be to blame.
    fn climb(
        &self,
        station: &mut Station<'_>,
        subject: &Subject,
        attempt: &Attempt,
        way: &mut Evaluation,
    ) -> Result<(), Fault> {
        let mut taken = station.seating.take_to_search(subject)?;
        loop {
            let seat = match taken {
                Outcome::Passed(seat) => seat,
                Outcome::Refused(refusal) => {
                    way.outcome = Ended::Refused(refusal, None);
                    return Ok(());
                }
            };
            let doubtful = seat.used && subject.is_foreign();
            self.ascend(station, seat, subject, attempt, way)?;
            if !(doubtful && matches!(way.outcome, Ended::Refused(..))) {
                return Ok(());
            }
            taken = station.seating.take_unused(subject)?;
        }
    }

    /// The same in a worker that has the subject loaded.
    fn ascend(
        &self,
        station: &mut Station<'_>,
        mut seat: Seat,
        subject: &Subject,
        attempt: &Attempt,
        way: &mut Evaluation,
    ) -> Result<(), Fault> {
        let Station { seating, stages, gpu } = station;
        let (gpu, best) = (gpu.as_ref(), attempt.best.as_deref());
        let mut stages: Vec<&mut Stage<'_>> =
            stages.iter_mut().filter(|stage| self.workloads.iter().any(|name| name == stage.name())).collect();
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
            let bound = best.and_then(|b| Bound::samples(&b.get(place)?.samples));
            let rung = Rung {
                first: attempt.number as usize,
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
            let doubt = match self.peaks {
                Some(peaks) => peaks.doubt(seating, stage.flops, stage.bytes, seconds)?,
                None => None,
            };
            if let Some(refusal) = doubt {
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
