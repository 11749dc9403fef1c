//! From a report's words to its cause.

use super::report::Report;
use crate::sanitizer::Direction;
use crate::{Cause, Tool};

/// Addresses below this are reached from a null pointer.
const FIRST_PAGE: u64 = 4096;

/// The cause of a report.
pub(super) fn of(report: &Report) -> Cause {
    match report.tool {
        _ if report.leaked.is_some() => Cause::Leak,
        Tool::Ubsan if report.at.is_some() => undefined(&report.message),
        Tool::Tsan if is_race(report) => Cause::DataRace,
        Tool::Msan if report.message.starts_with(UNINITIALISED) => Cause::UninitValue,
        // All of them report signals in the same words.
        _ => address(report),
    }
}

const UNINITIALISED: &str = "use-of-uninitialized-value";

/// Whether two threads are in it.
pub(super) fn is_race(report: &Report) -> bool {
    report.tool == Tool::Tsan && (report.message.starts_with("data race") || report.message.starts_with("race on "))
}

/// Whether kiln has a name for it. ThreadSanitizer warns of much that is no undefined behaviour, such as an order of locks, and
/// nobody has memory without end.
pub(super) fn is_known(report: &Report) -> bool {
    let named = of(report) != Cause::UndefinedBehaviour;
    let memory = ["out of memory", "out-of-memory", "requested allocation size", "allocation-size-too-big"];
    let memory = memory.iter().any(|words| report.message.contains(words));
    named || !memory && (report.tool != Tool::Tsan || report.message.contains("mutex"))
}

fn address(report: &Report) -> Cause {
    let message = report.message.as_str();
    let writes = matches!(report.access, Some((Direction::Write, _)));
    let by_direction = |read, write| if writes { write } else { read };
    match message.split_whitespace().next().unwrap_or_default() {
        "heap-buffer-overflow" | "container-overflow" => by_direction(Cause::OobHeapRead, Cause::OobHeapWrite),
        "stack-buffer-overflow" | "stack-buffer-underflow" | "dynamic-stack-buffer-overflow" => {
            by_direction(Cause::OobStackRead, Cause::OobStackWrite)
        }
        "global-buffer-overflow" => by_direction(Cause::OobStaticRead, Cause::OobStaticWrite),
        "heap-use-after-free" | "use-after-poison" => Cause::UseAfterFree,
        "stack-use-after-return" | "stack-use-after-scope" => Cause::UseAfterScope,
        "alloc-dealloc-mismatch" | "bad-free" => Cause::InvalidFree,
        "attempting" if message.contains("double-free") => Cause::DoubleFree,
        "attempting" => Cause::InvalidFree,
        "stack-overflow" => Cause::StackOverflow,
        "FPE" => Cause::DivisionByZero,
        "SEGV" | "BUS" | "access-violation" => match address_in(message) {
            Some(address) if address < FIRST_PAGE => Cause::NullPointer,
            _ => Cause::WildPointer,
        },
        _ => Cause::UndefinedBehaviour,
    }
}

fn address_in(message: &str) -> Option<u64> {
    message.split_whitespace().find_map(|part| u64::from_str_radix(part.strip_prefix("0x")?, 16).ok())
}

fn undefined(message: &str) -> Cause {
    match message {
        _ if message.contains("signed integer overflow") && !message.contains("unsigned") => Cause::SignedOverflow,
        _ if message.starts_with("negation of") => Cause::SignedOverflow,
        _ if message.starts_with("division of") && message.contains("cannot be represented") => Cause::SignedOverflow,
        _ if message.starts_with("shift exponent") || message.starts_with("left shift of") => Cause::InvalidShift,
        _ if message.contains("division by zero") => Cause::DivisionByZero,
        _ if message.starts_with("index ") && message.contains("out of bounds") => Cause::IndexOutOfRange,
        _ if message.contains("insufficient space") => Cause::IndexOutOfRange,
        _ if message.contains("misaligned address") => Cause::MisalignedAccess,
        _ if message.contains("null pointer") => Cause::NullPointer,
        _ if message.contains("overflowed to") => Cause::WildPointer,
        _ if message.contains("not a valid value") || message.contains("outside the range of representable") => {
            Cause::InvalidValue
        }
        _ => Cause::UndefinedBehaviour,
    }
}
