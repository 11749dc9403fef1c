//! Several subjects against each other on a GPU. In: subjects, workloads, how many rounds. Out: samples round by round, and
//! what they rest on. `device_bout` has one round.
//!
//! Kernels keep their worker and are loaded once more for every round: what they work with lives in device memory, which is
//! fresh in every round, and so are their variables there. Foreign code (Python, host launchers) has a process of its own in
//! which nobody else was before, and works in memory that another process keeps. Its claims about time are held against what
//! the parent waited, with an empty function beside it that tells what everything around a sample takes.

use std::sync::atomic::Ordering;

use kiln_core::{Fault, Outcome};
use kiln_judge::Key;

use crate::bench::Bench;
use crate::drawing::generator;
use crate::duels::account::{Account, Accounts};
use crate::duels::alone::charges;
use crate::duels::device_bout::{Bout, Course, Entry, rehearse};
use crate::duels::duel::{Duel, Fought, Lost, Rounds, Turns, fought, is_candidate, unheard};
use crate::duels::scrutiny::Checked;
use crate::questions::stage::Stage;
use crate::surroundings::clocks::Watch;
use crate::workers::ran::{Ran, remarks};
use crate::workers::seat::Seat;
use crate::workers::subject::Subject;

/// What the parent may wait for a sample of one function longer than for another's: seconds, and a share of the sample. What
/// most rounds say must stand out by so many errors.
const WAITED: f64 = 15e-6;
const WAITED_SHARE: f64 = 0.01;
const STANDS_OUT: f64 = 3.0;
/// A share of the time that could be hidden, from which on it is mentioned.
const WORTH_A_WORD: f64 = 0.05;

/// Functions that do nothing, one for each kind of foreign code.
struct Empties {
    entries: Vec<(Subject, Seat)>,
    /// For each subject the one of its kind; none for kernels that kiln launches itself.
    of: Vec<Option<usize>>,
}

impl Empties {
    fn new(bench: &Bench<'_>, plan: &Duel<'_>) -> Result<Empties, Fault> {
        let mut empties = Empties { entries: Vec::new(), of: Vec::with_capacity(plan.subjects.len()) };
        for (_, subject) in plan.subjects {
            let Some(empty) = subject.emptied().filter(|_| subject.is_foreign()) else {
                empties.of.push(None);
                continue;
            };
            let known = empties.entries.iter().position(|(one, _)| *one == empty);
            let place = match known {
                Some(place) => place,
                None => match bench.seating().take_kept(&empty)? {
                    Outcome::Passed(seat) => {
                        empties.entries.push((empty, seat));
                        empties.entries.len() - 1
                    }
                    Outcome::Refused(refusal) => {
                        return Err(Fault::new("starting an empty function", refusal.measured));
                    }
                },
            };
            empties.of.push(Some(place));
        }
        Ok(empties)
    }
}

/// With workers that keep their place.
pub(crate) fn on_device(
    bench: &Bench<'_>,
    stages: &[Stage<'_>],
    plan: Duel<'_>,
    mut on_round: impl FnMut(usize),
    more: impl Fn(&Rounds) -> usize,
) -> Result<Result<Fought, Lost>, Fault> {
    let mut rounds: Rounds = vec![Vec::with_capacity(plan.rounds); stages.len()];
    let mut empties = Empties::new(bench, &plan)?;
    let sides = plan.subjects.len() + empties.entries.len();
    let mut courses = stages.iter().map(|_| Course::new(sides)).collect::<Result<Vec<_>, _>>()?;
    let mut accounts: Vec<Vec<Accounts>> = vec![vec![Accounts::on_device(); plan.subjects.len()]; stages.len()];
    let (mut planned, mut round) = (plan.rounds, 0);
    let before = bench.seating().retaken.load(Ordering::Relaxed);
    let mut seats: Vec<Seat> = Vec::with_capacity(plan.subjects.len());
    let mut watch = bench.gpu.as_ref().and_then(|gpu| Watch::of(&gpu.uuid, plan.subjects.len()));
    // Who knows the seed must not know which call is the last of its row, nor which is checked.
    let unknown = Key::secret()?.number(0);
    while round < planned {
        let mut rng = generator(bench.settings.seed ^ unknown, &["turns", plan.purpose], round as u64);
        if let Some(lost) = seat_all(bench, stages, &plan, &mut seats)? {
            return Ok(Err(lost));
        }
        let parts = stages.iter().zip(&mut rounds).zip(&mut courses).zip(&mut accounts).enumerate();
        for (workload, (((stage, found), course), accounts)) in parts {
            bench.go_on()?;
            if let Some(watch) = &mut watch {
                watch.go_on(workload, round);
            }
            let mut entries: Vec<Entry<'_>> = Vec::with_capacity(sides);
            for ((name, subject), seat) in plan.subjects.iter().zip(&mut seats) {
                entries.push(Entry { subject, seat, candidate: is_candidate(name) });
            }
            for (subject, seat) in &mut empties.entries {
                entries.push(Entry { subject, seat, candidate: false });
            }
            let judged = plan.subjects.len();
            let bout = Bout { bench, stage, samples: plan.samples, judged, round };
            match bout.play(&mut entries, course, &mut rng, watch.as_mut())? {
                Ok(turns) => found.push(turns),
                Err(lost) => return Ok(Err(lost)),
            }
            let waited = |entry: Entry<'_>| Account::waited(&std::mem::take(&mut entry.seat.walls));
            let mut own: Vec<Account> = entries.into_iter().map(waited).collect();
            let nothing = own.split_off(judged);
            for ((own, empty), accounts) in own.into_iter().zip(&empties.of).zip(accounts) {
                if let Some(empty) = empty.and_then(|place| nothing.get(place)) {
                    accounts.rounds.push((own, *empty));
                }
            }
        }
        round += 1;
        on_round(round);
        if plan.is_late(round) {
            planned = round;
        } else if round == planned {
            planned += more(&rounds);
        }
        if round == planned {
            planned += unheard(&plan, &accounts, round, |account| account.doubt(1).is_some());
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
    for (stage, accounts) in stages.iter().zip(&accounts) {
        for (place, account) in accounts.iter().enumerate().filter(|(place, _)| is_candidate(&plan.subjects[*place].0))
        {
            if let Some(refusal) = account.doubt(1) {
                return Ok(Err(Lost { subject: place, refusal, workload: stage.name().into() }));
            }
        }
    }
    let mut charged = charge(&plan, &courses, &mut rounds);
    let mut hidden = Vec::with_capacity(stages.len());
    for ((notes, accounts), rounds) in charged.iter_mut().zip(&accounts).zip(&mut rounds) {
        let (more, share) = charge_waits(&plan, accounts, rounds);
        notes.extend(more);
        hidden.push(share);
    }
    // Of every side as many calls are checked, and none is compared with another side's.
    let of = |(course, rounds): (&Course, &Vec<Vec<Turns>>)| {
        let own = rounds.iter().filter_map(|turns| turns.first());
        let timed = own.map(|turns| turns.samples.len() as u64 * u64::from(turns.calls)).sum();
        Checked::of(timed, 0, course.checked)
    };
    let checked = courses.iter().zip(&rounds).map(of).collect();
    let mut found = fought(bench, stages, rounds, checked);
    for ((course, scrutiny), kernels) in courses.iter().zip(&mut found.scrutiny).zip(&mut found.kernels) {
        let first = plan.subjects.first().map(|(_, subject)| bench.seating().required_of(subject));
        scrutiny.notes.extend(remarks(plan.subjects, &course.ran, &first.unwrap_or_default()));
        *kernels = course.ran.iter().take(plan.subjects.len()).map(Ran::shown).collect();
    }
    if let Some(watch) = &watch {
        found.states = (0..stages.len()).map(|workload| watch.states(workload)).collect();
    }
    for ((scrutiny, notes), hidden) in found.scrutiny.iter_mut().zip(charged).zip(hidden) {
        scrutiny.notes.extend(notes);
        scrutiny.hidden = hidden;
    }
    Ok(Ok(found))
}

/// Adds to the times of candidates what their calls take longer alone than those of others do, and says so, by workload.
/// Baselines are what is measured against: what they gain in rows is not held against them.
fn charge(plan: &Duel<'_>, courses: &[Course], rounds: &mut Rounds) -> Vec<Vec<String>> {
    let of = |(course, rounds): (&Course, &mut Vec<Vec<Turns>>)| {
        let charges = charges(&course.alone[..plan.subjects.len()]);
        let own = charges.iter().zip(plan.subjects).enumerate();
        let own = own.filter(|(_, (seconds, (name, _)))| **seconds > 0.0 && is_candidate(name));
        let note = |(place, (seconds, (name, _))): (usize, (&f64, &(String, Subject)))| {
            rounds.iter_mut().for_each(|turns| turns[place].samples.iter_mut().for_each(|sample| *sample += seconds));
            let longer = 1e6 * seconds;
            format!(
                "{name}: a call by itself takes {longer:.1} us longer than in a row, beyond what others do; that was added"
            )
        };
        own.map(note).collect()
    };
    courses.iter().zip(rounds).map(of).collect()
}

/// Adds to the times of foreign candidates what the parent waited for them beyond their claims and beyond what it waited for
/// foreign baselines, and says so: a process that tells too little, by however little, gains nothing. What could be hidden
/// without being added is known: the share of it in the first subject's claims is the second part of what is returned.
fn charge_waits(plan: &Duel<'_>, accounts: &[Accounts], rounds: &mut [Vec<Turns>]) -> (Vec<String>, f64) {
    let beyond: Vec<Option<(f64, f64, f64)>> = accounts.iter().map(Accounts::beyond).collect();
    let named = || plan.subjects.iter().map(|(name, _)| name.as_str()).enumerate();
    let others = named().filter(|(_, name)| !is_candidate(name)).filter_map(|(place, _)| beyond[place]);
    let (usual, unsure) =
        others.fold((0.0, 0.0), |most, (middle, error, _)| if middle > most.0 { (middle, error) } else { most });
    let (mut notes, mut hidden) = (Vec::new(), 0.0);
    for (place, name) in named().filter(|(_, name)| is_candidate(name)) {
        let Some((middle, error, claimed)) = beyond[place] else { continue };
        let more = middle - usual;
        let room = WAITED + WAITED_SHARE * claimed + STANDS_OUT * error.hypot(unsure);
        if place == 0 {
            hidden = room / claimed.max(1e-9);
        }
        if more <= room {
            continue;
        }
        for turns in rounds.iter_mut().map(|turns| &mut turns[place]) {
            let each = more / f64::from(turns.calls.max(1));
            turns.samples.iter_mut().for_each(|sample| *sample += each);
        }
        let longer = 1e6 * more;
        notes.push(format!("{name}: a sample took {longer:.0} us longer than its process says; that was added"));
    }
    if hidden > WORTH_A_WORD {
        let share = 100.0 * hidden;
        notes.push(format!(
            "the time of foreign code is known only to within {share:.0} % here (short samples, or a GPU that others use): \
             smaller gains do not count as faster"
        ));
    }
    (notes, hidden)
}

/// A seat for everybody who has none, and kernels loaded anew for those who have. Who was refused, if somebody was.
fn seat_all(
    bench: &Bench<'_>,
    stages: &[Stage<'_>],
    plan: &Duel<'_>,
    seats: &mut Vec<Seat>,
) -> Result<Option<Lost>, Fault> {
    // What is done for one is done for all: otherwise their times would not compare.
    let foreign = plan.subjects.iter().any(|(_, subject)| subject.is_foreign());
    // Whoever works on the processor has a fresh worker in every round, and then so has everybody.
    if !seats.iter().all(Seat::on_device) {
        seats.clear();
    }
    for (place, (_, subject)) in plan.subjects.iter().enumerate() {
        let seated = match seats.get_mut(place) {
            Some(_) if subject.is_foreign() => Outcome::Passed(()),
            Some(seat) => seat.load(subject)?,
            None => {
                let taken = if foreign { bench.seating().take_kept(subject) } else { bench.seating().take(subject) };
                match taken? {
                    Outcome::Passed(mut seat) => {
                        let settled = settle(stages, subject, &mut seat)?;
                        seats.push(seat);
                        settled
                    }
                    Outcome::Refused(refusal) => Outcome::Refused(refusal),
                }
            }
        };
        if let Outcome::Refused(refusal) = seated {
            return Ok(Some(Lost { subject: place, refusal, workload: String::new() }));
        }
    }
    Ok(None)
}

/// Has a Python function compile what it needs on all workloads, and takes from its process what only compilers need.
fn settle(stages: &[Stage<'_>], subject: &Subject, seat: &mut Seat) -> Result<Outcome<()>, Fault> {
    if !matches!(subject, Subject::Python { device: true, .. }) {
        return Ok(Outcome::Passed(()));
    }
    for stage in stages {
        passed!(rehearse(stage, subject, seat)?);
    }
    seat.tighten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duels::account::Wall;

    /// Rounds of samples that took so long and were claimed to take so long, beside an empty function's.
    fn accounts(claimed: f64, waited: f64) -> Accounts {
        let samples = |claimed: f64, waited: f64| Account::waited(&[Wall { claimed, waited, left_out: 0.0 }; 5]);
        let mut accounts = Accounts::on_device();
        accounts.rounds = vec![(samples(claimed, waited), samples(1e-6, 2e-4)); 10];
        accounts
    }

    #[test]
    fn what_a_process_does_not_report_is_added() {
        let names = ["candidate", "baseline torch"];
        let subjects = names.map(|name| (name.to_string(), Subject::nothing()));
        let plan = Duel { subjects: &subjects, rounds: 10, samples: 5, purpose: "test", deadline: None };
        let charged = |claimed: f64| {
            let turns = |claimed: f64| Turns { samples: vec![claimed / 10.0; 5], calls: 10, order: vec![] };
            let mut rounds = vec![vec![turns(claimed), turns(2e-3)]; 10];
            // Both take 2.25 ms, of which 50 us are neither claimed nor an empty function's.
            let accounts = [accounts(claimed, 2.25e-3), accounts(2e-3, 2.25e-3)];
            let (notes, hidden) = charge_waits(&plan, &accounts, &mut rounds);
            // Samples repeat exactly here: what is left is the room itself.
            assert!((hidden - (WAITED / claimed + WAITED_SHARE)).abs() < 1e-9, "{hidden}");
            let added = notes.iter().filter(|note| note.contains("that was added")).count();
            (rounds[3][0].samples[2], rounds[3][1].samples[2], added)
        };
        assert_eq!(charged(2e-3), (2e-4, 2e-4, 0));
        // A hundredth and 15 us are how well it is known.
        assert_eq!(charged(1.98e-3).2, 0);
        for claimed in [1.8e-3, 1e-3, 1e-5] {
            let (own, other, notes) = charged(claimed);
            assert!((own - 2e-4).abs() < 1e-9 && (other, notes) == (2e-4, 1), "{claimed}: {own}");
        }
    }
}
