//! No promise goes beyond what a kernel's units leave: of a unit whose work a fix does not reduce, the share that it is busy for stays.

#![allow(clippy::unwrap_used)]

use kiln_diagnose::profile::{Bottleneck, ProfileDiagnosis, diagnose};

use crate::recorded::*;

/// A full unit.
const FULL: f64 = 95.0;
/// What a full unit leaves, in three digits.
const LEAVES: f64 = 1.053;

/// The units whose work stays when a cause is removed.
fn stay(cause: &str) -> &'static [&'static str] {
    match cause {
        "uncoalesced_global" | "strided_aos" => &[LSU, ISSUE, FMA, ALU, FP64, XU, TENSOR],
        "shared_bank_conflict" => &[DRAM, L2, LSU, ISSUE, FMA, ALU, FP64, XU, TENSOR],
        "register_spill_local" => &[FMA, ALU, FP64, XU, TENSOR],
        "warp_divergence" => &[DRAM, L2, L1, TENSOR],
        "barrier_stalls" => &[DRAM, FMA, FP64, XU, TENSOR],
        "atomic_contention" => &[DRAM, ISSUE, FMA, ALU, FP64, XU, TENSOR],
        "fp64_unintended" => &[DRAM, L2, L1, LSU, FMA, ALU, TENSOR],
        "xu_sfu_bound" => &[DRAM, L2, L1, LSU, FP64, TENSOR],
        "tensor_core_unused" => &[DRAM, L2],
        "narrow_loads" => &[DRAM, L2, FMA, FP64, XU, TENSOR],
        // It is the host's time that is saved.
        "launch_bound" => &[],
        "at_roofline_dram" => &[DRAM],
        "at_roofline_fp32" => &[FMA],
        "at_roofline_tensor" => &[TENSOR],
        // More warps or blocks do the same work.
        _ => &[DRAM, L2, L1, WAVEFRONTS, LSU, ISSUE, FMA, ALU, FP64, XU, TENSOR],
    }
}

#[test]
fn no_promise_goes_beyond_a_full_unit() {
    let units = [DRAM, L2, L1, WAVEFRONTS, LSU, ISSUE, FMA, ALU, FP64, XU, TENSOR];
    let mut beyond = Vec::new();
    for (program, subject) in all() {
        for unit in units {
            let mut full = subject.clone();
            full.launch.set(unit, FULL);
            let found = diagnose(&full);
            for own in &found.ranked {
                if stay(own.cause.id()).contains(&unit) && own.expected_speedup > LEAVES {
                    beyond.push(format!("{program}, {unit}: {} {}", own.cause, own.expected_speedup));
                }
            }
            let first = found.cause.map_or("", Bottleneck::id);
            // wgmma has a higher peak of its own.
            let bounded = found.fixes.iter().filter(|fix| !fix.what.contains("wgmma"));
            for fix in bounded.filter(|fix| fix.expected_speedup > LEAVES && stay(first).contains(&unit)) {
                beyond.push(format!("{program}, {unit}: {first}, {} {}", fix.what, fix.expected_speedup));
            }
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}

fn promised(found: &ProfileDiagnosis, cause: &str) -> f64 {
    found.ranked.iter().find(|own| own.cause.id() == cause).map_or(1.0, |own| own.expected_speedup)
}

#[test]
fn local_memory_that_stays_in_l2_takes_nothing_from_dram() {
    let whole = with("35_triad", &[]);
    let get = |name: &str| whole.launch.get(name).unwrap();
    let spilled = with(
        "35_triad",
        &[
            ("smsp__sass_inst_executed_op_local_ld.sum", 0.05 * get("smsp__inst_executed.sum")),
            ("memory_l2_theoretical_sectors_local", 2.0 * get("memory_l2_theoretical_sectors_global")),
        ],
    );
    let found = diagnose(&spilled);
    assert_eq!(promised(&found, "register_spill_local"), 1.0, "{:?}", found.ranked);
    assert_eq!(found.cause, Some(Bottleneck::AtRooflineDram));
}

#[test]
fn a_few_scattered_sectors_do_not_explain_a_stream() {
    let mut subject = with(
        "35_triad",
        &[
            ("memory_l2_theoretical_sectors_global", 1000.0),
            ("memory_l2_theoretical_sectors_global_ideal", 125.0),
            ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1000.0),
            ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 32.0),
        ],
    );
    subject.hints = None;
    let found = diagnose(&subject);
    assert_eq!((promised(&found, "strided_aos"), promised(&found, "uncoalesced_global")), (1.0, 1.0));
    assert_eq!(found.cause, Some(Bottleneck::AtRooflineDram));
    assert!(found.explanation.contains("hardly any of it"), "{}", found.explanation);
}

#[test]
fn a_tail_ends_at_the_units_that_sms_share() {
    assert!(promised(&diagnose(&with("16_long_row", &[(DRAM, 92.0)])), "tail_effect") <= 1.09);
    assert!(promised(&diagnose(&with("16_long_row", &[])), "tail_effect") > 4.0);
}

#[test]
fn a_library_moves_the_same_bytes() {
    let found = diagnose(&with("29_half_matmul", &[(DRAM, 69.0)]));
    assert_eq!(found.cause, Some(Bottleneck::TensorCoreUnused));
    assert!(found.fixes.iter().all(|fix| fix.expected_speedup < 1.0 / 0.69), "{:?}", found.fixes);
}

#[test]
fn what_is_left_to_a_roof_is_promised() {
    let found = diagnose(&with("37_fma", &[(FMA, 70.0), (ISSUE, 71.0)]));
    assert_eq!(found.cause, Some(Bottleneck::AtRooflineFp32));
    assert!((1.25..=1.4).contains(&found.expected_speedup), "{}", found.expected_speedup);
    assert!(found.explanation.contains("is left to it"), "{}", found.explanation);
    let found = diagnose(&with("37_fma", &[]));
    assert!(found.expected_speedup <= 1.05 && found.explanation.contains("This is the roofline"));
}

const HGMMA: &str = "sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.avg.pct_of_peak_sustained_elapsed";

#[test]
fn tensor_cores_at_a_part_of_their_peak_leave_the_rest() {
    let limits = [("launch__occupancy_limit_shared_mem", 1.0), ("launch__occupancy_limit_registers", 2.0)];
    for (percent, least, most) in [(66.0, 1.4, 1.45), (78.0, 1.2, 1.23), (90.0, 1.05, 1.06), (97.0, 1.0, 1.0)] {
        let mut subject = with("40_wgmma", &[(TENSOR, percent), (HGMMA, percent), limits[0], limits[1]]);
        subject.kernel = "matmul_hopper(CUtensorMap, CUtensorMap)".into();
        let found = diagnose(&subject);
        let causes: Vec<&str> = found.ranked.iter().map(|own| own.cause.id()).collect();
        assert_eq!(causes, ["at_roofline_tensor"], "{percent}");
        assert!((least..=most).contains(&found.expected_speedup), "{percent}: {}", found.expected_speedup);
        let stop = found.fixes.iter().find(|fix| fix.what.starts_with("stop here")).unwrap();
        assert!(stop.expected_speedup <= 1.05, "{stop:?}");
    }
}

#[test]
fn products_of_mma_sync_have_a_higher_roof() {
    let found = diagnose(&with("39_mma_sync", &[]));
    assert!(found.expected_speedup <= 1.05 && found.explanation.contains("wgmma"), "{}", found.explanation);
    assert!(found.fixes[0].what.contains("wgmma"), "{:?}", found.fixes);
    assert!((1.4..=1.5).contains(&found.fixes[0].expected_speedup), "{:?}", found.fixes);
    let found = diagnose(&with("40_wgmma", &[]));
    assert!(!found.explanation.contains("mma.sync") && found.fixes.len() == 1, "{:?}", found.fixes);
}

#[test]
fn a_percent_more_does_not_turn_a_diagnosis() {
    let (below, above) = (diagnose(&with("11_bank160", &[])), diagnose(&with("11_bank160", &[(L2, 65.1)])));
    assert_eq!(above.cause, below.cause);
    assert!(above.expected_speedup < 1.1 * below.expected_speedup, "{}", above.expected_speedup);
    // It fades in: no step of half a percent of L2's load doubles the promise, and well beyond the threshold it is whole.
    let at = |percent: f64| diagnose(&with("11_bank160", &[(L2, percent)]));
    let steps: Vec<f64> = (0..24).map(|step| at(63.0 + 0.5 * f64::from(step)).expected_speedup).collect();
    assert!(steps.windows(2).all(|two| two[1] < 1.5 * two[0]), "{steps:?}");
    assert!(steps[23] > 5.0, "{steps:?}");
    assert!(at(66.0).confidence < at(74.0).confidence && at(66.0).confidence < 0.8, "{}", at(66.0).confidence);
}
