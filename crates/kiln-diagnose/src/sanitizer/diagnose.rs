//! From records to findings. In: a log, and the sources it points into. Out: one finding per cause and place, each with its
//! facts, what follows from another folded into that one, and the verdict.

mod access;
mod allocations;
mod api;
mod barrier;
mod code;
mod fault;
mod fold;
mod group;
mod hang;
mod leak;
mod outcome;
mod pattern;
mod pointer;
mod race;
mod toolkit;
mod uninitialised;

use std::collections::HashSet;

use group::Group;

use super::{Place, Record, SanitizerLog, What};
use crate::listed::listed;
use crate::{Cause, Diagnosis, Facts, Finding, Sources, Tool};

/// Turns a log into a diagnosis.
pub fn diagnose(log: &SanitizerLog, sources: &Sources) -> Diagnosis {
    let context = Context { log, sources };
    let (mut found, mut unsettled) = (Vec::new(), HashSet::new());
    let mut left_out = 0;
    for (index, run) in log.runs.iter().enumerate() {
        let (groups, more) = group::groups(run);
        left_out += more;
        for group in groups {
            let finding = finding(&context, &group);
            unsettled.extend(finding.iter().filter(|_| access::is_unsettled(&group)).map(what));
            found.extend(finding.map(|finding| (index, finding)));
        }
    }
    // What the program printed about an assertion says more than the record of it.
    found.splice(0..0, fault::asserted(&context).map(|finding| (0, finding)));
    let mut findings = fold::fold(log, found);
    // Only now: what follows from it is no finding of its own.
    findings.retain(|finding| !unsettled.contains(&what(finding)));
    let hang = hang::hang(&context, &mut findings);
    findings.extend(hang);
    let (findings, note) = listed(findings, left_out);
    let mut diagnosis = outcome::conclude(&context, findings);
    diagnosis.notes.extend(note);
    diagnosis
}

/// What makes two findings the same.
fn what(finding: &Finding) -> (Cause, Option<String>, Option<u32>) {
    (finding.cause, finding.file.clone(), finding.line)
}

/// What a finding may use.
struct Context<'a> {
    log: &'a SanitizerLog,
    sources: &'a Sources,
}

fn finding(context: &Context<'_>, group: &Group<'_>) -> Option<Finding> {
    match &group.first().what {
        What::Access(access) => Some(access::finding(context, group, access)),
        What::Uninitialised(access) => Some(uninitialised::finding(context, group, access)),
        What::UninitialisedCopy { api, size } => Some(uninitialised::copy(context, group, api, *size)),
        What::Race { parties } => Some(race::finding(context, group, parties)),
        What::Hazard(hazard) => Some(race::hazard(context, group, hazard)),
        What::Barrier { problem } => Some(barrier::finding(context, group, problem)),
        What::Warpgroup { problem } => Some(barrier::warpgroup(context, group, problem)),
        What::Leak { .. } => Some(leak::finding(context, group)),
        What::Api(call) => Some(api::finding(context, group, call)),
        What::HeapCall { problem } => Some(fault::heap_call(context, group, problem)),
        What::Fault { problem } => Some(fault::finding(context, group, problem)),
        What::Unrecognised { words } => fault::unrecognised(context, group, words),
    }
}

impl Context<'_> {
    /// A finding at a record's place, without facts and words yet.
    fn at(&self, cause: Cause, tool: Tool, group: &Group<'_>) -> Finding {
        let record = group.first();
        self.located(cause, tool, self.kernel(record), self.place(record)).counted(group.count)
    }

    /// The kernel of a record. One without frames may name functions that the kernel calls; the source says which is the kernel.
    fn kernel<'r>(&self, record: &'r Record) -> Option<&'r str> {
        let declared = |place: &&Place| {
            !place.function.is_empty() && self.sources.files().any(|(_, text)| code::declares(text, &place.function))
        };
        record.places().find(declared).map(|place| place.function.as_str()).or_else(|| record.kernel())
    }

    fn located(&self, cause: Cause, tool: Tool, kernel: Option<&str>, place: Option<&Place>) -> Finding {
        let file = place.and_then(|place| place.file.clone());
        let line = place.and_then(|place| place.line);
        let mut facts = Facts::default();
        facts.set_some("source_line", file.as_deref().zip(line).and_then(|(file, line)| self.shown(file, line)));
        Finding {
            cause,
            tool,
            kernel: kernel.map(Into::into),
            file,
            line,
            count: 1,
            facts,
            explanation: String::new(),
            fix: String::new(),
        }
    }

    /// The innermost place that is the user's own: in a source at hand, or at least not in the toolkit.
    fn place<'r>(&self, record: &'r Record) -> Option<&'r Place> {
        let with_file = |place: &&Place| place.file.is_some();
        let at_hand = |place: &&Place| place.file.as_deref().is_some_and(|file| self.sources.text(file).is_some());
        let own = |place: &&Place| place.file.is_some() && !toolkit::has(place);
        record
            .places()
            .find(at_hand)
            .or_else(|| record.places().find(own))
            .or_else(|| record.places().find(with_file))
            .or_else(|| record.places().next())
    }

    /// The text of the statement a place points into; empty without its source.
    fn code(&self, place: Option<&Place>) -> String {
        let code = place.and_then(|place| Some(self.statement(place.file.as_deref()?, place.line?)));
        code.unwrap_or_default()
    }
}

impl Finding {
    fn counted(mut self, count: u64) -> Self {
        self.count = count;
        self
    }
}

/// An address as tools print it.
fn hex(address: u64) -> String {
    format!("{address:#x}")
}

#[cfg(test)]
mod tests;
