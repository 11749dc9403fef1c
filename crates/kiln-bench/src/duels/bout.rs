//! One round on one workload of the processor. In: subjects in fresh workers. Out: samples of each, or the one that was
//! refused and why.
//!
//! Every timed call has inputs that nobody has seen before, the same on all sides, in memory that is written right before
//! the sample. What all sides wrote is compared, call by call; where they differ, and for some calls in any case, the
//! reference decides. An empty function is timed in the same way, to know what everything around the calls costs.

use kiln_core::{Fault, Outcome, Refusal};
use kiln_judge::{Fresh, Solution, Written, agree};
use kiln_stats::median;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::bench::Bench;
use crate::drawing::shuffle;
use crate::duels::account::Account;
use crate::duels::duel::{Duel, Lost, Turns, is_candidate};
use crate::duels::measure::{PRIMED_BELOW, Pace, Sets, settle_pace};
use crate::duels::scrutiny::Checked;
use crate::questions::draws::Draws;
use crate::questions::stage::Stage;
use crate::questions::tray::{Taken, Tray};
use crate::workers::seat::Seat;
use crate::workers::subject::Subject;

/// The share of the time in the warm-up below which calls are timed at another pace.
const HURRIED: f64 = 0.3;
/// Differences between sides that the reference is asked about in one round.
const MOST_DISPUTES: usize = 8;

/// What is counted over a duel, for who reads its result.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Batches, and how many of them were interrupted.
    pub(crate) batches: u64,
    pub(crate) interrupted: u64,
}

/// What one side did in a round.
pub(crate) struct Played {
    pub(crate) turns: Turns,
    /// Its account and that of an empty function; the same of what the parent waited.
    pub(crate) accounts: (Account, Account),
    pub(crate) waited: (Account, Account),
}

/// Everything a round needs besides its subjects.
pub(crate) struct Round<'r> {
    pub(crate) bench: &'r Bench<'r>,
    pub(crate) stage: &'r Stage<'r>,
    pub(crate) plan: &'r Duel<'r>,
    pub(crate) draws: &'r mut Draws,
    pub(crate) rng: &'r mut ChaCha8Rng,
    pub(crate) tally: &'r mut Tally,
    /// What was checked of the first subject's calls on this workload.
    pub(crate) seen: &'r mut Checked,
    /// Whether some call of this round is held against the reference in any case.
    pub(crate) checked: bool,
}

/// One subject with its memory.
struct Side<'s> {
    seat: &'s mut Seat,
    tray: Tray,
    pace: Pace,
    /// How many of a sample's calls are laid together, one lay after another.
    pieces: Vec<usize>,
    /// Which of a sample's inputs its calls have, in order; and the set that each lay in, counted over all that was taken.
    picks: Vec<usize>,
    spots: Vec<usize>,
    /// What the calls of a sample left.
    taken: Taken,
    /// How many sets samples may have, and their bytes.
    sizes: (Sets, usize),
    /// Sets that no call has, beside those of as many calls as can be made together.
    decoys: usize,
    turns: Turns,
}

impl Side<'_> {
    /// How it is sampled.
    fn manner(&self) -> (Pace, Vec<usize>, usize, bool) {
        (self.pace, self.pieces.clone(), self.decoys, self.seat.returned)
    }

    /// Decoys beside so many calls.
    fn beside(&self, calls: usize) -> usize {
        beside(calls, self.decoys, self.pace.together())
    }

    /// Takes a sample in. Calls that are much shorter than they were when they were warmed up are many in a sample, and lie
    /// beside others, from now on: whoever seems slow before it counts is not to be alone when it does.
    fn sampled(&mut self, seconds: f64) {
        self.turns.samples.push(seconds.max(1e-10));
        if seconds < HURRIED * self.pace.estimate {
            let (sizes, bytes) = self.sizes;
            self.pace = sizes.pace(seconds);
            self.decoys = Sets::decoys(&self.pace, bytes);
        }
    }
}

impl Round<'_> {
    /// Plays it. With every subject an empty function takes turns, of the same kind and at the same pace.
    pub(crate) fn play(
        mut self,
        seats: &mut [Seat],
        empties: &mut [(Subject, Seat)],
    ) -> Result<Result<Vec<Played>, Lost>, Fault> {
        let mut sides: Vec<Side<'_>> = Vec::with_capacity(seats.len() + empties.len());
        for (place, (seat, (_, subject))) in seats.iter_mut().zip(self.plan.subjects).enumerate() {
            match self.side(subject, seat, None)? {
                Outcome::Passed(side) => sides.push(side),
                Outcome::Refused(refusal) => return Ok(Err(self.lost(place, refusal))),
            }
        }
        let subjects = sides.len();
        for (place, (empty, seat)) in empties.iter_mut().enumerate() {
            match self.side(empty, seat, sides.get(place).map(|side| side.pace))? {
                Outcome::Passed(side) => sides.push(side),
                Outcome::Refused(refusal) => return Err(Fault::new("timing an empty function", refusal.measured)),
            }
        }
        let mut order: Vec<usize> = (0..sides.len()).collect();
        let checked = self.checked.then(|| self.rng.next_u64() as usize % self.plan.samples.max(1));
        for sample in 0..self.plan.samples {
            for side in &mut sides[..subjects] {
                side.pieces = side.pace.pieces(self.rng);
            }
            for place in subjects..sides.len() {
                // What an empty function does takes as long as its subject's.
                let (manner, empty) = (sides[place % subjects].manner(), &mut sides[place]);
                (empty.pace, empty.pieces, empty.decoys, empty.seat.returned) = manner;
            }
            let made = |side: &Side<'_>| side.pieces.iter().sum::<usize>();
            let most = sides.iter().map(made).max().unwrap_or(1);
            // Behind those that are called come decoys, drawn like the others, and never laid twice.
            let decoys = sides.iter().map(|side| side.pieces.iter().map(|p| side.beside(*p)).sum()).max().unwrap_or(0);
            let drawn = self.draws.take(&self.stage.layout.signature, most + decoys)?;
            let (calls, decoys) = drawn.split_at(most.min(drawn.len()));
            // A side that makes fewer calls makes any of them: nobody knows which of its own are compared.
            for side in &mut sides {
                side.picks = some_of(most, made(side), self.rng);
            }
            shuffle(&mut order, self.rng);
            for (nth, place) in order.iter().enumerate() {
                sides[*place].turns.order.push((sample * order.len() + nth) as u32);
                match self.turn(&mut sides[*place], calls, decoys)? {
                    Outcome::Passed(()) => {}
                    Outcome::Refused(refusal) if *place < subjects => return Ok(Err(self.lost(*place, refusal))),
                    Outcome::Refused(refusal) => return Err(Fault::new("timing an empty function", refusal.measured)),
                }
            }
            let chosen = (checked == Some(sample)).then(|| self.chosen(&sides[..subjects])).flatten();
            if let Some((place, refusal)) = self.judge(&sides[..subjects], calls, chosen)? {
                return Ok(Err(self.lost(place, refusal)));
            }
        }
        sides.iter_mut().for_each(|side| side.seat.resume());
        let empties: Vec<Side<'_>> = sides.drain(subjects..).collect();
        let played = |(mut side, empty): (Side<'_>, Side<'_>)| {
            // What is left of a call when the loop around it is taken away.
            let nothing = median(&empty.turns.samples).unwrap_or(0.0);
            side.turns.samples.iter_mut().for_each(|seconds| *seconds = (*seconds - nothing).max(*seconds * 0.01));
            let waited = |seat: &mut Seat| Account::waited(&std::mem::take(&mut seat.walls));
            let waited = (waited(side.seat), waited(empty.seat));
            Played { turns: side.turns, accounts: (side.seat.account(), empty.seat.account()), waited }
        };
        Ok(Ok(sides.into_iter().zip(empties).map(played).collect()))
    }

    /// A call that is held against the reference in any case: one that a candidate made, nobody knows which.
    fn chosen(&mut self, sides: &[Side<'_>]) -> Option<usize> {
        let judged: Vec<&Side<'_>> =
            sides.iter().zip(self.plan.subjects).filter(|(_, (name, _))| is_candidate(name)).map(|(s, _)| s).collect();
        let side = judged.get(self.rng.next_u64() as usize % judged.len().max(1))?;
        side.picks.get(self.rng.next_u64() as usize % side.picks.len().max(1)).copied()
    }

    fn lost(&self, subject: usize, refusal: Refusal) -> Lost {
        Lost { subject, refusal, workload: self.stage.name().into() }
    }

    /// Memory and, where the pace is not known, a warm-up.
    fn side<'s>(
        &mut self,
        subject: &Subject,
        seat: &'s mut Seat,
        pace: Option<Pace>,
    ) -> Result<Outcome<Side<'s>>, Fault> {
        let (signature, slots) = self.stage.signature_for(subject.config())?;
        let sizes = self.bench.sets(&signature);
        let bytes = Tray::set_bytes(&signature);
        let mut tray = Tray::new(&signature, sizes.together(bytes))?;
        passed!(seat.map_sets(&tray, slots)?);
        let pace = match pace {
            Some(pace) => pace,
            None => {
                let warm = self.draws.take(&signature, sizes.calls)?;
                passed!(settle_pace(seat, &mut tray, &warm, sizes, self.rng)?)
            }
        };
        seat.account();
        seat.walls.clear();
        seat.pause();
        let turns = Turns { samples: Vec::with_capacity(self.plan.samples), calls: pace.calls, order: Vec::new() };
        let decoys = Sets::decoys(&pace, bytes);
        Ok(Outcome::Passed(Side {
            seat,
            tray,
            pace,
            pieces: Vec::new(),
            picks: Vec::new(),
            spots: Vec::new(),
            taken: Taken::default(),
            sizes: (sizes, bytes),
            decoys,
            turns,
        }))
    }

    /// One sample of one side.
    fn turn(&mut self, side: &mut Side<'_>, calls: &[Fresh], decoys: &[Fresh]) -> Result<Outcome<()>, Fault> {
        let (wide, most) = (side.decoys, side.pace.together());
        let beside = |piece: usize| beside(piece, wide, most);
        let Side { seat, tray, pace, pieces, picks, spots, taken, .. } = side;
        let (mut seconds, mut laid) = (0.0, 0);
        let mut unused = decoys;
        spots.clear();
        taken.clear();
        let mut rest = &picks[..];
        for piece in pieces {
            let picks;
            (picks, rest) = rest.split_at(rest.len().min(*piece));
            let decoys;
            (decoys, unused) = unused.split_at(unused.len().min(beside(*piece)));
            // Calls and decoys in any order.
            let mut sets: Vec<usize> = (0..picks.len() + decoys.len()).collect();
            shuffle(&mut sets, self.rng);
            let mut fresh: Vec<Option<&Fresh>> = vec![None; sets.len()];
            let every = picks.iter().map(|pick| &calls[*pick]).chain(decoys);
            sets.iter().zip(every).for_each(|(set, inputs)| fresh[*set] = Some(inputs));
            let fresh: Vec<&Fresh> = fresh.into_iter().flatten().collect();
            let numbers: Vec<u32> = sets.iter().map(|set| *set as u32).collect();
            let (order, beside) = numbers.split_at(picks.len());
            spots.extend(order.iter().map(|set| laid + *set as usize));
            laid += sets.len();
            tray.prepare(fresh.into_iter(), self.rng);
            seat.resume();
            // Somebody else ran in between: code and predictors are warmed up again, on inputs of before.
            if pace.estimate < PRIMED_BELOW {
                passed!(seat.call()?);
            }
            passed!(seat.prepare_calls(order)?);
            // Whoever waits for inputs to come must not begin before the clock and the account do.
            seat.pause();
            seat.lay_sets(tray, order);
            let timing = passed!(seat.go()?);
            let is_there = timing.returned.is_empty();
            if is_there {
                tray.add_to(taken);
            }
            // What it still does, it does not do while others are timed, nor before what it returned is read.
            seat.pause();
            passed!(seat.take_returned(tray, &timing, order)?);
            if !is_there {
                tray.add_to(taken);
            }
            passed!(tray.judge(taken));
            passed!(tray.judge_decoys(taken, beside));
            seconds += timing.nanoseconds.iter().sum::<u64>() as f64 * 1e-9;
            self.tally.batches += timing.preemptions.len() as u64;
            self.tally.interrupted += timing.preemptions.iter().filter(|times| **times > 0).count() as u64;
        }
        let calls = picks.len().max(1);
        side.sampled(seconds / calls as f64);
        if laid == 0 {
            return Err(Fault::new("timing", "a sample without a call"));
        }
        Ok(Outcome::Passed(()))
    }

    /// Compares what the sides wrote. Who is wrong, if somebody is.
    fn judge(
        &mut self,
        sides: &[Side<'_>],
        calls: &[Fresh],
        chosen: Option<usize>,
    ) -> Result<Option<(usize, Refusal)>, Fault> {
        // What a side wrote for one of the sample's inputs; none when it made no such call.
        let outputs = |place: usize, call: usize| {
            let made = sides[place].picks.binary_search(&call).ok()?;
            Some(sides[place].tray.outputs(&sides[place].taken, *sides[place].spots.get(made)?))
        };
        let bounds = self.stage.bounds();
        let differ = |one: &[Written<'_>], other: &[Written<'_>]| {
            let each = bounds.iter().zip(one.iter().zip(other));
            each.into_iter().any(|(bound, (one, other))| !agree(bound, *one, *other))
        };
        let mut disputes = 0;
        for (call, fresh) in calls.iter().enumerate() {
            let present: Vec<(usize, Vec<Written<'_>>)> =
                (0..sides.len()).filter_map(|place| Some((place, outputs(place, call)?))).collect();
            let disputed = present.windows(2).any(|pair| differ(&pair[0].1, &pair[1].1));
            // Places are in order: whose call it is not is not in front.
            let own = present.first().is_some_and(|(place, _)| *place == 0);
            let (compared, random) = (own && present.len() > 1, own && chosen == Some(call));
            *self.seen = self.seen.and(own.into(), compared.into(), random.into());
            if !(disputed && disputes < MOST_DISPUTES) && chosen != Some(call) {
                continue;
            }
            disputes += usize::from(disputed);
            let solution = self.bench.solution(&self.stage.layout.signature, fresh)?;
            for (place, written) in present {
                if let Some(refusal) = wrong(&solution, &written) {
                    return Ok(Some((place, refusal)));
                }
            }
        }
        Ok(None)
    }
}

/// Decoys beside so many calls, where there are `decoys` beside `most`.
fn beside(calls: usize, decoys: usize, most: usize) -> usize {
    (decoys * calls).div_ceil(most.max(1))
}

/// So many numbers below another, in order, at random.
fn some_of(all: usize, count: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut left = count.min(all);
    let mut picks = Vec::with_capacity(left);
    for number in 0..all {
        if (rng.next_u64() % (all - number) as u64) < left as u64 {
            picks.push(number);
            left -= 1;
        }
    }
    picks
}

/// Why what a timed call wrote is refused.
pub(crate) fn wrong(solution: &Solution, written: &[Written<'_>]) -> Option<Refusal> {
    match solution.judge(written) {
        Outcome::Passed(_) => None,
        Outcome::Refused(mut refusal) => {
            if !refusal.evidence.is_empty() {
                refusal.evidence.push_str("; ");
            }
            refusal.evidence.push_str("a timed call, on inputs of its own");
            Some(refusal)
        }
    }
}
