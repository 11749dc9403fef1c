//! What a worker claims against what the system accounts. A worker shares its process with the candidate, so its times are
//! claims. But nobody computes without processor time, and that is kept by the system, for all threads, where the worker
//! cannot write. In: claims and processor time of each round. Out: nothing, or a refusal.
//!
//! The bound has one side: processor time may not exceed what is claimed, times the threads, and what everything around the
//! calls takes, which an empty function tells that takes turns with the others. Waiting for a processor is in neither, so
//! a busy machine accuses nobody; it only makes both scatter more. A single round decides nothing: each has a fresh
//! worker, and what most of them say must stand out from how they scatter. What is claimed too little is added to the times,
//! in a single round and in all of them, so that whoever lies a little, or in a few rounds, gains nothing either; only who
//! claims much too little is refused. What could be hidden all the same is known, and a gain that is no larger is not
//! called one.

use std::time::Duration;

use kiln_core::{Gate, Refusal};
use kiln_stats::median;

/// Rounds below which nothing is concluded.
const LEAST_ROUNDS: usize = 5;
/// Standard errors that what most rounds say must stand out by, and by how many deviations a single one.
const STANDS_OUT: f64 = 3.0;
/// A share of a claim that may be hidden without a word: the ledger is no finer.
const UNNOTICED: f64 = 0.05;
/// What the threads of a parallel region may spin after it, in seconds, each.
const SPINNING: f64 = 4e-3;
/// What a thread that was waited for may do after the call has returned, in seconds: it goes back to sleep, and the processor
/// from one thread to another. In most rounds that is below 5 us, beside other work up to three times as much. It is let pass
/// for as many at most; for more of them it is added to the times, but nobody is refused for it.
const GOING_TO_SLEEP: f64 = 15e-6;
const MOST_OTHERS: usize = 4;

/// Time beyond the claim that is let pass.
#[derive(Debug, Clone, Copy)]
struct Slack {
    /// A share of the claim,
    share: f64,
    /// of what everything around it takes,
    around: f64,
    /// and seconds for each question: after a kernel caches are colder than after an empty function.
    each: f64,
}

impl Slack {
    const NONE: Slack = Slack { share: 0.0, around: 0.0, each: 0.0 };

    /// Of a claim, and what everything around it takes.
    fn of(self, claimed: f64, around: f64) -> f64 {
        self.share * claimed + self.around * around + self.each
    }
}

/// Of processor time: in some thirty honest kernels the medians of rounds were apart from an empty function's by 2 us at most
/// where calls took up to half a millisecond, and by a tenth of a per cent where they took more.
const OF_PROCESSOR: Slack = Slack { share: 0.02, around: 0.04, each: 3e-6 };
/// After real work caches are colder than after an empty function, on a machine that others use much colder: so much more
/// before anybody is refused.
const OF_COLD: Slack = Slack { share: 0.03, around: 0.4, each: 0.0 };
/// Where time is what the parent waited: waking up takes a while. Several threads do not wake up at once: so much more before
/// anybody is refused.
const OF_PARENT: Slack = Slack { share: 0.02, around: 0.05, each: 10e-6 };
const OF_WAKING: Slack = Slack { share: 0.06, around: 0.1, each: 20e-6 };
/// On a device that takes longer.
const ON_DEVICE: Slack = Slack { share: 0.08, around: 0.15, each: 100e-6 };

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
    /// Threads the worker has beside its first.
    pub(crate) others: usize,
    /// What was left out of the time that the parent waited, because threads had no processor. Who had it is not known.
    pub(crate) left_out: f64,
    /// The least that the parent waited beyond the claim of a sample.
    pub(crate) least: f64,
}

/// One sample: its claim, what the parent waited until all was over, and what was left out of that, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Wall {
    pub(crate) claimed: f64,
    pub(crate) waited: f64,
    pub(crate) left_out: f64,
}

impl Account {
    /// Of samples. A host that is busy makes some of them wait longer, so that the one in the middle counts.
    pub(crate) fn waited(samples: &[Wall]) -> Account {
        let rests: Vec<f64> = samples.iter().map(|wall| wall.waited - wall.claimed).collect();
        let claimed = samples.iter().map(|wall| wall.claimed).sum();
        let left_out = samples.iter().map(|wall| wall.left_out).sum();
        let questions = u32::try_from(samples.len()).unwrap_or(u32::MAX);
        let spent = claimed + median(&rests).unwrap_or(0.0) * f64::from(questions);
        let least = rests.iter().copied().reduce(f64::min).unwrap_or(0.0);
        Account { claimed, spent, questions, open: None, others: 0, left_out, least }
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
    slack: Slack,
    /// What more is let pass before anybody is refused; it is added to the times.
    more: Slack,
    /// Whether time is what the parent waited, and not what the system accounts.
    waited: bool,
    /// Whether others may make it wait without anybody knowing: programs that share a GPU have it in turns, for milliseconds
    /// each. Whoever hides work hides it in every sample, so only what even the quickest of a round shows is held against
    /// anybody; what most of them show is added to the times all the same.
    shared: bool,
}

impl Accounts {
    /// Those of processor time.
    pub(crate) fn of_processor() -> Accounts {
        Accounts { rounds: Vec::new(), slack: OF_PROCESSOR, more: OF_COLD, waited: false, shared: false }
    }

    /// Those of what the parent waited: where several threads may work, processor time says little about how long.
    pub(crate) fn of_parent() -> Accounts {
        Accounts { rounds: Vec::new(), slack: OF_PARENT, more: OF_WAKING, waited: true, shared: false }
    }

    /// The same of foreign code on a device.
    pub(crate) fn on_device() -> Accounts {
        Accounts { rounds: Vec::new(), slack: ON_DEVICE, more: Slack::NONE, waited: true, shared: true }
    }

    /// Why the claims are not believed.
    pub(crate) fn doubt(&self, threads: usize) -> Option<Refusal> {
        let rest = |own: &Account| if self.shared { own.least } else { own.rest(threads) };
        let books = self.books_by(threads, &rest)?;
        if books.middle <= books.room + books.more + STANDS_OUT * books.error {
            return None;
        }
        let against = books.unexplained.iter().filter(|unexplained| **unexplained > books.room).count();
        let (claimed, all) = (books.claimed, books.claimed + books.middle);
        Some(Refusal {
            gate: Gate::WorkerProtocol,
            rule: String::new(),
            measured: format!("timed calls of {} by the worker's clock", shown(claimed)),
            limit: match self.waited {
                true => format!("at least the {} that kiln waited for them", shown(all)),
                false => format!("at least the {} of processor time they took", shown(all)),
            },
            evidence: format!("in {against} of {} rounds, each with a fresh worker", books.unexplained.len()),
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
        let Some(books) = self.books(threads) else { return vec![1.0; self.rounds.len()] };
        let limit = books.room + STANDS_OUT * books.deviation;
        // What stands out in most of them is in all of them.
        let common = books.middle - books.room - STANDS_OUT * books.error;
        let weight = |(own, empty): &(Account, Account)| {
            let claimed = own.claimed * threads.max(1) as f64 / f64::from(own.questions.max(1));
            let unexplained = own.rest(threads) - empty.rest(1);
            if claimed > 0.0 && own.spent > 0.0 {
                1.0 + (unexplained - limit).max(common).max(0.0) / claimed
            } else {
                1.0
            }
        };
        self.rounds.iter().map(weight).collect()
    }

    /// What the parent waited for a question beyond the claim and what an empty function takes, how far that may be off, and the
    /// claim; none while there are too few rounds.
    pub(crate) fn beyond(&self) -> Option<(f64, f64, f64)> {
        self.books(1).map(|books| (books.middle, books.error, books.claimed))
    }

    /// The share of the claims that could be hidden without being noticed; none where that is little.
    pub(crate) fn hidden(&self, threads: usize) -> f64 {
        let Some(books) = self.books(threads) else { return 0.0 };
        let hidden = books.room + STANDS_OUT * books.error + books.left_out;
        let hidden = hidden / (books.own * threads.max(1) as f64).max(1e-9);
        if hidden > UNNOTICED { hidden } else { 0.0 }
    }

    /// What the rounds say together; none while there are too few.
    fn books(&self, threads: usize) -> Option<Books> {
        self.books_by(threads, &|own| own.rest(threads))
    }

    /// The same, with what an account leaves unexplained of a question told by `rest`.
    fn books_by(&self, threads: usize, rest: &dyn Fn(&Account) -> f64) -> Option<Books> {
        // Processor time of 0 was not told. What was waited may be that little when all of it was left out.
        let told = |(own, _): &&(Account, Account)| own.questions > 0 && (self.waited || own.spent > 0.0);
        let known: Vec<&(Account, Account)> = self.rounds.iter().filter(told).collect();
        if known.len() < LEAST_ROUNDS {
            return None;
        }
        let each = |of: &dyn Fn(&(Account, Account)) -> f64| known.iter().map(|round| of(round)).collect::<Vec<f64>>();
        let claimed = median(&each(&|(own, _)| own.claimed / f64::from(own.questions.max(1)))).ok()?;
        let around = median(&each(&|(_, empty)| empty.spent / f64::from(empty.questions.max(1)))).ok()?;
        // The loop's own cost is no call's.
        let own = median(&each(&|(own, empty)| {
            own.claimed / f64::from(own.questions.max(1)) - empty.claimed / f64::from(empty.questions.max(1))
        }))
        .ok()?;
        let spinning = if threads > 1 { SPINNING * threads as f64 } else { 0.0 };
        // A thread in every second round is none that calls wait for.
        let others = median(&each(&|(own, _)| own.others as f64)).ok()?.floor();
        let (few, many) = (others.min(MOST_OTHERS as f64), (others - MOST_OTHERS as f64).max(0.0));
        let asleep = |threads: f64| if self.waited { 0.0 } else { GOING_TO_SLEEP * threads };
        let room = self.slack.of(claimed, around) + spinning + asleep(few);
        let more = self.more.of(claimed, around) + asleep(many);
        let left_out = median(&each(&|(own, _)| own.left_out / f64::from(own.questions.max(1)))).ok()?;
        let unexplained = each(&|(own, empty)| rest(own) - empty.rest(1));
        let middle = median(&unexplained).ok()?;
        let apart: Vec<f64> = unexplained.iter().map(|one| (one - middle).abs()).collect();
        // Of a normal distribution, the median's distance is 0.67 deviations, and a median's error 1.25 of a mean's.
        let deviation = median(&apart).ok()? / 0.6745;
        let error = 1.25 * deviation / (unexplained.len() as f64).sqrt();
        Some(Books { unexplained, middle, deviation, error, claimed, own, room, more, left_out })
    }
}

/// What the rounds say together, in seconds of one question.
struct Books {
    /// Of each round, the time that neither claims nor an empty function's explain.
    unexplained: Vec<f64>,
    /// The middle one, how far the others are from it, and how far it may be off.
    middle: f64,
    deviation: f64,
    error: f64,
    /// What calls are claimed to take, mostly; and without the loop around them.
    claimed: f64,
    own: f64,
    /// What may be unexplained; and what more may be before anybody is refused.
    room: f64,
    more: f64,
    /// What was left out of what the parent waited.
    left_out: f64,
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
            let own = Account { claimed, spent: spent + 5e-4 + noise, questions: 5, ..Account::default() };
            let noise = scatter * ((number + 2) % 5) as f64;
            let empty = Account { claimed: 1e-6, spent: 6.51e-4 + noise, questions: 5, ..Account::default() };
            (own, empty)
        };
        Accounts { rounds: (0..rounds).map(round).collect(), ..Accounts::of_processor() }
    }

    #[test]
    fn honest_claims_are_believed_however_busy_the_machine_is() {
        assert_eq!(accounts(1e-3, 1.15e-3, 20, 0.0).doubt(1), None);
        // A machine that takes the processor away: claims are longer than processor time.
        assert_eq!(accounts(9e-3, 1.15e-3, 20, 0.0).doubt(1), None);
        // Questions that cost 5 us more than they did for the empty function.
        assert_eq!(accounts(1e-3, 1.175e-3, 20, 0.0).doubt(1), None);
        // Questions that cost anything from 30 us to a millisecond.
        assert_eq!(accounts(1e-3, 1.15e-3, 20, 1e-3).doubt(1), None);
        // Two threads.
        assert_eq!(accounts(1e-3, 2.1e-3, 20, 0.0).doubt(2), None);
    }

    #[test]
    fn a_thread_that_is_waited_for_may_go_to_sleep_afterwards() {
        let with = |others: usize| {
            let mut some = accounts(5e-4, 7.5e-4, 20, 0.0);
            some.rounds.iter_mut().for_each(|(own, _)| own.others = others);
            some
        };
        // 20 us of each question; nobody but another thread explains that, and it could be hidden then.
        assert!(with(0).weights(1)[0] > 1.05 && with(1).weights(1)[0] == 1.0);
        assert!(with(1).hidden(1) > with(0).hidden(1) + 0.1);
        assert_eq!(with(100).hidden(1), with(MOST_OTHERS).hidden(1));
    }

    #[test]
    fn a_pool_of_many_threads_is_slower_but_not_refused() {
        // 64 threads that take 4 us each to go back to sleep.
        let mut pool = accounts(5e-4, 5e-4 + 1.5e-4 + 5.0 * 64.0 * 4e-6, 20, 0.0);
        assert!(pool.doubt(1).is_some());
        pool.rounds.iter_mut().for_each(|(own, _)| own.others = 64);
        assert_eq!(pool.doubt(1), None);
        assert!(pool.weights(1)[3] > 1.5, "{:?}", pool.weights(1));
    }

    #[test]
    fn what_is_left_out_for_want_of_a_processor_could_be_hidden() {
        let of = |claim: f64, left_out: f64| {
            let wall = |claimed: f64, waited: f64, left_out: f64| Wall { claimed, waited: waited - left_out, left_out };
            let own = Account::waited(&[wall(1e-3 * claim, 1.05e-3, left_out); 5]);
            let empty = Account::waited(&[wall(1e-6, 5e-5, 0.0); 5]);
            Accounts { rounds: vec![(own, empty); 10], ..Accounts::of_parent() }
        };
        let honest = of(1.0, 0.0);
        assert!(honest.doubt(1).is_none() && honest.hidden(1) < 0.06 && honest.weights(1)[0] == 1.0);
        // A quarter of what it takes: refused, unless its own threads seem to have waited for a processor all the time.
        assert!(of(0.25, 0.0).doubt(1).is_some());
        let queued = of(0.25, 0.75e-3);
        assert!(queued.doubt(1).is_none() && queued.hidden(1) > 3.0, "{}", queued.hidden(1));
        // Even where nothing is left.
        assert!(of(0.25, 1.05e-3).hidden(1) > 4.0);
        // A tenth less is not refused, but counts.
        let little = of(0.93, 0.0);
        assert!(little.doubt(1).is_none() && little.weights(1)[0] > 1.02, "{:?}", little.weights(1));
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
        let wall = |claimed: f64, waited: f64| Wall { claimed, waited, left_out: 0.0 };
        let samples = |claim: f64| -> Vec<Wall> {
            (0..5).map(|i| wall(1.5e-3 * claim, 1.9e-3 + if i == 3 { 9e-3 } else { i as f64 * 1e-5 })).collect()
        };
        let empty = Account::waited(&[wall(2e-4, 6e-4), wall(2e-4, 6.1e-4), wall(2e-4, 30e-3)]);
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
    fn who_shares_a_gpu_is_not_refused_for_the_turns_of_others() {
        // Samples of 20 ms, and up to 8 ms until this program has its turn again and sees the end.
        let wall = |claimed: f64, waited: f64| Wall { claimed, waited, left_out: 0.0 };
        let empty = Account::waited(&[wall(2e-4, 6e-4); 5]);
        let of = |claim: f64| {
            let turn = |i: usize| (i * 5 % 8) as f64 * 1e-3;
            let round =
                |r: usize| -> Vec<Wall> { (0..5).map(|i| wall(20e-3 * claim, 20.4e-3 + turn(r + i))).collect() };
            Accounts { rounds: (0..6).map(|r| (Account::waited(&round(r)), empty)).collect(), ..Accounts::on_device() }
        };
        assert_eq!(of(1.0).doubt(1), None);
        // It counts as longer instead, and whoever hides half of every sample is refused all the same.
        assert!(of(1.0).weights(1).iter().any(|weight| *weight > 1.0));
        assert!(of(0.5).doubt(1).is_some());
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
        assert!(weights[1] == 1.0 && weights[0] * 2e-4 > 0.85e-3 && weights[0] * 2e-4 < 1e-3, "{weights:?}");
    }

    #[test]
    fn who_claims_a_little_less_in_every_round_gains_nothing_and_is_not_refused() {
        // A tenth of 200 us: what the ledger lets pass, of which `hidden` speaks, and nothing more.
        let some = accounts(0.9e-3, 1.15e-3, 20, 0.0);
        assert_eq!(some.doubt(1), None);
        let (weight, hidden) = (some.weights(1)[7], some.hidden(1));
        assert!(weight > 1.04 && 0.9 * weight * (1.0 + hidden) > 0.999, "{weight} {hidden}");
        // Honest work whose caches are cold afterwards: 50 us in a worker that spends 130 us around its questions.
        let cold = accounts(1e-2, 1.04e-2, 20, 0.0);
        assert!(cold.doubt(1).is_none() && cold.weights(1)[0] < 1.01, "{:?}", cold.weights(1));
    }

    #[test]
    fn claims_below_processor_time_are_refused() {
        let refusal = accounts(1e-4, 1.15e-3, 20, 0.0).doubt(1).unwrap();
        assert_eq!(refusal.gate, Gate::WorkerProtocol);
        assert!(refusal.measured.contains("20.0 us"), "{}", refusal.measured);
        assert!(refusal.limit.contains("200.0 us"), "{}", refusal.limit);
        assert!(accounts(0.5e-3, 1.15e-3, 20, 2e-5).doubt(1).is_some());
        // A third of 200 us is enough.
        assert!(accounts(0.65e-3, 1.15e-3, 20, 1e-6).doubt(1).is_some());
        // Who lies in every second worker.
        let mut some = accounts(1e-3, 1.15e-3, 20, 0.0);
        some.rounds.iter_mut().step_by(2).for_each(|(own, _)| own.claimed = 2e-4);
        some.rounds[1].0.claimed = 2e-4;
        assert!(some.doubt(1).is_some());
    }

    #[test]
    fn what_could_be_hidden_is_known() {
        // Of 400 us a few, of 20 us about as many; of those a part is worth a word.
        assert_eq!(accounts(2e-3, 2.15e-3, 20, 0.0).hidden(1), 0.0);
        let short = accounts(1e-4, 2.5e-4, 20, 0.0);
        assert!((0.3..0.5).contains(&short.hidden(1)), "{}", short.hidden(1));
        // Scatter hides more, and more rounds less.
        let scattered = |rounds: usize| {
            let mut some = accounts(1e-3, 1.15e-3, rounds, 0.0);
            let noise = |(number, (own, _)): (usize, &mut (Account, Account))| own.spent += 2e-4 * (number % 3) as f64;
            some.rounds.iter_mut().enumerate().for_each(noise);
            some.hidden(1)
        };
        assert!(scattered(6) > 1.5 * scattered(99) && scattered(99) > 0.0, "{} {}", scattered(6), scattered(99));
    }
}
