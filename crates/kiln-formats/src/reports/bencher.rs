//! Bencher Metric Format: the candidate's time of each workload in nanoseconds, with its interval.

use serde_json::{Map, Value, json};

use super::ReportRow;

/// The longest name that Bencher takes.
const LONGEST: usize = 1024;

/// Rows as Bencher Metric Format.
pub fn bencher(rows: &[ReportRow]) -> String {
    let mut benchmarks = Map::new();
    for row in rows {
        let name: String = row.name().chars().take(LONGEST).collect();
        let [low, high] = row.interval.map(|seconds| seconds * 1e9);
        let latency = json!({ "value": row.seconds * 1e9, "lower_value": low, "upper_value": high });
        benchmarks.insert(name, json!({ "latency": latency }));
    }
    format!("{:#}\n", Value::Object(benchmarks))
}
