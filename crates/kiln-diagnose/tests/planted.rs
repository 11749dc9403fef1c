//! Profiles of programs with one planted bottleneck each, recorded on an H200: the planted cause comes first, what is promised comes true,
//! and every claim hangs on the numbers it cites.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;

use kiln_diagnose::profile::{Bottleneck, Pages, ProfileDiagnosis, Subject, applied, code, diagnose, ptxas};
use serde::Deserialize;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu");

/// A program of `recorded/answers.json`.
#[derive(Deserialize)]
struct Answer {
    kernel: String,
    cause: String,
    planted_ms: f64,
    fixed_ms: f64,
    profiled: bool,
}

/// A program of `h200/answers.json`.
#[derive(Deserialize)]
struct Given {
    class: String,
    measured_speedup_of_fix: f64,
}

fn text(path: &str) -> String {
    fs::read_to_string(format!("{FOLDER}/{path}")).unwrap()
}

fn pages(path: &str) -> Pages {
    Pages::read(BufReader::new(File::open(format!("{FOLDER}/{path}")).unwrap())).unwrap()
}

fn given() -> BTreeMap<String, Given> {
    serde_json::from_str(&text("h200/answers.json")).unwrap()
}

/// A profile of the given programs, with or without its source.
fn of_given(program: &str, variant: &str, source: bool) -> Subject {
    let pages = pages(&format!("h200/{program}_{variant}.raw.csv"));
    let mut subject = Subject::of(pages.dominant().unwrap());
    let all = ptxas::resources(&text(&format!("h200/build_{program}_{variant}.log")));
    subject.resources = ptxas::of_kernel(&all, &subject.kernel).cloned();
    assert!(subject.resources.is_some(), "{program}");
    if source {
        subject.hints = Some(code::hints(&text(&format!("h200/{program}.cu")), &subject.kernel));
    }
    subject
}

/// Programs, their cause, their profile and the measured gain of their repair.
fn own() -> Vec<(String, Bottleneck, Subject, f64)> {
    let answers: BTreeMap<String, Answer> = serde_json::from_str(&text("recorded/answers.json")).unwrap();
    let pages = pages("recorded/planted.raw.csv");
    let profiled = answers.into_iter().filter(|(_, answer)| answer.profiled);
    profiled
        .map(|(program, answer)| {
            let named = |kernel: &&kiln_diagnose::profile::Kernel| ptxas::base_name(&kernel.name) == answer.kernel;
            let mut subject = Subject::of(pages.kernels.iter().find(named).unwrap());
            subject.hints = Some(code::hints(&text(&format!("planted/{program}.cu")), &subject.kernel));
            (program, Bottleneck::of_id(&answer.cause).unwrap(), subject, answer.planted_ms / answer.fixed_ms)
        })
        .collect()
}

fn told(program: &str, found: &ProfileDiagnosis, cause: &str, measured: f64) -> String {
    let ranked: Vec<String> =
        found.ranked.iter().map(|own| format!("{} {}", own.cause, own.expected_speedup)).collect();
    let right = if found.cause.is_some_and(|own| own.id() == cause) { "ok " } else { "NO " };
    format!("{right} {program:24} {cause:24} measured {measured:7.2}  {}", ranked.join(", "))
}

#[test]
fn look() {
    for (program, answer) in given() {
        for variant in ["planted", "fixed"] {
            for source in [true, false] {
                let found = diagnose(&of_given(&program, variant, source));
                println!(
                    "{variant:8} {source:5} {}",
                    told(&program, &found, &answer.class, answer.measured_speedup_of_fix)
                );
            }
        }
    }
    for (program, cause, mut subject, measured) in own() {
        println!("{}", told(&program, &diagnose(&subject), cause.id(), measured));
        subject.hints = None;
        println!("   without source {}", told(&program, &diagnose(&subject), cause.id(), measured));
        let _ = applied(&subject);
    }
}
