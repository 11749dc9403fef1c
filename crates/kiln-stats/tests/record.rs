//! What is stored and shown of a comparison: stable keys and codes, and a warning for everything a reader should know.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_stats::{Block, Comparison, Thresholds, Verdict, compare, compare_apart, compare_blocks};
use serde_json::{Value, json};

use crate::noise::{Dice, Noise};

fn compared(noise: Noise, slowdown: f64) -> Comparison {
    let (baseline, candidate) = noise.samples(100, slowdown, &mut Dice::new(1));
    compare(&baseline, &candidate, &Thresholds::default(), 7).unwrap()
}

fn codes(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["code"].as_str().unwrap()).collect()
}

#[test]
fn a_comparison_is_one_object_with_stable_keys() {
    let record = serde_json::to_value(compared(Noise::plain(0.02), 0.05)).unwrap();
    let keys: Vec<&str> = record.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "verdict speedup speedup_ci95 baseline baseline_ci95 candidate candidate_ci95 cliffs_delta p_value blocks \
                    block_length reasons warnings";
    assert_eq!(keys, expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(record["verdict"], json!("slower"));
    assert_eq!(record["speedup_ci95"].as_array().unwrap().len(), 2);
    assert_eq!(codes(&record["reasons"]), ["beyond_threshold", "intervals_apart"]);
    assert_eq!(Verdict::ALL.map(Verdict::name), ["faster", "slower", "same", "too_noisy"]);
}

#[test]
fn every_vice_is_named() {
    let named = |comparison: &Comparison, code: &str| {
        let record = serde_json::to_value(comparison).unwrap();
        assert!(codes(&record["warnings"]).contains(&code), "{code}: {:?}", comparison.warnings);
    };
    assert_eq!(compared(Noise::plain(0.02), 0.0).warnings, []);
    named(&compared(Noise::plain(0.2), 0.0), "high_cv");
    named(&compared(Noise { drift: 0.1, ..Noise::plain(0.02) }, 0.0), "drift");
    named(&compared(Noise { own_memory: 0.9, ..Noise::plain(0.02) }, 0.0), "correlated");
    named(&compared(Noise { spikes: 0.1, ..Noise::plain(0.02) }, 0.0), "outliers");
    let (baseline, candidate) = Noise::plain(0.02).samples(50, 0.0, &mut Dice::new(2));
    named(&compare_apart(&baseline, &candidate[..40], &Thresholds::default(), 7).unwrap(), "not_interleaved");
}

#[test]
fn reasons_and_warnings_read_as_sentences() {
    let noisy = compared(Noise { drift: 0.1, ..Noise::plain(0.2) }, 0.0);
    assert_eq!(noisy.verdict, Verdict::TooNoisy);
    let text: Vec<String> = noisy.reasons.iter().map(ToString::to_string).collect();
    assert!(text.last().unwrap().contains("more blocks would do"), "{text:?}");
    assert!(noisy.warnings.iter().any(|w| w.to_string().starts_with("the baseline's CV is ")), "{:?}", noisy.warnings);
    let few =
        [Block { baseline: vec![1.0], candidate: vec![2.0] }, Block { baseline: vec![1.0], candidate: vec![2.0] }];
    let few = compare_blocks(&few, &Thresholds::default(), 0).unwrap();
    assert_eq!((few.verdict, few.reasons[0].to_string().as_str()), (Verdict::TooNoisy, "2 blocks; at least 5 needed"));
}
