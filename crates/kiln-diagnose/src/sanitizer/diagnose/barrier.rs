//! Misused barriers: synccheck's records.

use super::group::Group;
use super::{Context, Finding};
use crate::{Cause, Tool};

const WARP_LEVEL: [&str; 12] = [
    "__syncwarp(",
    "_sync(",
    "__shfl",
    "__ballot",
    "__any",
    "__all",
    "__match",
    "__reduce_",
    "warp.sync",
    "vote.sync",
    "match.sync",
    "shfl.sync",
];
const BLOCK_LEVEL: [&str; 6] =
    ["__syncthreads", "bar.sync", "barrier.sync", "bar.cta.sync", "barrier.cta.sync", "__barrier_sync"];

pub(super) fn finding(context: &Context<'_>, group: &Group<'_>, problem: &str) -> Finding {
    let lower = problem.to_ascii_lowercase();
    // The toolkit's functions have names; inline assembly and the intrinsics of the compiler are only in the source.
    let record = group.first();
    let mut code = context.code(context.place(record));
    record.places().for_each(|place| code.extend([" ", &place.function, "("]));
    let in_warp = WARP_LEVEL.iter().any(|word| code.contains(word));
    let block_level = BLOCK_LEVEL.iter().any(|word| code.contains(word));
    let cause = match lower.as_str() {
        _ if lower.contains("divergent") && in_warp && !block_level => Cause::BadSyncwarpMask,
        _ if lower.contains("divergent") => Cause::DivergentBarrier,
        _ if lower.contains("invalid arguments") && block_level => Cause::BarrierProtocol,
        _ if lower.contains("invalid arguments") || lower.contains("mask") => Cause::BadSyncwarpMask,
        _ => Cause::BarrierProtocol,
    };
    let mut finding = context.at(cause, Tool::Synccheck, group);
    finding.facts.set("problem", problem);
    threads(&mut finding, group);
    (finding.explanation, finding.fix) = match cause {
        Cause::DivergentBarrier => (
            "Some threads of the block reach this barrier and others do not, or reach it from another branch.".into(),
            "Move the barrier out of the branch or loop, so that every thread of the block reaches it; let threads without work \
             skip the work, not the barrier."
                .into(),
        ),
        Cause::BadSyncwarpMask => (
            "A warp-level call names lanes in its mask that do not call it, or is called by a lane the mask leaves out.".into(),
            "Pass the mask of exactly the lanes that reach the call: compute it with __ballot_sync before the branch, or move the \
             call out of the branch and use 0xffffffff."
                .into(),
        ),
        _ => (
            format!("A barrier is not used as it must be: {}.", problem.trim_end_matches('.')),
            "Initialise the barrier once with the number of arrivals, make that visible before its first use \
             (fence and __syncthreads()), and wait for each phase before arriving for the next."
                .into(),
        ),
    };
    finding
}

fn threads(finding: &mut Finding, group: &Group<'_>) {
    let mut blocks: Vec<_> = group.records.iter().filter_map(|record| record.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    finding.facts.set("threads", group.count);
    finding.facts.set("blocks", blocks.len());
    if group.count > group.records.len() as u64 {
        finding.facts.set("printed", group.records.len());
    }
    finding.facts.set_some("first_thread", group.first().thread.map(|thread| thread.to_vec()));
    finding.facts.set_some("first_block", group.first().block.map(|block| block.to_vec()));
}

pub(super) fn warpgroup(context: &Context<'_>, group: &Group<'_>, problem: &str) -> Finding {
    let mut finding = context.at(Cause::WarpgroupSequence, Tool::Synccheck, group);
    finding.facts.set("problem", problem);
    threads(&mut finding, group);
    finding.explanation =
        "The four warps of a warpgroup do not issue the same wgmma instructions in the same order.".into();
    finding.fix =
        "Keep wgmma, its fence, commit and wait out of branches that differ between the warps of a warpgroup.".into();
    finding
}
