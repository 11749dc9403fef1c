//! One configuration's way up the gates, cheapest first: build, load, check, measure. In: a configuration. Out: an
//! [`Evaluation`]: where it was refused, or its times.

use std::sync::atomic::Ordering;
use std::time::Instant;

use kiln_core::{Config, Fault, Outcome, Refusal};
use kiln_search::{Bound, Decision, Race};

use crate::bench::{Bench, interrupted};
use crate::builder::Build;
use crate::check::quick;
use crate::evaluation::{Ended, Evaluation, Measured};
use crate::machine::now_ms;
use crate::measure::{Pace, warm_up};
use crate::objective::cost;
use crate::resources::{judge_resources, oom_risk};
use crate::seat::Seat;
use crate::stage::Stage;
use crate::subject::Subject;

/// Samples taken between two looks at the race.
const LAP: u32 = 3;
/// Samples taken on a device before the first look.
const FIRST_LAP: u32 = 7;
/// Of several workloads, being this much slower on one does not yet rule a candidate out.
const MARGIN_OF_SEVERAL: f64 = 0.3;

impl Bench<'_> {
    /// The quick check on every workload; the refusal and its workload, if it fails.
    pub fn quick_check(&mut self, subject: &Subject) -> Result<Option<(Refusal, String)>, Fault> {
        let mut seat = match self.seating.take(subject)? {
            Outcome::Passed(seat) => seat,
            Outcome::Refused(refusal) => return Ok(Some((refusal, String::new()))),
        };
        for stage in &mut self.stages {
            stage.fit(subject.config())?;
            let mut outcome = stage.map(&mut seat, subject)?;
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
            resources: Vec::new(),
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
                match judge_resources(self.kernel, &subject)? {
                    Outcome::Passed(resources) => {
                        way.resources = resources;
                        self.climb(&subject, number, best, &mut way)?;
                    }
                    Outcome::Refused(refusal) => way.outcome = Ended::Refused(refusal, None),
                }
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
                return Err(interrupted());
            }
            stage.fit(subject.config())?;
            let risk = self.gpu.as_ref().and_then(|gpu| oom_risk(gpu, stage.layout.bytes(), stage.exams.len()));
            if let Some(refusal) = risk {
                way.outcome = Ended::Refused(refusal, Some(stage.name().into()));
                return Ok(());
            }
            let bound = best.and_then(|b| Bound::samples(&b.get(place)?.samples));
            let samples = self.settings.search_samples as u32;
            let rung = Rung { first: number as usize, samples, race: &race, bound };
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
            if let Some(refusal) = self.peaks.as_ref().and_then(|p| p.doubt(stage.flops, stage.bytes, seconds)) {
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

/// How one workload's samples are taken.
struct Rung<'r> {
    first: usize,
    samples: u32,
    race: &'r Race,
    bound: Option<Bound>,
}

impl Rung<'_> {
    /// One workload: check, warm up, sample in laps, check what the timed calls left.
    fn climb(
        &self,
        stage: &mut Stage<'_>,
        seat: &mut Seat,
        subject: &Subject,
        way: &mut Evaluation,
    ) -> Result<Outcome<(Measured, bool)>, Fault> {
        let checking = Instant::now();
        passed!(stage.map(seat, subject)?);
        if seat.on_device() {
            return self.climb_on_device(stage, seat, way);
        }
        let checked = quick(stage, seat, self.first);
        way.check_s += checking.elapsed().as_secs_f64();
        passed!(checked?);

        let measuring = Instant::now();
        let mut pace = None;
        let warmed = stage.pose(self.first, seat, |_, seat| {
            pace = Some(passed!(warm_up(seat)?));
            Ok(Outcome::Passed(()))
        });
        passed!(warmed?);
        let pace = pace.ok_or_else(|| Fault::new("warming up", "nothing was measured"))?;
        let mut found = None;
        // Another question for the timed calls: what the warm-up left, or remembered, must not pass for their answer.
        let outcome = stage.pose(self.first + 1, seat, |stage, seat| {
            passed!(seat.call()?);
            found = Some(passed!(self.sample(stage.name(), seat, pace)?));
            Ok(Outcome::Passed(()))
        });
        way.measure_s += measuring.elapsed().as_secs_f64();
        passed!(outcome?);
        found.map(Outcome::Passed).ok_or_else(|| Fault::new("sampling", "nothing was measured"))
    }

    /// The same with fewer looks at memory, since on a device a look takes longer than a call: two questions and the first
    /// once more, the second answered by the timed calls themselves. What the warm-up left is wiped before them.
    fn climb_on_device(
        &self,
        stage: &mut Stage<'_>,
        seat: &mut Seat,
        way: &mut Evaluation,
    ) -> Result<Outcome<(Measured, bool)>, Fault> {
        let checking = Instant::now();
        let before = stage.answer(self.first, seat);
        way.check_s += checking.elapsed().as_secs_f64();
        let before = passed!(before?);

        let measuring = Instant::now();
        let mut found = None;
        let second = self.first + 1;
        let outcome = stage.pose(second, seat, |stage, seat| {
            let pace = passed!(warm_up(seat)?);
            passed!(stage.lay(second, seat)?);
            found = Some(passed!(self.sample(stage.name(), seat, pace)?));
            Ok(Outcome::Passed(()))
        });
        way.measure_s += measuring.elapsed().as_secs_f64();
        passed!(outcome?);

        let checking = Instant::now();
        let again = stage.repeat(self.first, seat, &before);
        way.check_s += checking.elapsed().as_secs_f64();
        passed!(again?);
        found.map(Outcome::Passed).ok_or_else(|| Fault::new("sampling", "nothing was measured"))
    }

    /// Samples in laps, until there are enough or it is hopeless.
    fn sample(&self, workload: &str, seat: &mut Seat, pace: Pace) -> Result<Outcome<(Measured, bool)>, Fault> {
        let mut found = Measured { workload: workload.into(), samples: Vec::new(), calls: pace.calls };
        let mut hopeless = false;
        while (found.samples.len() as u32) < self.samples && !hopeless {
            // On a device samples are short and questions are not.
            let lap = if seat.on_device() && found.samples.is_empty() { FIRST_LAP } else { LAP };
            let lap = lap.min(self.samples - found.samples.len() as u32);
            found.samples.extend(passed!(seat.time(lap, pace.calls)?));
            hopeless = self.bound.is_some_and(|bound| self.race.decide(bound, &found.samples) == Decision::Hopeless);
        }
        Ok(Outcome::Passed((found, hopeless)))
    }
}
