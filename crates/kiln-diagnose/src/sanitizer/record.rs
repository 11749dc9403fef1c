//! What compute-sanitizer reports, record by record.

use kiln_core::readable_kernel;

use super::place::function_name;
use super::{Place, Program};
use crate::Tool;

/// Everything that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SanitizerLog {
    /// One per run of a tool, in order.
    pub runs: Vec<Run>,
    /// What the program itself printed. A caller that knows more about the program says so here.
    pub program: Program,
}

/// One run of one tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Which one, if anything in the log tells.
    pub tool: Tool,
    /// The log has its header.
    pub header: bool,
    /// What it reported.
    pub records: Vec<Record>,
    /// Errors by its own count, printed or not; none if the log ends before.
    pub errors: Option<u64>,
    /// Errors that it counted but did not print.
    pub not_printed: u64,
    /// Bytes and allocations by its summary of leaks.
    pub leaked: Option<(u64, u64)>,
    /// It ran to its end.
    pub ended: bool,
    /// The log ends within a line or a record, which was not read.
    pub cut: bool,
    /// The program ended with an error.
    pub program_failed: bool,
    /// A signal ended the program.
    pub program_crashed: bool,
    /// Why it checked nothing.
    pub not_run: Option<String>,
    /// Lines of the program's own output between the tool's.
    pub output_lines: usize,
    /// What it said about itself: records that were dropped, options to try.
    pub remarks: Vec<String>,
    /// Read from XML, which has neither a summary nor the program's output.
    pub is_xml: bool,
}

impl Run {
    pub(super) fn new(tool: Tool) -> Self {
        Run {
            tool,
            header: false,
            records: Vec::new(),
            errors: None,
            not_printed: 0,
            leaked: None,
            ended: false,
            cut: false,
            program_failed: false,
            program_crashed: false,
            not_run: None,
            output_lines: 0,
            remarks: Vec::new(),
            is_xml: false,
        }
    }

    /// Nothing but its header: the program did not end and printed nothing, or the log was cut.
    pub fn is_silent(&self) -> bool {
        let said = self.ended || self.cut || self.program_failed || self.not_run.is_some() || self.output_lines > 0;
        self.header && !said && self.records.is_empty()
    }

    /// It ran to its end and found nothing.
    pub fn is_clean(&self) -> bool {
        let nothing = self.records.is_empty() && self.errors.unwrap_or(0) == 0;
        let failed = self.remarks.iter().any(|remark| remark.contains("Internal Sanitizer Error"));
        self.ended && nothing && self.not_run.is_none() && !failed
    }
}

/// One report.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// What happened.
    pub what: What,
    /// How bad the tool thinks it is.
    pub severity: Severity,
    /// The instruction.
    pub place: Option<Place>,
    /// Who called it on the device, innermost first.
    pub frames: Vec<Place>,
    /// Functions on the host that led to it, innermost first.
    pub host: Vec<String>,
    /// The thread's index in its block.
    pub thread: Option<[u32; 3]>,
    /// The block's index in its grid.
    pub block: Option<[u32; 3]>,
}

impl Record {
    pub(super) fn new(what: What, severity: Severity) -> Self {
        Record { what, severity, place: None, frames: Vec::new(), host: Vec::new(), thread: None, block: None }
    }

    /// Every place it mentions, the instruction's first.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        let parties: &[Party] = match &self.what {
            What::Race { parties } => parties,
            What::Hazard(hazard) => &hazard.parties,
            _ => &[],
        };
        self.place.iter().chain(&self.frames).chain(parties.iter().filter_map(|party| party.place.as_ref()))
    }

    /// The outermost function on the device: the kernel. Without frames, the function of the instruction. The runtime's own
    /// functions are nobody's kernel.
    pub fn kernel(&self) -> Option<&str> {
        let function = |place: &Place| !place.function.is_empty() && place.function != "__assertfail";
        let outermost = self.frames.iter().rev().chain(&self.place).find(|place| function(place));
        outermost.or_else(|| self.places().find(|place| function(place))).map(|place| place.function.as_str())
    }
}

impl Record {
    /// The kernel that was launched, by the host's functions: the stub that nvcc makes for it, or a function of its parameters.
    pub fn launched(&self) -> Option<String> {
        if let Some((_, stub)) = self.host.iter().find_map(|name| name.split_once("__device_stub_")) {
            let mangled =
                if stub.starts_with("_Z") { stub.to_owned() } else { format!("_{}", stub.trim_start_matches('_')) };
            return Some(readable_kernel(&mangled));
        }
        let innermost = self.host.iter().find(|name| !function_name(name).starts_with("cu"))?;
        let takes_pointers = innermost.split_once('(').is_some_and(|(_, parameters)| parameters.contains('*'));
        takes_pointers.then(|| function_name(innermost)).filter(|name| name != "main")
    }

    /// The function on the host that made the call or the launch, as far as it is the program's own.
    pub fn caller(&self) -> Option<String> {
        let own = |name: &String| !name.starts_with("cu") && !name.starts_with("__") && !name.is_empty();
        let launch = matches!(&self.what, What::Api(call) if call.name.contains("Launch"));
        let kernel = self.launched().filter(|_| launch);
        self.host.iter().map(|name| function_name(name)).find(|name| own(name) && Some(name) != kernel.as_ref())
    }
}

/// The tool's own grading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// No effect on the program.
    Info,
    /// Perhaps on purpose.
    Warning,
    /// An error.
    Error,
}

/// What a record reports.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// An invalid access to memory.
    Access(Access),
    /// A read of memory that nothing was written to.
    Uninitialised(Access),
    /// Memory that a host call would read uninitialised.
    UninitialisedCopy {
        /// The call.
        api: String,
        /// How much was to be read.
        size: u64,
    },
    /// Accesses of several threads without an order, summed up by instruction.
    Race {
        /// The first instruction and those it races with.
        parties: Vec<Party>,
    },
    /// The same for one byte.
    Hazard(Hazard),
    /// A misused barrier, with the tool's words for how.
    Barrier {
        /// What follows "Barrier error detected.", or the whole line.
        problem: String,
    },
    /// Matrix instructions of a warpgroup out of step.
    Warpgroup {
        /// The tool's words.
        problem: String,
    },
    /// Memory that was not freed.
    Leak {
        /// How much.
        bytes: u64,
        /// Where.
        address: Option<u64>,
        /// Allocated by `malloc` in a kernel.
        device_heap: bool,
    },
    /// A CUDA call that returned an error.
    Api(ApiCall),
    /// A wrong `malloc` or `free` in a kernel, with the tool's words.
    HeapCall {
        /// "Double free", "Invalid pointer to free", "Heap corruption".
        problem: String,
    },
    /// A hardware exception, with the tool's words.
    Fault {
        /// "Illegal instruction", "Stack overflow".
        problem: String,
    },
    /// A record that kiln does not know.
    Unrecognised {
        /// Its first line.
        words: String,
    },
}

/// An access to memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    /// Which memory.
    pub space: Space,
    /// Read, write or atomic.
    pub direction: Direction,
    /// Bytes.
    pub size: u64,
    /// Where.
    pub address: Option<u64>,
    /// What is wrong with it.
    pub problem: Problem,
    /// The allocation nearest to it.
    pub nearest: Option<Nearest>,
}

/// Kinds of device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Device memory, or any other that all threads see.
    Global,
    /// A block's.
    Shared,
    /// A thread's.
    Local,
    /// Not said.
    Unknown,
}

impl Space {
    /// The word in facts and sentences.
    pub fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Unknown => "device",
        }
    }
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It does both at once.
    Atomic,
}

impl Direction {
    /// The word in facts and sentences.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Atomic => "atomic",
        }
    }
}

/// What is wrong with an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Its address is no multiple of its size.
    Misaligned,
    /// Nothing is allocated there.
    OutOfBounds,
    /// Anything else, in the tool's words; empty if it gives none.
    Other(String),
}

/// The allocation nearest to an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nearest {
    /// Where the access is, seen from it.
    pub side: Side,
    /// Where it starts.
    pub base: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// Where an access is, seen from an allocation. The distance is the tool's: 1 is the first byte outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Before its start.
    Before(u64),
    /// It begins inside.
    Inside,
    /// After its end.
    After(u64),
}

/// One side of a race.
#[derive(Debug, Clone, PartialEq)]
pub struct Party {
    /// What it does.
    pub direction: Direction,
    /// Where it is in the code.
    pub place: Option<Place>,
    /// Which thread, in a hazard.
    pub thread: Option<[u32; 3]>,
    /// Bytes it races for, in a race.
    pub hazards: u64,
}

/// A race for one byte.
#[derive(Debug, Clone, PartialEq)]
pub struct Hazard {
    /// RAW, WAR or WAW.
    pub kind: String,
    /// The byte's address.
    pub address: Option<u64>,
    /// Both sides, the earlier first.
    pub parties: Vec<Party>,
    /// The tool says that an asynchronous copy was not waited for.
    pub async_copy: bool,
    /// The threads are of one warp.
    pub in_warp: bool,
}

/// A CUDA call that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiCall {
    /// The call.
    pub name: String,
    /// The error's name.
    pub error: String,
    /// Its number.
    pub code: Option<u64>,
    /// Its words.
    pub message: String,
}
