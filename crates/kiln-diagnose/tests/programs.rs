//! The planted programs of fixtures/sanitizer/programs: each has an answer, and each log of them that is recorded in
//! fixtures/sanitizer/planted (`NAME_planted.TOOL.txt` or `.xml`, `NAME_fixed.TOOL.txt`) gives it. Logs need a GPU to record; a
//! program without one is checked for its answer alone.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;

use kiln_diagnose::{Cause, Sources, Verdict, sanitizer};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sanitizer");

fn answers() -> serde_json::Map<String, serde_json::Value> {
    let text = fs::read_to_string(format!("{FOLDER}/programs/answers.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_program_has_an_answer_from_the_list() {
    let answers = answers();
    for entry in fs::read_dir(format!("{FOLDER}/programs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(program) = name.strip_suffix(".cu") {
            let class = answers[program]["class"].as_str().unwrap();
            assert!(Cause::ALL.iter().any(|cause| cause.id() == class), "{program}: {class}");
        }
    }
}

#[test]
fn every_recorded_log_gives_its_answer() {
    let mut wrong = Vec::new();
    for (program, answer) in answers() {
        let read = |name: String| fs::read(name).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let source = read(format!("{FOLDER}/programs/{program}.cu")).unwrap();
        let sources = Sources::none().with(format!("{program}.cu"), source);
        let tool = answer["tool"].as_str().unwrap();
        for ending in ["txt", "xml"] {
            let Some(log) = read(format!("{FOLDER}/planted/{program}_planted.{tool}.{ending}")) else { continue };
            let diagnosis = sanitizer::diagnose(&sanitizer::read(&log), &sources);
            let found = diagnosis.findings.first().map_or("nothing", |finding| finding.cause.id());
            if answer["class"] != found {
                wrong.push(format!("{program}.{tool}.{ending}: {found} instead of {}", answer["class"]));
            }
        }
        if let Some(log) = read(format!("{FOLDER}/planted/{program}_fixed.{tool}.txt")) {
            let diagnosis = sanitizer::diagnose(&sanitizer::read(&log), &sources);
            if diagnosis.verdict != Verdict::Clean {
                wrong.push(format!("{program}, repaired: {:?}", diagnosis.verdict));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
