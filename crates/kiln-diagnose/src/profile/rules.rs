//! One module per cause.

mod at_roofline_dram;
mod at_roofline_fp32;
mod at_roofline_tensor;
mod atomic_contention;
mod barrier_stalls;
mod coalescing;
mod fp64_unintended;
mod latency_dependent_loads;
mod launch_bound;
mod narrow_loads;
mod occupancy;
mod occupancy_registers;
mod occupancy_shared_mem;
mod register_spill_local;
mod shared_bank_conflict;
mod small_grid;
mod strided_aos;
mod tail_effect;
mod tensor_core_unused;
mod uncoalesced_global;
mod warp_divergence;
mod xu_sfu_bound;

use super::cause::Bottleneck;
use super::rule::Rule;
use super::subject::Subject;

/// Whether a cause rests on a guess about what the kernel computes, with no number, name or source that shows it.
pub(crate) fn inferred(cause: Bottleneck, subject: &Subject) -> bool {
    cause == Bottleneck::TensorCoreUnused && !tensor_core_unused::is_known_product(subject)
}

/// Every rule, in the order of the causes.
pub(crate) const ALL: &[Rule] = &[
    uncoalesced_global::RULE,
    strided_aos::RULE,
    shared_bank_conflict::RULE,
    register_spill_local::RULE,
    occupancy_shared_mem::RULE,
    occupancy_registers::RULE,
    small_grid::RULE,
    tail_effect::RULE,
    launch_bound::RULE,
    warp_divergence::RULE,
    barrier_stalls::RULE,
    atomic_contention::RULE,
    fp64_unintended::RULE,
    xu_sfu_bound::RULE,
    tensor_core_unused::RULE,
    latency_dependent_loads::RULE,
    narrow_loads::RULE,
    at_roofline_dram::RULE,
    at_roofline_fp32::RULE,
    at_roofline_tensor::RULE,
];
