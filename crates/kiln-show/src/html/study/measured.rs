//! What was measured against each other, and when. In: a look. Out: the samples of the winner beside those of the baseline and the runner-up, and a
//! timeline.

use kiln_app::{RivalKind, StudyLook, Succession};
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
    for (workload, winner) in look.winners() {
        let winner = winner.to_string();
        let succession = look.succession(workload.as_deref());
        // Whoever came in by the ablation was not in the run-off, or lost it.
        let of_finals = succession.map_or(winner.as_str(), Succession::first);
        let last = |phase: &str| {
            // Of workloads tuned apart, several may have one winner.
            let own = |duel: &&kiln_app::Duel| {
                let id = PhaseId::parse(&duel.phase);
                id.name == phase && id.workload == workload.as_deref()
            };
            let with = |duel: &&kiln_app::Duel| {
                let own = if phase == "run-off" { of_finals } else { &winner };
                duel.config == own || duel.workloads.iter().flat_map(|one| &one.sides).any(|side| side.name == own)
            };
            look.duels.iter().rev().filter(own).find(with)
        };
        let runner_up = look.against.iter().find(|one| one.rival == RivalKind::RunnerUp && one.workload == workload);
        let sides = |workload: &MeasuredWorkload| {
            let called = |name: &str| match name {
                "candidate" => "winner".to_string(),
                name if name == winner => "winner".into(),
                // In the ablation the sides are called by what they were then.
                "winner" => called_before(succession.map_or("", Succession::last), &winner),
                name if succession.is_some_and(|one| one.before.iter().any(|own| own == name)) => {
                    called_before(name, &winner)
                }
                name if runner_up.is_some_and(|one| one.what == name) => {
                    format!("runner-up, {}", differing(name, &winner))
                }
                name => match name.strip_prefix("baseline:") {
                    Some(baseline) => baseline.to_string(),
                    None => differing(name, &winner),
                },
            };
            workload.sides.iter().map(|side| (called(&side.name), side.rounds.concat())).collect::<Vec<_>>()
        };
        let finalists =
            if succession.is_some() { "finalists of the search" } else { "the winner and the other finalists" };
        let proof = succession.and_then(|one| one.proof(&look.duels, &winner));
        let drawn = [
            (last("confirm"), "the winner and the baseline"),
            (proof, "the winner and the one it replaced"),
            (last("run-off"), finalists),
        ];
        for (duel, what) in drawn {
            let Some(duel) = duel else { continue };
            for workload in duel.workloads.iter().take(MOST) {
                let title = format!("{kernel}, {}: {what}", workload.name);
                found.extend(samples_picture(&title, &sides(workload)));
            }
        }
    }
    found
}

/// Who won before the winner.
fn called_before(config: &str, winner: &str) -> String {
    format!("replaced, {}", differing(config, winner))
}

/// In what a configuration differs from the winner; all of it where both do not have the same tunables.
fn differing(config: &str, winner: &str) -> String {
    let (own, other): (Vec<&str>, Vec<&str>) = (config.split(',').collect(), winner.split(',').collect());
    let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_string();
    let same = own.len() == other.len() && own.iter().zip(&other).all(|(a, b)| name(a) == name(b));
    let parts: Vec<&str> = own.iter().zip(&other).filter(|(a, b)| a != b).map(|(a, _)| *a).collect();
    if same && !parts.is_empty() { parts.join(",") } else { config.into() }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::study::tests::look;
    use crate::sample::{study, trials};

    #[test]
    fn workloads_tuned_apart_with_one_winner_have_their_own_samples() {
        let mut own = study();
        let mut summary: serde_json::Value =
            serde_json::to_value(own.summary.as_ref().unwrap().read().unwrap()).unwrap();
        let row = |name: &str| {
            let mut row = summary["workloads"][0].clone();
            (row["name"], row["config"]) = (name.into(), summary["config"].clone());
            row
        };
        let rows = vec![row("small"), row("large")];
        (summary["workloads"], summary["config"]) = (rows.into(), serde_json::Value::Null);
        own.summary = Some(kiln_store::Kept::found(summary));
        let mut seen = look(own, trials());
        let of = |name: &str| {
            let mut duel = seen.duels[0].clone();
            duel.phase = format!("{name}/confirm");
            duel.workloads[0].name = name.into();
            duel
        };
        seen.duels = vec![of("small"), of("large")];
        let titles: Vec<String> = distributions(&seen).iter().map(|canvas| canvas.title().to_string()).collect();
        assert_eq!(
            titles,
            ["softmax, small: the winner and the baseline", "softmax, large: the winner and the baseline"]
        );
    }

    #[test]
    fn a_rival_is_called_by_what_differs() {
        assert_eq!(differing("A=1,B=2,C=3", "A=1,B=4,C=5"), "B=2,C=3");
        assert_eq!(differing("A=1", "A=1,B=4"), "A=1");
    }
}
