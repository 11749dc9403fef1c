//! A trial: one configuration taken up the ladder of gates, and what became of it.

use kiln_core::Refusal;

use crate::records::phase::PhaseId;
use crate::{Details, Kept};

/// One configuration tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Its number within its phase, from 0.
    pub number: u64,
    /// The phase of the study, as [`PhaseId`] prints it.
    pub phase: String,
    /// The configuration, as [`kiln_core::Config`] prints it.
    pub config: String,
    /// What became of it.
    pub state: TrialState,
    /// Its cost in seconds, where it was measured.
    pub cost: Option<f64>,
    /// The gate that refused it and why.
    pub refusal: Option<Refusal>,
    /// The workload on which it was refused.
    pub workload: Option<String>,
    /// The key of its build.
    pub artifact: Option<String>,
    /// When it began, in milliseconds since 1970.
    pub started_ms: i64,
    /// Seconds spent building.
    pub build_s: f64,
    /// Seconds spent checking.
    pub check_s: f64,
    /// Seconds spent measuring.
    pub measure_s: f64,
    /// Seconds from its begin to its end.
    pub wall_s: f64,
    /// What else there is to know of a duel.
    pub details: Kept<Details>,
}

impl Trial {
    /// The phase of the study.
    pub fn phase_id(&self) -> PhaseId<'_> {
        PhaseId::parse(&self.phase)
    }
}

/// What became of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrialState {
    /// Through every gate, with a cost.
    Passed,
    /// Refused at a gate.
    Refused,
    /// Hopeless, and given up early.
    Stopped,
}

impl TrialState {
    /// Every state.
    pub const ALL: [TrialState; 3] = [TrialState::Passed, TrialState::Refused, TrialState::Stopped];

    /// The stable name shown and stored.
    pub fn name(self) -> &'static str {
        match self {
            TrialState::Passed => "passed",
            TrialState::Refused => "refused",
            TrialState::Stopped => "stopped",
        }
    }

    /// The state of that name.
    pub fn from_name(name: &str) -> Option<TrialState> {
        TrialState::ALL.into_iter().find(|s| s.name() == name)
    }
}
