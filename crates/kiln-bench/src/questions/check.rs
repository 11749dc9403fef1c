//! Correctness, at three levels. Quick is for every candidate and uses questions made once; full and suite draw fresh inputs
//! nobody has seen, in several distributions and on more workloads. Every question is put to one worker: an answer that was
//! right once and then remembered is found out by the next question.

use kiln_core::{Fault, Outcome, Refusal, Workload};
use kiln_judge::{Distribution, Level, Marks, Plan};

use crate::apparatus::Apparatus;
use crate::bench::Bench;
use crate::questions::stage::{Stage, Trouble};
use crate::surroundings::watch::{PAUSE, watched};
use crate::workers::ran::{Ran, unchecked};
use crate::workers::seat::Seat;
use crate::workers::seating::Seating;
use crate::workers::subject::Subject;

/// One question's outcome.
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// The workload.
    pub workload: String,
    /// How the inputs were drawn.
    pub distribution: String,
    /// The seed of the run, to repeat it.
    pub seed: u64,
    /// How well it went, or why it was refused.
    pub outcome: Outcome<Marks>,
}

/// The quick check: two questions, and the first once more. `first` picks which is asked first.
pub(crate) fn quick(stage: &mut Stage<'_>, seat: &mut Seat, first: usize) -> Result<Outcome<()>, Fault> {
    let (before, _) = passed!(stage.answer(first, seat)?);
    passed!(stage.pose(first + 1, seat, |_, seat| seat.call())?);
    stage.answer_again(first, seat, &before)
}

/// How the inputs of each question are drawn.
pub(crate) fn questions(plan: &Plan) -> Vec<Distribution> {
    plan.distributions.iter().flat_map(|d| std::iter::repeat_n(*d, plan.sets)).collect()
}

/// Puts a subject through a level with fresh inputs, until a question is failed.
pub fn examine(
    bench: &Bench<'_>,
    subject: &Subject,
    level: Level,
    purpose: &str,
    heard: impl FnMut(&CheckReport),
) -> Result<Option<(Refusal, String)>, Trouble> {
    Ok(examine_all(bench, &[subject], level, purpose, heard)?.pop().flatten())
}

/// The same on the selected workloads alone.
pub fn examine_selected(
    bench: &Bench<'_>,
    subject: &Subject,
    level: Level,
    purpose: &str,
    heard: impl FnMut(&CheckReport),
) -> Result<Option<(Refusal, String)>, Trouble> {
    let plan = level.plan();
    let mut workloads = asked_about(bench, &[subject], &plan);
    let selected = &bench.kernel.selection.workloads;
    workloads.retain(|workload| workload.is_none_or(|workload| selected.contains(&workload)));
    Ok(put(bench, &[subject], &plan, &workloads, purpose, heard)?.pop().flatten())
}

/// Puts several subjects through the same questions, each until it fails one. Answers in double precision take longer to
/// make than to compare with, so each is made once.
pub fn examine_all<'a>(
    bench: &Bench<'a>,
    subjects: &[&Subject],
    level: Level,
    purpose: &str,
    heard: impl FnMut(&CheckReport),
) -> Result<Vec<Option<(Refusal, String)>>, Trouble> {
    let plan = level.plan();
    let workloads = asked_about(bench, subjects, &plan);
    put(bench, subjects, &plan, &workloads, purpose, heard)
}

/// Puts the questions of some workloads.
fn put<'a>(
    bench: &Bench<'a>,
    subjects: &[&Subject],
    plan: &Plan,
    workloads: &[Option<&'a Workload>],
    purpose: &str,
    mut heard: impl FnMut(&CheckReport),
) -> Result<Vec<Option<(Refusal, String)>>, Trouble> {
    let asked = bench.asked(workloads, plan)?;
    let mut failed: Vec<Option<(Refusal, String)>> = vec![None; subjects.len()];
    bench.each_stage(&asked, purpose, plan.coverage, |mut stage| {
        for (subject, failed) in subjects.iter().zip(&mut failed).filter(|(_, failed)| failed.is_none()) {
            if bench.kernel.unfit(subject.config(), stage.workload).is_some() {
                continue;
            }
            let refusal =
                on_one(bench, bench.seating(), &mut stage, subject, (plan.reruns, bench.settings.seed), &mut heard)?;
            if let Some(refusal) = &refusal {
                bench.doubt_the_file(&mut stage, bench.seating(), subject, refusal)?;
            }
            *failed = refusal.map(|refusal| (refusal, stage.name().to_string()));
        }
        Ok(failed.iter().any(Option::is_none))
    })?;
    Ok(failed)
}

/// The workloads of a level.
pub(crate) fn listed<'a>(bench: &Bench<'a>, plan: &Plan) -> Vec<Option<&'a Workload>> {
    let selection = &bench.kernel.selection;
    let target = bench.kernel.target();
    let listed = selection.spec.workloads.iter();
    let listed = listed.filter(|w| w.is_for(target) && selection.answers(w));
    let listed = listed.filter(|w| plan.workloads.includes(w.use_for) || selection.workloads.contains(w));
    let mut workloads: Vec<Option<&Workload>> = listed.map(Some).collect();
    if workloads.is_empty() {
        workloads.push(None);
    }
    workloads
}

/// The workloads of a level that some of the subjects can be used on. A rule holds for every configuration on the workloads
/// it was selected for; on others it may not, and then no question about those is put to it.
fn asked_about<'a>(bench: &Bench<'a>, subjects: &[&Subject], plan: &Plan) -> Vec<Option<&'a Workload>> {
    let mut workloads = listed(bench, plan);
    // Every subject is looked at, so that each that is left out is reported.
    workloads.retain(|workload| subjects.iter().filter(|subject| bench.fits(subject.config(), *workload)).count() > 0);
    workloads
}

/// Every question of one workload to one subject, until one is failed. The seed is the one that repeats them.
pub(crate) fn on_one(
    bench: &Bench<'_>,
    seating: &Seating,
    stage: &mut Stage<'_>,
    subject: &Subject,
    (reruns, seed): (usize, u64),
    heard: &mut impl FnMut(&CheckReport),
) -> Result<Option<Refusal>, Fault> {
    let mut seat = match seating.take(subject)? {
        Outcome::Passed(seat) => seat,
        Outcome::Refused(refusal) => return Ok(Some(refusal)),
    };
    stage.fit(subject.config())?;
    if let Outcome::Refused(refusal) = stage.map(&mut seat, subject)? {
        return Ok(Some(refusal));
    }
    let asked: Vec<Distribution> = stage.exams.iter().map(|exam| exam.distribution()).collect();
    for (which, distribution) in asked.into_iter().enumerate() {
        bench.go_on()?;
        let doing = format!("checking {} on {}, inputs {distribution}", subject.config(), stage.name());
        let outcome = watched(bench.listener, PAUSE, &doing, || question(stage, &mut seat, which, reruns))?;
        let report =
            CheckReport { workload: stage.name().into(), distribution: distribution.to_string(), seed, outcome };
        heard(&report);
        if let Outcome::Refused(mut refusal) = report.outcome {
            if !refusal.evidence.is_empty() {
                refusal.evidence.push_str("; ");
            }
            refusal.evidence.push_str(&format!("inputs {} with seed {}", report.distribution, report.seed));
            return Ok(Some(refusal));
        }
    }
    runs_its_kernels(bench, stage, &mut seat)
}

/// One sample where the file asks for kernels: calls alone do not show what they run.
fn runs_its_kernels(bench: &Bench<'_>, stage: &Stage<'_>, seat: &mut Seat) -> Result<Option<Refusal>, Fault> {
    if seat.required.is_empty() {
        return Ok(None);
    }
    seat.ran = Ran::default();
    if let Outcome::Refused(refusal) = seat.timing(1, 1)? {
        return Ok(Some(refusal));
    }
    if seat.ran.unknown {
        bench.note(format!("{}: {}", stage.name(), unchecked(&seat.required)));
    }
    Ok(None)
}

/// One question, and again, and again.
fn question(stage: &mut Stage<'_>, seat: &mut Seat, which: usize, reruns: usize) -> Result<Outcome<Marks>, Fault> {
    let (first, marks) = passed!(stage.answer(which, seat)?);
    for _ in 0..reruns {
        passed!(stage.answer_again(which, seat, &first)?);
    }
    Ok(Outcome::Passed(marks))
}
