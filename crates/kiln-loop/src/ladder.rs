//! One configuration's way up the gates, cheapest first: build, load, check, measure. In: a configuration. Out: an
//! [`Evaluation`]: where it was refused, or its times.

use std::sync::atomic::Ordering;
use std::time::Instant;

use kiln_core::{Config, Fault, Gate, Outcome, Refusal};
use kiln_search::{Bound, Decision, Race};

use crate::bench::{Bench, interrupted};
use crate::builder::Build;
use crate::check::quick;
use crate::evaluation::{Ended, Evaluation, Measured};
use crate::machine::now_ms;
use crate::measure::warm_up;
use crate::objective::cost;
use crate::peak::Peaks;
use crate::seat::{Seat, Subject};
use crate::stage::Stage;

/// Samples taken between two looks at the race.
const LAP: u32 = 3;
/// Of several workloads, being this much slower on one does not yet rule a candidate out.
const MARGIN_OF_SEVERAL: f64 = 0.3;
/// Times below this share of what the arithmetic alone takes at the measured peak are not believed.
const BELIEVABLE: f64 = 0.7;

impl Bench<'_> {
    /// The quick check on every workload; the refusal and its workload, if it fails.
    pub fn quick_check(&mut self, subject: &Subject) -> Result<Option<(Refusal, String)>, Fault> {
        let mut seat = match self.seating.take(subject)? {
            Outcome::Passed(seat) => seat,
            Outcome::Refused(refusal) => return Ok(Some((refusal, String::new()))),
        };
        for stage in &mut self.stages {
            stage.fit(subject.config())?;
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
                return Err(interrupted());
            }
            stage.fit(subject.config())?;
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
    let mut pace = None;
    let warmed = stage.pose(first, || {
        pace = Some(passed!(warm_up(seat)?));
        Ok(Outcome::Passed(()))
    });
    passed!(warmed?);
    let Some(pace) = pace else { return Err(Fault::new("warming up", "nothing was measured")) };
    found.calls = pace.calls;
    // Another question for the timed calls: what the warm-up left, or remembered, must not pass for their answer.
    let outcome = stage.pose(first + 1, || {
        passed!(seat.call()?);
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
