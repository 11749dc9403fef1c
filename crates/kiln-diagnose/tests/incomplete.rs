//! Pages that do not hold everything, or hold numbers that cannot be: what was not collected is named and never counted as 0, and a page
//! whose numbers cannot be gives no diagnosis.

#![allow(clippy::unwrap_used)]

use std::fs;

use kiln_diagnose::profile::{Bottleneck, Bound, Pages, Subject, applied, diagnose};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu/h200/");
const L2: &str = "lts__throughput.avg.pct_of_peak_sustained_elapsed";

fn text(name: &str) -> String {
    fs::read_to_string(format!("{FOLDER}{name}")).unwrap()
}

fn subject(text: &str) -> Subject {
    Subject::of(Pages::read(text.as_bytes()).unwrap().dominant().unwrap())
}

#[test]
fn a_page_without_the_units_names_what_it_lacks() {
    let found = diagnose(&subject(&text("direct_logfile.csv")));
    assert_eq!((found.cause, found.roofline.bound), (None, Bound::Unknown));
    assert_eq!((found.roofline.memory_fraction, found.roofline.compute_fraction), (Some(0.0111), None));
    for lacking in [L2, "memory_l1_wavefronts_shared", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed"] {
        assert!(found.not_collected.iter().any(|own| own == lacking), "{lacking}: {:?}", found.not_collected);
    }
    assert!(
        !found.not_collected.iter().any(|own| own.starts_with("gpu__dram_throughput")),
        "it has another name there"
    );
    let json = serde_json::to_value(&found).unwrap();
    assert!(json["roofline"]["compute_fraction"].is_null() && json["not_collected"].is_array(), "{json:#}");
}

#[test]
fn without_a_metric_that_guards_it_nothing_is_claimed() {
    let whole = subject(&text("p01_scalebias_planted.raw.csv"));
    assert_eq!(diagnose(&whole).not_collected, [""; 0]);
    let mut blank = whole.clone();
    blank.launch.set(L2, f64::NAN);
    let found = diagnose(&blank);
    assert_eq!((found.cause, found.not_collected), (None, vec![L2.to_owned()]));
    let rules = applied(&blank);
    let silent = rules.iter().find(|rule| rule.cause == Bottleneck::UncoalescedGlobal).unwrap();
    assert_eq!((silent.holds, silent.not_collected.as_slice()), (false, [L2].as_slice()));
    assert_eq!((silent.expected_speedup, silent.explanation.as_str()), (1.0, ""));
    // Whatever is blanked: the cause is the same, or its rule is silent for want of that metric.
    for name in ["p01_scalebias", "p03_smallmat", "p05_stage", "p10_ops8", "p13_logistic", "p17_axpy"] {
        let whole = subject(&text(&format!("{name}_planted.raw.csv")));
        let first = diagnose(&whole).ranked.iter().map(|own| own.cause).collect::<Vec<Bottleneck>>();
        let read = diagnose(&Subject { launch: Default::default(), ..whole.clone() }).not_collected;
        for metric in read {
            let mut blank = whole.clone();
            blank.launch.set(&metric, f64::NAN);
            let found = diagnose(&blank);
            let known = found.cause.is_none_or(|cause| first.contains(&cause));
            assert!(known, "{name} without {metric}: {:?}", found.cause);
        }
    }
}

#[test]
fn numbers_that_cannot_be_are_named() {
    let whole = subject(&text("p03_smallmat_planted.raw.csv"));
    assert_eq!(whole.odd(), None);
    for (metric, value) in [
        (L2, 8470.0),
        (L2, -1.0),
        ("sm__cycles_elapsed.max", 0.0),
        ("smsp__inst_executed.sum", 0.0),
        ("launch__sm_count", 0.0),
        ("memory_l1_wavefronts_shared_ideal", 0.0),
        ("memory_l2_theoretical_sectors_global", 1e19),
        ("memory_l2_theoretical_sectors_global", f64::INFINITY),
    ] {
        let mut broken = whole.clone();
        broken.launch.set(metric, value);
        let odd = broken.odd().unwrap();
        assert_eq!((odd.metric.as_str(), odd.value.as_str()), (metric, value.to_string().as_str()), "{}", odd.expected);
    }
    let mut broken = whole.clone();
    broken.launch.set(L2, 8470.0);
    assert_eq!(diagnose(&broken).not_collected, [L2], "nothing is concluded from it");
}

#[test]
fn every_recorded_page_is_plausible_and_whole() {
    for name in ["p01_scalebias", "p03_smallmat", "p05_stage", "p10_ops8", "p13_logistic", "p17_axpy"] {
        for variant in ["planted", "fixed"] {
            let subject = subject(&text(&format!("{name}_{variant}.raw.csv")));
            assert_eq!((subject.odd(), diagnose(&subject).not_collected), (None, Vec::new()), "{name} {variant}");
        }
    }
    let pages = Pages::read(text("../recorded/planted.raw.csv").as_bytes()).unwrap();
    assert_eq!(pages.trouble(), None);
    for kernel in &pages.kernels {
        let subject = Subject::of(kernel);
        assert_eq!((subject.odd(), diagnose(&subject).not_collected), (None, Vec::new()), "{}", kernel.name);
    }
}
