//! The recorded programs as subjects, whole or with some metrics changed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::sync::OnceLock;

use kiln_diagnose::profile::{Pages, Subject, code, ptxas};
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu");

pub(crate) const DRAM: &str = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
pub(crate) const L2: &str = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
pub(crate) const L1: &str = "l1tex__throughput.avg.pct_of_peak_sustained_elapsed";
pub(crate) const WAVEFRONTS: &str = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";
pub(crate) const LSU: &str = "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed";
pub(crate) const ISSUE: &str = "sm__inst_issued.avg.pct_of_peak_sustained_elapsed";
pub(crate) const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
pub(crate) const ALU: &str = "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed";
pub(crate) const FP64: &str = "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed";
pub(crate) const XU: &str = "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed";
pub(crate) const TENSOR: &str = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";

/// Every recorded program, without its source. The page is read once.
pub(crate) fn all() -> &'static BTreeMap<String, Subject> {
    static ALL: OnceLock<BTreeMap<String, Subject>> = OnceLock::new();
    ALL.get_or_init(read)
}

fn read() -> BTreeMap<String, Subject> {
    let answers: BTreeMap<String, Value> =
        serde_json::from_str(&fs::read_to_string(format!("{FOLDER}/recorded/answers.json")).unwrap()).unwrap();
    let file = File::open(format!("{FOLDER}/recorded/planted.raw.csv")).unwrap();
    let pages = Pages::read(BufReader::new(file)).unwrap();
    let of = |answer: &Value| {
        let kernel = answer["kernel"].as_str().unwrap();
        Subject::of(pages.kernels.iter().find(|own| ptxas::base_name(&own.name) == kernel).unwrap())
    };
    answers.iter().map(|(program, answer)| (program.clone(), of(answer))).collect()
}

/// A program with its source and with these metrics instead of its own.
pub(crate) fn with(program: &str, edits: &[(&str, f64)]) -> Subject {
    let mut subject = all()[program].clone();
    let source = fs::read_to_string(format!("{FOLDER}/planted/{program}.cu")).unwrap();
    subject.hints = code::hints(&source, &subject.kernel);
    edits.iter().for_each(|(metric, value)| subject.launch.set(metric, *value));
    subject
}
