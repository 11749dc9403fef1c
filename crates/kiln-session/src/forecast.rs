//! How long a study will take, by the studies before it. In: attempts. Out: the median time of each phase and of the whole; none where
//! nothing like it came to its end yet.

use kiln_stats::median;
use serde::{Deserialize, Serialize};

use crate::{AttemptOutcome, Attempted, SessionPhase};

/// What earlier studies let expect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Seconds by phase, in the order of the work.
    pub phases: Vec<(SessionPhase, f64)>,
    /// Seconds in all.
    pub total_s: f64,
    /// How many studies it rests on.
    pub studies: usize,
}

/// By the studies that came to their end.
pub fn forecast(attempts: &[Attempted]) -> Option<Forecast> {
    let whole = |one: &&Attempted| {
        let ended = matches!(one.outcome, AttemptOutcome::Passed | AttemptOutcome::Refused);
        one.verb == "tune" && ended && !one.parts.is_empty()
    };
    let past: Vec<&Attempted> = attempts.iter().filter(whole).collect();
    let middle = |values: Vec<f64>| median(&values).ok();
    let of = |phase: SessionPhase| {
        let seconds = |one: &&Attempted| {
            let known: f64 = one.parts.values().sum();
            // What no phase accounts for belongs to the search.
            let rest = if phase == SessionPhase::Tune { (one.seconds - known).max(0.0) } else { 0.0 };
            one.parts.get(phase.name()).copied().unwrap_or(0.0) + rest
        };
        let seconds = middle(past.iter().map(seconds).collect())?;
        (seconds > 0.0).then_some((phase, seconds))
    };
    let total_s = middle(past.iter().map(|one| one.seconds).collect())?;
    Some(Forecast { phases: SessionPhase::ALL.into_iter().filter_map(of).collect(), total_s, studies: past.len() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::sample::{at, bench};

    #[test]
    fn the_median_of_studies_that_ended_is_expected() {
        let study = |minute, seconds, confirm: f64, outcome| Attempted {
            seconds,
            outcome,
            parts: [("confirm".to_string(), confirm), ("baseline".to_string(), 10.0)].into(),
            ..at(minute, "tune", SessionPhase::Tune)
        };
        let past = [
            study(1.0, 100.0, 20.0, AttemptOutcome::Passed),
            study(9.0, 9.0, 0.0, AttemptOutcome::Interrupted),
            study(10.0, 200.0, 40.0, AttemptOutcome::Refused),
            bench(20.0, 1.0),
        ];
        let found = forecast(&past).unwrap();
        assert_eq!((found.studies, found.total_s), (2, 150.0));
        let (baseline, tune, confirm) = (SessionPhase::Baseline, SessionPhase::Tune, SessionPhase::Confirm);
        assert_eq!(found.phases, [(baseline, 10.0), (tune, 110.0), (confirm, 30.0)]);
        assert_eq!(forecast(&past[3..]), None);
    }
}
