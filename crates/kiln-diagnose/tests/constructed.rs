//! The page of a plain copy with the metrics that kernels of other causes have by arithmetic. These show that a rule answers to its numbers, on
//! other architectures, too; they are no measurement.

#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::BufReader;

use kiln_diagnose::profile::{Bottleneck, Pages, Subject, code::Hints, diagnose};

fn with(edits: &[(&str, f64)]) -> Subject {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu/h200/p17_axpy_planted.raw.csv");
    let pages = Pages::read(BufReader::new(File::open(path).unwrap())).unwrap();
    let mut subject = Subject::of(pages.dominant().unwrap());
    // A launch that streams nothing: what follows sets the rest.
    for unit in ["gpu__dram_throughput", "lts__throughput", "l1tex__throughput"] {
        subject.launch.set(&format!("{unit}.avg.pct_of_peak_sustained_elapsed"), 5.0);
    }
    edits.iter().for_each(|(metric, value)| subject.launch.set(metric, *value));
    subject
}

fn cause(subject: &Subject) -> Option<&'static str> {
    diagnose(subject).cause.map(Bottleneck::id)
}

const XU: &str = "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed";
const ISSUE: &str = "sm__inst_issued.avg.pct_of_peak_sustained_elapsed";
const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
const DRAM: &str = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
const L2: &str = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
const FFMA: &str = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed";

#[test]
fn special_functions() {
    let subject = with(&[(XU, 96.0), (ISSUE, 42.0), (FMA, 20.0)]);
    assert_eq!(cause(&subject), Some("xu_sfu_bound"));
    let promised = diagnose(&subject).expected_speedup;
    assert!((1.5..4.0).contains(&promised), "{promised}");
}

#[test]
fn products_of_matrices_without_tensor_cores() {
    let mut subject = with(&[(FFMA, 0.32 * 16896.0), (FMA, 40.0), (ISSUE, 60.0)]);
    subject.hints = Some(Hints { product: true, half: true, members: false });
    assert_eq!(cause(&subject), Some("tensor_core_unused"));
    // At the FP32 peak it is still the tensor cores that are missing.
    subject.launch.set(FMA, 95.0);
    subject.launch.set(FFMA, 0.93 * 16896.0);
    assert_eq!(cause(&subject), Some("tensor_core_unused"));
    subject.hints = Some(Hints::default());
    assert_eq!(cause(&subject), Some("at_roofline_fp32"));
}

#[test]
fn dependent_loads() {
    let long = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
    let scattered = ("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 4.0);
    let subject = with(&[(long, 300.0), (ISSUE, 2.0), (L2, 30.0), scattered]);
    assert_eq!(cause(&subject), Some("latency_dependent_loads"));
    let mut subject = subject;
    subject.launch.set("launch__grid_size", 8.0);
    assert_eq!(cause(&subject), Some("small_grid"), "with eight blocks the grid is the first thing to change");
}

#[test]
fn bytes_and_halves() {
    let requests = 2_097_152.0;
    for (sectors, dram) in [(1.0, 17.0), (2.0, 50.0)] {
        let subject = with(&[
            ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", requests),
            ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", sectors * requests),
            (DRAM, dram),
            (L2, 1.1 * dram),
        ]);
        assert_eq!(cause(&subject), Some("narrow_loads"), "{sectors} sectors per load");
    }
}

#[test]
fn rooflines() {
    assert_eq!(cause(&with(&[(FMA, 96.0), (ISSUE, 98.0)])), Some("at_roofline_fp32"));
    let subject = with(&[("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 97.0)]);
    assert_eq!(cause(&subject), Some("at_roofline_tensor"));
    assert!(diagnose(&subject).expected_speedup <= 1.05);
}

#[test]
fn names_of_other_architectures() {
    let mut subject = with(&[]);
    let hopper = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
    for name in [
        "sm__pipe_tensor_op_hmma_cycles_active_v2.avg.pct_of_peak_sustained_elapsed",
        "sm__pipe_tensor_subpipe_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed",
    ] {
        subject.launch.set(hopper, f64::NAN);
        subject.launch.set(name, 88.0);
        let found = diagnose(&subject);
        assert_eq!(found.cause.map(Bottleneck::id), Some("at_roofline_tensor"));
        assert_eq!(found.evidence[0].metric, name, "what is cited is in the page");
        subject.launch.set(name, f64::NAN);
    }
}
