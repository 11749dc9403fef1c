use serde_json::Value;

use super::*;

fn rows() -> Vec<ReportRow> {
    let row = |workload: &str, outcome: ReportOutcome, verdict: &str| ReportRow {
        kernel: "soft<max>".into(),
        workload: workload.into(),
        file: Some("kernels/softmax/kernel.toml".into()),
        seconds: 1.5e-3,
        interval: [1.4e-3, 1.6e-3],
        verdict: verdict.into(),
        outcome,
        words: "+5.0 % [\"+4.1\", +6.0] % & more".into(),
    };
    vec![
        row("a", ReportOutcome::Passed, "same"),
        row("b", ReportOutcome::Failed, "regression"),
        row("c", ReportOutcome::Unknown, "too_noisy"),
    ]
}

#[test]
fn junit_counts_and_escapes() {
    let text = junit(&rows());
    assert!(text.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{text}");
    assert!(text.contains("classname=\"soft&lt;max&gt;\" name=\"a\" time=\"0.001500000\"/>"), "{text}");
    assert!(text.contains("type=\"regression\">+5.0 % [&quot;+4.1&quot;, +6.0] % &amp; more</failure>"), "{text}");
    assert_eq!(text.matches("<testcase").count(), 3);
}

#[test]
fn sarif_has_what_code_scanning_wants() {
    let log: Value = serde_json::from_str(&sarif(&rows(), "0.1.0")).unwrap();
    let run = &log["runs"][0];
    assert_eq!((&log["version"], run["results"].as_array().unwrap().len()), (&Value::from("2.1.0"), 1));
    let (result, rule) = (&run["results"][0], &run["tool"]["driver"]["rules"][0]);
    assert_eq!(result["ruleId"], rule["id"]);
    for text in [&rule["shortDescription"], &rule["fullDescription"], &rule["help"], &result["message"]] {
        assert!(text["text"].as_str().is_some_and(|text| !text.is_empty()), "{log:#}");
    }
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "kernels/softmax/kernel.toml");
    assert_eq!(place["region"]["startLine"], 1);
    // It does not change with the figures.
    let mut other = rows();
    other[1].words = "+7.0 %".into();
    let again: Value = serde_json::from_str(&sarif(&other, "0.1.0")).unwrap();
    assert_eq!(again["runs"][0]["results"][0]["partialFingerprints"], result["partialFingerprints"]);
}

#[test]
fn metrics_have_units_and_intervals() {
    let metrics: Value = serde_json::from_str(&bencher(&rows())).unwrap();
    let latency = &metrics["soft<max>/b"]["latency"];
    assert!((latency["value"].as_f64().unwrap() - 1.5e6).abs() < 1.0);
    assert!(latency["lower_value"].as_f64() < latency["upper_value"].as_f64());
    let list: Value = serde_json::from_str(&benchmark_action(&rows())).unwrap();
    assert_eq!((list.as_array().unwrap().len(), &list[2]["unit"]), (3, &Value::from("us")));
    assert!((list[0]["value"].as_f64().unwrap() - 1500.0).abs() < 1e-6 && list[1]["range"].is_string());
}
