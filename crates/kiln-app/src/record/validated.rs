//! Which winners are validated. In: a study and what was validated. Out: the validations of its winners, as the kernel file and
//! its sources were when it began: of other sources a validation says nothing.

use kiln_core::Fault;
use kiln_store::{Store, Study, Validation};

use crate::record::resume::SOURCES;

/// The validations of a study's winners, the newest of each.
pub(crate) fn of_winners(store: &Store, study: &Study, all: &[Validation]) -> Result<Vec<Validation>, Fault> {
    let won = study.winner().into_iter().chain(study.winners().into_iter().map(|(_, config)| config));
    let won: Vec<String> = won.map(|config| config.to_string()).collect();
    let is_of = |made: &&Validation| {
        (&made.kernel, &made.target, &made.variant, &made.spec_hash)
            == (&study.kernel, &study.target, &study.variant, &study.spec_hash)
            && won.contains(&made.config)
    };
    let mut found: Vec<Validation> = all.iter().filter(is_of).cloned().collect();
    if found.is_empty() {
        return Ok(found);
    }
    let sources = store.notes(&study.id)?.into_iter().rfind(|note| note.kind == SOURCES).map(|note| note.text);
    found.retain(|made| sources.as_ref().is_none_or(|sources| *sources == made.sources));
    let mut seen: Vec<String> = Vec::new();
    found.retain(|made| {
        let new = !seen.contains(&made.config);
        seen.push(made.config.clone());
        new
    });
    Ok(found)
}
