//! github-action-benchmark's own format, `customSmallerIsBetter`: the candidate's time of each workload in microseconds.

use serde_json::{Value, json};

use super::ReportRow;

/// Rows as github-action-benchmark reads them.
pub fn benchmark_action(rows: &[ReportRow]) -> String {
    let entry = |row: &ReportRow| {
        let [low, high] = row.interval.map(|seconds| seconds * 1e6);
        json!({
            "name": row.name(),
            "unit": "us",
            "value": row.seconds * 1e6,
            "range": format!("{low:.3} to {high:.3}"),
            "extra": row.words,
        })
    };
    format!("{:#}\n", Value::Array(rows.iter().map(entry).collect()))
}
