//! The winner's files at the end of a study. In: the study, its summary and a folder. Out: the files written, and a note where
//! an earlier winner stays or was replaced by one that it cannot be compared with.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_store::{Store, Study};
use kiln_study::{Bench, Best, Conditions, Destination, Summary, write_best};

use super::TuneRequest;
use crate::failure::Failure;
use crate::record::resume;
use crate::teller::Teller;

/// Writes the winner, unless a better one is there and stays. With a folder of its own it is always written.
pub(crate) fn written(
    request: &TuneRequest,
    bench: &Bench<'_>,
    store: &Store,
    study: &Study,
    summary: &Summary,
    folder: &Utf8Path,
    teller: &Teller<'_>,
) -> Result<Vec<Utf8PathBuf>, Failure> {
    let (mut files, id) = (Vec::new(), study.short_id());
    // As it was when the study was measured: a replay may be elsewhere, and later.
    let then = store.notes(&study.id)?.into_iter().rfind(|note| note.kind == resume::SOURCES);
    let sources = then.map_or_else(|| bench.kernel.fingerprint(), |note| Ok(note.text))?;
    let conditions = Conditions {
        device: study.environment.read().ok().and_then(|then| then.device()).unwrap_or(bench.hardware()),
        sources: &sources,
        cache: bench.settings.cache,
        threads: bench.settings.threads,
    };
    let path = request.selecting.path.as_str();
    let place = Destination { folder, path, conditions, keeps_best: request.out.is_none() };
    let best = write_best(bench.kernel, summary, place).map_err(|fault| {
        let first = fault.hint.as_ref().map_or_else(String::new, |hint| format!("{hint}; then "));
        fault.hint(format!("{first}write the winner with --replay {id} --out {folder}"))
    })?;
    match best {
        Some(Best::Written(written)) => {
            if let Some((study, unlike)) = written.replaced {
                teller.note(format!("{} held the winner of study {}: {unlike}", written.toml, short(&study)));
            }
            files.push(written.toml);
            files.extend(written.header);
        }
        Some(Best::Kept { toml, study, why }) => teller.note(format!(
            "{toml} keeps the winner of study {}: {why} (--replay {id} --out FOLDER writes this one elsewhere)",
            short(&study)
        )),
        None => {}
    }
    Ok(files)
}

/// The end of a study's id.
fn short(study: &str) -> &str {
    study.get(study.len().saturating_sub(8)..).unwrap_or(study)
}
