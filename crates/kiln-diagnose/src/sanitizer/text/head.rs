//! The first line of a record. In: that line, or the text of an XML record, which reads almost the same. Out: what
//! happened, with what the line says about it; none for a line that begins no known record.

use super::{number_after, severity};
use crate::sanitizer::place::hex;
use crate::sanitizer::{Access, ApiCall, Direction, Hazard, Party, Place, Problem, Record, Severity, Space, What};

/// Reads a first line.
pub(in crate::sanitizer) fn head(body: &str) -> Option<Record> {
    let (severity, text) = severity(body);
    let what = access(text)
        .or_else(|| race(text))
        .or_else(|| hazard(text))
        .or_else(|| leak(text))
        .or_else(|| api(text))
        .or_else(|| fault(text))?;
    let mut record = Record::new(what, severity);
    // `Deadlock detected in Cuda::barrier wait called by ..., barrier address: 0x0 at kernel+0x1190 in app.cu:98`
    if let What::Fault { .. } = &record.what {
        record.place = text.rsplit_once(" at ").map(|(_, place)| Place::read(place));
    }
    if let What::Hazard(_) = &record.what {
        record.block = text.rfind("in block ").and_then(|at| super::detail::index(&text[at + 9..]));
    }
    Some(record)
}

/// `Invalid __global__ write of size 4 bytes`, `Uninitialized __global__ memory read of size 4 bytes`,
/// `Potential invalid __shared__ read of size 4 bytes`.
fn access(text: &str) -> Option<What> {
    let uninitialised = text.starts_with("Uninitialized ");
    if !uninitialised && !text.starts_with("Invalid __") && !text.starts_with("Potential invalid ") {
        return host_access(text);
    }
    let space = match text {
        _ if text.contains("__global__") => Space::Global,
        _ if text.contains("__shared__") => Space::Shared,
        _ if text.contains("__local__") => Space::Local,
        _ => Space::Unknown,
    };
    // Half a line must not become a read: what is not said is not known.
    let direction = match text {
        _ if text.contains(" write") => Direction::Write,
        _ if text.contains(" atomic") || text.contains(" reduction") => Direction::Atomic,
        _ if text.contains(" read") => Direction::Read,
        _ => return None,
    };
    let problem = problem(text);
    let size = number_after(text, "of size ")?;
    let access = Access { space, direction, size, address: None, problem, nearest: None };
    Some(match uninitialised {
        true => What::Uninitialised(access),
        false => What::Access(access),
    })
}

/// What is wrong with an access, by the words of any line about it.
pub(super) fn problem(text: &str) -> Problem {
    match text {
        _ if text.contains("misaligned") => Problem::Misaligned,
        _ if text.contains("out of bounds") => Problem::OutOfBounds,
        _ => match text.find(" is ") {
            Some(at) => Problem::Other(text[at + 4..].trim().into()),
            None => Problem::Other(String::new()),
        },
    }
}

/// `Host API memory access error at host access to 0x7f.. of size 25,600 bytes`.
fn host_access(text: &str) -> Option<What> {
    let size = number_after(text, "of size ").unwrap_or(0);
    text.starts_with("Host API").then(|| What::UninitialisedCopy { api: String::new(), size })
}

/// `Race reported between Write access at reverse(float *)+0x100 in b09.cu:26`.
fn race(text: &str) -> Option<What> {
    let party = party(text.strip_prefix("Race reported between ")?)?;
    Some(What::Race { parties: vec![party] })
}

/// `Read access at reverse(float *)+0x110 in b09.cu:30 [524288 hazards]`.
pub(super) fn party(text: &str) -> Option<Party> {
    let (word, rest) = text.split_once(' ')?;
    let direction = direction(word)?;
    let place = rest.trim_start().strip_prefix("access")?.trim_start();
    let place = place.strip_prefix("at ").unwrap_or(place);
    let (place, hazards) = match place.rsplit_once('[') {
        Some((place, count)) if count.contains("hazard") => (place, number_after(count, "").unwrap_or(0)),
        _ => (place, 0),
    };
    Some(Party { direction, place: Some(Place::read(place)), thread: None, hazards })
}

pub(super) fn direction(word: &str) -> Option<Direction> {
    match word {
        "Read" => Some(Direction::Read),
        "Write" => Some(Direction::Write),
        "Atomic" => Some(Direction::Atomic),
        _ => None,
    }
}

/// `(Warp Level Programming) Potential RAW hazard detected at __shared__ 0x57c in block (8,0,0) :`
fn hazard(text: &str) -> Option<What> {
    let at = text.find("Potential ")?;
    let kind = ["RAW", "WAR", "WAW"].into_iter().find(|kind| text[at + 10..].starts_with(kind))?;
    let after = text.find("hazard detected")?;
    let address = text[after..].split_whitespace().find_map(hex);
    Some(What::Hazard(Hazard {
        kind: kind.into(),
        address,
        parties: Vec::new(),
        async_copy: text.contains("memcpy_async"),
        in_warp: text[..at].contains("Warp"),
    }))
}

/// `Leaked 16,384 bytes at 0x7f38ca808000`, `Leaked 16 bytes at 0x4012ffff6 on the device heap`.
fn leak(text: &str) -> Option<What> {
    let bytes = number_after(text, "Leaked ").filter(|_| text.starts_with("Leaked "))?;
    let address = text.split_whitespace().find_map(hex);
    Some(What::Leak { bytes, address, device_heap: text.contains("device heap") })
}

/// `Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaLaunchKernel.`
fn api(text: &str) -> Option<What> {
    let rest = text.strip_prefix("Program hit ")?;
    let name = rest.rsplit_once("call to ").map_or("", |(_, name)| name).trim().trim_end_matches('.');
    let error = rest.split(" (error").next().unwrap_or(rest).trim();
    let message =
        rest.split_once("due to \"").and_then(|(_, rest)| rest.split_once('"')).map_or("", |(words, _)| words);
    Some(What::Api(ApiCall {
        name: name.into(),
        error: error.into(),
        code: number_after(rest, "(error "),
        message: message.into(),
    }))
}

/// Words with which hardware exceptions and their like begin.
const FAULTS: [&str; 25] = [
    "Illegal instruction",
    "Illegal address",
    "Illegal memory access",
    "Stack overflow",
    "Hardware stack overflow",
    "User stack overflow",
    "Lane ",
    "Warp ",
    "Device ",
    "Cluster ",
    "Out-of-range",
    "Out of range",
    "Misaligned ",
    "Invalid PC",
    "Invalid program counter",
    "Invalid address space",
    "Invalid device",
    "Assert",
    "Trap",
    "Trace/breakpoint",
    "Hardware exception",
    "Unknown hardware",
    "Unknown error",
    "Deadlock detected",
    "Block exited",
];

fn fault(text: &str) -> Option<What> {
    if let Some(problem) = text.strip_prefix("Barrier error detected") {
        let problem = problem.trim_start_matches(['.', ':', ' ']).trim_end_matches('.').into();
        return Some(What::Barrier { problem });
    }
    if text.starts_with("Warpgroup MMA") {
        return Some(What::Warpgroup { problem: text.into() });
    }
    if text.len() > 11 && text.get(..11).is_some_and(|start| start.eq_ignore_ascii_case("malloc/free")) {
        let problem = text.split_once(':').map_or(text, |(_, problem)| problem).trim().into();
        return Some(What::HeapCall { problem });
    }
    let known = FAULTS.iter().any(|start| text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start)));
    known.then(|| What::Fault { problem: text.trim_end_matches('.').into() })
}

impl Record {
    /// Whether the tool calls it an error, and not something that may be on purpose.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
