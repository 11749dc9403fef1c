//! A seat whose subject has compiled all it needs. In: a worker that may start compilers. Out: the same worker, which may start
//! nothing any more, or a refusal.

use kiln_core::{Fault, Outcome};
use kiln_run::Answer;

use super::Seat;

impl Seat {
    /// Takes from a worker that may compile what only compilers need, once everything is compiled, and ends the processes it
    /// has started. It gets no other subject afterwards, which might have something to compile.
    pub(crate) fn tighten(&mut self) -> Result<Outcome<()>, Fault> {
        self.home = None;
        let Some(rested) = &mut self.rested else { return Err(Fault::new("confining a worker", "it was given up")) };
        Ok(match rested.worker.tighten(self.time)? {
            Outcome::Passed(Answer::Confined(_)) => Outcome::Passed(()),
            Outcome::Passed(answer) => Outcome::Refused(self.unexpected(answer)),
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
        })
    }
}
