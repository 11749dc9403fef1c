//! What one multiprocessor and one launch can hold, per architecture.
//!
//! In: nothing; this is the table. Out: a [`Limits`] row for each capability.
//! Refuses nothing. The figures are those of the CUDA programming guide's
//! tables per compute capability and of the toolkit's occupancy calculation
//! (CUDA 13.0); the Hopper row was also read off a driver (H200, 580.159).

/// What an architecture allows a thread, a block, a grid and a multiprocessor.
///
/// Sizes are in bytes, registers are 32 bits wide. The fields are public and
/// the struct `Copy` so that a caller can overwrite what a driver says better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Threads in a warp.
    pub warp_size: u32,
    /// Threads in a block.
    pub threads_per_block: u32,
    /// Threads resident on a multiprocessor.
    pub threads_per_sm: u32,
    /// Warps resident on a multiprocessor.
    pub warps_per_sm: u32,
    /// Blocks resident on a multiprocessor.
    pub blocks_per_sm: u32,
    /// Registers on a multiprocessor.
    pub regs_per_sm: u32,
    /// Registers a block may hold.
    pub regs_per_block: u32,
    /// Registers a thread may hold.
    pub regs_per_thread: u32,
    /// Shared memory on a multiprocessor at its largest carve-out.
    pub smem_per_sm: u32,
    /// Shared memory a block may have, static and dynamic, once the launcher
    /// has opted in to more than [`smem_static`](Limits::smem_static).
    pub smem_per_block: u32,
    /// Shared memory a block may have without opting in, and the most that may
    /// be declared statically.
    pub smem_static: u32,
    /// Shared memory the driver takes of each block for itself.
    pub smem_reserved: u32,
    /// Shared memory is given to blocks in multiples of this.
    pub smem_alloc_unit: u32,
    /// Registers are given to warps in multiples of this.
    pub reg_alloc_unit: u32,
    /// Warps are dealt over this many partitions of a multiprocessor, each
    /// with an equal share of the registers.
    pub warp_alloc_unit: u32,
    /// Blocks in a cluster that every GPU of the architecture can run; 1 where
    /// there are no clusters. Hopper runs 16 after a non-portable opt-in.
    pub cluster_size: u32,
    /// Threads in a block along x, y and z.
    pub block_dims: [u32; 3],
    /// Blocks in a grid along x, y and z.
    pub grid_dims: [u64; 3],
}

/// Kibibytes, as the programming guide counts shared memory.
const KB: u32 = 1024;

/// Turing, and what all later rows share with it.
pub(crate) const SM_75: Limits = Limits {
    warp_size: 32,
    threads_per_block: 1024,
    threads_per_sm: 1024,
    warps_per_sm: 32,
    blocks_per_sm: 16,
    regs_per_sm: 64 * KB,
    regs_per_block: 64 * KB,
    regs_per_thread: 255,
    smem_per_sm: 64 * KB,
    smem_per_block: 64 * KB,
    smem_static: 48 * KB,
    smem_reserved: 0,
    smem_alloc_unit: 256,
    reg_alloc_unit: 256,
    warp_alloc_unit: 4,
    cluster_size: 1,
    block_dims: [1024, 1024, 64],
    grid_dims: [2_147_483_647, 65_535, 65_535],
};

/// A100. The first on which the driver keeps a kilobyte of every block.
pub(crate) const SM_80: Limits = Limits {
    threads_per_sm: 2048,
    warps_per_sm: 64,
    blocks_per_sm: 32,
    smem_per_sm: 164 * KB,
    smem_per_block: 163 * KB,
    smem_reserved: KB,
    smem_alloc_unit: 128,
    ..SM_75
};

/// Desktop Ampere: fewer threads, smaller shared memory than A100.
pub(crate) const SM_86: Limits = Limits {
    threads_per_sm: 1536,
    warps_per_sm: 48,
    blocks_per_sm: 16,
    smem_per_sm: 100 * KB,
    smem_per_block: 99 * KB,
    ..SM_80
};

/// Orin: desktop Ampere's threads with A100's shared memory.
pub(crate) const SM_87: Limits = Limits { smem_per_sm: 164 * KB, smem_per_block: 163 * KB, ..SM_86 };

/// Ada: desktop Ampere with room for more blocks.
pub(crate) const SM_89: Limits = Limits { blocks_per_sm: 24, ..SM_86 };

/// Hopper: A100 with more shared memory, and clusters.
pub(crate) const SM_90: Limits = Limits { smem_per_sm: 228 * KB, smem_per_block: 227 * KB, cluster_size: 8, ..SM_80 };

/// Data-centre Blackwell, 10.0 and 10.3 alike. Its tensor memory is a resource
/// of its own that this table does not describe.
pub(crate) const SM_100: Limits = SM_90;

/// Desktop Blackwell: Ada's multiprocessor, with clusters.
pub(crate) const SM_120: Limits = Limits { cluster_size: 8, ..SM_89 };

#[cfg(test)]
mod tests {
    use crate::Arch;

    #[test]
    fn rows_agree_with_themselves() {
        for arch in Arch::all() {
            let l = arch.limits();
            assert_eq!(l.warps_per_sm * l.warp_size, l.threads_per_sm, "{arch}");
            assert_eq!(l.smem_per_block + l.smem_reserved, l.smem_per_sm, "{arch}");
            assert_eq!(l.smem_per_sm % l.smem_alloc_unit, 0, "{arch}");
            assert_eq!(l.regs_per_sm % (l.reg_alloc_unit * l.warp_alloc_unit), 0);
            assert!(l.threads_per_block <= l.threads_per_sm, "{arch}");
            assert!(l.smem_static <= l.smem_per_block, "{arch}");
            assert!(l.regs_per_block <= l.regs_per_sm, "{arch}");
        }
    }

    /// Threads, blocks, shared memory per multiprocessor and per block.
    #[test]
    fn figures_of_the_programming_guide() {
        let rows = [
            ("sm_75", 1024, 16, 65_536, 65_536),
            ("sm_80", 2048, 32, 167_936, 166_912),
            ("sm_86", 1536, 16, 102_400, 101_376),
            ("sm_87", 1536, 16, 167_936, 166_912),
            ("sm_89", 1536, 24, 102_400, 101_376),
            ("sm_90", 2048, 32, 233_472, 232_448),
            ("sm_90a", 2048, 32, 233_472, 232_448),
            ("sm_100", 2048, 32, 233_472, 232_448),
            ("sm_100a", 2048, 32, 233_472, 232_448),
            ("sm_103", 2048, 32, 233_472, 232_448),
            ("sm_103a", 2048, 32, 233_472, 232_448),
            ("sm_120", 1536, 24, 102_400, 101_376),
            ("sm_120a", 1536, 24, 102_400, 101_376),
        ];
        assert_eq!(rows.len(), Arch::all().len());
        for (name, threads, blocks, per_sm, per_block) in rows {
            let l = Arch::parse(name).unwrap().limits();
            assert_eq!(l.threads_per_sm, threads, "{name}");
            assert_eq!(l.blocks_per_sm, blocks, "{name}");
            assert_eq!(l.smem_per_sm, per_sm, "{name}");
            assert_eq!(l.smem_per_block, per_block, "{name}");
        }
    }

    #[test]
    fn what_changed_with_the_generations() {
        for arch in Arch::all() {
            let (major, _) = arch.compute_capability();
            let l = arch.limits();
            assert_eq!(l.smem_reserved, if major >= 8 { 1024 } else { 0 }, "{arch}");
            assert_eq!(l.smem_alloc_unit, if major >= 8 { 128 } else { 256 });
            assert_eq!(l.cluster_size, if major >= 9 { 8 } else { 1 }, "{arch}");
        }
    }
}
