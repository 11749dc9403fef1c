//! Planted programs against their repairs, recorded on an H200: what is named as the difference is what was planted, in both directions.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;

use kiln_diagnose::profile::{Comparison, Pages, Subject, code, compare, pairs};
use proptest::prelude::*;
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu");

fn pages(path: &str) -> Pages {
    Pages::read(BufReader::new(File::open(format!("{FOLDER}/{path}")).unwrap())).unwrap()
}

fn answers(path: &str) -> BTreeMap<String, Value> {
    serde_json::from_str(&fs::read_to_string(format!("{FOLDER}/{path}")).unwrap()).unwrap()
}

fn source(path: &str) -> String {
    fs::read_to_string(format!("{FOLDER}/{path}")).unwrap()
}

fn subject(kernel: &kiln_diagnose::profile::Kernel, source: &str) -> Subject {
    let mut subject = Subject::of(kernel);
    subject.hints = code::hints(source, &kernel.name);
    subject
}

/// The planted variant, its repair, the cause and the name.
fn all() -> Vec<(Subject, Subject, String, String)> {
    let mut all = Vec::new();
    for (program, answer) in answers("h200/answers.json") {
        let source = source(&format!("h200/{program}.cu"));
        let [planted, fixed] = ["planted", "fixed"]
            .map(|variant| subject(pages(&format!("h200/{program}_{variant}.raw.csv")).dominant().unwrap(), &source));
        all.push((planted, fixed, answer["class"].as_str().unwrap().into(), program));
    }
    let (planted, fixed) = (pages("recorded/planted.raw.csv"), pages("recorded/fixed.raw.csv"));
    let found = pairs(&fixed, &planted);
    assert_eq!(found.all.len(), fixed.kernels.len());
    for (program, answer) in answers("recorded/answers.json") {
        let named = |kernel: &str| kernel.starts_with(&format!("{}(", answer["kernel"].as_str().unwrap()));
        if let Some((fixed, planted)) = found.all.iter().find(|(fixed, _)| named(&fixed.name)) {
            let source = source(&format!("planted/{program}.cu"));
            let cause = answer["cause"].as_str().unwrap().into();
            all.push((subject(planted, &source), subject(fixed, &source), cause, program));
        }
    }
    all
}

/// Kernels whose repair is no repair: they are at a roofline.
fn at_roofline(cause: &str) -> bool {
    cause.starts_with("at_roofline")
}

#[test]
fn what_was_planted_is_what_changed() {
    let programs = all();
    assert_eq!(programs.len(), 16);
    for (planted, fixed, cause, program) in &programs {
        let slower = compare(planted, fixed).unwrap();
        let faster = compare(fixed, planted).unwrap();
        if at_roofline(cause) {
            assert!(slower.speedup > 0.9, "{program}: {slower:#?}");
            continue;
        }
        for found in [&slower, &faster] {
            let first = found.changed.first().unwrap_or_else(|| panic!("{program}: nothing changed\n{found:#?}"));
            assert_eq!(first.cause.id(), cause, "{program}: {found:#?}");
            assert!(first.explains.unwrap() > 0.4, "{program}: {found:#?}");
            assert!(first.metrics.iter().all(|own| own.value.is_some() && own.against.is_some()), "{program}");
        }
        assert!(slower.speedup < 1.0 && faster.speedup > 1.0, "{program}");
        let first = |found: &Comparison| (found.changed[0].expected_speedup, found.changed[0].against_expected_speedup);
        let (here, there) = first(&slower);
        assert_eq!(first(&faster), (there, here), "{program}");
    }
}

/// Work and waiting are the whole difference, and no cause has more than there is.
#[test]
fn the_parts_are_the_whole() {
    for (planted, fixed, _, program) in all() {
        let found = compare(&planted, &fixed).unwrap();
        if let Some(split) = found.split {
            let whole = |work: f64, waiting: f64, time: f64| ((work + waiting) / time - 1.0).abs() < 0.02;
            assert!(whole(split.work_us, split.waiting_us, found.time_us), "{program}");
            assert!(whole(split.against_work_us, split.against_waiting_us, found.against_us), "{program}");
        }
        let shares: f64 = found.changed.iter().filter_map(|own| own.explains).sum();
        assert!(shares <= 1.01, "{program}: {shares}");
        assert!(found.explained.is_none_or(|own| (own - shares).abs() < 0.01), "{program}");
    }
}

/// With both values of the metrics that it cites alike, a cause that only the slower has explains less of the difference, or nothing.
#[test]
fn a_share_hangs_on_the_metric_that_it_cites() {
    for (planted, fixed, cause, program) in all().into_iter().filter(|(_, _, cause, _)| !at_roofline(cause)) {
        let found = compare(&planted, &fixed).unwrap();
        // Where both have the cause, it is not this metric that changed.
        if found.changed[0].against_expected_speedup.is_some() {
            continue;
        }
        let mut alike = planted.clone();
        found.changed[0].metrics.iter().for_each(|own| alike.launch.set(&own.metric, own.against.unwrap()));
        let now = compare(&alike, &fixed).unwrap();
        let still = now.changed.iter().find(|own| own.cause.id() == cause);
        assert!(still.is_none_or(|own| own.explains < found.changed[0].explains), "{program}: {now:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever two metrics say, shares are finite and none is beyond the whole.
    #[test]
    fn odd_values_break_nothing(which in 0usize..16, edits in prop::collection::vec((0usize..6, prop_oneof![Just(0.0), Just(1e300), Just(-3.0), 0.0..1e9f64]), 1..5)) {
        let names = [
            "gpu__time_duration.sum",
            "lts__throughput.avg.pct_of_peak_sustained_elapsed",
            "memory_l2_theoretical_sectors_global",
            "sm__cycles_active.avg",
            "smsp__thread_inst_executed_per_inst_executed.ratio",
            "launch__grid_size",
        ];
        let (mut planted, fixed, ..) = all().swap_remove(which);
        edits.iter().for_each(|(name, value)| planted.launch.set(names[*name], *value));
        if let Some(found) = compare(&planted, &fixed) {
            prop_assert!(found.explained.is_none_or(|own| (0.0..=1.0).contains(&own)));
            prop_assert!(found.speedup.is_finite());
        }
    }
}
