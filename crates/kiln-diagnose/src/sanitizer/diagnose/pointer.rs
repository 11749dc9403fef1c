//! What the addresses of a group of accesses say about the pointer they start from. In: who touched which address, and the
//! allocations nearest to them. Out: whether the pointer is null, of the host, or of memory that was freed; if none of these, the
//! pointer was right and an index is wrong. Printed records may be any part of all, so the address of the first thread is
//! counted back from those that are there.

use super::group::Group;
use super::pattern::{Pattern, Touch};
use crate::sanitizer::{Nearest, Side};

/// Addresses below this are reached from a null pointer.
const FIRST_PAGES: u64 = 1 << 16;
/// Allocations begin at multiples of this.
const ALLOCATION_ALIGNMENT: u64 = 256;
/// No index that is merely wrong reaches so far.
const FAR: u64 = 1 << 36;
/// Nor an index that is off by a row or two this far.
const NEAR: u64 = 1 << 20;
/// An allocation has at least so many rows.
const FEW_ROWS: u64 = 4;
const WARP: u64 = 32;
const MOST_THREADS: u64 = 1024;
const PAGE: u64 = 4096;
const MALLOC_HEADER: u64 = 16;

/// Where a process has its heap: x86-64 and AArch64 under Linux.
const HEAPS: [std::ops::Range<u64>; 2] = [0x5500_0000_0000..0x5800_0000_0000, 0xaaaa_0000_0000..0xab00_0000_0000];
/// Where it has its stack. Device memory may lie as high as the first of them, so that only what is far from it counts.
const STACKS: [std::ops::Range<u64>; 2] = [0x7ffb_0000_0000..0x8000_0000_0000, 0xffff_0000_0000..0x0001_0000_0000_0000];
/// Where a program that is not position independent has its heap.
const FIXED_HEAP: std::ops::Range<u64> = 0x40_0000..0x4000_0000;
/// Where a process has its heap under Windows; device memory is below.
const WINDOWS_HEAP: std::ops::Range<u64> = 0x0100_0000_0000..0x0300_0000_0000;

/// What kind of pointer it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pointer {
    /// Null, with an index.
    Null,
    /// To memory of the host.
    Host,
    /// To memory that was freed.
    Freed,
    /// To memory of the device; the index is wrong.
    Device,
}

/// The kind of pointer behind accesses of one size.
pub(super) fn pointer(group: &Group<'_>, size: u64, touches: &[Touch], found: Pattern, nearest: &[Nearest]) -> Pointer {
    let addresses = || super::access::addresses(&group.records);
    let Some(lowest) = addresses().min() else { return Pointer::Device };
    let start = touches.iter().map(|touch| first(touch, found)).min().unwrap_or(lowest);
    match lowest {
        _ if lowest < FIRST_PAGES || start < FIRST_PAGES || is_index(touches, found) => Pointer::Null,
        _ if is_host(lowest, start, nearest) => Pointer::Host,
        _ if is_stale(group.count.saturating_mul(size), start, nearest) => Pointer::Freed,
        _ => Pointer::Device,
    }
}

/// The address that the first thread of the first block would have, as far as the pattern tells.
fn first((block, thread, address): &Touch, found: Pattern) -> u64 {
    let threads = found.step.unwrap_or(0).wrapping_mul(thread[0].into());
    let blocks = found.block_step.unwrap_or(0).wrapping_mul(block[0].into());
    address.wrapping_sub(threads.cast_unsigned()).wrapping_sub(blocks.cast_unsigned())
}

/// Whether addresses are nothing but an index, block by block. One block that was printed shows no step between blocks, but there
/// are only so many threads a block may have.
fn is_index(touches: &[Touch], found: Pattern) -> bool {
    let (Some(step), None) = (found.step.filter(|step| *step > 0), found.block_step) else { return false };
    let Some(most) = touches.iter().map(|(_, thread, _)| u64::from(thread[0])).max() else { return false };
    let sizes = ((most + 1).next_multiple_of(WARP)..=MOST_THREADS).step_by(32);
    let fits = |(block, thread, address): &Touch, threads: u64| {
        let index = u64::from(block[0]).wrapping_mul(threads).wrapping_add(thread[0].into());
        block[0] > 0 && index.wrapping_mul(step.cast_unsigned()) == *address
    };
    sizes.into_iter().any(|threads| touches.iter().all(|touch| fits(touch, threads)))
}

fn apart(nearest: &[Nearest], least: u64) -> bool {
    nearest.iter().all(|nearest| match nearest.side {
        Side::Before(distance) | Side::After(distance) => distance >= least,
        Side::Inside => false,
    })
}

/// The heap or the stack of a process, far from everything on the device; or the first byte of a large block of malloc,
/// which lies 16 bytes into a page.
fn is_host(lowest: u64, start: u64, nearest: &[Nearest]) -> bool {
    let known = !nearest.is_empty();
    let within = |ranges: &[std::ops::Range<u64>]| ranges.iter().any(|range| range.contains(&lowest));
    let windows = known && nearest.iter().all(|nearest| nearest.base < WINDOWS_HEAP.start);
    let aligned = start.is_multiple_of(MALLOC_HEADER);
    let far = apart(nearest, FAR);
    let heap = within(&HEAPS) || aligned && known && FIXED_HEAP.contains(&lowest);
    let windows_heap = windows && aligned && WINDOWS_HEAP.contains(&lowest);
    let block = known && start % PAGE == MALLOC_HEADER;
    far && (heap || windows_heap || within(&STACKS)) || apart(nearest, NEAR) && block
}

/// The accesses are of memory that begins like an allocation and does not touch the nearest one: it was freed. A gap must remain
/// even if everything that was not printed lies between.
fn is_stale(whole: u64, start: u64, nearest: &[Nearest]) -> bool {
    // One or two rows right before the start are an index below zero; rows of the allocation, that is, and not a buffer of
    // another size.
    let is_row = |nearest: &Nearest, distance: u64| {
        let rows = nearest.size.checked_div(whole).filter(|_| nearest.size.is_multiple_of(whole.max(1)));
        distance <= whole.saturating_mul(2) && rows.is_some_and(|rows| rows >= FEW_ROWS)
    };
    let apart = |nearest: &Nearest| match nearest.side {
        Side::After(distance) => {
            let end = nearest.base.saturating_add(nearest.size);
            distance > ALLOCATION_ALIGNMENT && start > end.saturating_add(ALLOCATION_ALIGNMENT)
        }
        Side::Before(distance) => !is_row(nearest, distance),
        Side::Inside => false,
    };
    let gap = |nearest: &Nearest| match nearest.side {
        Side::After(distance) => distance >= whole.saturating_add(ALLOCATION_ALIGNMENT),
        Side::Before(_) => true,
        Side::Inside => false,
    };
    start.is_multiple_of(ALLOCATION_ALIGNMENT) && nearest.iter().all(apart) && nearest.iter().any(gap)
}
