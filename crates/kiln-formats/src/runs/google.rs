//! JSON of Google Benchmark (`--benchmark_format=json`): one sample for each repetition. Means and other aggregates are left out.

use kiln_core::{MeasuredSide, Report};
use serde_json::Value;

use super::run_file::RunFile;
use super::{number, unit};

pub(super) fn read(name: &str, value: &Value) -> Result<RunFile, Report> {
    let context = &value["context"];
    let mut run = RunFile::by("Google Benchmark");
    run.kernel = context["executable"].as_str().and_then(|path| path.rsplit('/').next()).unwrap_or_default().into();
    run.device = context["host_name"].as_str().map(Into::into);
    run.environment = context.clone();
    for row in value["benchmarks"].as_array().into_iter().flatten() {
        let benchmark = row["run_name"].as_str().or(row["name"].as_str()).unwrap_or_default();
        if row["run_type"].as_str().is_some_and(|kind| kind != "iteration") {
            continue;
        }
        if row["error_occurred"].as_bool() == Some(true) {
            let why = row["error_message"].as_str().unwrap_or("it gives no reason");
            return Err(Report::error(format!("{name}: benchmark {benchmark} failed: {why}")));
        }
        let unit_name = row["time_unit"].as_str().unwrap_or("ns");
        let Some(unit) = unit(unit_name) else {
            return Err(Report::error(format!("{name}: benchmark {benchmark} has times in `{unit_name}`"))
                .label("expected s, ms, us or ns"));
        };
        let seconds = number(&row["real_time"]).unwrap_or(f64::NAN) * unit;
        let workload = run.workload(benchmark);
        match workload.sides.first_mut().and_then(|side| side.rounds.first_mut()) {
            Some(samples) => samples.push(seconds),
            None => workload.sides.push(MeasuredSide::candidate(vec![seconds])),
        }
    }
    Ok(run)
}
