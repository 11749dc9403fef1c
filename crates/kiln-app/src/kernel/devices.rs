//! The GPUs of a run. In: names as they were typed. Out: cards, and locks that keep other kilns off them. Refuses a GPU that
//! is not there, and one that is named twice.

use kiln_core::Report;
use kiln_run::{Card, DeviceLock};

use crate::doctor;
use crate::failure::Failure;
use crate::kernel::Selecting;
use crate::project::Project;
use crate::teller::Teller;

/// Keeps the GPUs for this process until it is dropped, so that no other kiln measures there meanwhile.
pub(crate) fn lock<'c>(
    cards: impl IntoIterator<Item = &'c Card>,
    project: &Project,
    teller: &Teller<'_>,
) -> Result<Vec<DeviceLock>, Failure> {
    let mut cards: Vec<&Card> = cards.into_iter().collect();
    // All kilns take them in the same order, or two might wait for each other.
    cards.sort_by(|a, b| a.uuid.cmp(&b.uuid));
    let mut held = Vec::with_capacity(cards.len());
    for card in cards {
        let waiting = || teller.note(format!("another kiln measures on {}; waiting for it", card.name));
        held.push(DeviceLock::take(&card.uuid, project.stopped(), waiting)?);
    }
    Ok(held)
}

/// The first device named, and those beside it.
pub(crate) fn split(selecting: &Selecting) -> (Selecting, Vec<String>) {
    let Some(list) = selecting.device.as_deref().filter(|list| list.contains(',')) else {
        return (selecting.clone(), Vec::new());
    };
    let mut names = list.split(',').map(|name| name.trim().to_string());
    let device = names.next();
    (Selecting { device, ..selecting.clone() }, names.collect())
}

/// The GPUs of these names beside the first. Refuses one that is named twice.
pub(crate) fn others(names: &[String], first: Option<&Card>) -> Result<Vec<Card>, Failure> {
    let Some(first) = first else { return Ok(Vec::new()) };
    let mut others: Vec<Card> = Vec::new();
    for name in names {
        let card = doctor::quick(Some(name))?.card;
        if others.iter().chain([first]).any(|other| other.uuid == card.uuid) {
            let report = Report::error(format!("--device names {} ({}) twice", card.name, card.uuid));
            return Err(report.label(format!("the second time as `{name}`")).into());
        }
        others.push(card);
    }
    Ok(others)
}
