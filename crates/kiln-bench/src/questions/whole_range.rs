//! Wrong, or asked what it was not made for? A kernel file that says nothing about integers gets them from the whole range of
//! their type. In: a candidate that failed such a question. Out: nothing when it also fails on small integers; a fault about
//! the file when it is right there: what look like keys are then indices, counts or flags.

use kiln_core::{Fault, Gate, Outcome, Refusal};
use kiln_judge::Distribution;

use crate::bench::Bench;
use crate::questions::stage::Stage;
use crate::workers::seating::Seating;
use crate::workers::subject::Subject;

impl<'a> Bench<'a> {
    /// The same for a workload the bench itself has set up.
    pub(crate) fn doubt_the_file_on(
        &mut self,
        subject: &Subject,
        refusal: &Refusal,
        workload: &str,
    ) -> Result<(), Fault> {
        let Some(at) = self.stages.iter().position(|stage| stage.name() == workload) else { return Ok(()) };
        // Taken out for the while: the bench is needed too.
        let mut stage = self.stages.remove(at);
        let doubt = self.doubt_the_file(&mut stage, self.seating(), subject, refusal);
        self.stages.insert(at, stage);
        doubt
    }

    /// A fault when a candidate failed only because its integers came from the whole range of their type.
    pub(crate) fn doubt_the_file(
        &self,
        stage: &mut Stage<'a>,
        seating: &Seating,
        subject: &Subject,
        refusal: &Refusal,
    ) -> Result<(), Fault> {
        let names: Vec<(String, &str)> =
            stage.layout.signature.assumed().map(|slot| (slot.name.clone(), slot.dtype.name())).collect();
        // What the question with small ones asks about.
        let small = if names.iter().all(|(_, dtype)| dtype.starts_with('u')) { "0 to 4" } else { "-4 to 4" };
        // Where somebody was right on such integers, they are what the kernel is for.
        let answered =
            self.answered || self.stages.iter().chain([&*stage]).any(|s| s.exams.iter().any(|exam| exam.was_passed()));
        let Some((name, dtype)) = names.first().filter(|_| !answered && is_about_answers(refusal.gate)) else {
            return Ok(());
        };
        let seed = stage.exams.first().map_or(0, |exam| exam.seed());
        let which = stage.exams.len();
        if !self.add_question(stage, Distribution::Small, seed)? {
            return Ok(());
        }
        let right = answers(stage, seating, subject, which);
        stage.exams.truncate(which);
        if !right? {
            return Ok(());
        }
        let all: Vec<String> = names.iter().map(|(name, _)| format!("`{name}`")).collect();
        let why = format!(
            "no range is stated for {}, so its integers came from the whole range of {dtype}; with integers from {small} the \
             answer is right, with these it is refused ({}: {})",
            all.join(" and "),
            refusal.gate,
            refusal.measured
        );
        let fault = Fault::new(format!("checking with integers of {name}"), why);
        Err(fault.hint(format!(
            "state what {name} holds: range = [lo, hi], as in range = [0, \"N - 1\"] for indices, or init = \
             \"file.py:function\""
        )))
    }
}

/// Whether a subject answers one question right, in a worker of its own: the last one may have crashed.
fn answers(stage: &mut Stage<'_>, seating: &Seating, subject: &Subject, which: usize) -> Result<bool, Fault> {
    let Outcome::Passed(mut seat) = seating.take(subject)? else { return Ok(false) };
    stage.fit(subject.config())?;
    let Outcome::Passed(()) = stage.map(&mut seat, subject)? else { return Ok(false) };
    Ok(matches!(stage.answer(which, &mut seat)?, Outcome::Passed(_)))
}

/// Whether a gate looks at what a call does with its inputs.
fn is_about_answers(gate: Gate) -> bool {
    matches!(
        gate,
        Gate::RuntimeFailed
            | Gate::Timeout
            | Gate::UnwrittenOutput
            | Gate::OutOfBounds
            | Gate::InputModified
            | Gate::Nonfinite
            | Gate::Numerics
            | Gate::Nondeterministic
            | Gate::HostOom
    )
}
