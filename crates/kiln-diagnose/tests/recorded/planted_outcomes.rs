//! The planted programs as outcomes: what the engine promises for the fix that each repair is, and what the repair gave. The example of the same name prints
//! them, and a test holds the file against them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;

use kiln_diagnose::model::{Outcome, Ratio};
use kiln_diagnose::profile::{Bottleneck, Fix, Pages, Subject, at_roofline, code, fixes, ptxas};
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu");

/// Repairs that are not the first fix of their cause: the program, and how the fix begins. One that is none of them has its own words.
const OTHERS: &[(&str, &str)] = &[
    ("01_transpose", "go through shared memory"),
    ("48_records_shared", "change which lane"),
    ("08_topk", "index arrays"),
    ("16_long_row", "balance the work"),
    ("22_leader", "spread the work"),
    ("62_uneven_warps", "spread the work"),
    ("26_distances", "call the float functions"),
    ("47_gamma", "call the float functions"),
    ("28_unpack", "move a part"),
    ("55_exp_sum", "move a part"),
];
const OWN_WORDS: &[(&str, &str)] = &[("49_reject", "go on with the next element in the same loop")];
/// The float fixes come in the order of what the source shows.
const LITERALS: &[&str] = &["25_soft_clip", "80_lines", "p13_logistic"];

/// Every planted program with a promise.
pub(crate) fn all() -> Vec<Outcome> {
    given().chain(own()).collect()
}

fn given() -> impl Iterator<Item = Outcome> {
    let answers = answers("h200/answers.json");
    answers.into_iter().filter_map(|(program, answer)| {
        let pages = pages(&format!("h200/{program}_planted.raw.csv"));
        let mut subject = Subject::of(pages.dominant().unwrap());
        let log = fs::read_to_string(format!("{FOLDER}/h200/build_{program}_planted.log")).unwrap();
        subject.resources = ptxas::of_kernel(&ptxas::resources(&log), &subject.kernel).cloned();
        let measured = answer["measured_speedup_of_fix"].as_f64().unwrap();
        outcome("h200", &program, subject, answer["class"].as_str().unwrap(), measured)
    })
}

fn own() -> impl Iterator<Item = Outcome> {
    let pages = pages("recorded/planted.raw.csv");
    answers("recorded/answers.json").into_iter().filter_map(move |(program, answer)| {
        let name = answer["kernel"].as_str().unwrap();
        let subject = Subject::of(pages.kernels.iter().find(|own| ptxas::base_name(&own.name) == name).unwrap());
        let ms = |key: &str| answer[key].as_f64().unwrap();
        let measured = ms("planted_ms") / ms("fixed_ms");
        outcome("planted", &program, subject, answer["cause"].as_str().unwrap(), measured)
    })
}

fn outcome(folder: &str, program: &str, mut subject: Subject, cause: &str, measured: f64) -> Option<Outcome> {
    let source = format!("fixtures/ncu/{folder}/{program}.cu");
    subject.hints = code::hints(&fs::read_to_string(format!("{FOLDER}/../../{source}")).unwrap(), &subject.kernel);
    let claimed = Bottleneck::of_id(cause).unwrap();
    if at_roofline(claimed) {
        return None;
    }
    let all = fixes(&subject, claimed);
    let begins = |start: &str| all.iter().find(|fix: &&Fix| fix.what.starts_with(start));
    let other = OTHERS.iter().find(|(own, _)| *own == program).map(|(_, start)| *start);
    let other = other.or(LITERALS.contains(&program).then_some("write float literals"));
    let fix = match other {
        Some(start) => begins(start),
        None => all.first(),
    }?;
    let own_words = OWN_WORDS.iter().find(|(own, _)| *own == program).map(|(_, words)| (*words).to_string());
    Some(Outcome {
        kernel: program.into(),
        workload: String::new(),
        chip: "NVIDIA H200".into(),
        cause: cause.into(),
        fix: Some(own_words.unwrap_or_else(|| fix.what.clone())),
        promised: Some(Ratio::of(fix.expected_speedup)),
        measured: Ratio::of((measured * 100.0).round() / 100.0),
        command: Some("fixtures/ncu/planted/record.sh".into()),
        source: Some(source),
    })
}

fn answers(path: &str) -> BTreeMap<String, Value> {
    serde_json::from_str(&fs::read_to_string(format!("{FOLDER}/{path}")).unwrap()).unwrap()
}

fn pages(path: &str) -> Pages {
    Pages::read(BufReader::new(File::open(format!("{FOLDER}/{path}")).unwrap())).unwrap()
}
