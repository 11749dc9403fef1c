//! JSON of nvbench. Samples are in files beside it, which `--jsonbin` writes (32-bit floats, seconds); plain `--json` has none, and
//! is refused with that hint. States that were skipped are left out.

use kiln_core::{MeasuredSide, Report};
use serde_json::Value;

use super::run_file::RunFile;
use super::{Beside, number};

/// The summary that names the file of samples.
const SAMPLES: &str = "nv/json/bin:nv/cold/sample_times";

pub(super) fn read(name: &str, value: &Value, beside: Beside<'_>) -> Result<RunFile, Report> {
    let mut run = RunFile::by("nvbench");
    let devices = value["devices"].as_array();
    let device = devices.and_then(|devices| devices.first()).and_then(|device| device["name"].as_str());
    run.device = device.map(Into::into);
    run.environment = value["meta"].clone();
    let mut without = None;
    for benchmark in value["benchmarks"].as_array().into_iter().flatten() {
        let title = benchmark["name"].as_str().unwrap_or_default();
        for state in benchmark["states"].as_array().into_iter().flatten() {
            if state["is_skipped"].as_bool() == Some(true) {
                continue;
            }
            let label = format!("{title} {}", state["name"].as_str().unwrap_or_default());
            let label = label.trim();
            let Some((file, count)) = samples(state) else {
                without = Some(label.to_string());
                continue;
            };
            let Some(bytes) = beside(&file) else {
                return Err(Report::error(format!(
                    "{name}: the samples of {label} are in {file}, which cannot be read"
                ))
                .hint("keep the folder that nvbench wrote beside the file"));
            };
            let found: Vec<f64> =
                bytes.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))).collect();
            if bytes.len() % 4 != 0 || count.is_some_and(|count| count != found.len()) {
                return Err(Report::error(format!("{name}: {file} does not hold the samples of {label}")).label(
                    format!("expected {} samples of 4 bytes; it has {} bytes", count.unwrap_or(0), bytes.len()),
                ));
            }
            run.workload(label).sides.push(MeasuredSide::candidate(found));
        }
    }
    match without {
        Some(label) if run.workloads.is_empty() => Err(Report::error(format!("{name} has no samples of {label}"))
            .hint("run nvbench with --jsonbin FILE instead of --json FILE; it writes every sample")),
        _ => Ok(run),
    }
}

/// The file of a state's samples, and how many there are.
fn samples(state: &Value) -> Option<(String, Option<usize>)> {
    let summaries = state["summaries"].as_array()?;
    let found = summaries.iter().find(|summary| summary["tag"] == SAMPLES)?;
    let data = |name: &str| found["data"].as_array()?.iter().find(|entry| entry["name"] == name).map(|e| &e["value"]);
    let count = data("size").and_then(number).map(|count| count as usize);
    Some((data("filename")?.as_str()?.to_string(), count))
}
