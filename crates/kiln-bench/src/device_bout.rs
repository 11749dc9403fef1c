//! One round on one workload of a GPU. Every subject has its own memory there, takes turns in random order, answers are
//! checked after the last turn, and then single calls on other inputs are timed and checked.

use std::borrow::Cow;

use kiln_core::{Fault, Outcome, Refusal};
use kiln_judge::Exam;
use kiln_run::Arena;
use rand_chacha::ChaCha8Rng;

use crate::alone::Evidence;
use crate::clocks::Watch;
use crate::drawing::shuffle;
use crate::duel::{Duel, Lost, Turns};
use crate::layout::Layout;
use crate::measure::{Pace, turn, warm_up};
use crate::seat::{Place, Seat};
use crate::stage::Stage;
use crate::subject::Subject;

/// Single calls timed in each round, and the time of a call, in seconds, above which it is only one.
const ALONE: usize = 3;
const SHORT: f64 = 1e-3;

/// One subject in one round on one workload.
struct Side<'s> {
    stage: &'s Stage<'s>,
    seat: &'s mut Seat,
    layout: Cow<'s, Layout>,
    exams: Cow<'s, [Exam]>,
    arena: Arena,
    pace: Pace,
}

impl<'s> Side<'s> {
    /// Memory, a question, a warm-up, and the question once more.
    fn new(
        stage: &'s Stage<'_>,
        subject: &Subject,
        seat: &'s mut Seat,
        kept: Option<Arena>,
        round: usize,
    ) -> Result<Outcome<Side<'s>>, Fault> {
        let (layout, exams) = stage.fitted(subject.config())?;
        let arena = match kept {
            Some(mut arena) => {
                // What an earlier round left must not pass for an answer.
                layout.repoison(&exams[round % exams.len()], &mut arena);
                arena
            }
            None => layout.arena()?,
        };
        let slots = stage.slots(&layout, subject)?;
        let pace = Pace { calls: 1, batches: 1, estimate: f64::INFINITY };
        passed!(seat.map(&layout, slots, &arena, stage.launches(subject)?, Place::Another)?);
        let mut side = Side { stage, seat, layout, exams, arena, pace };
        passed!(side.lay(round)?);
        side.pace = passed!(warm_up(side.seat)?);
        // What the warm-up wrote must not pass for what the timed calls write.
        passed!(side.lay(round)?);
        Ok(Outcome::Passed(side))
    }

    /// Puts a question into memory.
    fn lay(&mut self, which: usize) -> Result<Outcome<()>, Fault> {
        let exam = &self.exams[which % self.exams.len()];
        // Questions laid out for one configuration alone are not kept: the next subject has others.
        let image = match self.exams {
            Cow::Borrowed(_) => self.stage.image(which),
            Cow::Owned(_) => u64::MAX,
        };
        if image == u64::MAX {
            self.seat.forget(image);
        }
        self.seat.lay(&self.layout, exam, &mut self.arena, image)
    }

    /// Judges what the timed calls left.
    fn judge(&mut self, which: usize) -> Result<Outcome<()>, Fault> {
        passed!(self.seat.fetch()?);
        Ok(self.exams[which % self.exams.len()].judge(self.layout.seen(&self.arena)).map(|_| ()))
    }

    /// Times one call on another question, with everything exchanged just before it, and judges its answer.
    fn alone(&mut self, which: usize) -> Result<Outcome<f64>, Fault> {
        passed!(self.lay(which)?);
        let seconds = passed!(self.seat.time_alone()?);
        Ok(self.judge(which)?.map(|()| seconds))
    }
}

/// One round on one workload.
pub(crate) fn device_bout(
    stage: &Stage<'_>,
    plan: &Duel<'_>,
    (seats, memory): (&mut [Seat], &mut [Option<Arena>]),
    round: usize,
    rng: &mut ChaCha8Rng,
    (evidence, mut watch): (&mut Evidence, Option<&mut Watch>),
) -> Result<Result<Vec<Turns>, Lost>, Fault> {
    let lost = |subject: usize, refusal: Refusal| Lost { subject, refusal, workload: stage.name().into() };
    let mut sides: Vec<Side<'_>> = Vec::with_capacity(seats.len());
    for (place, (seat, (_, subject))) in seats.iter_mut().zip(plan.subjects).enumerate() {
        match Side::new(stage, subject, seat, memory[place].take(), round)? {
            Outcome::Passed(side) => sides.push(side),
            Outcome::Refused(refusal) => return Ok(Err(lost(place, refusal))),
        }
    }
    let mut order: Vec<usize> = (0..sides.len()).collect();
    let empty = |side: &Side<'_>| Turns { samples: Vec::with_capacity(plan.samples), calls: side.pace.calls };
    let mut turns: Vec<Turns> = sides.iter().map(empty).collect();
    for _ in 0..plan.samples {
        shuffle(&mut order, rng);
        for place in &order {
            let side = &mut sides[*place];
            match turn(side.seat, side.pace)? {
                Outcome::Passed(seconds) => turns[*place].samples.push(seconds),
                Outcome::Refused(refusal) => return Ok(Err(lost(*place, refusal))),
            }
            if let Some(watch) = &mut watch {
                watch.look(*place);
            }
            if *place == 0 {
                let seconds = turns[0].samples.last().copied().unwrap_or(f64::INFINITY);
                evidence.sample(seconds);
            }
        }
    }
    for (place, side) in sides.iter_mut().enumerate() {
        if let Outcome::Refused(refusal) = side.judge(round)? {
            return Ok(Err(lost(place, refusal)));
        }
    }
    for (place, side) in sides.iter_mut().enumerate() {
        // On other inputs than the timed calls', and each on its own: what was asked before may be remembered.
        let others = side.exams.len().saturating_sub(1).max(1);
        let often = if side.pace.estimate < SHORT { ALONE.min(others) } else { 1 };
        for step in 1..=often {
            match side.alone(round + step)? {
                Outcome::Passed(seconds) if place == 0 => evidence.alone(seconds),
                Outcome::Passed(_) => {}
                Outcome::Refused(refusal) => return Ok(Err(lost(place, refusal))),
            }
        }
    }
    for (side, kept) in sides.into_iter().zip(memory) {
        *kept = Some(side.arena);
    }
    Ok(Ok(turns))
}
