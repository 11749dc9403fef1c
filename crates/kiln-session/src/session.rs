//! A stretch of work with a goal, a budget and prices; and what was decided in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Goal;

/// Whether it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Commands join it.
    Open,
    /// Somebody ended it.
    Ended,
    /// Nobody ended it; it was closed with what was known.
    Abandoned,
}

impl SessionState {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            SessionState::Open => "open",
            SessionState::Ended => "ended",
            SessionState::Abandoned => "abandoned",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<SessionState> {
        [SessionState::Open, SessionState::Ended, SessionState::Abandoned]
            .into_iter()
            .find(|state| state.name() == name)
    }
}

/// What an hour costs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Prices {
    /// Of the GPU, or the machine.
    pub gpu: Option<f64>,
    /// Of the engineer.
    pub engineer: Option<f64>,
    /// Of the assistant.
    pub assistant: Option<f64>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// An id like a study's.
    pub id: String,
    /// When it began, in milliseconds since 1970.
    pub started_ms: i64,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// Whether it goes on.
    pub state: SessionState,
    /// The project's folder.
    pub folder: String,
    /// Who began it.
    pub user: String,
    /// The kernel's name, where it is about one.
    pub kernel: Option<String>,
    /// What is to be reached.
    pub goal: Goal,
    /// Seconds it may take.
    pub budget_s: f64,
    /// Minutes of phases that may take another time than usual, by the name of their budget.
    #[serde(default)]
    pub phase_minutes: BTreeMap<String, f64>,
    /// What an hour costs.
    pub prices: Prices,
    /// What reaching the goal is worth, in the same money.
    pub worth: Option<f64>,
    /// The GPU it is about.
    pub gpu: Option<String>,
    /// What is to be beaten.
    pub baseline: Option<String>,
    /// The smallest case that shows the problem.
    pub smallest: Option<String>,
    /// When it is done.
    pub criteria: Option<String>,
}

/// Seconds a session may take unless told otherwise.
const BUDGET: f64 = 3.0 * 3600.0;

impl Session {
    /// Seconds a session may take unless told otherwise.
    pub const BUDGET_S: f64 = BUDGET;

    /// The last six digits of its id, which people type.
    pub fn short_id(&self) -> &str {
        let from = self.id.len().saturating_sub(6);
        self.id.get(from..).unwrap_or(&self.id)
    }

    /// Seconds from its beginning to a moment, or to its end.
    pub fn elapsed_s(&self, now_ms: i64) -> f64 {
        (self.ended_ms.unwrap_or(now_ms) - self.started_ms).max(0) as f64 / 1e3
    }
}

/// What a decision is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionKind {
    /// One of several options was chosen.
    Chosen,
    /// A kernel is no longer worked on: its baseline is used.
    Retired,
    /// It is worked on again.
    Restored,
}

impl DecisionKind {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            DecisionKind::Chosen => "chosen",
            DecisionKind::Retired => "retired",
            DecisionKind::Restored => "restored",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<DecisionKind> {
        [DecisionKind::Chosen, DecisionKind::Retired, DecisionKind::Restored]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// One way to go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionOption {
    /// What would be done.
    pub what: String,
    /// Seconds it would take.
    pub time_s: Option<f64>,
    /// What that would cost.
    pub cost: Option<f64>,
    /// The speedup it would give at best.
    pub best_case: Option<f64>,
}

/// Something that was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// An id like a study's.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The session that was open.
    pub session: Option<String>,
    /// The kernel's name; empty where it was about none.
    pub kernel: String,
    /// The kernel's folder as the project sees it.
    pub path: String,
    /// What it is about.
    pub kind: DecisionKind,
    /// What could have been done.
    pub options: Vec<DecisionOption>,
    /// What is done.
    pub choice: String,
    /// Why.
    pub because: String,
    /// Who decided.
    pub user: String,
}

#[cfg(test)]
pub(crate) fn sample() -> Session {
    Session {
        id: "01999999-0000-7000-8000-00000000abcd".into(),
        started_ms: 0,
        ended_ms: None,
        state: SessionState::Open,
        folder: "/p".into(),
        user: "u".into(),
        kernel: Some("k".into()),
        goal: Goal::parse("1.2x"),
        budget_s: BUDGET,
        phase_minutes: BTreeMap::new(),
        prices: Prices { gpu: Some(3.5), ..Prices::default() },
        worth: None,
        gpu: None,
        baseline: None,
        smallest: None,
        criteria: None,
    }
}
