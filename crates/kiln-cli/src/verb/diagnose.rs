//! `kiln diagnose`: the causes behind other tools' logs.

use kiln_app::{DiagnoseRequest, Ending, Ends, Failure, diagnose};
use kiln_show::DiagnosisView;
use serde_json::json;

use crate::args::DiagnoseArgs;
use crate::output;

pub(crate) fn run(args: &DiagnoseArgs) -> Result<Ending, Failure> {
    let request = DiagnoseRequest { logs: args.sanitizer.clone(), sources: args.source.clone() };
    let diagnosis = diagnose(&request)?;
    output::data(&match args.json {
        true => format!("{}\n", json!(diagnosis)),
        false => DiagnosisView { diagnosis: &diagnosis }.to_string(),
    })?;
    Ok(diagnosis.ending())
}
