//! Several subjects against each other. In: subjects, workloads, how many rounds. Out: samples round by round. In every round
//! each subject has fresh memory, and a fresh worker unless that has a device, so that where things happen to lie is part of
//! the noise and not of the result; within a round the subjects take turns in random order. Here is how that goes on a
//! processor, with `bout` for one round; `device_duel` has it for GPUs. Who claims less time than the system accounts is
//! refused after all rounds.

use std::time::Instant;

use kiln_core::{DeviceState, Fault, Outcome, Refusal};
use kiln_judge::{Distribution, Key};
use kiln_stats::{Block, Comparison, Reason, Thresholds, Verdict, median};

use crate::bench::Bench;
use crate::drawing::generator;
use crate::duels::account::Accounts;
use crate::duels::bout::{Played, Round, Tally};
use crate::duels::device_duel::on_device;
use crate::duels::scrutiny::{Checked, Scrutiny, notes};
use crate::questions::draws::Draws;
use crate::questions::stage::Stage;
use crate::workers::seat::Seat;
use crate::workers::subject::Subject;

/// Rounds at the beginning in which some call is held against the reference in any case, and how often after them.
const FIRST_CHECKED: usize = 3;
const CHECKED_EVERY: usize = 4;
/// Rounds that are added while claims are doubted, and rounds after which a doubt stands.
const HEARD: usize = 5;
const SURE: usize = 20;
/// Rounds that a duel has even where there is no time for them: with fewer nothing can be told.
pub const LEAST_ROUNDS: usize = 5;
/// The share of interrupted batches from which on a machine is called busy.
const BUSY: f64 = 0.2;

/// Seconds below which two times on a GPU are not told apart. A process's memory lies well or badly for as long as it lives:
/// in 691 comparisons of a kernel of 6.4 us with itself the medians were apart by up to 0.32 us.
const TOLD_APART: f64 = 0.35e-6;

/// A comparison that calls the candidate faster only where that is more than it could have hidden from the system's accounts.
pub fn believed(mut comparison: Comparison, hidden: f64) -> Comparison {
    if comparison.verdict == Verdict::Faster && comparison.speedup_ci95.low <= 1.0 + hidden {
        comparison.verdict = Verdict::TooNoisy;
        comparison.reasons = vec![Reason::CouldBeHidden { interval: comparison.speedup_ci95, share: hidden }];
    }
    comparison
}

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
#[derive(Debug)]
pub struct Duel<'a, S = Subject> {
    /// Names and subjects.
    pub subjects: &'a [(String, S)],
    /// Rounds, each with fresh workers.
    pub rounds: usize,
    /// Samples of each subject in a round.
    pub samples: usize,
    /// What it is for, in words.
    pub purpose: &'a str,
    /// After this no round is begun, once there are [`LEAST_ROUNDS`].
    pub deadline: Option<Instant>,
}

impl<S> Duel<'_, S> {
    /// Whether it is to end after that many rounds, for want of time.
    pub(crate) fn is_late(&self, rounds: usize) -> bool {
        rounds >= LEAST_ROUNDS && self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

// Derived, both would ask as much of the subjects.
impl<S> Clone for Duel<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Duel<'_, S> {}

/// Samples of one subject on one workload in one round.
#[derive(Debug, Clone, PartialEq)]
pub struct Turns {
    /// Seconds of one call.
    pub samples: Vec<f64>,
    /// Calls in each sample.
    pub calls: u32,
    /// For each sample its place among all samples of the round; empty where that is not known.
    pub order: Vec<u32>,
}

/// Samples by workload, by round, by subject.
pub type Rounds = Vec<Vec<Vec<Turns>>>;

/// What a duel gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Fought {
    /// The samples.
    pub rounds: Rounds,
    /// By workload, what was checked of the first subject's calls.
    pub scrutiny: Vec<Scrutiny>,
    /// By workload and subject, names of the kernels it ran on a GPU, as far as they are known.
    pub kernels: Vec<Vec<Vec<String>>>,
    /// By workload and subject, how the GPU was doing; empty where nobody looked.
    pub states: Vec<Vec<Vec<DeviceState>>>,
}

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
    on_round: impl FnMut(usize),
    more: impl Fn(&Rounds) -> usize,
) -> Result<Result<Fought, Lost>, Fault> {
    match plan.subjects.iter().any(|(_, subject)| subject.on_device()) {
        true => on_device(bench, stages, plan, on_round, more),
        false => on_processor(bench, stages, plan, on_round, more),
    }
}

/// With workers that are new in every round.
fn on_processor(
    bench: &Bench<'_>,
    stages: &[Stage<'_>],
    plan: Duel<'_>,
    mut on_round: impl FnMut(usize),
    more: impl Fn(&Rounds) -> usize,
) -> Result<Result<Fought, Lost>, Fault> {
    let mut rounds: Rounds = vec![Vec::with_capacity(plan.rounds); stages.len()];
    // Processor time of each subject, and what the parent waited.
    let fresh = (Accounts::of_processor(), Accounts::of_parent());
    let mut accounts: Vec<Vec<(Accounts, Accounts)>> = vec![vec![fresh; plan.subjects.len()]; stages.len()];
    let mut empties = empties(bench, &plan)?;
    let mut draws = stages.iter().map(|stage| Draws::new(bench, stage)).collect::<Result<Vec<_>, _>>()?;
    let (mut tally, mut checked) = (Tally::default(), vec![Checked::default(); stages.len()]);
    let threads = bench.settings.threads;
    let (mut planned, mut round) = (plan.rounds, 0);
    // Who knows the seed must not know which call is the last of its row, nor which sets are called.
    let unknown = Key::secret()?.number(0);
    while round < planned {
        let mut rng = generator(bench.settings.seed ^ unknown, &["turns", plan.purpose], round as u64);
        let mut seats: Vec<Seat> = Vec::with_capacity(plan.subjects.len());
        for (place, (_, subject)) in plan.subjects.iter().enumerate() {
            match bench.seating().take(subject)? {
                Outcome::Passed(seat) => seats.push(seat),
                Outcome::Refused(refusal) => {
                    return Ok(Err(Lost { subject: place, refusal, workload: String::new() }));
                }
            }
        }
        let parts = stages.iter().zip(&mut draws).zip(rounds.iter_mut().zip(&mut accounts)).zip(&mut checked);
        for (((stage, draws), (found, accounts)), seen) in parts {
            bench.go_on()?;
            let checked = round < FIRST_CHECKED || round.is_multiple_of(CHECKED_EVERY);
            let (rng, tally) = (&mut rng, &mut tally);
            let played = match (Round { bench, stage, plan: &plan, draws, rng, tally, seen, checked })
                .play(&mut seats, &mut empties)?
            {
                Ok(played) => played,
                Err(lost) => return Ok(Err(lost)),
            };
            let mut turns = Vec::with_capacity(played.len());
            for (Played { turns: one, accounts: of_processor, waited }, accounts) in played.into_iter().zip(accounts) {
                turns.push(one);
                accounts.0.rounds.push(of_processor);
                accounts.1.rounds.push(waited);
            }
            found.push(turns);
        }
        round += 1;
        on_round(round);
        if plan.is_late(round) {
            planned = round;
        } else if round == planned {
            planned += more(&rounds);
        }
        if round == planned {
            let doubted = |(own, waited): &(Accounts, Accounts)| {
                own.doubt(threads).is_some() || (threads > 1 && waited.doubt(1).is_some())
            };
            planned += unheard(&plan, &accounts, round, doubted);
        }
    }
    remark(bench, &plan, &tally);
    for ((stage, accounts), found) in stages.iter().zip(&accounts).zip(&mut rounds) {
        for (place, (account, waited)) in accounts.iter().enumerate() {
            // With one thread processor time says it all, and does not depend on who else uses the machine.
            let late = || if threads > 1 { waited.doubt(1) } else { None };
            match account.doubt(threads).or_else(late) {
                // Baselines are what is measured against: what they claim is their owner's concern.
                Some(refusal) if is_candidate(&plan.subjects[place].0) => {
                    return Ok(Err(Lost { subject: place, refusal, workload: stage.name().into() }));
                }
                Some(_) => {}
                None => {
                    // Of several threads processor time tells less than what was waited.
                    let weights = if threads > 1 { waited.weights(1) } else { account.weights(threads) };
                    for (turns, weight) in found.iter_mut().zip(weights) {
                        turns[place].samples.iter_mut().for_each(|seconds| *seconds *= weight);
                    }
                }
            }
        }
    }
    let mut found = fought(bench, stages, rounds, checked);
    for (scrutiny, accounts) in found.scrutiny.iter_mut().zip(&accounts) {
        let hidden = |(account, waited): &(Accounts, Accounts)| match threads {
            1 => account.hidden(1),
            _ => waited.hidden(1),
        };
        scrutiny.hidden = accounts.first().map_or(0.0, hidden);
        if scrutiny.hidden > 0.0 {
            let share = 100.0 * scrutiny.hidden;
            scrutiny.notes.push(match threads {
                1 => format!(
                    "calls this short are timed by the system only to within {share:.0} %: smaller gains do not count as faster"
                ),
                _ => format!(
                    "the time of these threads is known only to within {share:.0} % (they waited for processors, or calls are short): \
                     smaller gains do not count as faster"
                ),
            });
        }
    }
    Ok(Ok(found))
}

/// Rounds to add before a candidate is refused for its claims: a suspicion is no verdict until enough workers were heard.
pub(crate) fn unheard<A>(plan: &Duel<'_>, accounts: &[Vec<A>], round: usize, doubted: impl Fn(&A) -> bool) -> usize {
    let doubted = |accounts: &Vec<A>| {
        accounts.iter().zip(plan.subjects).any(|(account, (name, _))| is_candidate(name) && doubted(account))
    };
    if round < SURE && accounts.iter().any(doubted) { HEARD.min(SURE - round) } else { 0 }
}

/// Whether a subject of this name is one whose claims are judged.
pub(crate) fn is_candidate(name: &str) -> bool {
    !name.starts_with("baseline")
}

/// Samples with what they rest on.
pub(crate) fn fought(bench: &Bench<'_>, stages: &[Stage<'_>], rounds: Rounds, checked: Vec<Checked>) -> Fought {
    let scrutiny = stages.iter().zip(checked).map(|(stage, checked)| Scrutiny {
        checked,
        notes: notes(bench, stage),
        hidden: 0.0,
    });
    let (kernels, states) = (vec![Vec::new(); stages.len()], vec![Vec::new(); stages.len()]);
    Fought { rounds, scrutiny: scrutiny.collect(), kernels, states }
}

/// A worker with an empty function for each subject, of the same kind.
fn empties(bench: &Bench<'_>, plan: &Duel<'_>) -> Result<Vec<(Subject, Seat)>, Fault> {
    let mut empties: Vec<(Subject, Seat)> = Vec::with_capacity(plan.subjects.len());
    for empty in plan.subjects.iter().filter_map(|(_, subject)| subject.emptied()) {
        match bench.seating().take(&empty)? {
            Outcome::Passed(seat) => empties.push((empty, seat)),
            Outcome::Refused(refusal) => return Err(Fault::new("starting an empty function", refusal.measured)),
        }
    }
    Ok(empties)
}

/// What a reader of the result should know about how it was come by.
fn remark(bench: &Bench<'_>, plan: &Duel<'_>, tally: &Tally) {
    if tally.interrupted as f64 > BUSY * tally.batches as f64 {
        bench.note(format!(
            "{}: the machine is busy, {} of {} timed batches were interrupted; the time others had the processor is left \
             out, but intervals are wider than on a quiet machine",
            plan.purpose, tally.interrupted, tally.batches
        ));
    }
}
