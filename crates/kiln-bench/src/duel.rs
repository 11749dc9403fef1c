//! Several subjects against each other. In: subjects, workloads, how many rounds. Out: samples round by round. In every round
//! each subject has fresh memory, and a fresh worker unless that has a device, so that where things happen to lie is part of
//! the noise and not of the result; within a round the subjects take turns in random order; after its last turn each answer
//! is checked, and then single calls on other inputs are timed and checked. Of memory on a device, what the host sees of it
//! stays.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use kiln_core::{Fault, Outcome, Refusal};
use kiln_judge::{Distribution, Exam};
use kiln_run::{Arena, Copy};
use kiln_stats::{Block, Thresholds, median};
use rand_chacha::ChaCha8Rng;

use crate::audit::Evidence;
use crate::bench::Bench;
use crate::clocks::Watch;
use crate::drawing::{generator, shuffle};
use crate::layout::Layout;
use crate::measure::{Pace, turn, warm_up};
use crate::seat::{Place, Seat};
use crate::stage::Stage;
use crate::subject::Subject;

/// Bytes of arguments up to which memory has room for a second question.
const SMALL: usize = 64 << 20;
/// Single calls timed in each round, and the time of a call, in seconds, above which it is only one.
const ALONE: usize = 3;
const SHORT: f64 = 1e-3;

/// Seconds below which two times on a GPU are not told apart. A process's memory lies well or badly for as long as it lives:
/// in 691 comparisons of a kernel of 6.4 us with itself the medians were apart by up to 0.32 us.
const TOLD_APART: f64 = 0.35e-6;

/// The limits of a verdict between two subjects, as finely as their times can be told apart.
pub fn limits(thresholds: &Thresholds, on_gpu: bool, blocks: &[Block]) -> Thresholds {
    let times: Vec<f64> = blocks.iter().flat_map(|block| block.baseline.iter().copied()).collect();
    match median(&times) {
        Ok(seconds) if on_gpu && seconds > 0.0 => thresholds.no_finer_than(TOLD_APART / seconds),
        _ => *thresholds,
    }
}

/// Input sets that the rounds take turns with.
pub const SETS: [Distribution; 4] = [Distribution::Declared; 4];

/// Who is measured, and how long.
#[derive(Debug, Clone, Copy)]
pub struct Duel<'a> {
    /// Names and subjects.
    pub subjects: &'a [(String, Subject)],
    /// Rounds, each with fresh workers.
    pub rounds: usize,
    /// Samples of each subject in a round.
    pub samples: usize,
    /// What it is for: decides the order of turns together with the seed.
    pub purpose: &'a str,
}

/// Samples of one subject on one workload in one round.
#[derive(Debug, Clone, PartialEq)]
pub struct Turns {
    /// Seconds of one call.
    pub samples: Vec<f64>,
    /// Calls in each sample.
    pub calls: u32,
}

/// What a duel gives: by workload, by round, by subject.
pub type Rounds = Vec<Vec<Vec<Turns>>>;

/// A subject that was refused, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Lost {
    /// Its place in the list.
    pub subject: usize,
    /// Why.
    pub refusal: Refusal,
    /// The workload.
    pub workload: String,
}

/// Measures the subjects against each other on these stages: the rounds planned, and then as many more as `more` asks for
/// when it sees what there is, until it asks for none. It may look at how well things are known, never at who is ahead:
/// whoever measures until somebody wins finds winners that are none.
pub fn duel(
    bench: &Bench<'_>,
    stages: &[Stage<'_>],
    plan: Duel<'_>,
    mut on_round: impl FnMut(usize),
    more: impl Fn(&Rounds) -> usize,
) -> Result<Result<Rounds, Lost>, Fault> {
    let mut rounds: Rounds = vec![Vec::with_capacity(plan.rounds); stages.len()];
    let mut evidence: Vec<Evidence> = vec![Evidence::default(); stages.len()];
    let mut planned = plan.rounds;
    let mut round = 0;
    let before = bench.seating().retaken.load(Ordering::Relaxed);
    let mut seats: Vec<Seat> = Vec::with_capacity(plan.subjects.len());
    // By workload and subject, for workers with a device.
    let mut memory: Vec<Vec<Option<Arena>>> =
        stages.iter().map(|_| plan.subjects.iter().map(|_| None).collect()).collect();
    let mut watch = bench.gpu.as_ref().and_then(|gpu| Watch::of(&gpu.uuid, plan.subjects.len()));
    while round < planned {
        let mut rng = generator(bench.settings.seed, &["turns", plan.purpose], round as u64);
        // A worker with a device keeps its place, and loads its subject once more: what that works with lives in device
        // memory, which is fresh in every round, and so are its variables there.
        let stay = !seats.is_empty() && seats.iter().all(Seat::on_device);
        if !stay {
            seats.clear();
        }
        for (place, (_, subject)) in plan.subjects.iter().enumerate() {
            let seated = match seats.get_mut(place) {
                Some(seat) => seat.load(subject)?,
                None => bench.seating().take(subject)?.map(|seat| seats.push(seat)),
            };
            if let Outcome::Refused(refusal) = seated {
                return Ok(Err(Lost { subject: place, refusal, workload: String::new() }));
            }
        }
        for (place, (stage, found)) in stages.iter().zip(&mut rounds).enumerate() {
            bench.go_on()?;
            let looking = (&mut evidence[place], watch.as_mut());
            match bout(stage, &plan, (&mut seats, &mut memory[place]), round, &mut rng, looking)? {
                Ok(turns) => found.push(turns),
                Err(lost) => return Ok(Err(lost)),
            }
        }
        round += 1;
        on_round(round);
        if round == planned {
            planned += more(&rounds);
        }
    }
    let retaken = bench.seating().retaken.load(Ordering::Relaxed) - before;
    if retaken > 0 && seats.iter().any(Seat::on_device) {
        bench.note(format!(
            "{}: {retaken} samples were taken again, the GPU slowed down to protect itself",
            plan.purpose
        ));
    }
    let names = plan.subjects.iter().map(|(name, _)| name.as_str());
    for remark in watch.iter().flat_map(|watch| watch.remarks(names.clone())) {
        bench.note(format!("{}: {remark}", plan.purpose));
    }
    // Whoever is judged here is at place 0; the others were, or will be.
    for (stage, evidence) in stages.iter().zip(&evidence) {
        let on_device = seats.first().is_some_and(Seat::on_device);
        if let Some(refusal) = evidence.doubt(bench.settings.threads, on_device) {
            return Ok(Err(Lost { subject: 0, refusal, workload: stage.name().into() }));
        }
    }
    Ok(Ok(rounds))
}

/// One subject in one round on one workload.
struct Side<'s> {
    stage: &'s Stage<'s>,
    seat: &'s mut Seat,
    layout: Cow<'s, Layout>,
    exams: Cow<'s, [Exam]>,
    arena: Arena,
    /// Where another question lies ready, when memory is small enough for two.
    spare: Option<Copy>,
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
        let small = layout.bytes() <= SMALL && !seat.on_device();
        let (arena, spare) = match kept {
            _ if small => layout.arena_with_spare().map(|(arena, copy)| (arena, Some(copy)))?,
            Some(mut arena) => {
                // What an earlier round left must not pass for an answer.
                layout.repoison(&exams[round % exams.len()], &mut arena);
                (arena, None)
            }
            None => (layout.arena()?, None),
        };
        let slots = stage.slots(&layout, subject)?;
        let pace = Pace { calls: 1, estimate: f64::INFINITY };
        passed!(seat.map(&layout, slots, &arena, stage.launches(subject)?, Place::Another)?);
        let mut side = Side { stage, seat, layout, exams, arena, spare, pace };
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
        let seen = self.layout.seen(&self.arena);
        // As it is now: a thread left behind may still be writing. On a device everything has ended.
        let seen = if self.seat.on_device() { Cow::Borrowed(seen) } else { Cow::Owned(seen.to_vec()) };
        Ok(self.exams[which % self.exams.len()].judge(&seen).map(|_| ()))
    }

    /// Times one call on another question, with everything exchanged just before it, and judges its answer.
    fn alone(&mut self, which: usize) -> Result<Outcome<f64>, Fault> {
        match self.spare {
            // The worker itself puts it in place, so that it lies in the caches as it does in a row of calls.
            Some(spare) => {
                let exam = &self.exams[which % self.exams.len()];
                exam.lay(&mut self.arena.bytes_mut()[spare.from..spare.from + spare.bytes]);
            }
            None => passed!(self.lay(which)?),
        }
        let seconds = passed!(self.seat.time_alone(self.spare)?);
        Ok(self.judge(which)?.map(|()| seconds))
    }
}

/// One round on one workload.
fn bout(
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
                evidence.sample(seconds, side.pace.calls, side.seat.waited());
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
        *kept = side.seat.on_device().then_some(side.arena);
    }
    Ok(Ok(turns))
}
