//! What searches came to. In: studies, how the sources are now. Out: one that runs, one that did not end, and whether what is there now was
//! tuned.

use kiln_diagnose::next::LastSearch;
use kiln_store::{State, Study};

use super::records::{Now, Records};
use super::result::Found;
use crate::record::StudyNow;
use crate::record::resume::SOURCES;

pub(super) fn state(records: &Records, found: Option<&Found>, now: &Now) -> LastSearch {
    let gone = |study: &Study| StudyNow::new(study.clone(), Vec::new(), Default::default()).gone;
    let newest = records.studies.first();
    let running = newest.filter(|study| study.state == State::Running && !gone(study));
    // Something newer makes nobody wait for it.
    let newer = |study: &Study| found.is_none_or(|found| found.at_ms <= study.started_ms);
    let ended = |study: &Study| study.state == State::Finished;
    let unfinished =
        newest.filter(|study| running.is_none() && !ended(study) && newer(study) && is_current(records, study, now));
    let (target, variant) = records.worked_on();
    let ours = |study: &&Study| {
        Some(&study.target) == target.as_ref() && study.variant == variant.clone().unwrap_or_default() && ended(study)
    };
    let judged = |study: &&Study| matches!(study.verdict.as_deref(), Some("reached" | "not_reached"));
    let tuned = records.studies.iter().filter(ours).filter(judged).find(|study| is_current(records, study, now));
    LastSearch {
        running: running.map(|study| study.short_id().into()),
        unfinished: unfinished.map(|study| study.short_id().into()),
        tuned: tuned.is_some(),
        confirmed: tuned.is_some_and(|study| study.verdict.as_deref() == Some("reached")),
        confirmation: tuned.and_then(confirmation),
        target: tuned.and_then(|study| Some(study.summary.as_ref()?.read().ok()?.target_speedup)),
        seconds: records.studies.iter().filter(ours).map(|study| study.seconds).next(),
    }
}

/// What a study confirmed, in words.
fn confirmation(study: &Study) -> Option<String> {
    let summary = study.summary.as_ref()?.read().ok()?;
    let over = summary.baseline.as_deref().unwrap_or("the default configuration");
    Some(format!("{:.2}x of {over}, by study {}", summary.speedup?, study.short_id()))
}

/// Whether a study was of the sources as they are now.
pub(super) fn is_current(records: &Records, study: &Study, now: &Now) -> bool {
    let notes = records.store.as_ref().and_then(|store| store.notes(&study.id).ok()).unwrap_or_default();
    let then = notes.into_iter().rfind(|note| note.kind == SOURCES).map(|note| note.text);
    let sources = then.zip(now.sources.as_ref()).is_none_or(|(then, now)| then == *now);
    sources && now.spec_hash.as_ref().is_none_or(|hash| *hash == study.spec_hash)
}
