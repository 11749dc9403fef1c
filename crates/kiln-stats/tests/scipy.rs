//! Equal to NumPy and SciPy to 1e-9 on committed cases (`scipy_cases.json`, written by `make_scipy_cases.py`).

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_stats::*;
use serde_json::Value;

fn cases(group: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("scipy_cases.json")).unwrap();
    let cases = all[group].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

fn list(case: &Value, key: &str) -> Vec<f64> {
    case[key].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// Equal to 1e-9, relative for numbers that are not small: a p-value of 1e-30 must have the right digits too.
#[track_caller]
fn close(ours: f64, theirs: &Value, what: &str) {
    let theirs = theirs.as_f64().unwrap_or_else(|| panic!("{what}: {theirs}"));
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs() || (ours - theirs).abs() < 1e-300, "{what}: {ours} {theirs}");
}

#[test]
fn summaries_and_percentiles() {
    for case in cases("summaries") {
        let x = list(&case, "x");
        for (p, expected) in list(&case, "p").into_iter().zip(case["percentiles"].as_array().unwrap()) {
            close(percentile(&x, p).unwrap(), expected, "percentile");
        }
        let ours = Summary::of(&x).unwrap();
        close(ours.mean, &case["mean"], "mean");
        close(ours.mad, &case["mad"], "mad");
        assert_eq!(ours.sd.is_none(), case["sd"].is_null());
        if let (Some(sd), Some(cv)) = (ours.sd, ours.cv) {
            close(sd, &case["sd"], "sd");
            close(cv, &case["cv"], "cv");
        }
    }
}

#[test]
fn mann_whitney_exact_and_with_ties() {
    let alternatives =
        [("two-sided", Alternative::TwoSided), ("less", Alternative::Less), ("greater", Alternative::Greater)];
    let mut seen = 0;
    for case in cases("mann_whitney") {
        let (x, y) = (list(&case, "x"), list(&case, "y"));
        for (method, ours) in [("asymptotic", Method::Asymptotic), ("exact", Method::Exact)] {
            for (name, alternative) in alternatives {
                let key = format!("{method} {name}");
                if case[&key].is_null() {
                    continue;
                }
                let found = mann_whitney_by(&x, &y, alternative, ours).unwrap();
                close(found.u, &case["u"], "u");
                close(found.p_value, &case[&key], &key);
                seen += 1;
            }
        }
    }
    assert!(seen > 150, "{seen}");
}

#[test]
fn hodges_lehmann_and_cliff() {
    for case in cases("hodges_lehmann") {
        let (x, y) = (list(&case, "x"), list(&case, "y"));
        let found = hodges_lehmann(&x, &y, 0.95).unwrap();
        assert!((found.value - case["shift"].as_f64().unwrap()).abs() < 1e-12);
        close(hodges_lehmann_ratio(&x, &y, 0.95).unwrap().value, &case["ratio"], "ratio");
        assert!((cliffs_delta(&x, &y).unwrap() - case["delta"].as_f64().unwrap()).abs() < 1e-12);
        if !case["interval"].is_null() {
            let ends = list(&case, "interval");
            assert!((found.interval.low - ends[0]).abs() < 1e-12 && (found.interval.high - ends[1]).abs() < 1e-12);
            assert!((found.confidence - case["confidence"].as_f64().unwrap()).abs() < 1e-12);
        }
    }
}

#[test]
fn theil_sen_and_kendall() {
    for case in cases("drift") {
        let found = drift(&list(&case, "y")).unwrap();
        close(found.slope, &case["slope"], "slope");
        close(found.start, &case["start"], "start");
        close(found.tau, &case["tau"], "tau");
        close(found.p_value, &case["p_value"], "p");
    }
}

#[test]
fn bca_levels_of_given_resamples() {
    for case in cases("bca") {
        let confidence = case["confidence"].as_f64().unwrap();
        let estimate = case["estimate"].as_f64().unwrap();
        let found = bca_levels(&list(&case, "resampled"), estimate, &list(&case, "left_out"), confidence).unwrap();
        // Zero but for rounding when samples lie evenly, so an absolute limit.
        assert!((found.acceleration - case["acceleration"].as_f64().unwrap()).abs() < 1e-12);
        close(found.low, &case["low"], "low");
        close(found.high, &case["high"], "high");
    }
}

#[test]
fn normal_and_student() {
    for case in cases("normal") {
        let z = case["z"].as_f64().unwrap();
        if case["p"].is_null() {
            close(normal::cdf(z), &case["cdf"], "cdf");
            close(normal::sf(z), &case["sf"], "sf");
        } else {
            close(normal::quantile(case["p"].as_f64().unwrap()), &case["z"], "quantile");
        }
    }
    for case in cases("student") {
        let (p, freedom) = (case["p"].as_f64().unwrap(), case["freedom"].as_u64().unwrap());
        let found = student::quantile(p, freedom as usize);
        assert!((found - case["t"].as_f64().unwrap()).abs() < 1e-9 * found.abs().max(1.0), "{case} {found}");
    }
}

#[test]
fn autocorrelation_by_lag() {
    for case in cases("autocorrelation") {
        let lags = list(&case, "lags");
        let found = autocorrelation(&list(&case, "x"), 5).unwrap().lags;
        assert_eq!(found.len(), lags.len());
        assert!(found.iter().zip(lags).all(|(ours, theirs)| (ours - theirs).abs() < 1e-9));
    }
}
