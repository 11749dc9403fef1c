//! compute-sanitizer. In: what one or several of its runs printed, as text mixed with the program's own output, or its XML.
//! Out: a [`SanitizerLog`], and from it a diagnosis. Reading never fails: a line that looks like the tool's but is not known
//! becomes [`What::Unrecognised`] with its words.

mod diagnose;
mod output;
mod place;
mod record;
mod text;
mod xml;

use std::collections::HashSet;

pub use diagnose::diagnose;
pub use output::{Check, Ended, Program};
pub use place::Place;
pub(crate) use place::function_name;
pub use record::{
    Access, ApiCall, Direction, Hazard, Nearest, Party, Problem, Record, Run, SanitizerLog, Severity, Side, Space, What,
};

/// Reads a log: XML if it looks like it, else text. Several logs after one another are several runs.
pub fn read(log: &str) -> SanitizerLog {
    match xml::looks_like(log) {
        true => xml::read(log),
        false => text::read(log),
    }
}

impl SanitizerLog {
    /// Adds the runs of another log of the same program.
    pub fn join(&mut self, other: SanitizerLog) {
        self.runs.extend(other.runs);
        self.program.join(other.program);
    }

    /// Names of the source files that the log mentions, each once: what is worth looking for.
    pub fn files(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let places = self.runs.iter().flat_map(|run| &run.records).flat_map(Record::places);
        let asserted = self.program.assertions.iter().map(|assertion| &assertion.place);
        let files = places.chain(asserted).filter_map(|place| place.file.as_deref());
        files.filter(|file| seen.insert(*file)).collect()
    }
}
