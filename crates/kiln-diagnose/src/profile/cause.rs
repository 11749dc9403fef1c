//! The closed list of causes of a kernel's time. Identifiers are stable: they are printed in JSON and documented one by one in
//! docs/diagnosis.md, which a test holds against this list.

use crate::documented::causes;

/// Where each cause is documented.
const PAGE: &str = include_str!("../../../../docs/diagnosis.md");

causes! {
    /// What a kernel's time goes to.
    Bottleneck in PAGE;
    /// Lanes of a warp touch memory far apart, so that most of each sector is fetched for nothing.
    UncoalescedGlobal => "uncoalesced_global",
    /// Lanes read one member each out of an array of structures.
    StridedAos => "strided_aos",
    /// Lanes of a warp want different words of one shared-memory bank.
    SharedBankConflict => "shared_bank_conflict",
    /// Registers or arrays live in local memory.
    RegisterSpillLocal => "register_spill_local",
    /// Shared memory per block leaves too few warps on an SM.
    OccupancySharedMem => "occupancy_shared_mem",
    /// Registers per thread leave too few warps on an SM.
    OccupancyRegisters => "occupancy_registers",
    /// There are too few blocks for the device.
    SmallGrid => "small_grid",
    /// Most SMs wait for the last blocks.
    TailEffect => "tail_effect",
    /// Launching takes longer than computing.
    LaunchBound => "launch_bound",
    /// Lanes of a warp take different branches.
    WarpDivergence => "warp_divergence",
    /// Warps wait for each other at barriers.
    BarrierStalls => "barrier_stalls",
    /// Many threads update the same few addresses.
    AtomicContention => "atomic_contention",
    /// Float code computes in double precision.
    Fp64Unintended => "fp64_unintended",
    /// Special functions and conversions keep their unit busy.
    XuSfuBound => "xu_sfu_bound",
    /// A product of matrices does not use the tensor cores.
    TensorCoreUnused => "tensor_core_unused",
    /// Each load waits for the one before.
    LatencyDependentLoads => "latency_dependent_loads",
    /// Accesses of one or two bytes per thread: too many instructions for the bytes they move.
    NarrowLoads => "narrow_loads",
    /// Memory bandwidth is used up, and no byte is wasted.
    AtRooflineDram => "at_roofline_dram",
    /// The FP32 units are used up.
    AtRooflineFp32 => "at_roofline_fp32",
    /// The tensor cores are used up.
    AtRooflineTensor => "at_roofline_tensor",
}

impl Bottleneck {
    /// The cause of an identifier.
    pub fn of_id(id: &str) -> Option<Bottleneck> {
        Self::ALL.iter().copied().find(|cause| cause.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_the_same_in_json_and_documented() {
        let documented: Vec<&str> =
            PAGE.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`')).collect();
        let known: Vec<&str> = Bottleneck::ALL.iter().map(|cause| cause.id()).collect();
        assert_eq!(documented, known, "docs/diagnosis.md lists every cause, in this order");
        for cause in Bottleneck::ALL {
            assert_eq!(serde_json::to_string(cause).unwrap(), format!("\"{}\"", cause.id()));
            assert_eq!(Bottleneck::of_id(cause.id()), Some(*cause));
            assert!(cause.meaning().ends_with('.') && cause.text().ends_with('.'), "{cause}: {}", cause.text());
        }
    }

    #[test]
    fn every_cause_has_its_rule() {
        let of_rules: Vec<Bottleneck> = super::super::rules::ALL.iter().map(|rule| rule.cause).collect();
        assert_eq!(of_rules, Bottleneck::ALL);
    }
}
