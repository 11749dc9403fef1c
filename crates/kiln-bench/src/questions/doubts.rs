//! Questions that are no questions. In: workloads set up. Out: a fault when an answer that takes no work would pass, notes
//! where little is checked: the correct answer is trivial on these inputs, or does not depend on some of them.

use kiln_core::Fault;
use kiln_judge::{Exam, Filler, Inputs, Null, Outside, Precision, Signature, Slot, ignored};

use crate::bench::Bench;
use crate::drawing::derive;
use crate::questions::stage::Stage;

/// Further questions before two that have one answer are taken for a check that proves nothing: a single bit is the same
/// in all of them once in 100,000 times.
const FURTHER: u64 = 16;

impl Bench<'_> {
    /// A check that an empty answer would pass proves nothing.
    pub(crate) fn question_the_questions(&self) -> Result<(), Fault> {
        for stage in &self.stages {
            for null in stage.exams.iter().flat_map(|exam| exam.nulls()) {
                self.doubt(stage, &null)?;
            }
            if let [first, second, ..] = stage.exams.as_slice()
                && let Some(null) = self.same_for_all(stage, first, second)?
            {
                self.doubt(stage, &null)?;
                if !have_the_same_inputs(first, second) {
                    let why = "the correct answer is the same for other inputs: a kernel that ignores them would pass";
                    let fault = Fault::new(format!("checking {}", null.output), why);
                    return Err(fault.hint("choose inputs that matter, with range or init"));
                }
            }
        }
        // The smallest will do: what is computed is the same for all.
        match self.stages.first() {
            Some(stage) => self.look_for_ignored(stage),
            None => Ok(()),
        }
    }

    /// An answer that passes whatever the inputs are. One output may well be the same for all of them, but not every one;
    /// and a few numbers may be alike by chance, so that further questions are drawn before that is believed.
    fn same_for_all(&self, stage: &Stage<'_>, first: &Exam, second: &Exam) -> Result<Option<Null>, Fault> {
        let alike = |other: &Exam| {
            let nulls = first.null_of(other);
            let passes = nulls.iter().all(|null| null.passes);
            nulls.into_iter().next().filter(|_| passes)
        };
        let mut found = alike(second);
        for number in 0..FURTHER {
            // Inputs that never differ have one answer, however often it is asked for.
            if found.is_none() || (number == 0 && have_the_same_inputs(first, second)) {
                break;
            }
            let draw = (first.distribution(), derive(first.seed(), &["another"], number));
            let other = self.helped(stage, |answers, filler| stage.layout.exam(&self.rules, draw, answers, filler))?;
            found = other.map_or(found, |other| alike(&other));
        }
        Ok(found)
    }

    fn doubt(&self, stage: &Stage<'_>, null: &Null) -> Result<(), Fault> {
        if let Some(fault) = null.fault() {
            return Err(fault);
        }
        if let Some(note) = null.note() {
            let on = if stage.name().is_empty() { String::new() } else { format!("workload {}: ", stage.name()) };
            self.note(format!("{on}{note}"));
        }
        Ok(())
    }

    fn look_for_ignored(&self, stage: &Stage<'_>) -> Result<(), Fault> {
        let (Some(exam), signature) = (stage.exams.first(), &stage.layout.signature) else { return Ok(()) };
        for name in self.helped(stage, |answers, filler| ignored(signature, &self.rules, exam, answers, filler))? {
            self.note(format!("the correct answer does not depend on `{name}`: a kernel that ignores it would pass"));
        }
        Ok(())
    }

    /// Does what needs right answers and inputs from outside kiln, where this kernel has any.
    fn helped<T>(&self, stage: &Stage<'_>, act: impl FnOnce(Option<Outside<'_>>, Option<Filler<'_>>) -> T) -> T {
        let ask = |s: &Signature, i: &Inputs, p: Precision| self.answer(s, i, p);
        let fill = |slot: &Slot, seed: u64| crate::questions::filling::filled(self, slot, stage.workload, seed);
        let answers: Option<Outside<'_>> = if self.asks_reference() { Some(&ask) } else { None };
        let filler: Option<Filler<'_>> = if self.kernel.has_fillings() { Some(&fill) } else { None };
        act(answers, filler)
    }
}

/// Whether two questions have the same inputs.
fn have_the_same_inputs(first: &Exam, second: &Exam) -> bool {
    let (inputs, others) = (first.inputs(), second.inputs());
    inputs.tensors().eq(others.tensors())
}
