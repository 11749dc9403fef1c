//! The sanitizers of GCC and Clang: address, undefined behaviour, leak, thread, memory. In: what a program built with them printed,
//! its own output included, or what they wrote apart. Out: an [`AsanLog`], and from it a diagnosis in the terms used for a GPU. A
//! program without errors prints nothing of theirs, so a log without their signature is clean; the caller knows that they were
//! there. A log with a signature and no whole report is inconclusive.

mod cause;
mod detail;
mod frame;
mod message;
mod read;
mod report;
mod words;

use std::collections::{HashMap, HashSet};

use kiln_core::counted;

use crate::inconclusive::Doubt;
use crate::listed::listed;
use crate::sanitizer::{Direction, Program};
use crate::source::last_part;
use crate::{Cause, Diagnosis, Facts, Finding, Reason, Sources, Tool, Verdict};

pub use frame::Frame;
pub use read::{read, read_apart};
pub use report::{Region, Report, Where};

/// Everything that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AsanLog {
    /// What the sanitizers reported, in order.
    pub reports: Vec<Report>,
    /// What the program itself printed. A caller that knows more says so here.
    pub program: Program,
    /// Why the program did not start.
    pub not_run: Option<String>,
    /// What is signed by a sanitizer and is no whole report, in order.
    pub unread: Vec<Unread>,
    /// LeakSanitizer began to list leaks.
    heading: bool,
}

/// Part of a report, or one of a kind that kiln does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// What it says about the log.
    pub reason: Reason,
    /// Its words, bounded.
    pub words: String,
}

/// Characters that are kept of a line that was not read.
const WORDS: usize = 200;

impl Unread {
    fn new(reason: Reason, words: &str) -> Unread {
        Unread { reason, words: words.chars().take(WORDS).collect() }
    }
}

impl AsanLog {
    /// Whether anything in the log is a sanitizer's. A program without errors leaves no sign of them.
    pub fn is_signed(&self) -> bool {
        !self.reports.is_empty() || !self.unread.is_empty() || self.not_run.is_some()
    }

    /// Names of the source files that reports are about, each once: what is worth looking for.
    pub fn files(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let files = self.reports.iter().filter_map(|report| report.place()?.file.as_deref());
        files.filter(|file| seen.insert(*file)).collect()
    }
}

/// Turns reports into findings.
pub fn diagnose(log: &AsanLog, sources: &Sources) -> Diagnosis {
    let (mut findings, note) = listed(found(log), 0);
    findings.iter_mut().for_each(|finding| show_line(finding, sources));
    let mut notes = Vec::from_iter(note);
    let verdict = match (findings.is_empty(), &log.not_run) {
        (false, _) => {
            notes.extend(log.unread.iter().take(NOTED).map(noted));
            notes.dedup();
            let more = log.unread.len().saturating_sub(NOTED);
            notes.extend(
                (more > 0).then(|| format!("{} of reports were not read either", counted(more as u128, "more part"))),
            );
            Verdict::BugsFound
        }
        (true, Some(reason)) => {
            notes.push(format!("the program did not start: {reason}"));
            Verdict::NotRun
        }
        (true, None) => match doubt(log) {
            Some(doubt) => {
                findings.push(doubt.finding(self::program(&log.program)));
                Verdict::Inconclusive
            }
            None => Verdict::Clean,
        },
    };
    Diagnosis { findings, verdict, notes }
}

/// Reports that were not read of which notes speak.
const NOTED: usize = 20;

/// One finding per cause and place, in the order of the first report of each.
fn found(log: &AsanLog) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    // At one place there are no more findings than causes.
    let mut places: HashMap<(Option<&str>, Option<u32>), Vec<usize>> = HashMap::new();
    for report in &log.reports {
        let finding = finding(report);
        let place = report.place();
        // One names files as they were given to the compiler, the other with their folder.
        let at = (place.and_then(|frame| frame.file.as_deref()).map(last_part), place.and_then(|frame| frame.line));
        let here = places.entry(at).or_default();
        let same = |known: &Finding| {
            known.cause == finding.cause || follows(known.tool, &finding) || follows(finding.tool, known)
        };
        let known = here.iter().copied().find(|index| same(&findings[*index]));
        match known.map(|index| &mut findings[index]) {
            Some(known) if known.tool == finding.tool => {
                known.count = known.count.saturating_add(finding.count);
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
            None => {
                here.push(findings.len());
                findings.push(finding);
            }
        }
    }
    findings
}

/// The text of a finding's line, after where it was called from.
fn show_line(finding: &mut Finding, sources: &Sources) {
    let line = finding.file.as_deref().zip(finding.line).and_then(|(file, line)| sources.line(file, line));
    finding.facts.set_some("source_line", line);
}

/// What speaks against a clean result: a report that was not read first, then how the program ended and its result.
fn doubt(log: &AsanLog) -> Option<Doubt> {
    let worst = [Reason::UnknownReport, Reason::ToolFailed, Reason::LogCut];
    let unread = worst.into_iter().find_map(|reason| log.unread.iter().find(|unread| unread.reason == reason));
    let unread = unread.map(|unread| (unread.reason, unread.words.clone()));
    let (reason, detail) = unread.or_else(|| log.program.trouble())?;
    Some(Doubt::new(reason, detail, false))
}

fn noted(unread: &Unread) -> String {
    match unread.reason {
        Reason::UnknownReport => format!("a report of a kind that kiln does not know: {}", unread.words),
        Reason::ToolFailed => format!("the sanitizer itself failed: {}", unread.words),
        _ => format!("part of a report was not read: {}", unread.words),
    }
}

/// What is known of the program.
fn program(program: &Program) -> Facts {
    let mut facts = Facts::default();
    if !program.results.is_empty() {
        facts.set("results", program.results.clone());
    }
    facts.set("results_vary", program.varies);
    facts
}

/// UndefinedBehaviorSanitizer notices the pointer, AddressSanitizer the access, at the same line.
fn follows(tool: Tool, other: &Finding) -> bool {
    tool == Tool::Ubsan && other.tool == Tool::Asan
}

fn merge(facts: &mut Facts, more: &Facts) {
    for name in ["allocations", "leaked_bytes"] {
        if let (Some(a), Some(b)) = (facts.number(name), more.number(name)) {
            facts.set(name, a.saturating_add(b));
        }
    }
}

fn finding(report: &Report) -> Finding {
    let cause = cause::of(report);
    let place = report.place();
    let file = place.and_then(|frame| frame.file.clone());
    let line = place.and_then(|frame| frame.line);
    let mut facts = facts(report);
    facts.set_some("called_from", called_from(report, line));
    Finding {
        cause,
        tool: report.tool,
        kernel: place.and_then(|frame| frame.function.clone()).or_else(|| function_at(report, line)),
        file,
        line,
        count: report.allocations.unwrap_or(1),
        explanation: words::explanation(cause, report),
        fix: words::fix(cause, report).into(),
        facts,
    }
}

/// The function of a line that UndefinedBehaviorSanitizer names: its stack begins there.
fn function_at(report: &Report, line: Option<u32>) -> Option<String> {
    report.frames.iter().find(|frame| frame.is_own() && frame.line == line)?.function.clone()
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
    facts.set_some("variable", report.variable.as_deref());
    facts.set_some("allocation_bytes", report.block);
    sides(&mut facts, report);
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

/// The lines of both sides of a race.
fn sides(facts: &mut Facts, report: &Report) {
    let Some(((first, _), (second, frames))) = report.access.zip(report.other.as_ref()) else { return };
    let own = |frames: &[Frame]| frames.iter().find(|frame| frame.is_own()).and_then(Frame::source);
    let sides = [(first, own(&report.frames)), (*second, own(frames))];
    for (name, side) in [("writes_at", Direction::Write), ("reads_at", Direction::Read)] {
        let mut at: Vec<String> =
            sides.iter().filter(|(direction, _)| *direction == side).filter_map(|(_, at)| at.clone()).collect();
        at.dedup();
        if !at.is_empty() {
            facts.set(name, at);
        }
    }
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
