//! Whether two runs can be compared. In: both. Out: what else differs between them, in words. Refuses runs that would compare machines or settings instead of kernels.

use kiln_core::Report;
use kiln_formats::RunFile;
use kiln_store::Environment;
use serde::Deserialize;

use crate::failure::Failure;

/// What differs between the runs and may matter.
pub(super) fn comparable(base: &RunFile, candidate: &RunFile, anyway: bool) -> Result<Vec<String>, Failure> {
    let text = |words: &Option<String>| words.clone();
    let must = [
        ("kernel", Some(base.kernel.clone()), Some(candidate.kernel.clone())),
        ("device", text(&base.device), text(&candidate.device)),
        ("target", text(&base.target), text(&candidate.target)),
        ("variant", text(&base.variant), text(&candidate.variant)),
        ("cache", text(&base.cache), text(&candidate.cache)),
        ("threads", base.threads.map(|n| n.to_string()), candidate.threads.map(|n| n.to_string())),
    ];
    let shapes = base.workloads.iter().filter_map(|one| {
        let other = candidate.workloads.iter().find(|other| other.name == one.name)?;
        Some((format!("the dimensions of {}", one.name), one.shape.clone(), other.shape.clone()))
    });
    let mut notes = Vec::new();
    for (what, one, other) in must.map(|(what, one, other)| (what.to_string(), one, other)).into_iter().chain(shapes) {
        // What a format does not say cannot differ.
        let (Some(one), Some(other)) = (one, other) else { continue };
        if one == other || one.is_empty() || other.is_empty() {
            continue;
        }
        let words = format!("the runs differ in {what}: {one} and {other}");
        if !anyway {
            return Err(Report::error(words)
                .label("a difference of their times would say nothing about the kernel")
                .hint("measure both on the same machine with the same settings; --anyway compares them all the same")
                .into());
        }
        notes.push(words);
    }
    let may = [
        ("configuration", text(&base.config), text(&candidate.config)),
        ("kernel file", text(&base.spec_hash), text(&candidate.spec_hash)),
        ("commit", text(&base.commit), text(&candidate.commit)),
        ("compiler", environment(base).compiler, environment(candidate).compiler),
        ("host", environment(base).host, environment(candidate).host),
        ("source", Some(base.source.clone()), Some(candidate.source.clone())),
    ];
    for (what, one, other) in may {
        if let (Some(one), Some(other)) = (one, other)
            && one != other
        {
            notes.push(format!("{what}: {one}, then {other}"));
        }
    }
    Ok(notes)
}

pub(super) fn environment(run: &RunFile) -> Environment {
    Environment::deserialize(&run.environment).unwrap_or_default()
}
