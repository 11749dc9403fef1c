//! Accesses outside what is allocated. The nearest allocation, the distance to it and the addresses together tell an index
//! that is too large from a pointer that is wrong altogether.

use kiln_core::{counted, grouped};

use super::super::group::Group;
use super::super::pattern::{Touch, pattern};
use super::super::{Context, Finding};
use super::{addresses, described, facts, strides, times, touches};
use crate::sanitizer::{Access, Direction, Nearest, Record, Run, Side, Space, What};
use crate::{Cause, Tool};

/// Addresses below this are reached from a null pointer.
const FIRST_PAGES: u64 = 1 << 16;
/// Allocations begin at multiples of this.
const ALLOCATION_ALIGNMENT: u64 = 256;
/// Small allocations share pages, one right after another.
const SMALL_GRANULE: u64 = 512;
const SMALL: u64 = 1 << 20;
const LARGE_GRANULE: u64 = 2 << 20;
/// No index that is merely wrong reaches so far.
const FAR: u64 = 1 << 36;
/// Nor an index that is off by a row or two this far.
const NEAR: u64 = 1 << 20;
/// An allocation has at least so many rows.
const FEW_ROWS: u64 = 4;
const PAGE: u64 = 4096;
const MALLOC_HEADER: u64 = 16;

pub(super) fn finding(context: &Context<'_>, group: &Group<'_>, access: &Access) -> Finding {
    let cause = cause(context, group, access);
    let mut finding = context.at(cause, Tool::Memcheck, group);
    facts(&mut finding, group, access);
    strides(&mut finding.facts, group, access);
    distances(&mut finding, context, group, access);
    words(&mut finding, group, access);
    finding
}

fn cause(context: &Context<'_>, group: &Group<'_>, access: &Access) -> Cause {
    match access.space {
        Space::Shared => return Cause::OobShared,
        Space::Local => return Cause::OobLocal,
        Space::Global | Space::Unknown => {}
    }
    let lowest = addresses(&group.records).min();
    let nearest: Vec<Nearest> = group.records.iter().filter_map(|record| nearest(record)).collect();
    if lowest.is_some_and(|lowest| lowest < FIRST_PAGES) {
        return Cause::NullPointer;
    }
    if group.records.iter().any(|record| is_freed(record)) {
        return Cause::UseAfterFree;
    }
    if lowest.is_some_and(|lowest| is_host(lowest, &nearest)) {
        return Cause::HostPointer;
    }
    if is_stale(group, access, &nearest) {
        return Cause::UseAfterFree;
    }
    match access.direction {
        Direction::Read => Cause::OobGlobalRead,
        _ if is_silent(context, group, &nearest) => Cause::OobGlobalWriteSilent,
        _ => Cause::OobGlobalWrite,
    }
}

fn nearest(record: &Record) -> Option<Nearest> {
    match &record.what {
        What::Access(access) => access.nearest,
        _ => None,
    }
}

fn is_freed(record: &Record) -> bool {
    match &record.what {
        What::Access(access) => match &access.problem {
            crate::sanitizer::Problem::Other(words) => words.contains("free"),
            _ => false,
        },
        _ => false,
    }
}

/// The heap or the stack of a process, far from everything on the device; or the first byte of a large block of malloc,
/// which lies 16 bytes into a page.
fn is_host(address: u64, nearest: &[Nearest]) -> bool {
    let apart = |least: u64| {
        nearest.iter().all(|nearest| match nearest.side {
            Side::Before(distance) | Side::After(distance) => distance >= least,
            Side::Inside => false,
        })
    };
    let heap = (0x5500_0000_0000..0x6000_0000_0000).contains(&address);
    let stack = (0x7ff0_0000_0000..0x8000_0000_0000).contains(&address);
    let block = address % PAGE == MALLOC_HEADER;
    apart(FAR) && (heap || stack || !nearest.is_empty()) || apart(NEAR) && block && !nearest.is_empty()
}

/// The accesses are of memory that begins like an allocation and does not touch the nearest one: it was freed. Printed records
/// may be any part of the whole, so their first address is counted back to the first thread's, and a gap must remain even if
/// everything that was not printed lies between.
fn is_stale(group: &Group<'_>, access: &Access, nearest: &[Nearest]) -> bool {
    let touches = touches(group);
    let step = pattern(&touches, access.size).step.unwrap_or(0);
    let back = |(_, thread, address): &Touch| address.wrapping_sub(step.wrapping_mul(thread[0].into()).cast_unsigned());
    let Some(start) = touches.iter().map(back).min() else { return false };
    let whole = group.count.saturating_mul(access.size);
    // Rows before the start are an index below zero; rows of the allocation, that is, and not a buffer of another size.
    let is_row =
        |nearest: &Nearest| nearest.size.is_multiple_of(whole.max(1)) && nearest.size / whole.max(1) >= FEW_ROWS;
    let apart = |nearest: &Nearest| match nearest.side {
        Side::After(distance) => distance > ALLOCATION_ALIGNMENT,
        Side::Before(_) => !is_row(nearest),
        Side::Inside => false,
    };
    let gap = |nearest: &Nearest| match nearest.side {
        Side::After(distance) => distance >= whole.saturating_add(ALLOCATION_ALIGNMENT),
        Side::Before(_) => true,
        Side::Inside => false,
    };
    start.is_multiple_of(ALLOCATION_ALIGNMENT) && nearest.iter().all(apart) && nearest.iter().any(gap)
}

/// Without padding, the write lands in the next allocation. Either another run shows that nobody notices, or the
/// allocation fills its place to the last byte, so that the next one begins where it ends.
fn is_silent(context: &Context<'_>, group: &Group<'_>, nearest: &[Nearest]) -> bool {
    let unnoticed = |run: &Run| run.tool == Tool::Memcheck && run.is_clean();
    if context.log.runs.iter().any(unnoticed) {
        return true;
    }
    let full = |nearest: &Nearest| {
        let granule = if nearest.size < SMALL { SMALL_GRANULE } else { LARGE_GRANULE };
        nearest.size > 0 && nearest.size.is_multiple_of(granule)
    };
    let close = |nearest: &Nearest| matches!(nearest.side, Side::After(distance) if distance <= SMALL_GRANULE);
    group.count > 0 && !nearest.is_empty() && nearest.iter().all(|nearest| full(nearest) && close(nearest))
}

/// How far outside, of how much.
fn distances(finding: &mut Finding, context: &Context<'_>, group: &Group<'_>, access: &Access) {
    let nearest: Vec<Nearest> = group.records.iter().filter_map(|record| nearest(record)).collect();
    let Some(first) = nearest.first() else { return };
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
        finding.facts.set("farthest_byte_past_end", most - 1 + access.size);
    }
    if let Some(most) = before.max() {
        finding.facts.set("bytes_before_start", most);
    }
    let outside = group.count.saturating_mul(access.size);
    if group.count > 1 && finding.cause != Cause::UseAfterFree && finding.cause != Cause::HostPointer {
        finding.facts.set("bytes_outside", outside);
        if outside > 0 && first.size >= outside && first.size.is_multiple_of(outside) && first.size / outside > 1 {
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
        (Some(bytes), _) => format!("{} past the end of {allocation}", counted((bytes - 1).into(), "byte")),
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
