//! Questions that are no questions. In: workloads set up. Out: a fault when an answer that takes no work would pass, notes
//! where little is checked: the right answer is trivial on these inputs, or does not depend on some of them.

use kiln_core::Fault;
use kiln_judge::{Inputs, Null, Precision, Signature, Slot, ignored};

use crate::bench::Bench;
use crate::stage::Stage;

impl Bench<'_> {
    /// A check that an empty answer would pass proves nothing.
    pub(crate) fn question_the_questions(&self) -> Result<(), Fault> {
        for stage in &self.stages {
            for null in stage.exams.iter().flat_map(|exam| exam.nulls()) {
                self.doubt(stage, &null)?;
            }
            if let [first, second, ..] = stage.exams.as_slice() {
                let nulls = first.null_of(second);
                // One output may well be the same for all inputs, but not every one.
                if let Some(null) = nulls.first().filter(|_| nulls.iter().all(|null| null.passes)) {
                    self.doubt(stage, null)?;
                    let (inputs, others) = (first.inputs(), second.inputs());
                    if inputs.tensors().ne(others.tensors()) {
                        let why =
                            "the right answer is the same for other inputs: a kernel that ignores them would pass";
                        let fault = Fault::new(format!("checking {}", null.output), why);
                        return Err(fault.hint("choose inputs that matter, with range or init"));
                    }
                }
            }
        }
        // The smallest will do: what is computed is the same for all.
        match self.stages.first() {
            Some(stage) => self.look_for_ignored(stage),
            None => Ok(()),
        }
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
        let ask = |s: &Signature, i: &Inputs, p: Precision| self.answer(s, i, p);
        let fill = |slot: &Slot, seed: u64| crate::filling::filled(self, slot, stage.workload, seed);
        let outside: Option<kiln_judge::Outside<'_>> = if self.asks_reference() { Some(&ask) } else { None };
        let filler: Option<kiln_judge::Filler<'_>> = if self.kernel.has_fillings() { Some(&fill) } else { None };
        for name in ignored(signature, &self.rules, exam, outside, filler)? {
            self.note(format!("the right answer does not depend on `{name}`: a kernel that ignores it would pass"));
        }
        Ok(())
    }
}
