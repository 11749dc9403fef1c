//! What a worker claims against what the system accounts. A worker shares its process with the candidate, so its times are
//! claims. But nobody computes without processor time, and that is kept by the system, for all threads, where the worker
//! cannot write. In: claims and processor time of each round. Out: nothing, or a refusal.
//!
//! The bound has one side: processor time may not exceed what is claimed, times the threads, and what everything around the
//! calls takes, which an empty function tells. Waiting for a processor is in neither, so a busy machine accuses nobody. A
//! single round decides nothing: each has a fresh worker, and most of them must say the same.

use std::time::Duration;

use kiln_core::{Gate, Refusal};
use kiln_stats::median;

/// Rounds below which nothing is concluded.
const LEAST_ROUNDS: usize = 5;
/// The share of rounds that must agree.
const MOST: f64 = 0.75;
/// Processor time beyond the claim that is let pass: a share of the claim,
const SHARE: f64 = 0.05;
/// and seconds for each question: after a kernel caches are colder than after an empty function.
const EACH: f64 = 25e-6;
/// Touching memory may take this many times what it took for the empty function.
const TOUCHING: f64 = 2.0;
/// The same where several threads work: those of a parallel region spin for a while after it, each.
const SPINNING: f64 = 4e-3;

/// Claims and processor time of one worker, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Account {
    /// What timed calls took, by the worker.
    pub(crate) claimed: f64,
    /// What it took to make ready for them, by the worker.
    pub(crate) untimed: f64,
    /// Processor time from before each question about times to the next question of any kind.
    pub(crate) spent: f64,
    /// Questions about times.
    pub(crate) questions: u32,
    /// Processor time when the last one was asked, until it is settled.
    pub(crate) open: Option<Duration>,
}

impl Account {
    /// Settles the last question with the processor time of now.
    pub(crate) fn settle(&mut self, now: Option<Duration>) {
        if let (Some(open), Some(now)) = (self.open.take(), now) {
            self.spent += now.saturating_sub(open).as_secs_f64();
        }
    }

    /// What everything around calls took, for each question.
    pub(crate) fn beside(&self) -> Beside {
        let each = |seconds: f64| seconds / f64::from(self.questions.max(1));
        Beside { touching: each(self.untimed), rest: each((self.spent - self.claimed - self.untimed).max(0.0)) }
    }

    /// Processor time beyond claims and what everything around took, as a share of the claims beyond what is let pass;
    /// above 0 it is suspicious.
    fn excess(&self, beside: Beside, threads: usize) -> f64 {
        let questions = f64::from(self.questions);
        // Its own word is the best there is for how long memory took to touch this time, within reason.
        let touching = self.untimed.min(TOUCHING * beside.touching * questions);
        let each = beside.rest + if threads > 1 { SPINNING * threads as f64 } else { EACH };
        let explained = self.claimed * threads.max(1) as f64 * (1.0 + SHARE) + touching + each * questions;
        (self.spent - explained) / self.claimed.max(1e-9)
    }
}

/// What everything around calls takes for one question, in seconds, as an empty function shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Beside {
    /// Touching memory.
    pub(crate) touching: f64,
    /// Questions and answers.
    pub(crate) rest: f64,
}

/// The accounts of one subject on one workload, a round each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Accounts {
    pub(crate) rounds: Vec<Account>,
    /// The same of an empty function, round by round.
    pub(crate) beside: Vec<Beside>,
}

impl Accounts {
    /// Why the claims are not believed.
    pub(crate) fn doubt(&self, threads: usize) -> Option<Refusal> {
        let middle = |of: fn(&Beside) -> f64| median(&self.beside.iter().map(of).collect::<Vec<_>>());
        let beside = Beside { touching: middle(|b| b.touching).ok()?, rest: middle(|b| b.rest).ok()? };
        let known: Vec<&Account> = self.rounds.iter().filter(|round| round.spent > 0.0).collect();
        if known.len() < LEAST_ROUNDS {
            return None;
        }
        let suspicious = known.iter().filter(|round| round.excess(beside, threads) > 0.0).count();
        if (suspicious as f64) < MOST * known.len() as f64 {
            return None;
        }
        let per = |of: fn(&Account) -> f64| {
            let each: Vec<f64> = known.iter().map(|round| of(round) / f64::from(round.questions.max(1))).collect();
            median(&each).unwrap_or(0.0)
        };
        let (claimed, spent) = (per(|round| round.claimed), per(|round| round.spent - round.untimed));
        Some(Refusal {
            gate: Gate::WorkerProtocol,
            rule: String::new(),
            measured: format!("timed calls of {} by the worker's clock", shown(claimed)),
            limit: format!("at least the {} of processor time they took", shown((spent - beside.rest).max(0.0))),
            evidence: format!("in {suspicious} of {} rounds, each with a fresh worker", known.len()),
            hint: Some(match threads {
                0 | 1 => {
                    "does the kernel use threads, or work after it returned? --threads allows more processors".into()
                }
                _ => "does the kernel work after it returned?".into(),
            }),
        })
    }
}

fn shown(seconds: f64) -> String {
    if seconds < 1e-3 { format!("{:.1} us", seconds * 1e6) } else { format!("{:.2} ms", seconds * 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accounts(claimed: f64, spent: f64, rounds: usize) -> Accounts {
        // Half a millisecond of touching memory.
        let account = Account { claimed, untimed: 5e-4, spent: spent + 5e-4, questions: 5, open: None };
        Accounts { rounds: vec![account; rounds], beside: vec![Beside { touching: 8e-5, rest: 30e-6 }; rounds] }
    }

    #[test]
    fn honest_claims_are_believed_however_busy_the_machine_is() {
        // Five questions of 200 us, and 30 us around each.
        assert_eq!(accounts(1e-3, 1.15e-3, 20).doubt(1), None);
        // A machine that takes the processor away: claims are longer than processor time.
        assert_eq!(accounts(9e-3, 1.15e-3, 20).doubt(1), None);
        // Questions that cost twice what they did for the empty function.
        assert_eq!(accounts(1e-3, 1.26e-3, 20).doubt(1), None);
        // Two threads.
        assert_eq!(accounts(1e-3, 2.1e-3, 20).doubt(2), None);
    }

    #[test]
    fn a_few_rounds_decide_nothing() {
        assert_eq!(accounts(1e-4, 5e-3, 4).doubt(1), None);
        let mut some = accounts(1e-3, 1.1e-3, 20);
        some.rounds.iter_mut().take(12).for_each(|round| round.spent = 5e-3);
        assert_eq!(some.doubt(1), None);
    }

    #[test]
    fn claims_below_processor_time_are_refused() {
        let refusal = accounts(1e-4, 1.15e-3, 20).doubt(1).unwrap();
        assert_eq!(refusal.gate, Gate::WorkerProtocol);
        assert!(refusal.measured.contains("20.0 us"), "{}", refusal.measured);
        assert!(refusal.limit.contains("200.0 us"), "{}", refusal.limit);
        assert!(accounts(0.7e-3, 1.15e-3, 20).doubt(1).is_some());
        // Who says that all of it went into touching memory.
        let mut touching = accounts(1e-4, 1.65e-3, 20);
        touching.rounds.iter_mut().for_each(|round| round.untimed = 2e-3);
        assert!(touching.doubt(1).is_some());
    }
}
