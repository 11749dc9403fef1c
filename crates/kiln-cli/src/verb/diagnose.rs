//! `kiln diagnose`: the causes behind other tools' logs and profiles.

use kiln_app::{DiagnoseRequest, Ending, Ends, Failure, ProfileDiagnoseRequest, diagnose, diagnose_profile};
use kiln_show::{DiagnosedProfileView, DiagnosisView};
use serde_json::json;

use crate::args::DiagnoseArgs;
use crate::output;

pub(crate) fn run(args: &DiagnoseArgs) -> Result<Ending, Failure> {
    if let Some(page) = &args.ncu {
        let request = ProfileDiagnoseRequest {
            page: page.clone(),
            details: args.details.clone(),
            ptxas: args.ptxas.clone(),
            sources: args.source.clone(),
            why: args.why.clone(),
        };
        let profile = diagnose_profile(&request)?;
        let view = DiagnosedProfileView { profile: &profile };
        output::data(&match args.json {
            true => format!("{}\n", view.json()),
            false => view.to_string(),
        })?;
        return Ok(profile.ending());
    }
    let request = DiagnoseRequest { logs: args.sanitizer.clone(), sources: args.source.clone() };
    let diagnosis = diagnose(&request)?;
    output::data(&match args.json {
        true => format!("{}\n", json!(diagnosis)),
        false => DiagnosisView { diagnosis: &diagnosis }.to_string(),
    })?;
    Ok(diagnosis.ending())
}
