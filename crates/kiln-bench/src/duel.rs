//! Several subjects against each other. In: subjects, workloads, how many rounds. Out: samples round by round. In every round
//! each subject has fresh memory, and a fresh worker unless that has a device, so that where things happen to lie is part of
//! the noise and not of the result; within a round the subjects take turns in random order. What becomes of a round on a
//! processor is `bout`'s, on a GPU `device_bout`'s. Who claims less time than the system accounts is refused here, after
//! all rounds on a processor.

use std::sync::atomic::Ordering;

use kiln_core::{Fault, Outcome, Refusal};
use kiln_judge::Distribution;
use kiln_stats::{Block, Thresholds, median};

use crate::account::Accounts;
use crate::bench::Bench;
use crate::bout::{Played, Round, Tally};
use crate::clocks::Watch;
use crate::device_bout::{Course, device_bout};
use crate::drawing::generator;
use crate::draws::Draws;
use crate::ran::{Ran, remarks};
use crate::scrutiny::{Checked, Scrutiny, notes};
use crate::seat::Seat;
use crate::stage::Stage;
use crate::subject::Subject;

/// Rounds at the beginning in which some call is held against the reference in any case, and how often after them.
const FIRST_CHECKED: usize = 3;
const CHECKED_EVERY: usize = 4;
/// The share of interrupted batches from which on a machine is called busy.
const BUSY: f64 = 0.2;

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
    let mut accounts: Vec<Vec<Accounts>> = vec![vec![Accounts::default(); plan.subjects.len()]; stages.len()];
    let mut empties = empties(bench, &plan)?;
    let mut draws = stages.iter().map(|stage| Draws::new(bench, stage)).collect::<Result<Vec<_>, _>>()?;
    let (mut tally, mut checked) = (Tally::default(), vec![Checked::default(); stages.len()]);
    let (mut planned, mut round) = (plan.rounds, 0);
    while round < planned {
        let mut rng = generator(bench.settings.seed, &["turns", plan.purpose], round as u64);
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
            for (Played { turns: one, account, empty }, accounts) in played.into_iter().zip(accounts) {
                turns.push(one);
                accounts.rounds.push((account, empty));
            }
            found.push(turns);
        }
        round += 1;
        on_round(round);
        if round == planned {
            planned += more(&rounds);
        }
    }
    remark(bench, &plan, &tally);
    // Baselines are what is measured against: what they claim is their owner's concern.
    let judged = |place: &usize| is_candidate(&plan.subjects[*place].0);
    for (stage, accounts) in stages.iter().zip(&accounts) {
        for place in (0..plan.subjects.len()).filter(judged) {
            if let Some(refusal) = accounts[place].doubt(bench.settings.threads) {
                return Ok(Err(Lost { subject: place, refusal, workload: stage.name().into() }));
            }
        }
    }
    Ok(Ok(fought(bench, stages, rounds, checked)))
}

/// Whether a subject of this name is one whose claims are judged.
pub(crate) fn is_candidate(name: &str) -> bool {
    !name.starts_with("baseline")
}

/// Samples with what they rest on.
fn fought(bench: &Bench<'_>, stages: &[Stage<'_>], rounds: Rounds, checked: Vec<Checked>) -> Fought {
    let scrutiny = stages.iter().zip(checked).map(|(stage, checked)| Scrutiny { checked, notes: notes(bench, stage) });
    Fought { rounds, scrutiny: scrutiny.collect(), kernels: vec![Vec::new(); stages.len()] }
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

/// With workers that keep their place: what a subject works with lives in device memory, which is fresh in every round.
fn on_device(
    bench: &Bench<'_>,
    stages: &[Stage<'_>],
    plan: Duel<'_>,
    mut on_round: impl FnMut(usize),
    more: impl Fn(&Rounds) -> usize,
) -> Result<Result<Fought, Lost>, Fault> {
    let mut rounds: Rounds = vec![Vec::with_capacity(plan.rounds); stages.len()];
    let mut courses = stages.iter().map(|_| Course::new(plan.subjects.len())).collect::<Result<Vec<_>, _>>()?;
    let mut planned = plan.rounds;
    let mut round = 0;
    let before = bench.seating().retaken.load(Ordering::Relaxed);
    let mut seats: Vec<Seat> = Vec::with_capacity(plan.subjects.len());
    let foreign = plan.subjects.iter().any(|(_, subject)| subject.is_foreign());
    let mut watch = bench.gpu.as_ref().and_then(|gpu| Watch::of(&gpu.uuid, plan.subjects.len()));
    while round < planned {
        let mut rng = generator(bench.settings.seed, &["turns", plan.purpose], round as u64);
        // A worker with a device keeps its place, and loads its kernels once more: what they work with lives in device
        // memory, which is fresh in every round, and so are their variables there. Foreign code cannot be loaded anew in
        // the same process, which is the duel's own.
        let stay = !seats.is_empty() && seats.iter().all(Seat::on_device);
        if !stay {
            seats.clear();
        }
        for (place, (_, subject)) in plan.subjects.iter().enumerate() {
            let seated = match seats.get_mut(place) {
                Some(_) if subject.is_foreign() => Outcome::Passed(()),
                Some(seat) => seat.load(subject)?,
                // What is done for one is done for all: otherwise their times would not compare.
                None if foreign => bench.seating().take_kept(subject)?.map(|seat| seats.push(seat)),
                None => bench.seating().take(subject)?.map(|seat| seats.push(seat)),
            };
            if let Outcome::Refused(refusal) = seated {
                return Ok(Err(Lost { subject: place, refusal, workload: String::new() }));
            }
        }
        for ((stage, found), course) in stages.iter().zip(&mut rounds).zip(&mut courses) {
            bench.go_on()?;
            match device_bout((bench, stage, &plan), &mut seats, course, round, &mut rng, watch.as_mut())? {
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
    // Of every side as many calls are checked, and none is compared with another side's.
    let of = |(course, rounds): (&Course, &Vec<Vec<Turns>>)| {
        let own = rounds.iter().filter_map(|turns| turns.first());
        let timed = own.map(|turns| turns.samples.len() as u64 * u64::from(turns.calls)).sum();
        Checked::of(timed, 0, course.checked / plan.subjects.len().max(1) as u64)
    };
    let checked = courses.iter().zip(&rounds).map(of).collect();
    let mut found = fought(bench, stages, rounds, checked);
    for ((course, scrutiny), kernels) in courses.iter().zip(&mut found.scrutiny).zip(&mut found.kernels) {
        scrutiny.notes.extend(remarks(plan.subjects, &course.ran, &bench.seating().required));
        *kernels = course.ran.iter().map(Ran::shown).collect();
    }
    Ok(Ok(found))
}
