//! The phases of a study: how many trials each had, what became of them, how long it took.

use kiln_store::{Trial, TrialState};

use crate::words::number::stretch;
use crate::words::table::{Align, lines};

/// A row for each phase, in the order begun.
pub(crate) fn table(trials: &[Trial]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for trial in trials {
        if !names.contains(&trial.phase.as_str()) {
            names.push(&trial.phase);
        }
    }
    if names.is_empty() {
        return "\nno trials are recorded\n".into();
    }
    let mut rows = vec![["phase", "trials", "passed", "stopped", "refused", "took"].map(String::from).to_vec()];
    for name in names {
        let of_phase: Vec<&Trial> = trials.iter().filter(|t| t.phase == name).collect();
        let count = |state: TrialState| match of_phase.iter().filter(|t| t.state == state).count() {
            0 => "-".to_string(),
            some => some.to_string(),
        };
        rows.push(vec![
            name.into(),
            of_phase.len().to_string(),
            count(TrialState::Passed),
            count(TrialState::Stopped),
            count(TrialState::Refused),
            stretch(of_phase.iter().map(|t| t.wall_s).sum()),
        ]);
    }
    use Align::{Left, Right};
    format!("\nphases\n{}", lines(&rows, &[Left, Right, Right, Right, Right, Right]))
}
