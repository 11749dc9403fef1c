//! A study for other tuners' tools. In: a study. Out: T4 results as text, and how many there are. Refuses a study of which
//! nothing was tried, and one that tuned its workloads apart unless one of them is named.

use kiln_core::{Report, nearest};
use kiln_formats::write_t4;

use crate::failure::Failure;
use crate::project::Project;
use crate::record::results;

/// A study as T4 results, and how many: of one workload where each was tuned apart.
pub fn export_t4(project: &Project, name: &str, workload: Option<&str>) -> Result<(String, usize), Failure> {
    let store = project.recorded_for(name)?;
    let study = store.find(name)?;
    let results = results(&store, &study)?;
    let names: Vec<&str> = results.iter().map(|(workload, _)| workload.as_str()).filter(|n| !n.is_empty()).collect();
    let chosen = match (workload, results.as_slice()) {
        (_, []) => {
            return Err(Report::error(format!(
                "study {} tried nothing yet: there is nothing to export",
                study.short_id()
            ))
            .into());
        }
        (None, [(_, only)]) => Some(only),
        (None, _) => {
            return Err(Report::error(format!("study {} tuned each workload apart", study.short_id()))
                .label("T4 has one result for each configuration")
                .hint(format!("choose one with --workload: {}", names.join(", ")))
                .into());
        }
        (Some(wanted), _) => results.iter().find(|(name, _)| name == wanted).map(|(_, results)| results),
    };
    let Some(chosen) = chosen else {
        let wanted = workload.unwrap_or_default();
        let expected = match names.is_empty() {
            true => "the study tuned all its workloads together: omit --workload".to_string(),
            false => format!("expected one of {}", names.join(", ")),
        };
        let near = nearest(wanted, names.iter().copied()).map(|near| format!("did you mean {near}?"));
        return Err(Report::error(format!("--workload {wanted}")).label(expected).maybe_hint(near).into());
    };
    Ok((format!("{}\n", write_t4(chosen)), chosen.attempts.len()))
}
