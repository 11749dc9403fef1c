//! Recorded kernels as they would be if they also streamed: coalesced loads of four bytes per thread, DRAM half busy. Nearly every kernel loads that way,
//! so what was planted stays the first cause. By arithmetic on recorded pages; these are no measurements.

#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::BufReader;

use kiln_diagnose::profile::{Bottleneck, Pages, Subject, applied, diagnose};

const DRAM: &str = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
const L2: &str = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
const SECTORS: &str = "memory_l2_theoretical_sectors_global";
const SECTORS_IDEAL: &str = "memory_l2_theoretical_sectors_global_ideal";
const LOAD_SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
const LOAD_REQUESTS: &str = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
const BYTES_PER_SECTOR: &str = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio";

fn recorded(kernel: &str) -> Subject {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu/recorded/planted.raw.csv");
    let pages = Pages::read(BufReader::new(File::open(path).unwrap())).unwrap();
    Subject::of(pages.kernels.iter().find(|own| own.name.starts_with(&format!("{kernel}("))).unwrap())
}

/// The same with loads of this many sectors in six of a hundred instructions, and DRAM this busy.
fn streaming(kernel: &str, sectors: f64, dram: f64) -> Subject {
    let mut subject = recorded(kernel);
    let loads = 0.06 * subject.launch.get("smsp__inst_executed.sum").unwrap();
    let ideal = subject.launch.get(SECTORS_IDEAL).unwrap();
    let edits = [
        ("smsp__sass_inst_executed_op_global_ld.sum", loads),
        (LOAD_REQUESTS, loads),
        (LOAD_SECTORS, sectors * loads),
        (BYTES_PER_SECTOR, 32.0),
        (SECTORS, ideal),
        (DRAM, dram),
        (L2, 1.1 * dram),
    ];
    edits.iter().for_each(|(metric, value)| subject.launch.set(metric, *value));
    subject
}

fn cause(subject: &Subject) -> Option<&'static str> {
    diagnose(subject).cause.map(Bottleneck::id)
}

#[test]
fn loads_of_four_bytes_are_blamed_where_nothing_else_is() {
    assert_eq!(cause(&streaming("triad", 4.0, 45.0)), Some("narrow_loads"));
    for (kernel, planted) in [
        ("tile_turn", "shared_bank_conflict"),
        ("record_scan", "shared_bank_conflict"),
        ("window_max", "occupancy_shared_mem"),
        ("table_mix", "occupancy_shared_mem"),
        ("bank160", "occupancy_registers"),
        ("carry", "occupancy_registers"),
        ("scan_rows", "barrier_stalls"),
        ("gamma_curve", "fp64_unintended"),
        ("by_kind", "warp_divergence"),
        ("exp_sum", "xu_sfu_bound"),
        ("fir_state", "register_spill_local"),
    ] {
        for dram in [30.0, 40.0, 50.0] {
            assert_eq!(cause(&streaming(kernel, 4.0, dram)), Some(planted), "{kernel} with DRAM at {dram} %");
        }
    }
}

#[test]
fn a_last_wave_is_blamed_before_loads_of_four_bytes() {
    let mut subject = streaming("triad", 4.0, 45.0);
    let elapsed = subject.launch.get("sm__cycles_elapsed.max").unwrap();
    subject.launch.set("sm__cycles_active.avg", 0.7 * elapsed);
    assert_eq!(cause(&subject), Some("tail_effect"));
}

/// Wider loads from global memory leave shared memory as busy as it is.
#[test]
fn conflicts_are_blamed_before_loads_of_two_bytes() {
    for kernel in ["tile_turn", "record_scan"] {
        assert_eq!(cause(&streaming(kernel, 2.0, 20.0)), Some("shared_bank_conflict"), "{kernel}");
    }
}

/// A kernel that takes every member of its structures one by one touches each sector several times, and wastes none.
#[test]
fn members_that_are_all_used_leave_a_roofline_a_roofline() {
    let mut subject = recorded("triad");
    let ideal = subject.launch.get(SECTORS_IDEAL).unwrap();
    subject.launch.set(SECTORS, 4.0 * ideal);
    assert_eq!(cause(&subject), Some("at_roofline_dram"));
    let explanation = diagnose(&subject).explanation;
    assert!(explanation.contains("caches keep them"), "{explanation}");
    // The same traffic for a quarter of the bytes is waste.
    subject.launch.set(SECTORS_IDEAL, ideal / 4.0);
    subject.launch.set(SECTORS, ideal);
    assert_ne!(cause(&subject), Some("at_roofline_dram"));
}

/// Lanes that all work make instructions fewer; they give no work to SMs that have no block.
#[test]
fn divergence_in_a_few_blocks_is_a_small_grid_first() {
    let mut subject = recorded("by_kind");
    let elapsed = subject.launch.get("sm__cycles_elapsed.max").unwrap();
    for (metric, value) in [
        ("launch__grid_size", 16.0),
        ("sm__cycles_active.avg", 0.12 * elapsed),
        ("sm__inst_issued.avg.pct_of_peak_sustained_elapsed", 11.0),
        ("sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed", 9.0),
        ("sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed", 3.0),
    ] {
        subject.launch.set(metric, value);
    }
    assert_eq!(cause(&subject), Some("small_grid"));
}

/// Blocks of very different length whose warps wait for memory: most SMs are empty for half of the time.
#[test]
fn empty_sms_come_before_loads_that_wait() {
    let mut subject = recorded("row_norms");
    let elapsed = subject.launch.get("sm__cycles_elapsed.max").unwrap();
    subject.launch.set("sm__cycles_active.avg", 0.5 * elapsed);
    assert_eq!(cause(&subject), Some("tail_effect"));
}

/// A cause that is not there is neither explained nor promised.
#[test]
fn rules_that_do_not_hold_say_nothing() {
    for rule in applied(&recorded("tile_turn")).iter().filter(|rule| !rule.holds) {
        assert_eq!((rule.explanation.as_str(), rule.expected_speedup), ("", 1.0), "{:?}", rule.cause);
    }
}
