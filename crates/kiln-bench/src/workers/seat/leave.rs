//! A seat under a tool: calls that show the tool where arguments end, and an end that lets the tool say what it saw.

use std::time::Duration;

use kiln_core::{Fault, Outcome};
use kiln_run::Ask;

use super::Seat;

impl Seat {
    /// One call with every argument in an allocation of its own; with `blank`, on a device, what calls write before they read
    /// holds nothing.
    pub(crate) fn call_apart(&mut self, blank: bool) -> Result<Outcome<()>, Fault> {
        self.done(Ask::CallApart { blank })
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
