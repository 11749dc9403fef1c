//! A study: what was asked, how the search went, what was refused, what it came to. In: a look at it, the filter of its trials. Out: its sections,
//! in the order of its story. Works for a study that runs, as far as its record goes.

pub(in crate::html) mod causes;
pub(crate) mod measured;
pub(crate) mod outcome;
mod phases;
pub(crate) mod searches;
pub(crate) mod trials;

use kiln_app::{StudyLook, TrialFilter};

use super::{Address, Block, Section, View};

/// Everything about a study.
pub fn study_sections(look: &StudyLook, filter: &TrialFilter, view: &View) -> Vec<Section> {
    let searched = searches::Searched::of(look, filter);
    let mut all = vec![outcome::overview(look, view)];
    all.push(phases::section(look));
    all.extend(outcome::figures(look));
    if view.is_page {
        all.push(trials::filter_section(look, filter, searched.columns()));
    }
    all.push(searched.funnel_section(view));
    all.extend(searched.sections());
    all.extend(measured::distributions_section(look));
    all.extend(measured::timeline_section(look));
    all.push(trials::section(look, filter, view));
    all.extend(trials::notes(look, view));
    if view.is_page {
        let why = Address::Why(look.story.now.study.short_id().into()).to_string();
        if let Some(first) = all.first_mut() {
            first.blocks.push(Block::List(vec![super::Cell::text("Why this configuration").to(Some(why))]));
        }
    }
    all
}

#[cfg(test)]
pub(in crate::html) mod tests;
