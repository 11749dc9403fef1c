//! How far a study is: its phases, what became of their trials, what is left. In: trials, and the settings that were asked for. Out: a section
//! with a table.

use kiln_app::StudyLook;
use kiln_store::{State, TrialState};
use kiln_study::{Settings, settings_of};

use crate::html::{Block, Cell, Section, Table};
use crate::studies::past::Past;
use crate::words::number::stretch;

/// The order in which a study goes through its phases.
const ORDER: [&str; 7] = ["default", "seed", "search", "final", "run-off", "confirm", "ablation"];

/// How many trials a phase has at most, as far as that is known before it ends.
fn planned(phase: &str, settings: &Settings) -> Option<usize> {
    match phase {
        "default" => Some(1),
        "seed" => Some(settings.seed_trials),
        "search" => Some(settings.search_trials),
        "ablation" if !settings.ablation => Some(0),
        _ => None,
    }
}

/// The phases.
pub(super) fn section(look: &StudyLook) -> Section {
    let (study, trials) = (&look.story.now.study, &look.story.now.trials);
    let settings = settings_of(study).ok();
    let runs = Past::of(&look.story.now).state == State::Running;
    let mut names: Vec<String> = Vec::new();
    for trial in trials {
        if !names.contains(&trial.phase) {
            names.push(trial.phase.clone());
        }
    }
    let apart = names.iter().any(|name| name.contains('/'));
    if runs && !apart {
        // Those to come.
        names.extend(
            ORDER.iter().filter(|name| !trials.iter().any(|trial| trial.phase == **name)).map(|name| name.to_string()),
        );
    }
    let mut table = Table::new(
        "Phases of the study, in the order begun",
        &["phase", "trials #", "left #", "passed #", "stopped #", "refused #", "took #"],
    );
    for name in names {
        let of_phase = || trials.iter().filter(|trial| trial.phase == name);
        let count = |state: TrialState| of_phase().filter(|trial| trial.state == state).count();
        let done = of_phase().count();
        let most = settings.as_ref().and_then(|settings| planned(kiln_store::PhaseId::parse(&name).name, settings));
        // What is over has nothing left, whatever was planned.
        let left = match (runs, most) {
            (true, Some(most)) => Cell::figure(most.saturating_sub(done) as f64, most.saturating_sub(done).to_string()),
            (true, None) if done == 0 => "?".into(),
            _ => "-".into(),
        };
        let figure = |count: usize| Cell::figure(count as f64, if count == 0 { "-".into() } else { count.to_string() });
        let took: f64 = of_phase().map(|trial| trial.wall_s).sum();
        table.row(vec![
            Cell::text(name.clone()),
            figure(done),
            left,
            figure(count(TrialState::Passed)),
            figure(count(TrialState::Stopped)),
            figure(count(TrialState::Refused)),
            if done == 0 { "-".into() } else { Cell::figure(took, stretch(took)) },
        ]);
    }
    Section::new("phases", if runs { "Phases and what is left" } else { "Phases" }, vec![Block::Table(table)])
}
