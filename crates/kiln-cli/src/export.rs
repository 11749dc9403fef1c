//! `kiln history STUDY --export t4`: a study for other tuners' tools. In: a study. Out: one JSON file. Refuses a study of
//! which nothing was tried, and one that tuned its workloads apart unless one of them is named.

use std::io::Write;

use camino::Utf8Path;
use kiln_core::{Fault, Report, nearest};
use kiln_formats::write_t4;

use crate::exit::{Failure, Success};
use crate::output;
use crate::past;
use crate::recording;
use crate::work;

pub(crate) fn t4(name: &str, workload: Option<&str>, file: Option<&Utf8Path>) -> Result<Success, Failure> {
    let store = past::store()?.ok_or_else(|| {
        Fault::new(format!("looking for study `{name}`"), format!("there is no {} here", work::store()))
            .hint("`kiln tune PATH` makes one; run kiln in the folder you tuned in")
    })?;
    let study = store.find(name)?;
    let results = recording::results(&store, &study)?;
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
            true => "the study tuned all its workloads together: leave --workload away".to_string(),
            false => format!("expected one of {}", names.join(", ")),
        };
        let near = nearest(wanted, names.iter().copied()).map(|near| format!("did you mean {near}?"));
        return Err(Report::error(format!("--workload {wanted}")).label(expected).maybe_hint(near).into());
    };
    let text = format!("{}\n", write_t4(chosen));
    match file {
        None => output::data(&text)?,
        Some(file) => {
            write_whole(file, text.as_bytes())?;
            output::note(&format!("wrote {} results to {file}", chosen.attempts.len()));
        }
    }
    Ok(Success::Done)
}

/// Writes a file that is either whole or not there.
pub(crate) fn write_whole(file: &Utf8Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = file.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let fault = |e: &dyn std::fmt::Display| Fault::new(format!("writing {file}"), e);
    let mut draft = tempfile::Builder::new().prefix(".kiln-").tempfile_in(folder).map_err(|e| fault(&e))?;
    draft.write_all(bytes).map_err(|e| fault(&e))?;
    // A draft is private; what it becomes is as readable as any other file.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        draft.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(|e| fault(&e))?;
    }
    draft.persist(file).map_err(|e| fault(&e.error))?;
    Ok(())
}
