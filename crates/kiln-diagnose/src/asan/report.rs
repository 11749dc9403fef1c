//! Reading the reports. A report begins with `==PID==ERROR: AddressSanitizer: ...`, with `Direct leak of ...` or with
//! `FILE:LINE:COL: runtime error: ...`, and goes on until the next one. Stacks belong to the access until a line says that
//! they are of the allocation or of the free.

use super::frame::{Frame, file_line};
use super::{AsanLog, Tool};
use crate::sanitizer::Direction;

/// One report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Which sanitizer.
    pub tool: Tool,
    /// What it says, without addresses of code.
    pub message: String,
    /// What the access does, and its bytes if they are known.
    pub access: Option<(Direction, u64)>,
    /// Where the access is, seen from the memory it missed or should not use.
    pub region: Option<Region>,
    /// The place that UndefinedBehaviorSanitizer names itself.
    pub at: Option<Frame>,
    /// Who made the access, innermost first.
    pub frames: Vec<Frame>,
    /// Who allocated the memory.
    pub allocated: Vec<Frame>,
    /// Who freed it.
    pub freed: Vec<Frame>,
    /// Bytes of a leak.
    pub leaked: Option<u64>,
    /// Allocations of a leak.
    pub allocations: Option<u64>,
}

/// Memory near an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Where the access is.
    pub place: Where,
    /// How far from it, or into it.
    pub distance: u64,
    /// Its size in bytes.
    pub size: u64,
    /// The variable's name, if it is one, or the argument's.
    pub variable: Option<String>,
    /// Its first byte, where that is said.
    pub start: Option<u64>,
}

/// Where an access is, seen from some memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// Before its start.
    Before,
    /// In it.
    Inside,
    /// After its end.
    After,
}

impl Report {
    fn new(tool: Tool, message: &str) -> Report {
        Report {
            tool,
            message: message.trim().trim_end_matches(':').into(),
            access: None,
            region: None,
            at: None,
            frames: Vec::new(),
            allocated: Vec::new(),
            freed: Vec::new(),
            leaked: None,
            allocations: None,
        }
    }

    /// The innermost place in the program itself.
    pub fn place(&self) -> Option<&Frame> {
        let stack = match self.tool {
            Tool::Lsan => &self.allocated,
            _ => &self.frames,
        };
        self.at.as_ref().or_else(|| stack.iter().find(|frame| frame.is_own())).or_else(|| stack.first())
    }
}

/// Whose stack comes next.
#[derive(Clone, Copy)]
enum Stack {
    Access,
    Allocation,
    Free,
    Other,
}

/// Reads everything a program printed.
pub fn read(output: &str) -> AsanLog {
    let mut log = AsanLog::default();
    let mut stack = Stack::Access;
    for line in output.lines() {
        let line = line.trim_end();
        if let Some(report) = begin(line) {
            log.reports.push(report);
            stack = if line.contains("leak of") { Stack::Allocation } else { Stack::Access };
        } else if let Some(report) = log.reports.last_mut()
            && detail(report, &mut stack, line)
        {
        } else if line.contains("ASan runtime does not come first")
            || line.contains("error while loading shared libraries")
        {
            log.not_run = Some(line.trim().into());
        } else {
            log.program.line(line);
        }
    }
    // The heading of leaks is none of them.
    log.reports.retain(|report| !report.message.starts_with("detected memory leaks"));
    for report in &mut log.reports {
        let Some(region) = &mut report.region else { continue };
        if let Some(name) = region.start.and_then(|start| log.program.argument_at(start)) {
            region.variable = Some(name.into());
            // It was allocated for the call, by whoever makes it.
            report.allocated.clear();
        }
    }
    log
}

fn begin(line: &str) -> Option<Report> {
    if let Some((_, message)) = line.split_once("ERROR: AddressSanitizer: ") {
        let message = message.split(" at pc ").next().unwrap_or(message);
        return Some(Report::new(Tool::Asan, message.split(" (pc ").next().unwrap_or(message)));
    }
    if let Some((_, message)) = line.split_once("ERROR: LeakSanitizer: ") {
        return Some(Report::new(Tool::Lsan, message));
    }
    if line.starts_with("Direct leak of ") || line.starts_with("Indirect leak of ") {
        let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
        let mut report = Report::new(Tool::Lsan, line.split(" allocated from").next().unwrap_or(line));
        (report.leaked, report.allocations) = (numbers.next(), numbers.next());
        return Some(report);
    }
    let (place, message) = line.split_once(": runtime error: ")?;
    let mut report = Report::new(Tool::Ubsan, message);
    let (file, number) = file_line(place.trim());
    report.at = Some(Frame { function: None, file: file.map(Into::into), line: number });
    let direction = match message {
        _ if message.starts_with("load of") || message.contains("member access") => Some(Direction::Read),
        _ if message.starts_with("store to") => Some(Direction::Write),
        _ => None,
    };
    report.access = direction.map(|direction| (direction, 0));
    Some(report)
}

/// Adds a line to a report; false if it is none of its lines.
fn detail(report: &mut Report, stack: &mut Stack, line: &str) -> bool {
    if let Some(frame) = Frame::read(line) {
        match stack {
            Stack::Access => report.frames.push(frame),
            Stack::Allocation => report.allocated.push(frame),
            Stack::Free => report.freed.push(frame),
            Stack::Other => {}
        }
        return true;
    }
    let text = line.trim_start();
    if let Some(direction) = access(text) {
        report.access = Some(direction);
    } else if text.starts_with("freed by") {
        *stack = Stack::Free;
    } else if text.starts_with("allocated by") || text.starts_with("previously allocated by") {
        *stack = Stack::Allocation;
    } else if text.contains(" is located ") {
        *stack = Stack::Other;
        report.region = region(text).or(report.region.take());
    } else if text.contains("<== Memory access at offset ") {
        report.region = variable(text).or(report.region.take());
    } else {
        return text.starts_with("==") || text.starts_with("SUMMARY: ") || text.contains("note: pointer points here");
    }
    true
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
    let name = rest.split('\'').nth(1).map(Into::into);
    let (place, distance) = match offset {
        _ if offset < start => (Where::Before, start - offset),
        _ if offset >= end => (Where::After, offset - end),
        _ => (Where::Inside, offset - start),
    };
    Some(Region { place, distance, size: end.saturating_sub(start), variable: name, start: None })
}
