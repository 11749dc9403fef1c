//! A Python worker as a builder: it compiles ahead and calls nothing. In: a compilation, a limit of time, and whether somebody
//! still wants it. Out: what became of it; or a refusal, after which the worker is gone.

use std::time::Duration;

use kiln_core::{Fault, Gate, Outcome};

use crate::processes::pin::step_back_process;
use crate::protocol::{Answer, Ask, Compilation, Compiled};
use crate::worker::Worker;

impl Worker {
    /// Compiles ahead. Somebody who does not want it any more gets a fault.
    pub fn compile(
        &mut self,
        compilation: Compilation,
        time: Duration,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Outcome<Compiled>, Fault> {
        Ok(match self.put(Ask::Compile(Box::new(compilation)), time, wanted)? {
            Outcome::Passed(Answer::Compiled(compiled)) => Outcome::Passed(*compiled),
            Outcome::Passed(Answer::Failed(failed)) => {
                Outcome::Passed(Compiled { unable: Some(failed.words), ..Compiled::default() })
            }
            Outcome::Passed(other) => {
                let measured = format!("the worker answered {other:?}");
                self.refuse(Gate::WorkerProtocol, measured, "what was asked", None).map(|_| Compiled::default())
            }
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
        })
    }

    /// Has it let everybody else go first, and all that it will start.
    pub fn step_back(&self) {
        step_back_process(self.pid());
    }
}
