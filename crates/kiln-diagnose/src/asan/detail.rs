//! The lines of a report after its first. In: the report, whose stack comes next, and one line. Out: the report with what the line
//! adds; false for a line that is none of its own.

use super::frame::Frame;
use super::read::Stack;
use super::report::{Region, Report, Where};
use crate::Tool;
use crate::sanitizer::Direction;

/// Adds a line to a report.
pub(super) fn detail(report: &mut Report, stack: &mut Stack, line: &str) -> bool {
    if let Some(frame) = Frame::read(line) {
        match stack {
            Stack::Access => report.frames.push(frame),
            Stack::Allocation => report.allocated.push(frame),
            Stack::Free => report.freed.push(frame),
            Stack::Previous => report.other.iter_mut().for_each(|(_, frames)| frames.push(frame.clone())),
            Stack::Other => {}
        }
        return true;
    }
    let text = line.trim_start();
    let begun = !report.frames.is_empty() || report.leaked.is_some() && !report.allocated.is_empty();
    // A race has two stacks.
    report.closed |=
        begun && (report.tool != Tool::Tsan || report.other.as_ref().is_some_and(|(_, at)| !at.is_empty()));
    if report.tool == Tool::Tsan && party(report, stack, text) {
    } else if let Some(direction) = access(text) {
        report.access = Some(direction);
    } else if text.starts_with("freed by") {
        *stack = Stack::Free;
    } else if text.starts_with("allocated by") || text.starts_with("previously allocated by") {
        *stack = Stack::Allocation;
    } else if let Some(rest) = text.strip_prefix("Uninitialized value was created by ") {
        *stack = Stack::Allocation;
        report.variable = quoted(rest);
    } else if text.starts_with("Uninitialized value was stored to memory") {
        *stack = Stack::Other;
    } else if text.contains(" is located ") {
        *stack = Stack::Other;
        report.region = region(text).or(report.region.take());
    } else if text.contains("<== Memory access at offset ") {
        report.region = variable(text).or(report.region.take());
    } else if text.starts_with("SUMMARY: ") {
        report.closed = true;
    } else if is_rule(text) {
        return report.closed && report.tool == Tool::Tsan;
    } else {
        return text.starts_with("==")
            || text.is_empty()
            || text.contains("note: pointer points here")
            || text.contains("Sanitizer can not provide additional info")
            || text.starts_with("ThreadSanitizer: reported ")
            || text.starts_with("Shadow bytes around the buggy");
    }
    true
}

/// A row of equal signs, as sanitizers draw around reports.
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 18 && line.bytes().all(|byte| byte == b'=')
}

/// `Write of size 4 at 0x7b by thread T1:`, `Previous atomic read of size 8 at 0x7b by main thread:`, `Location is global 'total' of
/// size 4 at 0x55`; other stacks of the report, such as where a thread began.
fn party(report: &mut Report, stack: &mut Stack, text: &str) -> bool {
    let (previous, rest) = match text.strip_prefix("Previous ") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let lower = rest.to_ascii_lowercase();
    let access = lower.strip_prefix("atomic ").unwrap_or(&lower);
    let direction = match access.split(" of size ").next() {
        Some("read") => Some(Direction::Read),
        Some("write") => Some(Direction::Write),
        _ => None,
    };
    if let Some((direction, (_, size))) = direction.zip(access.split_once(" of size ")) {
        match previous {
            true => (report.other, *stack) = (Some((direction, Vec::new())), Stack::Previous),
            false => {
                (report.access, *stack) = (Some((direction, first_number(size).unwrap_or(0))), Stack::Access);
            }
        }
    } else if let Some(place) = text.strip_prefix("Location is ") {
        report.variable = quoted(place).filter(|name| name != "<null>");
        report.block = place.split_once(" of size ").and_then(|(_, size)| first_number(size));
        *stack = if place.contains("allocated by") { Stack::Allocation } else { Stack::Other };
    } else if text.starts_with("Thread T") || text.starts_with("Mutex M") || text.starts_with("As if synchronized") {
        *stack = Stack::Other;
    } else {
        return false;
    }
    true
}

fn first_number(text: &str) -> Option<u64> {
    text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// What is between the first two quotes.
fn quoted(text: &str) -> Option<String> {
    text.split('\'').nth(1).map(Into::into)
}

/// `WRITE of size 4 at 0x...`, `The signal is caused by a READ memory access.`
fn access(text: &str) -> Option<(Direction, u64)> {
    let bytes = |text: &str| text.split_whitespace().next().and_then(|size| size.parse().ok()).unwrap_or(0);
    match text {
        _ if text.starts_with("WRITE of size ") => Some((Direction::Write, bytes(&text[14..]))),
        _ if text.starts_with("READ of size ") => Some((Direction::Read, bytes(&text[13..]))),
        _ if text.contains("caused by a WRITE") => Some((Direction::Write, 0)),
        _ if text.contains("caused by a READ") => Some((Direction::Read, 0)),
        _ => None,
    }
}

/// `0x6140 is located 0 bytes to the right of 400-byte region [0x6140,0x6150)`; newer: `0 bytes after 400-byte region`;
/// `... of global variable 'table' defined in 'a.c:1:5' (0x55) of size 128`.
fn region(text: &str) -> Option<Region> {
    let (_, rest) = text.split_once(" is located ")?;
    let distance = rest.split_whitespace().next()?.parse().ok()?;
    let place = match rest {
        _ if rest.contains("to the right of") || rest.contains(" after ") => Where::After,
        _ if rest.contains("to the left of") || rest.contains(" before ") => Where::Before,
        _ => Where::Inside,
    };
    let variable =
        rest.split_once("variable '").and_then(|(_, rest)| rest.split_once('\'')).map(|(name, _)| name.into());
    let size = match rest.split_once("-byte region") {
        Some((before, _)) => before.rsplit(' ').next()?.parse().ok()?,
        None => rest.rsplit_once("of size ")?.1.trim().parse().ok()?,
    };
    let start =
        rest.split_once("region [0x").and_then(|(_, rest)| u64::from_str_radix(rest.split(',').next()?, 16).ok());
    Some(Region { place, distance, size, variable, start })
}

/// `[64, 96) 'v' (line 2) <== Memory access at offset 96 overflows this variable`.
fn variable(text: &str) -> Option<Region> {
    let (object, rest) = text.split_once("<== Memory access at offset ")?;
    let offset: u64 = rest.split_whitespace().next()?.parse().ok()?;
    let (start, rest) = object.trim_start().strip_prefix('[')?.split_once(", ")?;
    let (end, rest) = rest.split_once(')')?;
    let (start, end): (u64, u64) = (start.parse().ok()?, end.parse().ok()?);
    let name = quoted(rest);
    let (place, distance) = match offset {
        _ if offset < start => (Where::Before, start - offset),
        _ if offset >= end => (Where::After, offset - end),
        _ => (Where::Inside, offset - start),
    };
    Some(Region { place, distance, size: end.saturating_sub(start), variable: name, start: None })
}
