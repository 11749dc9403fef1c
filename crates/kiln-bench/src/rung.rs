//! One workload of a candidate's way: checked, warmed up and sampled. In: a stage and a seat. Out: its times and whether it
//! is hopeless, or a refusal. Every timed call has inputs of its own. On a processor what some of them wrote is checked;
//! on a device the calls of a sample answer a question once more when the last sample is taken.

use std::time::Instant;

use kiln_core::{Fault, Outcome};
use kiln_judge::Rules;
use kiln_run::Drawing;
use kiln_search::{Bound, Decision, Race};

use crate::duels::measure::{Pace, settle_pace, warm_up};
use crate::evaluation::{Evaluation, Measured};
use crate::questions::check::quick;
use crate::questions::lots::{Lots, MOST_SETS, drawing, fills, sets};
use crate::questions::stage::Stage;
use crate::questions::supply::Supply;
use crate::settings::CacheState;
use crate::workers::seat::Seat;
use crate::workers::subject::Subject;

/// Samples taken between two looks at the race.
const LAP: u32 = 3;
/// Samples taken on a device before the first look.
const FIRST_LAP: u32 = 7;
/// Seconds of a sample on a device: many candidates are tried, and each takes many of them.
const SEARCH_SECONDS: f64 = 100e-6;
/// Bytes of all sets of arguments there.
const SEARCH_BYTES: usize = 256 << 20;

/// How one workload's samples are taken.
pub(crate) struct Rung<'r> {
    /// The first of the questions asked.
    pub(crate) first: usize,
    pub(crate) samples: u32,
    pub(crate) threads: usize,
    pub(crate) race: &'r Race,
    pub(crate) bound: Option<Bound>,
    /// On a device, how its caches are, and what is drawn under which seeds.
    pub(crate) cache: CacheState,
    pub(crate) l2: u64,
    pub(crate) rules: &'r Rules,
}

impl Rung<'_> {
    /// One workload: check, warm up, sample in laps, check what the timed calls left.
    pub(crate) fn climb(
        &self,
        stage: &mut Stage<'_>,
        seat: &mut Seat,
        subject: &Subject,
        way: &mut Evaluation,
    ) -> Result<Outcome<(Measured, bool)>, Fault> {
        let checking = Instant::now();
        if seat.on_device() {
            let sets = sets(stage.layout.bytes(), self.cache, self.l2, (SEARCH_BYTES, MOST_SETS));
            passed!(stage.map_sets(seat, subject, sets)?);
            return self.climb_on_device(stage, seat, sets, way);
        }
        passed!(stage.map(seat, subject)?);
        let checked = quick(stage, seat, self.first);
        way.check_s += checking.elapsed().as_secs_f64();
        passed!(checked?);
        let measuring = Instant::now();
        let found = self.climb_sets(stage, seat, subject);
        way.measure_s += measuring.elapsed().as_secs_f64();
        found
    }

    /// Every timed call on inputs of its own.
    fn climb_sets(
        &self,
        stage: &mut Stage<'_>,
        seat: &mut Seat,
        subject: &Subject,
    ) -> Result<Outcome<(Measured, bool)>, Fault> {
        let Some(mut supply) = stage.supply.take() else {
            return Err(Fault::new("sampling", "nothing was drawn for it"));
        };
        let found = self.sample_sets(stage, &mut supply, seat, subject);
        stage.supply = Some(supply);
        found
    }

    fn sample_sets(
        &self,
        stage: &Stage<'_>,
        supply: &mut Supply,
        seat: &mut Seat,
        subject: &Subject,
    ) -> Result<Outcome<(Measured, bool)>, Fault> {
        let (signature, slots) = stage.signature_for(subject.config())?;
        passed!(supply.map(&signature, &slots, seat)?);
        let sets = supply.sets;
        let Some((tray, warm, noise)) = supply.warm() else {
            return Err(Fault::new("warming up", "no memory is mapped"));
        };
        let pace = passed!(settle_pace(seat, tray, warm, sets, noise)?);
        seat.account();
        let mut found = Measured { workload: stage.name().into(), samples: Vec::new(), calls: pace.calls };
        let mut hopeless = false;
        while (found.samples.len() as u32) < self.samples && !hopeless {
            for _ in 0..LAP.min(self.samples - found.samples.len() as u32) {
                let seconds = passed!(supply.sample(found.samples.len(), pace.calls, seat)?);
                found.samples.push(seconds);
            }
            hopeless = self.bound.is_some_and(|bound| self.race.decide(bound, &found.samples) == Decision::Hopeless);
        }
        let weight = supply.weight(&seat.account(), self.threads);
        found.samples.iter_mut().for_each(|seconds| *seconds *= weight);
        Ok(Outcome::Passed((found, hopeless)))
    }

    /// The same with fewer looks at memory, since on a device a look takes longer than a call: two questions and the first
    /// once more, the second answered by a sample as the timed ones are. One answer is judged while the device works on
    /// the next question. Whether inputs are as they were is seen after that sample.
    fn climb_on_device(
        &self,
        stage: &mut Stage<'_>,
        seat: &mut Seat,
        sets: u32,
        way: &mut Evaluation,
    ) -> Result<Outcome<(Measured, bool)>, Fault> {
        let (first, second) = (self.first, self.first + 1);
        let mut watch = Instant::now();
        let mut lap = || std::mem::replace(&mut watch, Instant::now()).elapsed().as_secs_f64();
        // Sending it takes the memory that answers are fetched to, so it is done before the first one comes.
        passed!(stage.send(second, seat)?);
        passed!(stage.ask(first, seat)?);
        way.check_s += lap();

        let mut before = std::mem::take(&mut stage.kept);
        let (judged, timed) =
            stage.judge_beside(first, Some(&mut before), || match seat.lay_sent(stage.image(second))? {
                Outcome::Passed(true) => Ok(self.time_sent(stage, (second, sets), seat)?.map(Some)),
                Outcome::Passed(false) => Ok(Outcome::Passed(None)),
                Outcome::Refused(refusal) => Ok(Outcome::Refused(refusal)),
            })?;
        if let Outcome::Refused(refusal) = judged {
            return Ok(Outcome::Refused(stage.reason(first, seat, refusal)));
        }
        let found = match passed!(timed?) {
            Some(found) => found,
            None => {
                passed!(stage.lay(second, seat)?);
                passed!(self.time_sent(stage, (second, sets), seat)?)
            }
        };
        passed!(seat.adopt(0)?);
        passed!(seat.fetch()?);
        way.measure_s += lap();

        let (judged, laid) = stage.judge_beside(second, None, || {
            let laid = passed!(seat.lay_sent(stage.image(first))?);
            if laid {
                passed!(seat.call()?);
            }
            Ok(Outcome::Passed(laid))
        })?;
        passed!(judged);
        if passed!(laid?) {
            passed!(seat.fetch_written(&stage.layout)?);
        } else {
            passed!(stage.ask(first, seat)?);
        }
        passed!(stage.judge_again(first, &before));
        stage.kept = before;
        way.check_s += lap();
        Ok(Outcome::Passed(found))
    }

    /// Warms up and samples, every call on fresh numbers, and answers a question that was sent by one more sample.
    fn time_sent(
        &self,
        stage: &Stage<'_>,
        (which, sets): (usize, u32),
        seat: &mut Seat,
    ) -> Result<Outcome<(Measured, bool)>, Fault> {
        let (image, mut lots, fills) = (stage.image(which), Lots::new()?, fills(&stage.layout, self.rules));
        let mut draw = || Some(drawing(image, lots.seed(), &fills));
        let pace = passed!(warm_up(seat, sets, SEARCH_SECONDS, &mut draw)?);
        let found = passed!(self.sample(stage.name(), seat, pace, &mut draw)?);
        if !passed!(seat.lay_sent(image)?) {
            return Err(Fault::new("sampling", "the device lost a question it was just asked"));
        }
        passed!(seat.time(1, pace.calls)?);
        Ok(Outcome::Passed(found))
    }

    /// Samples on a device, in laps, until there are enough or it is hopeless.
    fn sample(
        &self,
        workload: &str,
        seat: &mut Seat,
        pace: Pace,
        mut draw: impl FnMut() -> Option<Drawing>,
    ) -> Result<Outcome<(Measured, bool)>, Fault> {
        let mut found = Measured { workload: workload.into(), samples: Vec::new(), calls: pace.calls };
        let mut hopeless = false;
        while (found.samples.len() as u32) < self.samples && !hopeless {
            // Samples are short and questions are not.
            let lap = if found.samples.is_empty() { FIRST_LAP } else { LAP };
            let lap = lap.min(self.samples - found.samples.len() as u32);
            found.samples.extend(passed!(seat.time_drawn(lap, pace.calls, draw())?));
            hopeless = self.bound.is_some_and(|bound| self.race.decide(bound, &found.samples) == Decision::Hopeless);
        }
        Ok(Outcome::Passed((found, hopeless)))
    }
}
