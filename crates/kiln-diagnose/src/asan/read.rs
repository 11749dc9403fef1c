//! Reading the reports. A report begins with `==PID==ERROR: AddressSanitizer: ...`, `WARNING: ThreadSanitizer: ...`, `Direct leak of
//! ...` or `FILE:LINE:COL: runtime error: ...`, and goes on until the next one. Stacks belong to the access until a line says that
//! they are of the allocation, the free or another thread. What is signed by a sanitizer and is no whole report is kept as
//! [`Unread`]: it makes no finding, and a log that has it is not clean.

use super::detail::{detail, is_rule};
use super::frame::{Frame, file_line};
use super::message;
use super::report::Report;
use super::{AsanLog, Unread};
use crate::lines::{Line, lines, unprefixed, without_colours};
use crate::sanitizer::{Direction, Program};
use crate::{Reason, Tool};

/// Whose stack comes next.
#[derive(Clone, Copy, Default)]
pub(super) enum Stack {
    /// Who made the access.
    #[default]
    Access,
    /// Who allocated the memory.
    Allocation,
    /// Who freed it.
    Free,
    /// The other side of a race.
    Previous,
    /// Anything else.
    Other,
}

/// Reads everything a program printed.
pub fn read(output: &str) -> AsanLog {
    let mut log = reports(output);
    name(&mut log);
    log
}

/// Reads reports that the sanitizers wrote to a file of their own (`log_path`). What the program printed says no more than where
/// its arguments lie, and why it did not begin: whatever else it prints, a report is not among it.
pub fn read_apart(written: &str, printed: &str) -> AsanLog {
    let mut log = reports(written);
    log.program.arguments = Program::read(printed).arguments;
    log.not_run = log.not_run.take().or_else(|| printed.lines().find_map(not_run));
    name(&mut log);
    log
}

fn reports(output: &str) -> AsanLog {
    let plain = without_colours(output.trim_start_matches('\u{feff}'));
    let mut log = AsanLog::default();
    let mut open: Option<(Report, Stack)> = None;
    // What comes before a report, and is half of one if nothing follows.
    let mut ahead: Option<Unread> = None;
    for Line { text, cut } in lines(&plain) {
        let line = unprefixed(text.trim_end());
        if let Some(report) = begin(line, cut) {
            finish(&mut log, open.take());
            ahead = None;
            let stack = if report.leaked.is_some() { Stack::Allocation } else { Stack::Access };
            open = Some((report, stack));
        } else if !cut && open.as_mut().is_some_and(|(report, stack)| detail(report, stack, line)) {
        } else if let Some(reason) = not_run(line) {
            log.not_run = Some(reason);
        } else if is_rule(line) || line.contains("Sanitizer:DEADLYSIGNAL") {
            finish(&mut log, open.take());
            ahead = ahead.or_else(|| Some(Unread::new(Reason::LogCut, "a report begins, and is not there")));
        } else if let Some(unread) = signed(line) {
            finish(&mut log, open.take());
            ahead = None;
            log.unread.push(unread);
        } else if cut {
            log.program.cut_line(line);
        } else {
            // A rule that the program draws begins nothing.
            ahead = ahead.filter(|_| line.trim().is_empty());
            log.program.line(line);
        }
    }
    finish(&mut log, open);
    log.unread.extend(ahead);
    if log.heading && !log.reports.iter().any(|report| report.leaked.is_some()) {
        log.unread.push(Unread::new(Reason::LogCut, LEAKS));
    }
    log
}

/// Takes a report over, if nothing that matters is missing.
fn finish(log: &mut AsanLog, open: Option<(Report, Stack)>) {
    let Some((report, _)) = open else { return };
    if report.message.starts_with(LEAKS) {
        // The heading of leaks is none of them; without any it is half a report.
        log.heading = true;
    } else if report.is_whole() && super::cause::is_known(&report) {
        log.reports.push(report);
    } else {
        let reason = if report.is_whole() { Reason::UnknownReport } else { Reason::LogCut };
        log.unread.push(Unread::new(reason, &report.message));
    }
}

/// What LeakSanitizer begins with.
const LEAKS: &str = "detected memory leaks";

/// Reports of memory that is an argument name it.
fn name(log: &mut AsanLog) {
    for report in &mut log.reports {
        let Some(region) = &mut report.region else { continue };
        if let Some(name) = region.start.and_then(|start| log.program.argument_at(start)) {
            region.variable = Some(name.into());
            // It was allocated for the call, by whoever makes it.
            report.allocated.clear();
        }
    }
}

/// Why a program with a sanitizer never began.
fn not_run(line: &str) -> Option<String> {
    let signs = ["ASan runtime does not come first", "error while loading shared libraries"];
    signs.iter().any(|sign| line.contains(sign)).then(|| line.trim().into())
}

fn begin(line: &str, cut: bool) -> Option<Report> {
    if let Some(report) = undefined(line, cut) {
        return Some(report);
    }
    if cut {
        return None;
    }
    for (word, tool) in [
        ("AddressSanitizer: ", Tool::Asan),
        ("LeakSanitizer: ", Tool::Lsan),
        ("ThreadSanitizer: ", Tool::Tsan),
        ("MemorySanitizer: ", Tool::Msan),
        ("UndefinedBehaviorSanitizer: ", Tool::Ubsan),
    ] {
        for grade in ["ERROR: ", "WARNING: "] {
            if let Some((before, message)) = line.split_once(word)
                && before.ends_with(grade)
            {
                let end = [" at pc ", " (pc ", " (pid="].iter().filter_map(|end| message.find(end)).min();
                return Some(Report::new(tool, &message[..end.unwrap_or(message.len())]));
            }
        }
    }
    let text = line.trim_start();
    if text.starts_with("Direct leak of ") || text.starts_with("Indirect leak of ") {
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
        let mut report = Report::new(Tool::Lsan, text.split(" allocated from").next().unwrap_or(text));
        (report.leaked, report.allocations) = (Some(numbers.next()?), Some(numbers.next()?));
        return Some(report);
    }
    None
}

/// `FILE:LINE:COL: runtime error: ...`, if the message is whole.
fn undefined(line: &str, cut: bool) -> Option<Report> {
    let (place, message) = undefined_parts(line)?;
    if !message::is_whole(message, cut) {
        return None;
    }
    let mut report = Report::new(Tool::Ubsan, message);
    let (file, number) = file_line(place);
    report.at = Some(Frame { function: None, file: file.map(Into::into), line: number });
    let direction = match message {
        _ if message.starts_with("load of") || message.contains("member access") => Some(Direction::Read),
        _ if message.starts_with("store to") => Some(Direction::Write),
        _ => None,
    };
    report.access = direction.map(|direction| (direction, 0));
    Some(report)
}

/// The place and the message of UndefinedBehaviorSanitizer's lines. Other programs have runtime errors too: a place is a file with a
/// line, or the word for none.
fn undefined_parts(line: &str) -> Option<(&str, &str)> {
    let (place, message) = line.split_once(": runtime error:")?;
    let place = place.trim();
    (file_line(place).1.is_some() || place.ends_with("<unknown>")).then_some((place, message.trim()))
}

/// A line that only a sanitizer prints, and that begins no report kiln can read.
fn signed(line: &str) -> Option<Unread> {
    let text = line.trim();
    if undefined_parts(line).is_some() {
        return Some(Unread::new(Reason::LogCut, text));
    }
    let body =
        ["READ of size ", "WRITE of size ", "Direct leak of ", "Indirect leak of ", "Shadow bytes around the buggy"];
    if body.iter().any(|start| text.starts_with(start)) {
        return Some(Unread::new(Reason::LogCut, text));
    }
    let at = text.find("Sanitizer")?;
    let name = text[..at].rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let after = &text[at + "Sanitizer".len()..];
    let named = !name.is_empty() && name.starts_with(|c: char| c.is_ascii_uppercase());
    let fatal = [" CHECK failed", ": CHECK failed", " has encountered", " failed to allocate"];
    let fatal = fatal.iter().any(|sign| after.starts_with(sign)) && !text.contains("WARNING: ");
    let said = fatal || after.starts_with(':') || after.starts_with(" can not provide");
    if !named || !said {
        return None;
    }
    let reason = match text {
        _ if fatal => Reason::ToolFailed,
        _ if ["Address", "Leak", "Thread", "Memory", "UndefinedBehavior"].contains(&name) => Reason::LogCut,
        _ => Reason::UnknownReport,
    };
    Some(Unread::new(reason, text))
}
