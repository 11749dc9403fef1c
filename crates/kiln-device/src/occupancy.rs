//! How many blocks of a kernel share one multiprocessor, and what stops more.
//!
//! In: [`Limits`] and a [`Demand`], both known before anything runs (the
//! compiler reports registers and static shared memory). Out: an [`Occupancy`].
//! Refuses nothing: a block that cannot run at all has zero blocks, and the
//! limiter says why. It follows the CUDA toolkit's occupancy calculation with
//! the largest shared-memory carve-out; named barriers beyond `__syncthreads`,
//! clusters and tensor memory are not modelled, so it is an upper bound there.

use std::fmt;

use crate::arch::Arch;
use crate::limits::Limits;

#[cfg(test)]
mod tests;

/// What one block asks of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Demand {
    /// Threads in the block.
    pub threads_per_block: u32,
    /// Registers of each thread; 0 when unknown, which then limits nothing.
    pub regs_per_thread: u32,
    /// Shared memory in bytes, static and dynamic together, without what the
    /// driver reserves.
    pub smem_per_block: u32,
}

/// What stops one more block from being resident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limiter {
    /// The threads: all warp slots are taken, or the block is too large.
    Threads,
    /// The number of blocks a multiprocessor keeps track of.
    Blocks,
    /// The register file, or the most a thread or block may hold.
    Registers,
    /// Shared memory, or the most a block may hold.
    SharedMemory,
}

impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Limiter::Threads => "threads",
            Limiter::Blocks => "blocks",
            Limiter::Registers => "registers",
            Limiter::SharedMemory => "shared memory",
        })
    }
}

/// How full a multiprocessor gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Occupancy {
    /// Resident blocks; 0 when not even one fits.
    pub blocks_per_sm: u32,
    /// Resident warps.
    pub active_warps: u32,
    /// Resident warps as a share of the most there can be, 0 to 1.
    pub fraction: f64,
    /// What stops one more block. Among equals the first of [`Limiter`]: where
    /// the threads are used up, saving registers would gain nothing.
    pub limiter: Limiter,
}

impl Limits {
    /// How many blocks of this demand one multiprocessor holds.
    pub fn occupancy(&self, demand: &Demand) -> Occupancy {
        let warps = demand.threads_per_block.div_ceil(self.warp_size.max(1));
        let mut blocks = self.blocks_by_threads(demand, warps);
        let mut limiter = Limiter::Threads;
        for (other, count) in [
            (Limiter::Blocks, self.blocks_per_sm),
            (Limiter::Registers, self.blocks_by_registers(demand, warps)),
            (Limiter::SharedMemory, self.blocks_by_smem(demand)),
        ] {
            if count < blocks {
                (blocks, limiter) = (count, other);
            }
        }
        let active_warps = blocks * warps;
        Occupancy {
            blocks_per_sm: blocks,
            active_warps,
            fraction: f64::from(active_warps) / f64::from(self.warps_per_sm.max(1)),
            limiter,
        }
    }

    fn blocks_by_threads(&self, demand: &Demand, warps: u32) -> u32 {
        if warps == 0 || demand.threads_per_block > self.threads_per_block {
            return 0;
        }
        self.warps_per_sm / warps
    }

    fn blocks_by_registers(&self, demand: &Demand, warps: u32) -> u32 {
        if demand.regs_per_thread > self.regs_per_thread {
            return 0;
        }
        let thread = u64::from(demand.regs_per_thread);
        let warp = round_up(thread * u64::from(self.warp_size), self.reg_alloc_unit);
        if warp == 0 || warps == 0 {
            return u32::MAX;
        }
        // A launch is refused as if every partition held as many of the
        // block's warps as the fullest one, although it does not.
        let checked = warp * round_up(u64::from(warps), self.warp_alloc_unit);
        if checked > u64::from(self.regs_per_block) {
            return 0;
        }
        // A warp lives in one partition and cannot borrow from the others, so
        // what is left over in each is lost.
        let partitions = u64::from(self.warp_alloc_unit.max(1));
        let fitting = u64::from(self.regs_per_sm) / partitions / warp * partitions;
        narrow(fitting / u64::from(warps))
    }

    fn blocks_by_smem(&self, demand: &Demand) -> u32 {
        if demand.smem_per_block > self.smem_per_block {
            return 0;
        }
        let asked = u64::from(demand.smem_per_block) + u64::from(self.smem_reserved);
        let block = round_up(asked, self.smem_alloc_unit);
        u64::from(self.smem_per_sm).checked_div(block).map_or(u32::MAX, narrow)
    }
}

impl Arch {
    /// [`Limits::occupancy`] with the limits of this architecture.
    pub fn occupancy(&self, demand: &Demand) -> Occupancy {
        self.limits().occupancy(demand)
    }
}

/// How many times the grid fills the GPU: 1.25 means a last round in which a
/// quarter of the places is taken. Infinite when no block fits or there is no
/// multiprocessor.
pub fn waves(grid_blocks: u64, blocks_per_sm: u32, sms: u32) -> f64 {
    if grid_blocks == 0 {
        return 0.0;
    }
    grid_blocks as f64 / (f64::from(blocks_per_sm) * f64::from(sms))
}

/// The next multiple of `unit`; a unit of 0 rounds nothing.
fn round_up(value: u64, unit: u32) -> u64 {
    let unit = u64::from(unit.max(1));
    value.div_ceil(unit) * unit
}

fn narrow(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
