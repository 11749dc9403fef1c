//! Several subjects against each other. In: subjects, workloads, how many rounds. Out: samples round by round. In every round
//! each subject has a fresh worker and fresh memory, so that where things happen to lie is part of the noise and not of the
//! result; within a round the subjects take turns in random order; after its last turn each answer is checked.

use kiln_core::{Fault, Outcome, Refusal};
use kiln_run::Arena;
use rand_chacha::ChaCha8Rng;

use crate::bench::Bench;
use crate::drawing::{generator, shuffle};
use crate::measure::{Pace, turn, warm_up};
use crate::seat::{Seat, Subject};
use crate::stage::Stage;

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

/// Measures the subjects against each other on these stages.
pub fn duel(
    bench: &Bench<'_>,
    stages: &[Stage<'_>],
    plan: Duel<'_>,
    mut on_round: impl FnMut(usize),
) -> Result<Result<Rounds, Lost>, Fault> {
    let mut rounds: Rounds = vec![Vec::with_capacity(plan.rounds); stages.len()];
    for round in 0..plan.rounds {
        let mut rng = generator(bench.settings.seed, &["turns", plan.purpose], round as u64);
        let mut seats = Vec::with_capacity(plan.subjects.len());
        for (place, (_, subject)) in plan.subjects.iter().enumerate() {
            match bench.seating().take(subject)? {
                Outcome::Passed(seat) => seats.push(seat),
                Outcome::Refused(refusal) => {
                    return Ok(Err(Lost { subject: place, refusal, workload: String::new() }));
                }
            }
        }
        for (stage, found) in stages.iter().zip(&mut rounds) {
            bench.go_on()?;
            match bout(stage, &mut seats, round, plan.samples, &mut rng)? {
                Ok(turns) => found.push(turns),
                Err(lost) => return Ok(Err(lost)),
            }
        }
        on_round(round + 1);
    }
    Ok(Ok(rounds))
}

/// One round on one workload.
fn bout(
    stage: &Stage<'_>,
    seats: &mut [Seat],
    round: usize,
    samples: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Result<Vec<Turns>, Lost>, Fault> {
    let exam = &stage.exams[round % stage.exams.len()];
    let mut arenas: Vec<Arena> = Vec::with_capacity(seats.len());
    let mut paces: Vec<Pace> = Vec::with_capacity(seats.len());
    let lost = |subject: usize, refusal: Refusal| Lost { subject, refusal, workload: stage.name().into() };
    for (place, seat) in seats.iter_mut().enumerate() {
        let mut arena = stage.layout.arena()?;
        stage.layout.lay(exam, &mut arena);
        if let Outcome::Refused(refusal) = seat.map(&stage.layout, &arena)? {
            return Ok(Err(lost(place, refusal)));
        }
        match warm_up(seat)? {
            Outcome::Passed(pace) => paces.push(pace),
            Outcome::Refused(refusal) => return Ok(Err(lost(place, refusal))),
        }
        // What the warm-up wrote must not pass for what the timed calls write.
        stage.layout.lay(exam, &mut arena);
        arenas.push(arena);
    }
    let mut order: Vec<usize> = (0..seats.len()).collect();
    let mut turns: Vec<Turns> =
        paces.iter().map(|pace| Turns { samples: Vec::with_capacity(samples), calls: pace.calls }).collect();
    for _ in 0..samples {
        shuffle(&mut order, rng);
        for place in &order {
            match turn(&mut seats[*place], paces[*place])? {
                Outcome::Passed(seconds) => turns[*place].samples.push(seconds),
                Outcome::Refused(refusal) => return Ok(Err(lost(*place, refusal))),
            }
        }
    }
    for (place, arena) in arenas.iter().enumerate() {
        if let Outcome::Refused(refusal) = exam.judge(stage.layout.seen(arena)) {
            return Ok(Err(lost(place, refusal)));
        }
    }
    Ok(Ok(turns))
}
