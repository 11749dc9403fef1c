//! One round on one workload of a GPU. In: subjects in workers with a device. Out: samples of each, or the one that was
//! refused and why.
//!
//! Every subject has its own memory there, elsewhere in each round, and they take turns in random order. Every timed call
//! has inputs that nobody has seen before, the same on all sides that draw in the same way, in memory that is written right
//! before the sample. One call of some samples, nobody knows which, is fetched with what lies around it, drawn once more to
//! know what it read, and held against the reference. Right answers take seconds where tensors are large, so that sides whose
//! calls had the same numbers share one, and a baseline that made no such call is left out that time.
//!
//! Somewhere in every round a call is timed alone, and in some a row is cut short, with all arguments laid as ever: nobody
//! knows beforehand which call is the last one. Who puts work off to it, or does all of it with the first, is found out.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use kiln_core::{Fault, Outcome, Refusal};
use kiln_judge::Exam;
use kiln_run::{Arena, Drawing, Fill};
use kiln_stats::median;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::bench::Bench;
use crate::drawing::shuffle;
use crate::duels::alone::Alone;
use crate::duels::duel::{Lost, Turns};
use crate::duels::measure::{Pace, SAMPLE_SECONDS, cut_short, turn, warm_up};
use crate::questions::layout::Layout;
use crate::questions::lots::{Lots, MANY_SETS, MOST_SETS, drawing, fills, sets};
use crate::questions::stage::Stage;
use crate::surroundings::clocks::Watch;
use crate::workers::ran::Ran;
use crate::workers::seat::{Seat, Spot};
use crate::workers::subject::Subject;

/// Bytes of all sets of arguments of one side.
const MOST_BYTES: usize = 1 << 30;
/// Rounds at the beginning in which a row is cut short in any case, and one in how many after them.
const FIRST_CUT: usize = 3;
const CUT_EVERY: u32 = 2;
/// The share of a duel's time that may be spent on fetching what calls left and on right answers, after the first.
const CHECKING: f64 = 0.3;
/// The number of an image that one side alone has.
const OWN: u64 = u64::MAX;

/// Seconds of a sample where foreign code takes part: long against what the parent waits around it, which scatters by some
/// 100 us.
const LONG_SAMPLE: f64 = 5e-3;
/// Bytes of all sets of arguments of one side there, and at most this part of the device's free memory: every side has its own.
const KEPT_BYTES: usize = 2 << 30;
const KEPT_PART: usize = 16;

/// What the rounds of a duel share on one workload.
pub(crate) struct Course {
    pub(crate) lots: Lots,
    /// Shared memory of each subject.
    memory: Vec<Option<Arena>>,
    /// What its rounds took, and of that what checking took.
    spent: Duration,
    checking: Duration,
    /// Timed calls of each subject that were held against the reference.
    pub(crate) checked: u64,
    /// Kernels that each subject ran.
    pub(crate) ran: Vec<Ran>,
    /// What calls of each subject took alone.
    pub(crate) alone: Vec<Alone>,
}

impl Course {
    pub(crate) fn new(subjects: usize) -> Result<Course, Fault> {
        let memory = (0..subjects).map(|_| None).collect();
        let (spent, checking, ran) = (Duration::ZERO, Duration::ZERO, vec![Ran::default(); subjects]);
        let alone = vec![Alone::default(); subjects];
        Ok(Course { lots: Lots::new()?, memory, spent, checking, checked: 0, ran, alone })
    }

    /// Whether there is time to check some call, in a round that has taken so long: in any case for the first, and for others
    /// as long as that leaves most of the time to measuring.
    fn checks(&self, round: Duration) -> bool {
        self.checked == 0 || self.checking.as_secs_f64() < CHECKING * (self.spent + round).as_secs_f64()
    }
}

/// Who takes part.
pub(crate) struct Entry<'s> {
    pub(crate) subject: &'s Subject,
    pub(crate) seat: &'s mut Seat,
    /// Whether it is one of those whose claims are judged, not one that they are measured against.
    pub(crate) candidate: bool,
}

/// One subject in one round on one workload.
struct Side<'s> {
    seat: &'s mut Seat,
    candidate: bool,
    layout: Cow<'s, Layout>,
    exams: Cow<'s, [Exam]>,
    arena: Arena,
    image: u64,
    fills: Vec<Fill>,
    pace: Pace,
    turns: Turns,
    /// Seconds of a call by itself.
    alone: Option<f64>,
    taken: Option<Taken>,
}

/// Bytes of all sets of arguments where foreign code takes part.
fn kept_bytes(bench: &Bench<'_>) -> usize {
    bench.gpu.as_ref().map_or(KEPT_BYTES, |gpu| KEPT_BYTES.min(gpu.memory_free as usize / KEPT_PART))
}

/// What a timed call left, and the place of the question that it was; none where that is one of the stage's own.
struct Taken {
    after: Vec<u8>,
    asked: Option<usize>,
}

/// A question that calls of one sample were.
struct Asked {
    drawn: Drawing,
    call: u32,
    layout: Layout,
    /// What they read.
    read: Vec<(usize, Vec<u8>)>,
    /// Made when the first of them is judged.
    exam: Option<Exam>,
}

impl Asked {
    /// Whether a call on what was drawn so had the same numbers. How many sets were filled changes none of them.
    fn is(&self, drawn: &Drawing, call: u32, layout: &Layout) -> bool {
        let same = Drawing { least: self.drawn.least, ..drawn.clone() } == self.drawn;
        same && drawn.image != OWN && self.call == call && self.layout == *layout
    }
}

impl<'s> Side<'s> {
    /// Memory, a question, a call on it, and a warm-up on fresh numbers.
    fn new(
        Bout { bench, stage, round, .. }: &Bout<'s>,
        Entry { subject, seat, candidate }: &'s mut Entry<'_>,
        course: &mut Course,
        place: usize,
    ) -> Result<Outcome<Side<'s>>, Fault> {
        let round = *round;
        let (layout, exams) = stage.fitted(subject.config())?;
        let arena = match course.memory[place].take() {
            Some(mut arena) => {
                // What an earlier round left must not pass for an answer.
                layout.repoison(&exams[round % exams.len()], &mut arena);
                arena
            }
            None => layout.arena()?,
        };
        let slots = stage.slots(&layout, subject)?;
        let l2 = bench.gpu.as_ref().map_or(0, |gpu| gpu.l2);
        let (seconds, most) = match seat.is_kept() {
            true => (LONG_SAMPLE, (kept_bytes(bench), MANY_SETS)),
            false => (SAMPLE_SECONDS, (MOST_BYTES, MOST_SETS)),
        };
        let sets = match seat.on_device() {
            true => sets(layout.bytes(), bench.settings.cache, l2, most),
            false => 1,
        };
        passed!(seat.map(&layout, slots, &arena, stage.launches(subject)?, (Spot::Another, sets))?);
        // Questions laid out for one configuration alone are not kept: the next subject has others.
        let image = match exams {
            Cow::Borrowed(_) => stage.image(round),
            Cow::Owned(_) => OWN,
        };
        let fills = fills(&layout, &bench.rules);
        let pace = Pace { calls: 1, batches: 1, estimate: f64::INFINITY };
        let turns = Turns { samples: Vec::new(), calls: 1, order: Vec::new() };
        let (alone, taken) = (None, None);
        let candidate = *candidate;
        let mut side = Side { seat, candidate, layout, exams, arena, image, fills, pace, turns, alone, taken };
        passed!(side.lay(round)?);
        passed!(side.seat.call()?);
        let device = side.seat.on_device();
        let draw = || device.then(|| drawing(image, course.lots.seed(), &side.fills));
        side.pace = passed!(warm_up(side.seat, sets, seconds, draw)?);
        side.seat.walls.clear();
        side.turns.calls = side.pace.calls;
        // Without a device the timed calls read this; what the warm-up wrote must not pass for what they write.
        passed!(side.lay(round)?);
        Ok(Outcome::Passed(side))
    }

    /// Puts a question into memory.
    fn lay(&mut self, which: usize) -> Result<Outcome<()>, Fault> {
        let exam = &self.exams[which % self.exams.len()];
        if self.image == OWN {
            self.seat.forget(self.image);
        }
        self.seat.lay(&self.layout, exam, &mut self.arena, self.image)
    }

    /// One sample, under this seed or, where it is taken again, another.
    fn turn(&mut self, seed: u64, lots: &mut Lots) -> Result<Outcome<Option<Drawing>>, Fault> {
        let Side { seat, image, fills, pace, turns, .. } = self;
        let (seconds, drawn) = passed!(turn(seat, *pace, draws(seat, (*image, *pace, fills), seed, lots))?);
        turns.samples.push(seconds);
        Ok(Outcome::Passed(drawn))
    }

    /// A row of so many calls, with all that is laid for more: its time, and what its calls read.
    fn cut(&mut self, calls: u32, seed: u64, lots: &mut Lots) -> Result<Outcome<(f64, Option<Drawing>)>, Fault> {
        let Side { seat, image, fills, pace, .. } = self;
        cut_short(seat, (*pace, calls), draws(seat, (*image, *pace, fills), seed, lots))
    }

    /// Fetches one call of the sample that was just taken, and what it read.
    fn take(
        &mut self,
        drawn: Option<Drawing>,
        varies: bool,
        call: u32,
        asked: &mut Vec<Asked>,
    ) -> Result<Outcome<()>, Fault> {
        passed!(self.seat.adopt(call)?);
        let Some(drawn) = drawn else {
            passed!(self.seat.fetch()?);
            self.taken = Some(Taken { after: self.layout.seen(&self.arena).to_vec(), asked: None });
            return Ok(Outcome::Passed(()));
        };
        passed!(self.seat.fetch_set(call, vec![])?);
        let after = self.layout.seen(&self.arena).to_vec();
        let mut place = None;
        if varies {
            place = asked.iter().position(|question| question.is(&drawn, call, &self.layout));
            if place.is_none() {
                passed!(self.seat.draw(drawn.clone())?);
                let parts = self.layout.read().map(|(_, range)| (range.start, range.end)).collect();
                passed!(self.seat.fetch_set(call, parts)?);
                let seen = self.layout.seen(&self.arena);
                let read = self.layout.read().map(|(number, range)| (number, seen[range.clone()].to_vec())).collect();
                place = Some(asked.len());
                asked.push(Asked { drawn, call, layout: self.layout.clone().into_owned(), read, exam: None });
            }
        }
        self.taken = Some(Taken { after, asked: place });
        Ok(Outcome::Passed(()))
    }

    /// Judges what was taken.
    fn judge(&mut self, bench: &Bench<'_>, round: usize, asked: &mut [Asked]) -> Result<Outcome<()>, Fault> {
        let Some(Taken { after, asked: place }) = self.taken.take() else { return Ok(Outcome::Passed(())) };
        let judged = match place.and_then(|place| asked.get_mut(place)) {
            None => self.exams[round % self.exams.len()].judge(&after),
            Some(Asked { layout, read, exam, .. }) => {
                let exam = match exam {
                    Some(exam) => exam,
                    None => {
                        let given: Vec<(usize, &[u8])> = read.iter().map(|(n, bytes)| (*n, &bytes[..])).collect();
                        exam.insert(bench.question(layout, &given)?)
                    }
                };
                exam.judge(&after)
            }
        };
        Ok(match judged {
            Outcome::Passed(_) => Outcome::Passed(()),
            Outcome::Refused(mut refusal) => {
                if !refusal.evidence.is_empty() {
                    refusal.evidence.push_str("; ");
                }
                refusal.evidence.push_str("a timed call, on inputs of its own");
                Outcome::Refused(refusal)
            }
        })
    }
}

/// What a sample's sets are filled with: under this seed and, where it is taken again, under others.
fn draws<'d>(
    seat: &Seat,
    (image, pace, fills): (u64, Pace, &'d [Fill]),
    seed: u64,
    lots: &'d mut Lots,
) -> impl FnMut(usize) -> Option<Drawing> + 'd {
    let device = seat.on_device();
    move |attempt| {
        let seed = if attempt == 0 { seed } else { lots.seed() };
        device.then(|| Drawing { least: pace.calls, ..drawing(image, seed, fills) })
    }
}

/// Calls a subject once on a workload, so that whatever it compiles for it is compiled.
pub(crate) fn rehearse(stage: &Stage<'_>, subject: &Subject, seat: &mut Seat) -> Result<Outcome<()>, Fault> {
    let (layout, exams) = stage.fitted(subject.config())?;
    let mut arena = layout.arena()?;
    let slots = stage.slots(&layout, subject)?;
    passed!(seat.map(&layout, slots, &arena, stage.launches(subject)?, (Spot::Another, 1))?);
    layout.lay(&exams[0], &mut arena);
    passed!(seat.lay_here(&layout, &arena)?);
    seat.call()
}

/// One round on one workload.
pub(crate) struct Bout<'b> {
    pub(crate) bench: &'b Bench<'b>,
    pub(crate) stage: &'b Stage<'b>,
    /// Samples of everybody.
    pub(crate) samples: usize,
    /// How many of those that take part are judged; the others, behind them, do nothing.
    pub(crate) judged: usize,
    pub(crate) round: usize,
}

impl Bout<'_> {
    /// Plays it.
    pub(crate) fn play(
        &self,
        entries: &mut [Entry<'_>],
        course: &mut Course,
        rng: &mut ChaCha8Rng,
        mut watch: Option<&mut Watch>,
    ) -> Result<Result<Vec<Turns>, Lost>, Fault> {
        let lost = |subject: usize, refusal: Refusal| self.lost(subject, refusal);
        let began = Instant::now();
        let mut sides: Vec<Side<'_>> = Vec::with_capacity(entries.len());
        for (place, entry) in entries.iter_mut().enumerate() {
            match Side::new(self, entry, course, place)? {
                Outcome::Passed(side) => sides.push(side),
                Outcome::Refused(refusal) => return lost(place, refusal),
            }
        }
        let varies = self.stage.layout.signature.varies();
        let mut order: Vec<usize> = (0..sides.len()).collect();
        let certain = rng.next_u64() as usize % self.samples.max(1);
        // Only kernels of timed samples are reported, not those of the warm-up.
        sides.iter_mut().for_each(|side| side.seat.ran = Ran::default());
        // Who is not timed stands still; everybody has been waited for.
        sides.iter_mut().for_each(|side| side.seat.stand());
        let short = rng.next_u64() as usize % self.samples.max(1);
        for sample in 0..self.samples {
            shuffle(&mut order, rng);
            if sample == short
                && let Some((place, refusal)) = self.cut_short(&mut sides, course, &order, rng)?
            {
                return lost(place, refusal);
            }
            let seed = course.lots.seed();
            let checked = course.checks(began.elapsed()) && (sample == certain || rng.next_u32() & 1 == 0);
            let (lot, mut asked) = (rng.next_u64(), Vec::new());
            let drawn_call = |side: &Side<'_>| (lot % u64::from(side.pace.calls.max(1))) as u32;
            let first = sides.first().map_or(0, drawn_call);
            // A baseline is left out where it alone would need another right answer, once it was right.
            let everybody = course.checked == 0;
            for (nth, place) in order.iter().enumerate() {
                let side = &mut sides[*place];
                side.turns.order.push((sample * order.len() + nth) as u32);
                side.seat.resume();
                let mut outcome = side.turn(seed, &mut course.lots)?;
                if let Some(watch) = watch.as_mut().filter(|_| *place < self.judged) {
                    watch.look(*place);
                }
                let joins = !side.candidate && first < side.pace.calls;
                let wanted = *place < self.judged && (side.candidate || joins || everybody);
                if let (Outcome::Passed(drawn), true) = (&mut outcome, checked && wanted) {
                    let (call, taking) = (if joins { first } else { drawn_call(side) }, Instant::now());
                    outcome = side.take(drawn.take(), varies, call, &mut asked)?.map(|()| None);
                    course.checking += taking.elapsed();
                }
                if let Outcome::Refused(refusal) = outcome {
                    return lost(*place, refusal);
                }
                side.seat.stand();
            }
            if checked {
                course.checked += 1;
                if let Some((place, refusal)) = self.judge_taken(&mut sides, &mut asked, course)? {
                    return lost(place, refusal);
                }
            }
        }
        for (side, alone) in sides.iter().zip(&mut course.alone) {
            if let (Some(alone_for), Ok(row)) = (side.alone, median(&side.turns.samples)) {
                alone.rounds.push((alone_for, row));
            }
        }
        let mut turns = Vec::with_capacity(sides.len());
        for ((side, kept), ran) in sides.into_iter().zip(&mut course.memory).zip(&mut course.ran) {
            *kept = Some(side.arena);
            ran.merge(std::mem::take(&mut side.seat.ran));
            turns.push(side.turns);
        }
        turns.truncate(self.judged);
        course.spent += began.elapsed();
        Ok(Ok(turns))
    }

    /// Times a call of everybody alone, and has a candidate's row end where nobody expects it. Who has then not written what its last call
    /// should have, if somebody has not.
    fn cut_short(
        &self,
        sides: &mut [Side<'_>],
        course: &mut Course,
        order: &[usize],
        rng: &mut ChaCha8Rng,
    ) -> Result<Option<(usize, Refusal)>, Fault> {
        let varies = self.stage.layout.signature.varies();
        let (alone_seed, seed, lot) = (course.lots.seed(), course.lots.seed(), rng.next_u64());
        let cut = self.round < FIRST_CUT || (rng.next_u32().is_multiple_of(CUT_EVERY) && course.checks(Duration::ZERO));
        let rows = |side: &Side<'_>| side.seat.on_device() && side.pace.calls > 1;
        let mut asked = Vec::new();
        for place in order.iter().filter(|place| **place < self.judged) {
            let side = &mut sides[*place];
            if !rows(side) {
                continue;
            }
            side.seat.resume();
            let (seconds, drawn) = match side.cut(1, alone_seed, &mut course.lots)? {
                Outcome::Passed(sample) => sample,
                Outcome::Refused(refusal) => return Ok(Some((*place, refusal))),
            };
            // What is launched call by call waits for the processor, alone longer than in a row.
            side.alone = side.seat.replayed.then_some(seconds);
            // Who knows that it is alone must compute all the same.
            let taking = Instant::now();
            if cut
                && side.candidate
                && let Outcome::Refused(refusal) = side.take(drawn, varies, 0, &mut asked)?
            {
                return Ok(Some((*place, refusal)));
            }
            course.checking += taking.elapsed();
            side.seat.stand();
        }
        if let Some(wrong) = self.judge_taken(sides, &mut asked, course)? {
            return Ok(Some(wrong));
        }
        asked.clear();
        for place in order.iter().filter(|place| cut && **place < self.judged) {
            let side = &mut sides[*place];
            // Whether a baseline puts work off is nobody's question.
            if !rows(side) || !side.candidate {
                continue;
            }
            side.seat.resume();
            let calls = 1 + (lot % u64::from(side.pace.calls - 1)) as u32;
            let sample = side.cut(calls, seed, &mut course.lots)?;
            let taking = Instant::now();
            let taken = match sample {
                Outcome::Passed((_, drawn)) => side.take(drawn, varies, calls - 1, &mut asked)?,
                Outcome::Refused(refusal) => Outcome::Refused(refusal),
            };
            course.checking += taking.elapsed();
            if let Outcome::Refused(refusal) = taken {
                return Ok(Some((*place, refusal)));
            }
            side.seat.stand();
        }
        self.judge_taken(sides, &mut asked, course)
    }

    /// Judges what was taken of everybody's calls. Who is wrong, if somebody is.
    fn judge_taken(
        &self,
        sides: &mut [Side<'_>],
        asked: &mut [Asked],
        course: &mut Course,
    ) -> Result<Option<(usize, Refusal)>, Fault> {
        let checking = Instant::now();
        for (place, side) in sides.iter_mut().enumerate().take(self.judged) {
            if let Outcome::Refused(refusal) = side.judge(self.bench, self.round, asked)? {
                return Ok(Some((place, refusal)));
            }
        }
        course.checking += checking.elapsed();
        Ok(None)
    }

    /// Who lost. One that does nothing cannot: then something else is wrong.
    fn lost(&self, subject: usize, refusal: Refusal) -> Result<Result<Vec<Turns>, Lost>, Fault> {
        if subject >= self.judged {
            return Err(Fault::new("timing an empty function", refusal.measured));
        }
        Ok(Err(Lost { subject, refusal, workload: self.stage.name().into() }))
    }
}
