//! Occupancy against known answers, and what must hold of any answer.

use proptest::prelude::*;

use super::*;

fn ask(arch: &str, threads: u32, regs: u32, smem: u32) -> Occupancy {
    Arch::parse(arch).unwrap().occupancy(&Demand {
        threads_per_block: threads,
        regs_per_thread: regs,
        smem_per_block: smem,
    })
}

fn blocks(arch: &str, threads: u32, regs: u32, smem: u32) -> (u32, Limiter) {
    let answer = ask(arch, threads, regs, smem);
    (answer.blocks_per_sm, answer.limiter)
}

#[test]
fn each_resource_limits_in_its_turn() {
    assert_eq!(blocks("sm_90", 128, 168, 0), (3, Limiter::Registers));
    assert_eq!(blocks("sm_90", 256, 32, 0), (8, Limiter::Threads));
    assert_eq!(blocks("sm_90", 32, 32, 0), (32, Limiter::Blocks));
    assert_eq!(blocks("sm_90", 128, 32, 100_000), (2, Limiter::SharedMemory));
    // 164 KB over 49 KB with the reserved one.
    assert_eq!(blocks("sm_80", 256, 32, 48 * 1024), (3, Limiter::SharedMemory));
    // Two blocks of 50 KB would fit, were it not for the reserved kilobytes.
    assert_eq!(blocks("sm_86", 128, 32, 50 * 1024), (1, Limiter::SharedMemory));
    assert_eq!(blocks("sm_86", 128, 32, 49 * 1024), (2, Limiter::SharedMemory));
    assert_eq!(blocks("sm_86", 64, 32, 0), (16, Limiter::Blocks));
    assert_eq!(blocks("sm_89", 64, 32, 0), (24, Limiter::Threads));
    assert_eq!(blocks("sm_75", 64, 32, 32 * 1024), (2, Limiter::SharedMemory));
}

#[test]
fn a_block_that_cannot_run_has_none_and_a_reason() {
    assert_eq!(blocks("sm_90", 1025, 32, 0), (0, Limiter::Threads));
    assert_eq!(blocks("sm_90", 0, 32, 0), (0, Limiter::Threads));
    assert_eq!(blocks("sm_90", 128, 256, 0), (0, Limiter::Registers));
    assert_eq!(blocks("sm_90", 512, 168, 0), (0, Limiter::Registers));
    assert_eq!(blocks("sm_90", 128, 32, 232_449), (0, Limiter::SharedMemory));
    assert_eq!(blocks("sm_90", 128, 32, 232_448), (1, Limiter::SharedMemory));
    assert_eq!(blocks("sm_90", 128, 32, u32::MAX), (0, Limiter::SharedMemory));
    assert_eq!(blocks("sm_90", u32::MAX, 32, 0), (0, Limiter::Threads));
    assert_eq!(blocks("sm_90", 32, u32::MAX, 0), (0, Limiter::Registers));
    assert_eq!(ask("sm_90", 1025, 32, 0).fraction, 0.0);
}

#[test]
fn warps_and_fraction_follow_from_blocks() {
    let answer = ask("sm_90", 128, 168, 0);
    assert_eq!(answer.active_warps, 12);
    assert_eq!(answer.fraction, 12.0 / 64.0);
    // A partial warp takes a whole slot.
    assert_eq!(ask("sm_90", 33, 32, 0).active_warps, 64);
}

/// A register total that would fit if partitions could lend to each other.
#[test]
fn partitions_do_not_lend_registers() {
    // 48 registers: 10 warps in each partition of 16,384, 40 in all.
    assert_eq!(blocks("sm_90", 1024, 48, 0), (1, Limiter::Registers));
    assert_eq!(blocks("sm_90", 448, 48, 0), (2, Limiter::Registers));
    // Five warps are checked as eight when a block is launched.
    assert_eq!(blocks("sm_90", 160, 255, 0), (1, Limiter::Registers));
    assert_eq!(blocks("sm_90", 288, 200, 0), (0, Limiter::Registers));
}

/// Threads, registers, shared memory, and the multiprocessor's warps and the
/// waves that ncu reported for real launches on an H200.
#[test]
fn as_profiled_on_an_h200() {
    for (threads, regs, smem, warps, grid, reported) in [
        (256, 16, 0, 64, 262_144, 248.24),
        (128, 32, 16_896, 52, 8_448, 4.92),
        (128, 32, 16_384, 52, 8_448, 4.92),
        (128, 32, 8_192, 64, 65_536, 31.03),
        (128, 32, 204_800, 4, 65_536, 496.48),
        (256, 26, 0, 64, 65_536, 62.06),
        (256, 18, 0, 64, 131_072, 124.12),
    ] {
        let answer = ask("sm_90a", threads, regs, smem);
        assert_eq!(answer.active_warps, warps);
        let waves = waves(grid, answer.blocks_per_sm, 132);
        assert!((waves - reported).abs() < 0.005, "{waves} {reported}");
    }
}

/// Answers of the CUDA 13.0 toolkit's own occupancy calculation.
#[test]
fn as_the_toolkit_calculates() {
    for (arch, threads, regs, smem, expected) in TOOLKIT {
        let answer = ask(arch, threads, regs, smem);
        let case = format!("{arch} {threads} threads {regs} registers {smem} bytes");
        assert_eq!(answer.blocks_per_sm, expected, "{case}");
    }
}

/// Architecture, threads, registers, shared memory, blocks.
const TOOLKIT: [(&str, u32, u32, u32, u32); 36] = [
    ("sm_75", 128, 147, 4_218, 3),
    ("sm_75", 32, 180, 12_716, 5),
    ("sm_75", 256, 27, 12_395, 4),
    ("sm_75", 128, 69, 8_168, 7),
    ("sm_80", 32, 93, 0, 20),
    ("sm_80", 32, 131, 20_573, 7),
    ("sm_80", 710, 17, 29_009, 2),
    ("sm_80", 64, 48, 19_581, 8),
    ("sm_86", 256, 96, 0, 2),
    ("sm_86", 64, 100, 38_514, 2),
    ("sm_86", 631, 13, 16_699, 2),
    ("sm_86", 38, 17, 3_567, 16),
    ("sm_87", 32, 222, 0, 8),
    ("sm_87", 113, 40, 38_515, 4),
    ("sm_87", 608, 32, 24_191, 2),
    ("sm_87", 32, 135, 0, 12),
    ("sm_89", 464, 44, 26_685, 2),
    ("sm_89", 64, 32, 25_711, 3),
    ("sm_89", 209, 29, 0, 6),
    ("sm_89", 64, 34, 6_312, 13),
    ("sm_90", 384, 33, 14_584, 4),
    ("sm_90", 34, 11, 31_831, 7),
    ("sm_90", 512, 11, 39_940, 4),
    ("sm_90", 64, 22, 21_611, 10),
    ("sm_100", 512, 33, 0, 3),
    ("sm_100", 47, 39, 27_010, 8),
    ("sm_100", 461, 15, 6_073, 4),
    ("sm_100", 64, 90, 25_556, 8),
    ("sm_103", 384, 52, 39_881, 3),
    ("sm_103", 64, 30, 6_275, 31),
    ("sm_103", 512, 10, 0, 4),
    ("sm_103", 32, 89, 6_365, 20),
    ("sm_120", 64, 192, 13_693, 4),
    ("sm_120", 58, 28, 32_186, 3),
    ("sm_120", 736, 17, 31_250, 2),
    ("sm_120", 128, 66, 15_731, 6),
];

#[test]
fn waves_count_rounds_of_the_whole_gpu() {
    assert_eq!(waves(264, 1, 132), 2.0);
    assert_eq!(waves(330, 2, 132), 1.25);
    assert_eq!(waves(0, 0, 132), 0.0);
    assert_eq!(waves(1, 0, 132), f64::INFINITY);
}

#[test]
fn limiters_read_as_words() {
    let words: Vec<String> = [Limiter::Threads, Limiter::Blocks, Limiter::Registers, Limiter::SharedMemory]
        .iter()
        .map(Limiter::to_string)
        .collect();
    assert_eq!(words, ["threads", "blocks", "registers", "shared memory"]);
}

/// A row with nothing in it, as a careless override might leave it.
#[test]
fn empty_limits_do_not_divide_by_zero() {
    let empty = Limits {
        warp_size: 0,
        warps_per_sm: 0,
        reg_alloc_unit: 0,
        warp_alloc_unit: 0,
        smem_alloc_unit: 0,
        smem_reserved: 0,
        ..*Arch::SM_80.limits()
    };
    let answer = empty.occupancy(&Demand { threads_per_block: 64, regs_per_thread: 32, smem_per_block: 0 });
    assert_eq!(answer.blocks_per_sm, 0);
    assert_eq!(answer.fraction, 0.0);
}

fn demand() -> impl Strategy<Value = Demand> {
    (1u32..1100, 0u32..270, 0u32..240_000).prop_map(|(threads, regs, smem)| Demand {
        threads_per_block: threads,
        regs_per_thread: regs,
        smem_per_block: smem,
    })
}

proptest! {
    #[test]
    fn asking_for_more_never_fits_more_blocks(
        less in demand(), threads in 0u32..200, regs in 0u32..60, smem in 0u32..60_000,
    ) {
        let more = Demand {
            threads_per_block: less.threads_per_block + threads,
            regs_per_thread: less.regs_per_thread + regs,
            smem_per_block: less.smem_per_block + smem,
        };
        for arch in Arch::all() {
            let (a, b) = (arch.occupancy(&less), arch.occupancy(&more));
            prop_assert!(b.blocks_per_sm <= a.blocks_per_sm, "{} {:?} {:?}", arch, a, b);
        }
    }

    /// Threads are left alone: a larger block may fill the warp slots better.
    #[test]
    fn more_registers_or_shared_memory_never_raise_occupancy(
        less in demand(), regs in 0u32..60, smem in 0u32..60_000,
    ) {
        let more = Demand {
            regs_per_thread: less.regs_per_thread + regs,
            smem_per_block: less.smem_per_block + smem,
            ..less
        };
        for arch in Arch::all() {
            prop_assert!(arch.occupancy(&more).fraction <= arch.occupancy(&less).fraction);
        }
    }

    #[test]
    fn answers_stay_within_the_limits(demand in demand()) {
        for arch in Arch::all() {
            let limits = arch.limits();
            let answer = arch.occupancy(&demand);
            prop_assert!((0.0..=1.0).contains(&answer.fraction));
            prop_assert!(answer.active_warps <= limits.warps_per_sm);
            prop_assert!(answer.blocks_per_sm <= limits.blocks_per_sm);
            let smem = demand.smem_per_block + limits.smem_reserved;
            prop_assert!(u64::from(answer.blocks_per_sm) * u64::from(smem) <= u64::from(limits.smem_per_sm));
        }
    }
}
