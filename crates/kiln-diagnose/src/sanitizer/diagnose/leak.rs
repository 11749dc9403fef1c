//! Memory that was never freed. The tool's summary counts what it did not print.

use kiln_core::{counted, grouped};

use super::group::Group;
use super::{Context, Finding};
use crate::sanitizer::What;
use crate::{Cause, Tool};

pub(super) fn finding(context: &Context<'_>, group: &Group<'_>) -> Finding {
    let mut finding = context.at(Cause::Leak, Tool::Memcheck, group);
    let sizes: Vec<u64> = group
        .records
        .iter()
        .filter_map(|record| match record.what {
            What::Leak { bytes, .. } => Some(bytes),
            _ => None,
        })
        .collect();
    let printed_leaks = group.run.records.iter().filter(|record| matches!(record.what, What::Leak { .. })).count();
    // The summary is about all leaks of the run: it holds for this group if there is no other.
    let summary = group.run.leaked.filter(|_| printed_leaks == group.records.len());
    let (bytes, allocations) =
        summary.unwrap_or((sizes.iter().fold(0, |sum, size| size.saturating_add(sum)), sizes.len() as u64));
    finding.count = allocations;
    finding.facts.set("allocations", allocations);
    finding.facts.set("leaked_bytes", bytes);
    let first = sizes.first().copied().unwrap_or(0);
    if sizes.iter().all(|size| *size == first) && first > 0 {
        finding.facts.set("allocation_bytes", first);
    }
    let device_heap = matches!(group.first().what, What::Leak { device_heap: true, .. });
    finding.facts.set("device_heap", device_heap);
    let host = &group.first().host;
    let named = |start: &str| host.iter().find(|name| name.starts_with(start)).cloned();
    let api = named("cuda").or_else(|| named("cuMem"));
    let mut callers: Vec<String> = group.records.iter().filter_map(|record| record.caller()).collect();
    callers.dedup();
    let caller = callers.first().cloned();
    finding.facts.set_some("api", api);
    finding.facts.set_some("called_from", caller.clone());
    if callers.len() > 1 {
        callers.sort_unstable();
        callers.dedup();
        finding.facts.set("allocated_in", callers);
    }
    let who = caller.map_or(String::new(), |caller| format!(", allocated in {caller}()"));
    let each = match finding.facts.number("allocation_bytes") {
        Some(each) if allocations > 1 => format!(" of {} bytes each", grouped(each.into())),
        _ => String::new(),
    };
    finding.explanation = format!(
        "{}{each} were never freed: {} bytes in total{who}.",
        counted(allocations.into(), "allocation"),
        grouped(bytes.into())
    );
    finding.fix = match device_heap {
        true => "Call free() in the kernel for every malloc(), on every path.".into(),
        false => "Call cudaFree for it on every path, or allocate once and reuse it in every step.".into(),
    };
    finding
}
