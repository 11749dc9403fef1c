//! Inputs for the timed calls of a search. Every candidate has a worker of its own, which sees none of them before its timed
//! calls, so all candidates can be given the same: drawn once, under a key no worker has, and with the correct answers to
//! some of the calls, nobody knows which. In: a workload. Out: sets of arguments for one sample after another.

use kiln_core::{Fault, Outcome, Refusal};
use kiln_judge::{Fresh, Signature, Solution};
use kiln_run::MappedSlot;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::bench::Bench;
use crate::duels::account::Account;
use crate::duels::bout::wrong;
use crate::duels::measure::{Sets, some_calls};
use crate::questions::draws::Draws;
use crate::questions::stage::Stage;
use crate::questions::tray::Tray;
use crate::workers::seat::Seat;

/// Calls with right answers.
const SOLVED: usize = 3;
/// Bytes of inputs at most, unless a single call takes more; samples beyond begin anew.
const MOST_BYTES: usize = 256 << 20;
/// Processor time beyond the claims, as a share of them, from which on a candidate is ranked by the former.
const UNCLAIMED: f64 = 0.3;
/// Seconds a question may take for reasons of the machine.
const UNEXPLAINED: f64 = 50e-6;

/// Inputs, right answers to some, and memory for a sample's calls.
pub(crate) struct Supply {
    pub(crate) sets: Sets,
    /// For the warm-up, then for one sample after another.
    draws: Vec<Fresh>,
    solved: Vec<(usize, Solution)>,
    tray: Option<(Signature, Tray)>,
    noise: ChaCha8Rng,
    /// What an empty function took.
    empty: Account,
    /// Seconds of a call that does nothing.
    nothing: f64,
}

impl Supply {
    /// Draws inputs for so many samples.
    pub(crate) fn new(
        bench: &Bench<'_>,
        stage: &Stage<'_>,
        samples: usize,
        empty: Option<&mut Seat>,
    ) -> Result<Supply, Fault> {
        let (signature, slots) = (&stage.layout.signature, &stage.layout.slots[..]);
        let sets = bench.sets(signature);
        let bytes = Tray::set_bytes(signature).saturating_mul(sets.calls).max(1);
        let samples = samples.clamp(1, (MOST_BYTES / bytes).max(2));
        let mut draws = Draws::new(bench, stage)?;
        let mut noise = ChaCha8Rng::seed_from_u64(draws.secret());
        let draws = draws.take(signature, sets.calls * (1 + samples))?;
        let timed = draws.len() - sets.calls;
        let mut solved = Vec::with_capacity(SOLVED);
        for _ in 0..SOLVED.min(timed) {
            let at = sets.calls + noise.next_u64() as usize % timed;
            solved.push((at, bench.solution(signature, &draws[at])?));
        }
        let mut supply = Supply { sets, draws, solved, tray: None, noise, empty: Account::default(), nothing: 0.0 };
        if let Some(empty) = empty {
            supply.weigh(signature, slots, empty)?;
        }
        Ok(supply)
    }

    /// Finds out what everything around the calls costs.
    fn weigh(&mut self, signature: &Signature, slots: &[MappedSlot], empty: &mut Seat) -> Result<(), Fault> {
        let failed = |refusal: Refusal| Fault::new("timing an empty function", refusal.measured);
        if let Outcome::Refused(refusal) = self.map(signature, slots, empty)? {
            return Err(failed(refusal));
        }
        let calls = self.sets.calls as u32;
        for _ in 0..3 {
            empty.account();
            if let Some((tray, warm, noise)) = self.warm() {
                tray.prepare(warm.iter(), noise);
                empty.lay_sets(tray, &[]);
            }
            let order: Vec<u32> = (0..calls).collect();
            let gone = match empty.prepare_calls(&order)? {
                Outcome::Passed(()) => empty.go()?,
                Outcome::Refused(refusal) => Outcome::Refused(refusal),
            };
            match gone {
                Outcome::Passed(timing) => {
                    let all = timing.nanoseconds.first().copied().unwrap_or(0);
                    self.nothing = all as f64 * 1e-9 / f64::from(calls.max(1));
                }
                Outcome::Refused(refusal) => return Err(failed(refusal)),
            }
        }
        self.empty = empty.account();
        Ok(())
    }

    /// Gives a seat memory for its timed calls.
    pub(crate) fn map(
        &mut self,
        signature: &Signature,
        slots: &[MappedSlot],
        seat: &mut Seat,
    ) -> Result<Outcome<()>, Fault> {
        if self.tray.as_ref().is_none_or(|(of, _)| of != signature) {
            self.tray = Some((signature.clone(), Tray::new(signature, self.sets.calls)?));
        }
        match &self.tray {
            Some((_, tray)) => seat.map_sets(tray, slots.to_vec()),
            None => Ok(Outcome::Passed(())),
        }
    }

    /// What warms up: memory, inputs that are not timed, and random bytes.
    pub(crate) fn warm(&mut self) -> Option<(&mut Tray, &[Fresh], &mut ChaCha8Rng)> {
        let warm = &self.draws[..self.sets.calls.min(self.draws.len())];
        self.tray.as_mut().map(|(_, tray)| (tray, warm, &mut self.noise))
    }

    /// The sample of this number: seconds of one call, with what the calls wrote looked at.
    pub(crate) fn sample(&mut self, number: usize, calls: u32, seat: &mut Seat) -> Result<Outcome<f64>, Fault> {
        let Some((_, tray)) = &mut self.tray else { return Err(Fault::new("sampling", "no memory is mapped")) };
        let samples = (self.draws.len() / self.sets.calls.max(1)).saturating_sub(1).max(1);
        let first = (1 + number % samples) * self.sets.calls;
        let calls = some_calls(calls as usize, &mut self.noise) as u32;
        let range = first..(first + calls as usize).min(self.draws.len());
        tray.prepare(self.draws[range.clone()].iter(), &mut self.noise);
        let order: Vec<u32> = (0..calls).collect();
        passed!(seat.prepare_calls(&order)?);
        seat.lay_sets(tray, &order);
        let timing = passed!(seat.go()?);
        if !timing.returned.is_empty() {
            seat.pause();
            passed!(seat.take_returned(tray, &timing, &order)?);
            seat.resume();
        }
        let taken = tray.take();
        passed!(tray.judge(&taken));
        for (at, solution) in self.solved.iter().filter(|(at, _)| range.contains(at)) {
            if let Some(refusal) = wrong(solution, &tray.outputs(&taken, at - first)) {
                return Ok(Outcome::Refused(refusal));
            }
        }
        let seconds =
            timing.nanoseconds.first().map_or(f64::INFINITY, |ns| *ns as f64 * 1e-9 / f64::from(calls.max(1)));
        Ok(Outcome::Passed((seconds - self.nothing).max(seconds * 0.01).max(1e-10)))
    }

    /// What the times of a candidate are to be multiplied with. One that claims much less than the system accounts is not
    /// refused for it here, with a single worker, but it is ranked where it belongs.
    pub(crate) fn weight(&self, account: &Account, threads: usize) -> f64 {
        let claimed = account.claimed * threads.max(1) as f64;
        let each = account.rest(threads) - 1.5 * self.empty.rest(1).max(0.0) - UNEXPLAINED;
        let unclaimed = each * f64::from(account.questions);
        if threads > 1 || unclaimed < UNCLAIMED * claimed { 1.0 } else { 1.0 + unclaimed / claimed.max(1e-9) }
    }
}
