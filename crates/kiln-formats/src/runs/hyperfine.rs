//! JSON of hyperfine (`--export-json`): the times of every command.

use kiln_core::{MeasuredSide, Report};
use serde_json::Value;

use super::number;
use super::run_file::RunFile;

pub(super) fn read(name: &str, value: &Value) -> Result<RunFile, Report> {
    let mut run = RunFile::by("hyperfine");
    for row in value["results"].as_array().into_iter().flatten() {
        let command = row["command"].as_str().unwrap_or_default();
        let codes = row["exit_codes"].as_array().into_iter().flatten();
        if let Some(code) = codes.filter_map(Value::as_i64).find(|code| *code != 0) {
            return Err(Report::error(format!("{name}: `{command}` ended with exit code {code}"))
                .hint("the time of a command that fails says nothing: mend it and measure again"));
        }
        let Some(times) = row["times"].as_array() else {
            return Err(Report::error(format!("{name}: `{command}` has no times")).label("expected a list `times`"));
        };
        let samples = times.iter().map(|time| number(time).unwrap_or(f64::NAN)).collect();
        run.workload(command).sides.push(MeasuredSide::candidate(samples));
    }
    Ok(run)
}
