//! The planted programs of fixtures/sanitizer/programs: each has an answer, and each log of them that is recorded in
//! fixtures/sanitizer/planted (`NAME_planted.TOOL.txt` or `.xml`, `NAME_fixed.TOOL.txt`) gives it: the cause, the kernel, the line
//! and the facts. Logs need a GPU to record; a program without one is checked for its answer alone.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;

use kiln_diagnose::{Cause, Diagnosis, Sources, Verdict, sanitizer};
use serde_json::{Map, Value, json};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sanitizer");
/// Logs are short: see README.md there.
const LARGEST_LOG: u64 = 20_000;

fn answers() -> Map<String, Value> {
    let text = fs::read_to_string(format!("{FOLDER}/programs/answers.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn read(name: String) -> Option<String> {
    fs::read(name).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn sources(program: &str) -> Sources {
    let files = [format!("{program}.cu"), "bulk.cuh".into(), "planted.cuh".into()];
    files.into_iter().fold(Sources::none(), |sources, file| {
        let text = read(format!("{FOLDER}/programs/{file}")).unwrap();
        sources.with(file, text)
    })
}

#[test]
fn every_program_has_an_answer_from_the_list() {
    let answers = answers();
    for entry in fs::read_dir(format!("{FOLDER}/programs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(program) = name.strip_suffix(".cu") {
            let class = answers[program]["class"].as_str().unwrap();
            let known = Cause::ALL.iter().any(|cause| cause.id() == class) || class == "clean";
            assert!(known, "{program}: {class}");
            // What the log does not show is explained.
            assert!(answers[program]["planted"].is_null() || answers[program]["why"].is_string(), "{program}");
        }
    }
}

#[test]
fn every_log_is_small_and_of_a_known_program() {
    let answers = answers();
    for entry in fs::read_dir(format!("{FOLDER}/planted")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let program = name.split("_planted.").next().unwrap().split("_fixed.").next().unwrap();
        assert!(answers.contains_key(program), "{name}");
        assert!(entry.metadata().unwrap().len() <= LARGEST_LOG, "{name}");
    }
}

#[test]
fn every_recorded_log_gives_its_answer() {
    let mut wrong = Vec::new();
    for (program, answer) in answers() {
        let sources = sources(&program);
        let tool = answer["tool"].as_str().unwrap();
        for ending in ["txt", "xml"] {
            let Some(log) = read(format!("{FOLDER}/planted/{program}_planted.{tool}.{ending}")) else { continue };
            let diagnosis = sanitizer::diagnose(&sanitizer::read(&log), &sources);
            let is_xml = ending == "xml";
            let differences = match is_xml && !log.contains("<record>") {
                // XML without records knows nothing of the program.
                true => differences(&diagnosis, &json!({"class": "inconclusive"}), is_xml),
                false => differences(&diagnosis, &answer, is_xml),
            };
            wrong.extend(differences.into_iter().map(|difference| format!("{program}.{tool}.{ending}: {difference}")));
        }
        if let Some(log) = read(format!("{FOLDER}/planted/{program}_fixed.{tool}.txt")) {
            let diagnosis = sanitizer::diagnose(&sanitizer::read(&log), &sources);
            if diagnosis.verdict != Verdict::Clean || !diagnosis.findings.is_empty() {
                wrong.push(format!("{program}, repaired: {:?}", diagnosis.verdict));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn differences(diagnosis: &Diagnosis, answer: &Value, is_xml: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |what: &str, found: Value, expected: &Value| {
        if found != *expected {
            wrong.push(format!("{what} {found} instead of {expected}"));
        }
    };
    let class = answer["class"].as_str().unwrap();
    let verdict = match class {
        "clean" | "inconclusive" => class,
        // A cause that only the log's silence speaks for.
        _ => answer["verdict"].as_str().unwrap_or("bugs_found"),
    };
    compare("verdict", json!(diagnosis.verdict), &json!(verdict));
    let causes: Vec<&str> = diagnosis.findings.iter().map(|finding| finding.cause.id()).collect();
    let mut expected: Vec<&str> = match class {
        "clean" => Vec::new(),
        "inconclusive" => causes.iter().copied().filter(|cause| *cause == class).take(1).collect(),
        _ => vec![class],
    };
    if is_xml {
        expected.extend(answer["xml_also"].as_array().into_iter().flatten().filter_map(Value::as_str));
    }
    compare("findings", json!(causes), &json!(expected));
    if let Some(finding) = diagnosis.findings.first().filter(|_| verdict == "bugs_found") {
        compare("kernel", json!(finding.kernel), &answer["kernel"]);
        compare("line", json!(finding.line), &answer["line"]);
        let mut facts = answer["facts"].as_object().cloned().unwrap_or_default();
        // XML is shortened, and has no summary.
        if !is_xml {
            facts.extend(answer["text"].as_object().cloned().unwrap_or_default());
        }
        for (name, value) in &facts {
            compare(name, json!(finding.facts.get(name)), value);
        }
    }
    wrong
}
