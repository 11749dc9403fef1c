//! Misaligned accesses. A row stride that is no multiple of the access size explains why some rows fail and others do not;
//! one offset that all addresses share is the pointer's own.

use super::super::group::Group;
use super::super::{Context, Finding};
use super::{addresses, described, facts, is_shared, strides, times};
use crate::sanitizer::Access;
use crate::{Cause, Tool};

/// Bulk copies need this, whatever their size.
const BULK_ALIGNMENT: u64 = 16;
/// The widest access of a single instruction.
const WIDEST: u64 = 16;

pub(super) fn finding(context: &Context<'_>, group: &Group<'_>, access: &Access) -> Finding {
    let place = context.place(group.first());
    let bulk = access.size > WIDEST || context.code(place).contains("cp.async.bulk");
    let cause = match (is_shared(access), bulk) {
        (_, true) => Cause::MisalignedSharedBulk,
        (true, false) => Cause::MisalignedShared,
        (false, false) => Cause::MisalignedGlobal,
    };
    let mut finding = context.at(cause, Tool::Memcheck, group);
    facts(&mut finding, group, access);
    let alignment = if bulk { BULK_ALIGNMENT } else { access.size.max(1) };
    finding.facts.set("required_alignment", alignment);
    let mut offsets: Vec<u64> = addresses(&group.records).map(|address| address % alignment).collect();
    offsets.sort_unstable();
    offsets.dedup();
    if !offsets.is_empty() {
        finding.facts.set("bytes_off_alignment", offsets.clone());
    }
    let found = strides(&mut finding.facts, group, access);
    // Rows may be blocks too.
    let steps = [found.stride, found.block_step, found.block_row_step];
    let stride = steps.into_iter().flatten().map(i64::unsigned_abs).find(|stride| stride % alignment != 0);
    if stride.is_some() {
        finding.facts.set_some("stride_bytes", stride);
    }
    let what = described(access);
    (finding.explanation, finding.fix) = match (stride, offsets.as_slice()) {
        (Some(stride), _) => {
            let aligned = stride.next_multiple_of(alignment);
            finding.facts.set("row_bytes_off_alignment", stride % alignment);
            finding.facts.set("aligned_stride_bytes", aligned);
            let explanation = format!(
                "A {what} must start at a multiple of {alignment} bytes. Rows are {stride} bytes apart, each {} bytes further off \
                 alignment than the one before: {} misaligned.",
                stride % alignment,
                times(group.count)
            );
            let fix = format!(
                "Make the row stride a multiple of {alignment} bytes: {aligned} instead of {stride} (pad each row by {} more \
                 bytes), or swizzle instead of padding.",
                aligned - stride
            );
            (explanation, fix)
        }
        (None, [offset]) => {
            let explanation = format!(
                "A {what} must start at a multiple of {alignment} bytes. Every address is {offset} bytes past one: the pointer it \
                 starts from is misaligned ({}).",
                times(group.count)
            );
            let fix = format!(
                "Start at an address that is a multiple of {alignment} bytes: change the offset by {offset} bytes, or use \
                 accesses of at most {} bytes.",
                1_u64 << offset.trailing_zeros()
            );
            (explanation, fix)
        }
        (None, _) => (
            format!("A {what} must start at a multiple of {alignment} bytes, and does not ({}).", times(group.count)),
            format!("Align the base pointer and every row to {alignment} bytes, or use narrower accesses."),
        ),
    };
    finding
}
