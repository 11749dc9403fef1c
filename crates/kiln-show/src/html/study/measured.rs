//! What was measured against each other, and when. In: a look. Out: the samples of the winner beside those of the baseline and the runner-up, and a
//! timeline.

use kiln_app::{RivalKind, StudyLook};
use kiln_core::MeasuredWorkload;
use kiln_store::PhaseId;

use crate::html::{Block, Section};
use crate::picture::{Canvas, samples_picture, timeline_picture};

/// Workloads drawn of each comparison at most.
const MOST: usize = 4;

/// Samples of the confirmation and the run-off.
pub(crate) fn distributions(look: &StudyLook) -> Vec<Canvas> {
    let kernel = &look.story.now.study.kernel;
    let mut found = Vec::new();
    for (_, winner) in look.winners() {
        let winner = winner.to_string();
        let last = |phase: &str| {
            let own = |duel: &&kiln_app::Duel| PhaseId::parse(&duel.phase).name == phase;
            let with = |duel: &&kiln_app::Duel| {
                duel.config == winner
                    || duel.workloads.iter().flat_map(|one| &one.sides).any(|side| side.name == winner)
            };
            look.duels.iter().rev().filter(own).find(with)
        };
        let runner_up =
            look.against.iter().find(|one| one.rival == RivalKind::RunnerUp && one.winner.to_string() == winner);
        let sides = |workload: &MeasuredWorkload| {
            let called = |name: &str| match name {
                "candidate" => "winner".to_string(),
                name if name == winner => "winner".into(),
                name if runner_up.is_some_and(|one| one.what == name) => format!("runner-up {name}"),
                name => name.trim_start_matches("baseline:").to_string(),
            };
            workload.sides.iter().map(|side| (called(&side.name), side.rounds.concat())).collect::<Vec<_>>()
        };
        for (phase, against) in [("confirm", "the baseline"), ("run-off", "the other finalists")] {
            let Some(duel) = last(phase) else { continue };
            for workload in duel.workloads.iter().take(MOST) {
                let title = format!("{kernel}, {}: the winner and {against}", workload.name);
                found.extend(samples_picture(&title, &sides(workload)));
            }
        }
    }
    found
}

/// The section of it.
pub(super) fn distributions_section(look: &StudyLook) -> Option<Section> {
    let figures: Vec<Block> = distributions(look).into_iter().map(Block::Figure).collect();
    (!figures.is_empty()).then(|| Section::new("distributions", "Winner, baseline and runner-up", figures))
}

/// When the study built, checked and measured.
pub(crate) fn timeline(look: &StudyLook) -> Option<Canvas> {
    let title = format!("{}: builds, checks and measurements over time", look.story.now.study.kernel);
    timeline_picture(&title, &look.story.now.trials)
}

/// The section of it.
pub(super) fn timeline_section(look: &StudyLook) -> Option<Section> {
    let figure = timeline(look)?;
    let words = "A build's bar is the time a device waited for it: builds run ahead of measurement.";
    Some(Section::new("timeline", "Timeline", vec![Block::words(words), Block::Figure(figure)]))
}
