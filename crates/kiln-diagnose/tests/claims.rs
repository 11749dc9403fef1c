//! A cause is claimed for what the numbers show, in words that agree with them.

#![allow(clippy::unwrap_used)]

use kiln_diagnose::profile::{Bottleneck, ProfileDiagnosis, Subject, diagnose};

use crate::recorded::*;

fn stall(reason: &str) -> String {
    format!("smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio")
}

fn claims(found: &ProfileDiagnosis, cause: &str) -> bool {
    found.ranked.iter().any(|own| own.cause.id() == cause)
}

#[test]
fn occupancy_is_blamed_where_more_warps_would_fill_the_waiting() {
    for program in ["09_window", "11_bank160", "12_carry"] {
        let found = diagnose(&with(program, &[]));
        assert!(found.explanation.contains("in waiting that others would fill, mostly for global or local memory"));
        // The same warps, which wait for a pipe that is full.
        let busy = [(stall("long_scoreboard"), 0.1), (stall("math_pipe_throttle"), 60.0)];
        let busy: Vec<(&str, f64)> = busy.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let found = diagnose(&with(program, &busy));
        assert!(!found.ranked.iter().any(|own| own.cause.id().starts_with("occupancy")), "{program}");
    }
}

#[test]
fn two_resources_that_allow_the_same_are_both_named() {
    let all = ("launch__shared_mem_config_size", 233_472.0);
    let tie = with("09_window", &[("launch__occupancy_limit_registers", 2.0), all]);
    let found = diagnose(&tie);
    assert_eq!(found.cause, Some(Bottleneck::OccupancySharedMem));
    assert!(found.explanation.contains("registers per thread allow no more"), "{}", found.explanation);
    assert!(
        found.evidence.iter().any(|own| own.metric == "launch__occupancy_limit_shared_mem"),
        "{:?}",
        found.evidence
    );
    assert!(!claims(&found, "occupancy_registers"));
}

/// The driver sets aside as much shared memory as blocks can use that registers leave room for.
#[test]
fn shared_memory_that_follows_registers_is_not_blamed() {
    let some = ("launch__shared_mem_config_size", 65_536.0);
    let found = diagnose(&with("09_window", &[("launch__occupancy_limit_registers", 2.0), some]));
    assert_eq!(found.cause, Some(Bottleneck::OccupancyRegisters), "{found:?}");
    assert!(!claims(&found, "occupancy_shared_mem"));
}

#[test]
fn the_next_resource_ends_what_one_of_them_gives() {
    // Registers allow three blocks where shared memory allows two.
    let found = diagnose(&with("09_window", &[("launch__occupancy_limit_registers", 3.0)]));
    let own = found.ranked.iter().find(|own| own.cause == Bottleneck::OccupancySharedMem).unwrap();
    assert_eq!(own.expected_speedup, 1.5);
}

#[test]
fn a_kernel_is_a_product_by_its_own_name() {
    for (name, product) in [
        ("void elementwise<GemmOutput>(float *, float *)", false),
        ("relu(GemmTile *)", false),
        ("gemm::bias(float *)", false),
        ("void space::my_gemm<float>(float *)", true),
        ("matmul_naive(float *)", true),
    ] {
        let mut subject = with("37_fma", &[]);
        (subject.kernel, subject.hints) = (name.into(), None);
        assert_eq!(claims(&diagnose(&subject), "tensor_core_unused"), product, "{name}");
        // The name alone is none where hardly anything is multiplied.
        subject.launch.set("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", 10.0);
        assert!(!claims(&diagnose(&subject), "tensor_core_unused"), "{name}");
    }
}

#[test]
fn a_guess_comes_after_what_is_measured() {
    for (program, cause) in [("48_records_shared", "shared_bank_conflict"), ("62_uneven_warps", "barrier_stalls")] {
        let found = diagnose(&all()[program]);
        assert_eq!(found.cause.map(Bottleneck::id), Some(cause));
    }
    let mut guessed: Subject = with("63_scores", &[]);
    let known = diagnose(&guessed).confidence;
    guessed.hints = None;
    let found = diagnose(&guessed);
    if found.cause == Some(Bottleneck::TensorCoreUnused) {
        assert!(found.confidence <= 0.5 && found.confidence < known, "{}", found.confidence);
    }
    assert!(claims(&found, "tensor_core_unused"));
}

#[test]
fn contention_in_two_places_cites_both() {
    let shared = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum.pct_of_peak_sustained_elapsed";
    let found = diagnose(&with("23_histogram", &[(shared, 60.0)]));
    assert_eq!(found.cause, Some(Bottleneck::AtomicContention));
    let cited: Vec<&str> = found.evidence.iter().map(|own| own.metric.as_str()).collect();
    assert!(cited.len() == 2 && cited.contains(&shared), "{cited:?}");
}

#[test]
fn doubles_without_conversions_are_no_promoted_floats() {
    let found = diagnose(&with("26_distances", &[(XU, 0.0)]));
    assert_eq!(found.cause, Some(Bottleneck::Fp64Unintended));
    assert!(!found.explanation.contains("at 0 %") && found.explanation.contains("from end to end"));
    assert!(diagnose(&with("26_distances", &[])).explanation.contains("Conversions between float and double"));
}

#[test]
fn a_copy_without_loads_touches_no_sectors() {
    let none = [
        ("memory_l2_theoretical_sectors_global", 0.0),
        ("memory_l2_theoretical_sectors_global_ideal", 0.0),
        ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 0.0),
        ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 0.0),
    ];
    let found = diagnose(&with("35_triad", &none));
    assert_eq!(found.cause, Some(Bottleneck::AtRooflineDram));
    assert!(!found.explanation.contains("0.00"), "{}", found.explanation);
}

#[test]
fn without_a_cause_the_busy_unit_or_the_waiting_is_named() {
    let found = diagnose(&with("68_modulo", &[]));
    assert_eq!(found.cause, None);
    assert!(found.explanation.starts_with("issue is at 82 % of its peak"), "{}", found.explanation);
    assert!(found.explanation.contains("fewer instructions"), "{}", found.explanation);
    let cached = diagnose(&with("68_modulo", &[(L1, 96.0)]));
    assert!(cached.explanation.starts_with("L1 is at 96 %") && cached.explanation.contains("fewer accesses"));
    // Half of the tensor cores' time, few warps, and nothing that more of them would fill.
    let mut subject = with("40_wgmma", &[(TENSOR, 51.0)]);
    subject.launch.set("sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.avg.pct_of_peak_sustained_elapsed", 51.0);
    subject.launch.set(L1, 20.0);
    subject.launch.set(WAVEFRONTS, 20.0);
    let found = diagnose(&subject);
    assert_eq!(found.cause, None, "{:?}", found.ranked);
    assert!(found.explanation.starts_with("No unit is busy: tensor has the most to do, with 51 %"));
    assert!(found.explanation.contains("Warps wait mostly for wgmma (gmma, 57 %)"), "{}", found.explanation);
}
