//! The closed list of causes. Identifiers are stable: they are stored, printed in JSON and documented one by one in
//! docs/causes.md, which a test holds against this list. A cause says what is wrong, not which tool noticed.

use crate::documented::causes;

/// Where each cause is documented.
const PAGE: &str = include_str!("../../../docs/causes.md");

causes! {
    /// What is wrong with a program.
    Cause in PAGE;
    /// A shared-memory address is not a multiple of the access size.
    MisalignedShared => "misaligned_shared",
    /// A global-memory address is not a multiple of the access size.
    MisalignedGlobal => "misaligned_global",
    /// A bulk copy to or from shared memory whose address or size is not a multiple of 16 bytes.
    MisalignedSharedBulk => "misaligned_shared_bulk",
    /// A write to global memory outside every allocation.
    OobGlobalWrite => "oob_global_write",
    /// A read of global memory outside every allocation.
    OobGlobalRead => "oob_global_read",
    /// A write past an allocation that would land in its neighbour: only padding shows it.
    OobGlobalWriteSilent => "oob_global_write_silent",
    /// An access outside the block's shared memory.
    OobShared => "oob_shared",
    /// An access outside the thread's local memory.
    OobLocal => "oob_local",
    /// Shared memory is read before anything was written to it.
    UninitShared => "uninit_shared",
    /// Global memory is read before anything was written to it.
    UninitGlobal => "uninit_global",
    /// Shared memory is read without a barrier after another thread's write.
    RaceSharedRaw => "race_shared_raw",
    /// Shared memory is overwritten without a barrier after another thread's read.
    RaceSharedWar => "race_shared_war",
    /// Two threads write the same shared memory without an order.
    RaceSharedWaw => "race_shared_waw",
    /// The target of an asynchronous copy is used before the copy is waited for.
    AsyncCopyNoWait => "async_copy_no_wait",
    /// Blocks race for global memory.
    RaceGlobalInterblock => "race_global_interblock",
    /// Not all threads of a block reach the same barrier.
    DivergentBarrier => "divergent_barrier",
    /// A warp-level call whose mask does not name its callers.
    BadSyncwarpMask => "bad_syncwarp_mask",
    /// Memory that is never freed.
    Leak => "leak",
    /// Memory that is used after it was freed.
    UseAfterFree => "use_after_free",
    /// A pointer to host memory is used in a kernel.
    HostPointer => "host_pointer",
    /// A launch that asks for more shared memory than it may have.
    LaunchFailureSmem => "launch_failure_smem",
    /// An assertion in a kernel failed.
    DeviceAssert => "device_assert",
    /// The program does not end.
    Hang => "hang",
    /// The device met an instruction it cannot execute.
    IllegalInstruction => "illegal_instruction",
    /// Memory accesses are valid, but an index means something else than intended.
    SemanticIndex => "semantic_index",
    /// A launch with a grid, a block or registers beyond the device's limits.
    LaunchFailureConfig => "launch_failure_config",
    /// A null pointer is used.
    NullPointer => "null_pointer",
    /// Memory is freed twice.
    DoubleFree => "double_free",
    /// A pointer is freed that was not allocated, or not that way.
    InvalidFree => "invalid_free",
    /// A thread's stack is used up.
    StackOverflow => "stack_overflow",
    /// A barrier in memory is used before it is initialised, or out of its protocol.
    BarrierProtocol => "barrier_protocol",
    /// Warps of a warpgroup do not issue the same matrix instructions.
    WarpgroupSequence => "warpgroup_sequence",
    /// Shared memory of another block in the cluster is used while that block may not be there.
    RaceCluster => "race_cluster",
    /// The device stopped a kernel, and no tool says why.
    DeviceFault => "device_fault",
    /// A CUDA call failed, and nothing else explains it.
    ApiError => "api_error",
    /// A read outside a heap allocation on a processor.
    OobHeapRead => "oob_heap_read",
    /// A write outside a heap allocation on a processor.
    OobHeapWrite => "oob_heap_write",
    /// A read outside a variable on a processor's stack.
    OobStackRead => "oob_stack_read",
    /// A write outside a variable on a processor's stack.
    OobStackWrite => "oob_stack_write",
    /// A read outside a static variable.
    OobStaticRead => "oob_static_read",
    /// A write outside a static variable.
    OobStaticWrite => "oob_static_write",
    /// An index outside an array's declared bounds.
    IndexOutOfRange => "index_out_of_range",
    /// A stack variable is used after its function or block has ended.
    UseAfterScope => "use_after_scope",
    /// A pointer to nothing that was ever allocated.
    WildPointer => "wild_pointer",
    /// A processor's access at an address that its type does not allow.
    MisalignedAccess => "misaligned_access",
    /// Signed arithmetic beyond its type.
    SignedOverflow => "signed_overflow",
    /// A shift by a negative amount, or by the type's width or more.
    InvalidShift => "invalid_shift",
    /// An integer division by zero.
    DivisionByZero => "division_by_zero",
    /// A conversion or a load gives a value that its type cannot hold.
    InvalidValue => "invalid_value",
    /// Threads of a processor use the same memory without an order, and one of them writes.
    DataRace => "data_race",
    /// A value on a processor is used before anything was written to it.
    UninitValue => "uninit_value",
    /// Undefined behaviour of another kind.
    UndefinedBehaviour => "undefined_behaviour",
    /// The tools name no cause, and the program is not known to be right.
    Inconclusive => "inconclusive",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_and_the_same_in_json() {
        let mut ids: Vec<&str> = Cause::ALL.iter().map(|cause| cause.id()).collect();
        for cause in Cause::ALL {
            assert_eq!(serde_json::to_string(cause).unwrap(), format!("\"{}\"", cause.id()));
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), Cause::ALL.len());
    }

    #[test]
    fn every_cause_is_documented_and_nothing_else_is() {
        let documented: Vec<&str> =
            PAGE.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`')).collect();
        let known: Vec<&str> = Cause::ALL.iter().map(|cause| cause.id()).collect();
        assert_eq!(documented, known, "docs/causes.md lists every cause, in this order");
        for cause in Cause::ALL {
            let (meaning, text) = (cause.meaning(), cause.text());
            assert!(meaning.ends_with('.') && text.len() > 40 && !text.contains("\n#"), "{cause}: {meaning} {text}");
        }
    }
}
