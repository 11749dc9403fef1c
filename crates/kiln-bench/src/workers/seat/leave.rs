//! A seat under a tool: calls that show the tool where arguments end, and an end that lets the tool say what it saw.

use std::time::Duration;

use kiln_core::{Fault, Outcome};
use kiln_run::{Answer, Ask};

use super::Seat;

impl Seat {
    /// One call with every argument in an allocation of its own; with `blank`, on a device, what calls write before they read
    /// holds nothing.
    pub(crate) fn call_apart(&mut self, blank: bool) -> Result<Outcome<()>, Fault> {
        self.done(Ask::CallApart { blank })
    }

    /// One call that a profiler around the worker watches.
    pub(crate) fn call_watched(&mut self) -> Result<Outcome<()>, Fault> {
        self.done(Ask::CallWatched)
    }

    /// Calls so often, and where in its code the worker was meanwhile, as bytes from the beginning of this file. What is outside of
    /// it is beyond the file's end.
    pub(crate) fn call_and_look(&mut self, calls: u32, file: &str) -> Result<Outcome<Vec<u64>>, Fault> {
        let ask = Ask::time(1, calls);
        let Some(rested) = &mut self.rested else { return Err(Fault::new("asking a worker", "it was given up")) };
        let Some(base) = rested.worker.base_of(file) else { return Ok(Outcome::Passed(Vec::new())) };
        let (answer, places) = rested.worker.ask_and_look(ask, self.time)?;
        Ok(match answer {
            Outcome::Passed(Answer::Times(_)) => {
                Outcome::Passed(places.into_iter().map(|place| place.wrapping_sub(base)).collect())
            }
            Outcome::Passed(answer) => Outcome::Refused(self.unexpected(answer)),
            Outcome::Refused(refusal) => {
                self.home = None;
                Outcome::Refused(refusal)
            }
        })
    }

    /// Gives the worker up and lets it end by itself, with what is around it; whether it did in time, what is kept of what it
    /// wrote to standard error, and how many bytes are not.
    pub(crate) fn leave(mut self, within: Duration) -> (bool, String, u64) {
        self.home = None;
        let Some(mut rested) = self.rested.take() else { return (false, String::new(), 0) };
        let ended = rested.worker.leave(within);
        let (words, left_out) = rested.worker.words();
        (ended, words, left_out)
    }
}
