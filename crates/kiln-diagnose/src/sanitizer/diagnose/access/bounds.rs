//! Accesses outside what is allocated. The nearest allocation, the distance to it and the addresses together tell an index
//! that is too large from a pointer that is wrong altogether.

use kiln_core::{counted, grouped};

use super::super::allocations::{Allocations, SMALL_GRANULE, fills_its_place, slack};
use super::super::group::Group;
use super::super::pointer::{Pointer, pointer};
use super::super::{Context, Finding};
use super::{accessed, addresses, described, facts, strides, times, touches};
use crate::sanitizer::{Access, Direction, Nearest, Problem, Record, Run, Side, Space, What};
use crate::{Cause, Tool};

/// Fewer bytes than this are a few elements, and no row.
const SMALLEST_ROW: u64 = 256;

pub(super) fn finding(context: &Context<'_>, group: &Group<'_>, access: &Access) -> Finding {
    let allocations = &*group.allocations;
    let near = |record: &&Record| nearest(record, allocations);
    let nearest: Vec<Nearest> = group.records.iter().filter_map(near).collect();
    let cause = cause(context, group, access, allocations, &nearest);
    let mut finding = context.at(cause, Tool::Memcheck, group);
    facts(&mut finding, group, access);
    strides(&mut finding.facts, group, access);
    distances(&mut finding, context, group, access, &nearest);
    words(&mut finding, group, access);
    finding
}

fn cause(
    context: &Context<'_>,
    group: &Group<'_>,
    access: &Access,
    allocations: &Allocations,
    nearest: &[Nearest],
) -> Cause {
    match access.space {
        Space::Shared => return Cause::OobShared,
        Space::Local => return Cause::OobLocal,
        Space::Global | Space::Unknown => {}
    }
    if group.records.iter().any(|record| is_freed(record)) {
        return Cause::UseAfterFree;
    }
    let touches = touches(group);
    let found = super::super::pattern::pattern(&touches, access.size);
    match pointer(group, access.size, &touches, found, nearest) {
        Pointer::Null => return Cause::NullPointer,
        Pointer::Host => return Cause::HostPointer,
        Pointer::Freed => return Cause::UseAfterFree,
        Pointer::Device => {}
    }
    let outside = nearest.iter().all(|nearest| nearest.side != Side::Inside);
    if outside && is_freed_in_source(context, group.first()) {
        return Cause::UseAfterFree;
    }
    match access.direction {
        Direction::Read => Cause::OobGlobalRead,
        _ if is_silent(context, allocations, nearest) => Cause::OobGlobalWriteSilent,
        _ => Cause::OobGlobalWrite,
    }
}

/// The nearest allocation by the tool's words, else by what is known of the run.
fn nearest(record: &Record, allocations: &Allocations) -> Option<Nearest> {
    let access = accessed(record).filter(|access| access.space == Space::Global)?;
    access.nearest.or_else(|| allocations.nearest(access.address?))
}

fn is_freed(record: &Record) -> bool {
    match &record.what {
        What::Access(Access { problem: Problem::Other(words), .. }) => words.contains("free"),
        _ => false,
    }
}

/// The source frees an argument of the kernel before it launches it, and allocates nothing for it again.
fn is_freed_in_source(context: &Context<'_>, record: &Record) -> bool {
    let Some(kernel) = record.kernel() else { return false };
    context.launches(kernel).iter().any(|launch| {
        let is_name = |name: &str| {
            !name.is_empty()
                && name.chars().all(|c| c.is_alphanumeric() || c == '_')
                && !name.starts_with(|c: char| c.is_ascii_digit())
        };
        launch.arguments.iter().filter(|name| is_name(name)).any(|name| {
            let frees = [format!("cudaFree({name})"), format!("cudaFreeAsync({name},")];
            let freed = frees.iter().filter_map(|free| launch.before.rfind(free.as_str())).max();
            let again = [format!("Malloc(&{name}"), format!("MallocAsync(&{name}"), format!("{name} =")];
            freed.is_some_and(|at| !again.iter().any(|again| launch.before[at..].contains(again.as_str())))
        })
    })
}

/// Without padding, the write lands in the next allocation. Another run may show that nobody notices; else allocations that are
/// padded, or one that fills its place to the last byte, so that the next one begins where it ends.
fn is_silent(context: &Context<'_>, allocations: &Allocations, nearest: &[Nearest]) -> bool {
    let unnoticed = |run: &Run| run.tool == Tool::Memcheck && run.is_clean();
    if context.log.runs.iter().any(unnoticed) {
        return true;
    }
    let past = |nearest: &Nearest| match nearest.side {
        Side::After(distance) => Some((distance, nearest.size)),
        _ => None,
    };
    let past: Option<Vec<(u64, u64)>> = nearest.iter().map(past).collect();
    let Some(past) = past.filter(|past| !past.is_empty()) else { return false };
    match allocations.padded() {
        Some(false) => false,
        // Beyond what the allocation takes up: what is within is noticed without padding too.
        Some(true) => past.iter().any(|(distance, size)| *distance > slack(*size)),
        None => past.iter().all(|(distance, size)| fills_its_place(*size) && *distance <= SMALL_GRANULE),
    }
}

/// How far outside, of how much.
fn distances(finding: &mut Finding, context: &Context<'_>, group: &Group<'_>, access: &Access, nearest: &[Nearest]) {
    // A pointer that is wrong altogether is not outside of anything.
    let index = !matches!(finding.cause, Cause::NullPointer | Cause::HostPointer);
    let Some(first) = nearest.first().filter(|_| index) else { return };
    finding.facts.set("allocation_bytes", first.size);
    finding.facts.set_some("variable", context.log.program.argument_at(first.base));
    let past = nearest.iter().filter_map(|nearest| match nearest.side {
        Side::After(distance) => Some(distance),
        _ => None,
    });
    let before = nearest.iter().filter_map(|nearest| match nearest.side {
        Side::Before(distance) => Some(distance),
        _ => None,
    });
    if let (Some(least), Some(most)) = (past.clone().min(), past.max()) {
        finding.facts.set("bytes_past_end", least);
        // The last byte of the farthest access that was printed.
        finding.facts.set("farthest_byte_past_end", most.saturating_sub(1).saturating_add(access.size));
    }
    if let Some(most) = before.max() {
        finding.facts.set("bytes_before_start", most);
    }
    let outside = group.count.saturating_mul(access.size);
    let mut touched: Vec<u64> = addresses(&group.records).collect();
    touched.sort_unstable();
    touched.dedup();
    let distinct = touched.len() == group.records.len();
    if group.count > 1 && distinct && finding.cause != Cause::UseAfterFree {
        finding.facts.set("bytes_outside", outside);
        if outside >= SMALLEST_ROW && first.size.is_multiple_of(outside) && first.size / outside > 1 {
            finding.facts.set("rows_in_allocation", first.size / outside);
        }
    }
}

fn words(finding: &mut Finding, group: &Group<'_>, access: &Access) {
    let what = described(access);
    let count = times(group.count);
    let size = finding.facts.number("allocation_bytes").map(|size| format!("{} bytes", grouped(size.into())));
    let allocation = match (finding.facts.text("variable"), size) {
        (Some(name), Some(size)) => format!("`{name}` ({size})"),
        (_, Some(size)) => format!("an allocation of {size}"),
        (_, None) => "the allocation".into(),
    };
    let reach = match (finding.facts.number("bytes_outside"), finding.facts.number("rows_in_allocation")) {
        (Some(bytes), Some(rows)) => format!(
            " {} bytes outside in total: one row more than the {} rows of the allocation.",
            grouped(bytes.into()),
            grouped(rows.into())
        ),
        (Some(bytes), None) => format!(" {} bytes outside in total.", grouped(bytes.into())),
        _ => String::new(),
    };
    let where_ = match (finding.facts.number("bytes_past_end"), finding.facts.number("bytes_before_start")) {
        (Some(1), _) => format!("right after the end of {allocation}"),
        (Some(bytes), _) => format!("{} past the end of {allocation}", counted(bytes.saturating_sub(1).into(), "byte")),
        (None, Some(bytes)) => format!("{} before the start of {allocation}", counted(bytes.into(), "byte")),
        (None, None) => format!("outside {allocation}"),
    };
    let bound = "Check the bound of the index: `<` instead of `<=`, or a guard for the last block.";
    (finding.explanation, finding.fix) = match finding.cause {
        Cause::OobShared => (
            format!("A {what} is outside the block's shared memory ({count}).{reach}"),
            "Check the index, and that the launch asks for as much dynamic shared memory as the kernel uses.".into(),
        ),
        Cause::OobLocal => (
            format!(
                "A {what} is outside the thread's local memory ({count}): an index into a local array is too large."
            ),
            "Keep the index inside the array; a debug build with asserts shows its value.".into(),
        ),
        Cause::NullPointer => (
            format!("A {what} goes through a null pointer ({count})."),
            "Check that the argument was allocated and passed, and that the allocation succeeded.".into(),
        ),
        Cause::HostPointer => (
            format!(
                "A {what} uses an address that is no device memory ({count}): it looks like a pointer of the host."
            ),
            "Pass a device pointer: allocate with cudaMalloc and copy, or use cudaMallocManaged or pinned memory."
                .into(),
        ),
        Cause::UseAfterFree => (
            format!("A {what} uses memory that is not allocated any more ({count})."),
            "Free the memory after the last kernel that uses it has ended, and do not keep pointers to it.".into(),
        ),
        Cause::OobGlobalWriteSilent => (
            format!(
                "A {what} {where_} ({count}).{reach} Without padding it lands in the next allocation, and no tool notices."
            ),
            format!("{bound} Data of another buffer is overwritten: results may be wrong elsewhere."),
        ),
        _ => (format!("A {what} {where_} ({count}).{reach}"), bound.into()),
    };
}
