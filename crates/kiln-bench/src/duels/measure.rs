//! Timing a subject that is loaded, mapped and known to be right. In: a seat. Out: a pace (how many calls make a sample) and
//! samples.

use kiln_core::{Fault, Outcome};
use kiln_judge::Fresh;
use kiln_run::Drawing;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::questions::tray::Tray;
use crate::workers::seat::Seat;

/// A sample takes at least this long, thousands of times the clock's resolution.
pub(crate) const SAMPLE_SECONDS: f64 = 400e-6;
/// Warm-up ends after this long, stable or not.
const WARM_UP_SECONDS: f64 = 0.15;
/// Warm-up samples that must agree before it ends earlier.
const STABLE: usize = 3;
/// What agreeing means.
const AGREE: f64 = 0.05;
/// Calls shorter than this are made once untimed before a sample when somebody else ran in between.
pub(crate) const PRIMED_BELOW: f64 = 5e-3;
/// Calls at least this long are laid and timed one at a time: nothing of the next one's arguments is there while they run.
pub(crate) const ALONE: f64 = 100e-6;
/// A sample takes no longer than this, unless a single call does.
const LONGEST: f64 = 20e-3;
/// Warm-up samples at most: of a short kernel on a busy machine hardly any agree.
const MOST_WARM_UPS: usize = 50;
/// Calls in a batch at most, and batches in a sample, and the bytes of all their arguments beyond those of one call.
const MOST_CALLS: usize = 1024;
const MOST_BATCHES: usize = 8;
const MOST_BYTES: usize = 8 << 20;

/// For each call of a batch so many sets lie beside it that no call has, as far as these bytes of a sample go. Who computes
/// ahead computes those too, since nobody can tell them apart.
const DECOYS: usize = 3;
const DECOY_BYTES: usize = 4 << 20;

/// One row of calls in so many is cut short.
const CUT_EVERY: u32 = 4;

/// How many sets of arguments samples may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sets {
    /// Calls in a batch at most: as many as leave room in the cache.
    pub(crate) calls: usize,
    /// Batches in a sample at most.
    pub(crate) batches: usize,
}

impl Sets {
    /// For sets of so many bytes, where half of a private cache is that large.
    pub(crate) fn of(bytes: usize, cache: usize) -> Sets {
        let calls = (cache / bytes.max(1)).clamp(1, MOST_CALLS);
        let batches = (MOST_BYTES / bytes.saturating_mul(calls).max(1)).clamp(1, MOST_BATCHES);
        Sets { calls, batches }
    }

    /// Sets that lie side by side at most, decoys included, for sets of so many bytes.
    pub(crate) fn together(self, bytes: usize) -> usize {
        self.calls + (DECOYS * self.calls).min(DECOY_BYTES / bytes.max(1))
    }

    /// Decoys beside the calls that lie together at that pace: none where calls are made one at a time.
    pub(crate) fn decoys(pace: &Pace, bytes: usize) -> usize {
        match pace.together() {
            1 => 0,
            calls => (DECOYS * calls).min(DECOY_BYTES / bytes.max(1) / pace.lays()),
        }
    }

    /// For calls of so many seconds: no more than make a sample long enough.
    pub(crate) fn pace(self, estimate: f64) -> Pace {
        let wanted = calls_for(estimate) as usize;
        let calls = wanted.clamp(1, self.calls);
        let batches = wanted.div_ceil(calls).clamp(1, self.batches);
        Pace { calls: calls as u32, batches: batches as u32, estimate }
    }
}

/// How a subject is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pace {
    /// Calls in a batch.
    pub(crate) calls: u32,
    /// Batches in a sample.
    pub(crate) batches: u32,
    /// Seconds of one call, roughly.
    pub(crate) estimate: f64,
}

impl Pace {
    /// Calls in a sample, each on a set of arguments of its own.
    pub(crate) fn sets(&self) -> usize {
        self.calls as usize * self.batches as usize
    }

    /// How many of them are laid and timed together.
    pub(crate) fn together(&self) -> usize {
        if self.estimate >= ALONE { 1 } else { self.calls.max(1) as usize }
    }

    /// How often something would be laid for one sample if as much as possible lay together.
    pub(crate) fn lays(&self) -> usize {
        self.sets().div_ceil(self.together()).max(1)
    }

    /// How many calls are laid and timed together, one lay of a sample after another. Neither that nor their sum is to be
    /// known to a subject: it would put its work off to the last call, and do all of it at once.
    pub(crate) fn pieces(&self, rng: &mut impl Rng) -> Vec<usize> {
        let (mut pieces, mut left) = (Vec::new(), self.sets());
        loop {
            let piece = some_calls(self.together(), rng);
            if piece > left {
                return if pieces.is_empty() { vec![left.max(1)] } else { pieces };
            }
            left -= piece;
            pieces.push(piece);
        }
    }
}

/// Calls to make in a row where so many could be: mostly all of them, but one row in a few ends with any call, and nobody
/// knows which. Who puts work off is found out long before it gains. Were more rows short, more would be lost around them.
pub(crate) fn some_calls(most: usize, rng: &mut impl Rng) -> usize {
    match rng.next_u32() % CUT_EVERY {
        0 => 1 + rng.next_u64() as usize % most.max(1),
        _ => most.max(1),
    }
}

/// Calls on some inputs, again and again, until times are stable. They are not kept.
pub(crate) fn settle_pace(
    seat: &mut Seat,
    tray: &mut Tray,
    warm: &[Fresh],
    sets: Sets,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome<Pace>, Fault> {
    tray.prepare(warm.iter(), rng);
    let mut times: Vec<f64> = Vec::new();
    let (mut calls, mut spent) = (1, 0.0);
    let mut pace;
    seat.account();
    loop {
        // As before: what a call leaves may be what the next one reads.
        seat.lay_sets(tray, &[]);
        let taken = passed!(seat.time(1, calls)?);
        spent += taken.iter().sum::<f64>() * f64::from(calls);
        times.extend(taken);
        let account = seat.account();
        let recent = &times[times.len().saturating_sub(STABLE)..];
        let low = recent.iter().copied().fold(f64::INFINITY, f64::min);
        let high = recent.iter().copied().fold(0.0, f64::max);
        // Who only waits while it is warmed up is not to have samples of a single call: what it runs decides, as long as
        // samples do not get too long.
        let runs = if account.spent > 0.0 { account.spent / f64::from(calls) } else { low };
        let most = (LONGEST / low.max(1e-9)).clamp(1.0, 1e6) as u32;
        let wanted = sets.pace(low.min(runs)).calls;
        calls = wanted.min(most.max(sets.pace(low).calls));
        pace =
            Pace { calls, batches: if calls < wanted { 1 } else { sets.pace(low.min(runs)).batches }, estimate: low };
        let stable = recent.len() == STABLE && high <= low * (1.0 + AGREE);
        if stable || spent > WARM_UP_SECONDS || times.len() > MOST_WARM_UPS {
            return Ok(Outcome::Passed(pace));
        }
    }
}

/// Calls on a device until times are stable, each on numbers of its own: no more in a sample than `sets`, and as many as
/// make it `seconds` long.
pub(crate) fn warm_up(
    seat: &mut Seat,
    sets: u32,
    seconds: f64,
    mut draw: impl FnMut() -> Option<Drawing>,
) -> Result<Outcome<Pace>, Fault> {
    let mut times: Vec<f64> = Vec::new();
    let mut calls = 1;
    let mut spent = 0.0;
    loop {
        // Samples are short and questions are not.
        let taken = passed!(seat.time_drawn(STABLE as u32, calls, draw())?);
        spent += taken.iter().sum::<f64>() * f64::from(calls);
        times.extend(taken);
        let recent = &times[times.len().saturating_sub(STABLE)..];
        let low = recent.iter().copied().fold(f64::INFINITY, f64::min);
        let high = recent.iter().copied().fold(0.0, f64::max);
        let enough = (seconds / low.max(1e-9)).ceil().clamp(1.0, f64::from(sets)) as u32;
        // About as many as before are as many: others would be another graph.
        let settled = (0.7..=1.3).contains(&(f64::from(calls) / f64::from(enough)));
        let stable = high <= low * (1.0 + AGREE);
        calls = if settled { calls } else { enough };
        if (settled && stable) || spent > WARM_UP_SECONDS || times.len() > MOST_WARM_UPS {
            return Ok(Outcome::Passed(Pace { calls, batches: 1, estimate: low }));
        }
    }
}

/// Calls that make a sample long enough.
fn calls_for(seconds: f64) -> u32 {
    (SAMPLE_SECONDS / seconds.max(1e-9)).ceil().clamp(1.0, 1e6) as u32
}

/// One sample of a subject that takes turns with others on a device, and what its calls read.
pub(crate) fn turn(
    seat: &mut Seat,
    pace: Pace,
    draw: impl FnMut(usize) -> Option<Drawing>,
) -> Result<Outcome<(f64, Option<Drawing>)>, Fault> {
    if !seat.is_cold() {
        passed!(prime(seat, pace)?);
    }
    seat.sample(pace.calls, draw)
}

/// The same of fewer calls than make a sample, with nothing but the call itself left to warm up.
pub(crate) fn cut_short(
    seat: &mut Seat,
    (pace, calls): (Pace, u32),
    draw: impl FnMut(usize) -> Option<Drawing>,
) -> Result<Outcome<(f64, Option<Drawing>)>, Fault> {
    passed!(prime(seat, pace)?);
    seat.sample(calls, draw)
}

/// One call on what was there before, unless calls take so long that it does not matter.
fn prime(seat: &mut Seat, pace: Pace) -> Result<Outcome<()>, Fault> {
    if pace.estimate < PRIMED_BELOW { seat.call() } else { Ok(Outcome::Passed(())) }
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn sets_fit_the_cache_and_samples_are_long_enough_where_they_can() {
        let small = Sets::of(4 << 10, 1 << 20);
        assert_eq!((small.calls, small.batches), (256, 8));
        assert_eq!((small.pace(1e-6).calls, small.pace(1e-6).batches), (256, 2));
        assert_eq!((small.pace(1e-3).calls, small.pace(1e-3).batches), (1, 1));
        assert_eq!((small.pace(1e-9).calls, small.pace(1e-9).batches), (256, 8));
        let large = Sets::of(64 << 20, 1 << 20);
        assert_eq!((large.calls, large.batches), (1, 1));
    }

    #[test]
    fn nobody_knows_which_call_of_a_sample_is_the_last() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let lengths = |pace: Pace, rng: &mut ChaCha8Rng| (0..400).map(|_| pace.pieces(rng)).collect::<Vec<_>>();
        for (calls, batches) in [(2, 1), (8, 1), (100, 3), (256, 8)] {
            let pace = Pace { calls, batches, estimate: 1e-6 };
            let seen = lengths(pace, &mut rng);
            for pieces in &seen {
                let (all, most) = (pieces.iter().sum::<usize>(), pieces.iter().max().copied().unwrap_or(0));
                assert!(all >= 1 && all <= pace.sets() && most <= pace.together());
                assert!(all + pace.together() > pace.sets(), "{pieces:?} of {calls} x {batches}");
            }
            let mut firsts: Vec<usize> = seen.iter().map(|pieces| pieces[0]).collect();
            let mut sums: Vec<usize> = seen.iter().map(|pieces| pieces.iter().sum()).collect();
            for counts in [&mut firsts, &mut sums] {
                counts.sort_unstable();
                counts.dedup();
                assert!(counts.len() > (calls as usize / 2).min(20), "{counts:?} of {calls} x {batches}");
            }
        }
        // A call that is timed alone is the last one anyway.
        let alone = Pace { calls: 3, batches: 2, estimate: 1e-3 };
        assert!(lengths(alone, &mut rng).iter().all(|pieces| pieces == &[1; 6]));
    }

    #[test]
    fn short_calls_are_batched_and_long_ones_are_not() {
        assert!((400..=401).contains(&calls_for(1e-6)));
        assert_eq!(calls_for(1e-3), 1);
        assert!((400_000..=400_001).contains(&calls_for(0.0)));
    }
}
