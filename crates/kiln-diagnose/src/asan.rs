//! AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer of GCC and Clang. In: what a program built with them
//! printed, its own output included. Out: an [`AsanLog`], and from it a diagnosis in the terms used for a GPU. A program
//! without errors prints nothing of theirs, so an empty log is clean; the caller knows that the sanitizers were there.

mod cause;
mod frame;
mod report;
mod words;

use crate::sanitizer::{Check, Program};
use crate::source::last_part;
use crate::{Cause, Diagnosis, Facts, Finding, Sources, Tool, Verdict};

pub use frame::Frame;
pub use report::{Region, Report, Where, read};

/// Everything that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AsanLog {
    /// What the sanitizers reported, in order.
    pub reports: Vec<Report>,
    /// What the program itself printed. A caller that knows more says so here.
    pub program: Program,
    /// Why the program did not start.
    pub not_run: Option<String>,
}

/// Turns reports into findings.
pub fn diagnose(log: &AsanLog, sources: &Sources) -> Diagnosis {
    let mut findings: Vec<Finding> = Vec::new();
    for report in &log.reports {
        let finding = finding(report, sources);
        let same = |known: &&mut Finding| {
            at(known) == at(&finding)
                && (known.cause == finding.cause || follows(known.tool, &finding) || follows(finding.tool, known))
        };
        match findings.iter_mut().find(same) {
            Some(known) if known.tool == finding.tool => {
                known.count += 1;
                merge(&mut known.facts, &finding.facts);
            }
            // Both sanitizers saw the same access: the one that knows the memory names it.
            Some(known) => {
                let (main, other) = match known.tool {
                    Tool::Ubsan => (finding, known.clone()),
                    _ => (known.clone(), finding),
                };
                *known = main;
                known.facts.set_some("undefined_behaviour", other.facts.text("message"));
            }
            None => findings.push(finding),
        }
    }
    let failed = log.program.check == Some(Check::Failed) || log.program.varies || log.program.timed_out;
    let mut notes = Vec::new();
    let verdict = match (findings.is_empty(), &log.not_run) {
        (false, _) => Verdict::BugsFound,
        (true, Some(reason)) => {
            notes.push(format!("the program did not start: {reason}"));
            Verdict::NotRun
        }
        (true, None) if failed => {
            findings.push(words::inconclusive(&log.program));
            Verdict::Inconclusive
        }
        (true, None) => Verdict::Clean,
    };
    Diagnosis { findings, verdict, notes }
}

/// One names files as they were given to the compiler, the other with their folder.
fn at(finding: &Finding) -> (Option<&str>, Option<u32>) {
    (finding.file.as_deref().map(last_part), finding.line)
}

/// UndefinedBehaviorSanitizer notices the pointer, AddressSanitizer the access, at the same line.
fn follows(tool: Tool, other: &Finding) -> bool {
    tool == Tool::Ubsan && other.tool == Tool::Asan
}

fn merge(facts: &mut Facts, more: &Facts) {
    for name in ["allocations", "leaked_bytes"] {
        if let (Some(a), Some(b)) = (facts.number(name), more.number(name)) {
            facts.set(name, a + b);
        }
    }
}

fn finding(report: &Report, sources: &Sources) -> Finding {
    let cause = cause::of(report);
    let place = report.place();
    let file = place.and_then(|frame| frame.file.clone());
    let line = place.and_then(|frame| frame.line);
    let mut facts = facts(report);
    facts.set_some("called_from", called_from(report, line));
    facts.set_some("source_line", file.as_deref().zip(line).and_then(|(file, line)| sources.line(file, line)));
    Finding {
        cause,
        tool: report.tool,
        kernel: place.and_then(|frame| frame.function.clone()),
        file,
        line,
        count: report.allocations.unwrap_or(1),
        explanation: words::explanation(cause, report),
        fix: words::fix(cause, report).into(),
        facts,
    }
}

/// Where the function with the access was called, in the program itself: a helper's line alone says little.
fn called_from(report: &Report, line: Option<u32>) -> Option<String> {
    // What calls the kernel is generated.
    let frames = report.frames.iter().take_while(|frame| frame.function.as_deref() != Some("kiln_call"));
    let own = frames.filter(|frame| frame.is_own() && frame.line.is_some());
    own.skip_while(|frame| frame.line != line).find(|frame| frame.line != line).and_then(Frame::source)
}

fn facts(report: &Report) -> Facts {
    let mut facts = Facts::default();
    facts.set("message", report.message.as_str());
    if let Some((direction, bytes)) = report.access {
        facts.set("direction", direction.name());
        if bytes > 0 {
            facts.set("access_bytes", bytes);
        }
    }
    if let Some(region) = &report.region {
        let name = match region.place {
            Where::Before => "bytes_before_start",
            Where::Inside => "offset_bytes",
            Where::After => "bytes_past_end",
        };
        facts.set(name, region.distance);
        facts.set("allocation_bytes", region.size);
        facts.set_some("variable", region.variable.as_deref());
    }
    facts.set_some("leaked_bytes", report.leaked);
    facts.set_some("allocations", report.allocations);
    for (name, frames) in [("allocated_at", &report.allocated), ("freed_at", &report.freed)] {
        let place = frames.iter().find(|frame| frame.is_own()).and_then(Frame::source);
        // A leak is where its allocation is.
        if report.leaked.is_none() {
            facts.set_some(name, place);
        }
    }
    facts
}

impl Cause {
    /// Whether it is about memory outside what was allocated.
    pub(crate) fn is_out_of_bounds(self) -> bool {
        matches!(
            self,
            Cause::OobHeapRead
                | Cause::OobHeapWrite
                | Cause::OobStackRead
                | Cause::OobStackWrite
                | Cause::OobStaticRead
                | Cause::OobStaticWrite
        )
    }
}

#[cfg(test)]
mod tests;
