//! Explanations and fixes for what happens on a processor.

use kiln_core::counted;

use super::frame::Frame;
use super::report::{Report, Where};
use crate::Cause;

/// What happened.
pub(super) fn explanation(cause: Cause, report: &Report) -> String {
    if cause.is_out_of_bounds()
        && let (Some((direction, bytes)), Some(region)) = (report.access, &report.region)
    {
        let article = if matches!(bytes, 8 | 11 | 18 | 80..90) { "An" } else { "A" };
        let access = format!("{article} {bytes}-byte {}", direction.name());
        let memory = match &region.variable {
            Some(name) => format!("`{name}` ({} bytes)", region.size),
            None => format!("an allocation of {} bytes", region.size),
        };
        return match region.place {
            Where::After if region.distance == 0 => format!("{access} right after the end of {memory}."),
            Where::After => format!("{access} {} after the end of {memory}.", counted(region.distance.into(), "byte")),
            Where::Before => {
                format!("{access} {} before the start of {memory}.", counted(region.distance.into(), "byte"))
            }
            Where::Inside => format!("{access} that begins in {memory} and ends outside."),
        };
    }
    match cause {
        Cause::Leak => {
            let allocations = counted(report.allocations.unwrap_or(1).into(), "allocation");
            format!("{allocations} made here ({} bytes) were never freed.", report.leaked.unwrap_or(0))
        }
        Cause::UseAfterFree => "Memory is used after it was freed.".into(),
        Cause::DoubleFree => "The same memory is freed twice.".into(),
        Cause::DataRace => {
            let at = |frames: &[Frame]| {
                let place = frames.iter().find(|frame| frame.is_own()).and_then(Frame::source);
                place.map(|place| format!(" at {place}")).unwrap_or_default()
            };
            let first = report.access.map_or("access", |(direction, _)| direction.name());
            let second = report.other.as_ref().map_or("access", |(direction, _)| direction.name());
            let (here, there) = (at(&report.frames), report.other.as_ref().map(|(_, frames)| at(frames)));
            let what = report.variable.as_ref().map_or("the same memory".into(), |name| format!("`{name}`"));
            let there = there.unwrap_or_default();
            format!("Two threads use {what} in no order: a {first}{here} and a {second}{there}.")
        }
        Cause::UninitValue => match &report.variable {
            Some(name) => format!("`{name}` is used before it was set."),
            None => "A value is used before anything was written to it.".into(),
        },
        _ => {
            let mut message = report.message.clone();
            if let Some(first) = message.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            format!("{message}.")
        }
    }
}

/// What to change.
pub(super) fn fix(cause: Cause, report: &Report) -> &'static str {
    let before = report.region.as_ref().is_some_and(|region| region.place == Where::Before);
    match cause {
        _ if cause.is_out_of_bounds() && before => "Check the lowest index: it becomes negative.",
        _ if cause.is_out_of_bounds() => {
            "Check the loop's bound and the index: the last one is too large (`<` instead of `<=`)."
        }
        Cause::IndexOutOfRange => "Keep the index below the array's length; check the order of the indices.",
        Cause::UseAfterFree => "Free the memory after its last use, or keep a copy of what is needed.",
        Cause::UseAfterScope => "Move the variable to the scope in which its address is used, or allocate it.",
        Cause::DoubleFree => "Free it once; set the pointer to NULL after the first free.",
        Cause::InvalidFree => "Free the pointer that the allocator returned, with the matching call.",
        Cause::Leak => "Free it on every path, including the ones that return early.",
        Cause::NullPointer => {
            "Check that the pointer was set: an allocation may have failed, or an argument is missing."
        }
        Cause::WildPointer => "Check where the pointer comes from: it was not set, or computed from a wrong index.",
        Cause::MisalignedAccess => "Read such data with memcpy, or align it as its type requires.",
        Cause::SignedOverflow => "Compute in a wider type (`(int64_t)rows * cols`), or in an unsigned one.",
        Cause::InvalidShift => "Keep the amount between 0 and the type's width - 1, or shift a wider type.",
        Cause::DivisionByZero => "Check the divisor: a size or a tile is zero.",
        Cause::InvalidValue => "Set the variable before it is read, and check the range before a conversion.",
        Cause::DataRace => {
            "Give every thread its own copy (OpenMP: private or reduction), make it atomic, or protect both lines with one lock."
        }
        Cause::UninitValue => "Set the value on every path before it is read.",
        Cause::StackOverflow => "Bound the recursion, or move large arrays to the heap.",
        _ => "See the message: the standard does not define what this does.",
    }
}
