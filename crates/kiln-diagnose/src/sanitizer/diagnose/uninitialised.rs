//! Reads of memory that nothing was written to.

use kiln_core::grouped;

use super::access::{addresses, facts, strides};
use super::group::Group;
use super::{Context, Finding};
use crate::sanitizer::{Access, Space};
use crate::{Cause, Tool};

pub(super) fn finding(context: &Context<'_>, group: &Group<'_>, access: &Access) -> Finding {
    let cause = match access.space {
        Space::Shared => Cause::UninitShared,
        _ => Cause::UninitGlobal,
    };
    let mut finding = context.at(cause, Tool::Initcheck, group);
    facts(&mut finding, group, access);
    strides(&mut finding.facts, group, access);
    let bytes = group.count.saturating_mul(access.size);
    finding.facts.set("bytes_read", bytes);
    if let (Some(low), Some(high)) = (addresses(&group.records).min(), addresses(&group.records).max()) {
        finding.facts.set("address_range_bytes", (high - low).saturating_add(access.size));
    }
    let read = grouped(bytes.into());
    (finding.explanation, finding.fix) = match cause {
        Cause::UninitShared => (
            format!(
                "Shared memory is read before anything was written to it ({read} bytes): it holds what the last block left."
            ),
            "Write every element before a barrier, and read after it.".into(),
        ),
        _ => (
            format!(
                "Global memory is read before anything was written to it ({read} bytes): cudaMalloc does not clear."
            ),
            "Fill the buffer first (cudaMemset, a copy or a kernel), or write with = instead of += the first time."
                .into(),
        ),
    };
    finding
}

/// A host call that copies such memory.
pub(super) fn copy(context: &Context<'_>, group: &Group<'_>, api: &str, size: u64) -> Finding {
    let mut finding = context.at(Cause::UninitGlobal, Tool::Initcheck, group);
    finding.facts.set("bytes_copied", size);
    let api = if api.is_empty() { "a copy" } else { api };
    finding.facts.set("api", api);
    finding.facts.set_some("called_from", group.first().caller());
    finding.explanation =
        format!("{api} copies {} bytes of device memory, part of which nothing was written to.", grouped(size.into()));
    finding.fix = "Copy only what the kernel wrote, or make it write the whole buffer (check the grid's size).".into();
    finding
}
