//! Profiles of programs with one planted bottleneck each, recorded on an H200: the planted cause comes first, what is promised comes true,
//! and every claim hangs on the numbers it cites.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;

use kiln_diagnose::profile::{
    Bottleneck, Pages, ProfileDiagnosis, Subject, applied, at_roofline, code, diagnose, ptxas,
};
use proptest::prelude::*;
use serde::Deserialize;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu");

/// A program of `recorded/answers.json`.
#[derive(Deserialize)]
struct Answer {
    kernel: String,
    cause: String,
    planted_ms: f64,
    fixed_ms: f64,
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
        subject.hints = code::hints(&text(&format!("h200/{program}.cu")), &subject.kernel);
    }
    subject
}

/// Programs, their cause, their profile and the measured gain of their repair.
fn own() -> Vec<(String, Bottleneck, Subject, f64)> {
    let answers: BTreeMap<String, Answer> = serde_json::from_str(&text("recorded/answers.json")).unwrap();
    let pages = pages("recorded/planted.raw.csv");
    answers
        .into_iter()
        .map(|(program, answer)| {
            let named = |kernel: &&kiln_diagnose::profile::Kernel| ptxas::base_name(&kernel.name) == answer.kernel;
            let mut subject = Subject::of(pages.kernels.iter().find(named).unwrap());
            subject.hints = code::hints(&text(&format!("planted/{program}.cu")), &subject.kernel);
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
fn the_given_programs_have_their_planted_cause_first_and_their_repairs_do_not() {
    for (program, answer) in given() {
        for source in [true, false] {
            let found = diagnose(&of_given(&program, "planted", source));
            let words = told(&program, &found, &answer.class, answer.measured_speedup_of_fix);
            assert_eq!(found.cause.map(Bottleneck::id), Some(answer.class.as_str()), "{words}");
            let times = found.expected_speedup / answer.measured_speedup_of_fix;
            assert!((0.5..=2.0).contains(&times), "{words}");
            let repaired = diagnose(&of_given(&program, "fixed", source));
            match at_roofline(found.cause.unwrap()) {
                true => assert!(found.expected_speedup <= 1.05, "{words}"),
                false => assert_ne!(repaired.cause, found.cause, "{}", told(&program, &repaired, &answer.class, 1.0)),
            }
        }
    }
}

/// Programs by the share at rank one and the share of promises within a factor of two.
fn score(programs: &[(String, Bottleneck, Subject, f64)]) -> (f64, f64, String) {
    let (mut first, mut kept, mut table) = (0, 0, String::new());
    for (program, cause, subject, measured) in programs {
        let found = diagnose(subject);
        let times = found.expected_speedup / measured;
        first += usize::from(found.cause == Some(*cause));
        kept += usize::from((0.5..=2.0).contains(&times));
        let named = found.cause.map_or("none", Bottleneck::id);
        table += &format!("| `{program}` | `{cause}` | `{named}` | {:.2} | {measured:.2} |\n", found.expected_speedup);
    }
    let all = programs.len() as f64;
    (first as f64 / all, kept as f64 / all, table)
}

#[test]
fn own_programs_are_diagnosed_as_the_documentation_says() {
    let (made, apart): (Vec<_>, Vec<_>) =
        own().into_iter().partition(|(program, ..)| program[..2].parse::<u32>().unwrap() % 2 == 1);
    let page = fs::read_to_string(format!("{FOLDER}/../../docs/diagnosis.md")).unwrap();
    let mut missing = String::new();
    for (half, least_first, least_kept) in [(made, 0.9, 0.7), (apart, 0.8, 0.7)] {
        let (first, kept, table) = score(&half);
        if first < least_first || kept < least_kept || !page.contains(&table) {
            missing += &format!("{first:.2} first, {kept:.2} kept\n{table}\n");
        }
    }
    assert!(missing.is_empty(), "docs/diagnosis.md should have:\n{missing}");
}

#[test]
fn the_documentation_has_the_scores_with_and_without_the_source() {
    let page = fs::read_to_string(format!("{FOLDER}/../../docs/diagnosis.md")).unwrap();
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut programs = own();
    let all = programs.len();
    for (what, least_first, least_kept) in [("With the source", 71, 66), ("Without it", 70, 66)] {
        let (first, kept, _) = score(&programs);
        let count = |share: f64| (share * all as f64).round() as usize;
        let (first, kept) = (count(first), count(kept));
        let words = format!(
            "{what} the planted cause is first for {first} of {all}, and {kept} of {all} promises are within a factor of two."
        );
        assert!(page.contains(&words), "docs/diagnosis.md should have: {words}");
        assert!(first >= least_first && kept >= least_kept, "{words}");
        programs.iter_mut().for_each(|(_, _, subject, _)| subject.hints = None);
    }
}

#[test]
fn every_claim_hangs_on_the_numbers_it_cites() {
    let given = given();
    let all = given.keys().map(|program| of_given(program, "planted", true));
    for subject in all.chain(own().into_iter().map(|(_, _, subject, _)| subject)) {
        let found = diagnose(&subject);
        assert_eq!(found.evidence.is_empty(), found.cause.is_none(), "{}", subject.kernel);
        for evidence in &found.evidence {
            assert_eq!(subject.launch.get(&evidence.metric), Some(evidence.value), "{}", evidence.metric);
            // From the threshold on, values of the other side are healthy.
            let beyond = evidence.threshold + (evidence.threshold - evidence.value) * 0.2;
            for healthy in [evidence.threshold, beyond.max(0.0)] {
                let mut cured = subject.clone();
                cured.launch.set(&evidence.metric, healthy);
                let now = diagnose(&cured);
                assert_ne!(now.cause, found.cause, "{} {} = {healthy}", subject.kernel, evidence.metric);
            }
        }
    }
}

#[test]
fn causes_come_in_order_and_the_json_has_its_keys() {
    for (_, _, subject, _) in own() {
        let found = diagnose(&subject);
        assert!(found.ranked.windows(2).all(|two| two[0].expected_speedup >= two[1].expected_speedup));
        assert_eq!(found.ranked.first().map(|first| first.cause), found.cause);
        assert!((0.0..=1.0).contains(&found.confidence), "{}", found.confidence);
        assert!(found.fixes.iter().all(|fix| fix.expected_speedup >= 1.0 && !fix.how.is_empty()));
        let json = serde_json::to_value(&found).unwrap();
        let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        let first = ["cause", "confidence", "expected_speedup", "evidence", "ranked", "roofline", "fixes"];
        assert_eq!(keys[..7], first);
        assert_eq!(keys[7..], ["kernel", "launches", "time_us"], "a page of --set full has every metric");
        assert_eq!(applied(&subject).len(), Bottleneck::ALL.len());
    }
}

#[test]
fn a_page_of_launch_statistics_alone_shows_launches_that_are_too_short() {
    let pages = pages("h200/many_launches.txt");
    let found = diagnose(&Subject::of(pages.dominant().unwrap()));
    assert_eq!((found.cause, found.launches), (Some(Bottleneck::LaunchBound), 20));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a metric says, there is an answer with finite numbers.
    #[test]
    fn odd_values_break_nothing(seed in 0usize..22, edits in prop::collection::vec((any::<prop::sample::Index>(), odd()), 1..12)) {
        let all = own();
        let mut subject = all[seed % all.len()].2.clone();
        let names: Vec<&str> = applied(&subject).iter().flat_map(|rule| rule.conditions.iter().map(|own| own.metric)).collect();
        for (index, value) in edits {
            subject.launch.set(names[index.index(names.len())], value);
        }
        let found = diagnose(&subject);
        prop_assert!(found.expected_speedup.is_finite() && found.expected_speedup >= 1.0);
        prop_assert!(found.ranked.iter().all(|own| own.expected_speedup.is_finite()));
        prop_assert!(found.confidence.is_finite());
    }
}

fn odd() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(-1.0), Just(1e300), Just(1e-300), Just(100.0), -1e6..1e12f64]
}
