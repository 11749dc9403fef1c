//! What a worker claims against what the system accounts. A worker shares its process with the candidate, so its times are
//! claims. But nobody computes without processor time, and that is kept by the system, for all threads, where the worker
//! cannot write. In: claims and processor time of each round. Out: nothing, or a refusal.
//!
//! The bound has one side: processor time may not exceed what is claimed, times the threads, and what everything around the
//! calls takes, which an empty function tells that takes turns with the others. Waiting for a processor is in neither, so
//! a busy machine accuses nobody; it only makes both scatter more. A single round decides nothing: each has a fresh
//! worker, and the quarter of rounds that speaks most for a subject must still speak against it, or half of them loudly.
//! What a single round claims too little is added to its times, so that whoever lies in a few rounds gains nothing either.

use std::time::Duration;

use kiln_core::{Gate, Refusal};
use kiln_stats::median;

/// Rounds below which nothing is concluded.
const LEAST_ROUNDS: usize = 5;
/// Processor time beyond the claim that is let pass: a share of the claim,
const SHARE: f64 = 0.08;
/// of what everything around it takes, touching memory most of all,
const AROUND: f64 = 0.15;
/// and seconds for each question: after a kernel caches are colder than after an empty function.
const EACH: f64 = 8e-6;
/// Half of the rounds may not be beyond this many times as much: who lies in some workers only would pass otherwise.
const TIMES: f64 = 3.0;
/// What the threads of a parallel region may spin after it, in seconds, each.
const SPINNING: f64 = 4e-3;

/// The same where time is what the parent waited: waking up takes a while, and on a device longer.
const EACH_WAITED: f64 = 30e-6;
const EACH_ON_DEVICE: f64 = 100e-6;

/// Claims and processor time of one worker, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Account {
    /// What timed calls took, by the worker.
    pub(crate) claimed: f64,
    /// Processor time from before each question about times to the next question of any kind.
    pub(crate) spent: f64,
    /// Questions about times.
    pub(crate) questions: u32,
    /// Processor time when the last one was asked, until it is settled.
    pub(crate) open: Option<Duration>,
}

impl Account {
    /// Of every sample the claim, and what the parent waited until all was over. A host that is busy makes some of them wait
    /// longer, so that the one in the middle counts.
    pub(crate) fn waited(samples: &[(f64, f64)]) -> Account {
        let rests: Vec<f64> = samples.iter().map(|(claimed, waited)| waited - claimed).collect();
        let claimed = samples.iter().map(|(claimed, _)| claimed).sum();
        let questions = u32::try_from(samples.len()).unwrap_or(u32::MAX);
        let spent = claimed + median(&rests).unwrap_or(0.0) * f64::from(questions);
        Account { claimed, spent, questions, open: None }
    }

    /// Settles the last question with the processor time of now.
    pub(crate) fn settle(&mut self, now: Option<Duration>) {
        if let (Some(open), Some(now)) = (self.open.take(), now) {
            self.spent += now.saturating_sub(open).as_secs_f64();
        }
    }

    /// Processor time of one question that timed calls do not explain. What touching memory took is not left out on the
    /// worker's word: an empty function has touched as much.
    pub(crate) fn rest(&self, threads: usize) -> f64 {
        (self.spent - self.claimed * threads.max(1) as f64) / f64::from(self.questions.max(1))
    }
}

/// The accounts of one subject on one workload, a round each, and those of an empty function beside it.
#[derive(Debug, Clone)]
pub(crate) struct Accounts {
    pub(crate) rounds: Vec<(Account, Account)>,
    /// Seconds that are let pass for each question.
    each: f64,
    /// Whether time is what the parent waited, and not what the system accounts.
    waited: bool,
}

impl Accounts {
    /// Those of processor time.
    pub(crate) fn of_processor() -> Accounts {
        Accounts { rounds: Vec::new(), each: EACH, waited: false }
    }

    /// Those of what the parent waited: where several threads may work, processor time says little about how long.
    pub(crate) fn of_parent() -> Accounts {
        Accounts { rounds: Vec::new(), each: EACH_WAITED, waited: true }
    }

    /// The same of foreign code on a device.
    pub(crate) fn on_device() -> Accounts {
        Accounts { rounds: Vec::new(), each: EACH_ON_DEVICE, waited: true }
    }

    /// Why the claims are not believed.
    pub(crate) fn doubt(&self, threads: usize) -> Option<Refusal> {
        let Bounds { own, empty, claimed, limit, loud, known } = self.bounds(threads)?;
        if at(&own, 0.25) <= limit && at(&own, 0.5) <= loud {
            return None;
        }
        let against = own.iter().filter(|rest| **rest > limit).count();
        let unclaimed = median(&own).ok()? - median(&empty).ok()?;
        Some(Refusal {
            gate: Gate::WorkerProtocol,
            rule: String::new(),
            measured: format!("timed calls of {} by the worker's clock", shown(claimed)),
            limit: match self.waited {
                true => format!("at least the {} that kiln waited for them", shown(claimed + unclaimed)),
                false => format!("at least the {} of processor time they took", shown(claimed + unclaimed)),
            },
            evidence: format!("in {against} of {known} rounds, each with a fresh worker"),
            hint: Some(match threads {
                _ if self.waited => "does the function work after it returned, or touch the clock?".into(),
                0 | 1 => {
                    "does the kernel use threads, or work after it returned? --threads allows more processors".into()
                }
                _ => "does the kernel work after it returned?".into(),
            }),
        })
    }

    /// What the times of each round are to be multiplied with: a claim counts for no less than what the system accounts.
    pub(crate) fn weights(&self, threads: usize) -> Vec<f64> {
        let limit = self.bounds(threads).map_or(f64::INFINITY, |bounds| bounds.limit);
        let weight = |(own, _): &(Account, Account)| {
            let claimed = own.claimed * threads.max(1) as f64 / f64::from(own.questions.max(1));
            if claimed > 0.0 && own.spent > 0.0 { 1.0 + (own.rest(threads) - limit).max(0.0) / claimed } else { 1.0 }
        };
        self.rounds.iter().map(weight).collect()
    }

    /// What is let pass; none while there are too few rounds.
    fn bounds(&self, threads: usize) -> Option<Bounds> {
        let known: Vec<&(Account, Account)> = self.rounds.iter().filter(|(own, _)| own.spent > 0.0).collect();
        if known.len() < LEAST_ROUNDS {
            return None;
        }
        let each = |of: &dyn Fn(&(Account, Account)) -> f64| {
            let mut values: Vec<f64> = known.iter().map(|round| of(round)).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let own = each(&|(own, _)| own.rest(threads));
        let empty = each(&|(_, empty)| empty.rest(1));
        let claimed = median(&each(&|(own, _)| own.claimed / f64::from(own.questions.max(1)))).ok()?;
        let around = median(&each(&|(_, empty)| empty.spent / f64::from(empty.questions.max(1)))).ok()?;
        let spinning = if threads > 1 { SPINNING * threads as f64 } else { 0.0 };
        let (room, usual) = (SHARE * claimed + AROUND * around + self.each, at(&empty, 0.75) + spinning);
        let (limit, loud, known) = (usual + room, usual + TIMES * room, known.len());
        Some(Bounds { own, empty, claimed, limit, loud, known })
    }
}

/// What the rounds say together, in seconds of one question.
struct Bounds {
    /// Processor time that timed calls do not explain, in order; the same of the empty function.
    own: Vec<f64>,
    empty: Vec<f64>,
    /// What calls are claimed to take, mostly.
    claimed: f64,
    /// What may be unexplained, and what not even half of the rounds may exceed.
    limit: f64,
    loud: f64,
    /// Rounds that are known.
    known: usize,
}

/// The value below which that share of sorted ones lies.
fn at(sorted: &[f64], share: f64) -> f64 {
    sorted.get((share * sorted.len().saturating_sub(1) as f64).round() as usize).copied().unwrap_or(0.0)
}

fn shown(seconds: f64) -> String {
    if seconds < 1e-3 { format!("{:.1} us", seconds * 1e6) } else { format!("{:.2} ms", seconds * 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five questions a round, with half a millisecond of touching memory in all and 30 us around each.
    fn accounts(claimed: f64, spent: f64, rounds: usize, scatter: f64) -> Accounts {
        let round = |number: usize| {
            let noise = scatter * (number % 5) as f64;
            let own = Account { claimed, spent: spent + 5e-4 + noise, questions: 5, open: None };
            let noise = scatter * ((number + 2) % 5) as f64;
            let empty = Account { claimed: 1e-6, spent: 6.51e-4 + noise, questions: 5, open: None };
            (own, empty)
        };
        Accounts { rounds: (0..rounds).map(round).collect(), ..Accounts::of_processor() }
    }

    #[test]
    fn honest_claims_are_believed_however_busy_the_machine_is() {
        assert_eq!(accounts(1e-3, 1.15e-3, 20, 0.0).doubt(1), None);
        // A machine that takes the processor away: claims are longer than processor time.
        assert_eq!(accounts(9e-3, 1.15e-3, 20, 0.0).doubt(1), None);
        // Questions that cost 15 us more than they did for the empty function.
        assert_eq!(accounts(1e-3, 1.22e-3, 20, 0.0).doubt(1), None);
        // Questions that cost anything from 30 us to a millisecond.
        assert_eq!(accounts(1e-3, 1.15e-3, 20, 1e-3).doubt(1), None);
        // Two threads.
        assert_eq!(accounts(1e-3, 2.1e-3, 20, 0.0).doubt(2), None);
    }

    #[test]
    fn a_few_rounds_decide_nothing() {
        assert_eq!(accounts(1e-4, 5e-3, 4, 0.0).doubt(1), None);
        let mut some = accounts(1e-3, 1.1e-3, 20, 0.0);
        some.rounds.iter_mut().take(8).for_each(|(own, _)| own.spent = 5e-3);
        assert_eq!(some.doubt(1), None);
    }

    #[test]
    fn on_a_device_what_the_parent_waited_counts() {
        // 400 us around every sample of 1.5 ms, sometimes much more.
        let samples = |claim: f64| -> Vec<(f64, f64)> {
            (0..5).map(|i| (1.5e-3 * claim, 1.9e-3 + if i == 3 { 9e-3 } else { i as f64 * 1e-5 })).collect()
        };
        let empty = Account::waited(&[(2e-4, 6e-4), (2e-4, 6.1e-4), (2e-4, 30e-3)]);
        assert!((empty.rest(1) - 4.1e-4).abs() < 1e-9);
        let of = |claim: f64| {
            let rounds = vec![(Account::waited(&samples(claim)), empty); 6];
            Accounts { rounds, ..Accounts::on_device() }
        };
        assert_eq!(of(1.0).doubt(1), None);
        assert_eq!(of(0.95).doubt(1), None);
        let refusal = of(0.7).doubt(1).unwrap();
        assert!(refusal.limit.contains("that kiln waited"), "{}", refusal.limit);
    }

    #[test]
    fn whoever_lies_in_a_few_rounds_gains_nothing() {
        assert_eq!(accounts(1e-3, 1.15e-3, 20, 0.0).weights(1), vec![1.0; 20]);
        assert_eq!(accounts(1e-4, 5e-3, 4, 0.0).weights(1), vec![1.0; 4]);
        // A third of the rounds claims a fifth of what it takes: too few to be refused.
        let mut some = accounts(1e-3, 1.15e-3, 21, 0.0);
        some.rounds.iter_mut().step_by(3).for_each(|(own, _)| own.claimed = 2e-4);
        assert_eq!(some.doubt(1), None);
        let weights = some.weights(1);
        assert!(weights[1] == 1.0 && weights[0] * 2e-4 > 0.75e-3 && weights[0] * 2e-4 < 1e-3, "{weights:?}");
    }

    #[test]
    fn claims_below_processor_time_are_refused() {
        let refusal = accounts(1e-4, 1.15e-3, 20, 0.0).doubt(1).unwrap();
        assert_eq!(refusal.gate, Gate::WorkerProtocol);
        assert!(refusal.measured.contains("20.0 us"), "{}", refusal.measured);
        assert!(refusal.limit.contains("200.0 us"), "{}", refusal.limit);
        assert!(accounts(0.5e-3, 1.15e-3, 20, 2e-5).doubt(1).is_some());
        // Who lies in every second worker.
        let mut some = accounts(1e-3, 1.15e-3, 20, 0.0);
        some.rounds.iter_mut().step_by(2).for_each(|(own, _)| own.claimed = 2e-4);
        some.rounds[1].0.claimed = 2e-4;
        assert!(some.doubt(1).is_some());
    }
}
