//! A stretch of work with a goal, a budget and prices; and what was decided in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Attempted, Goal};

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
    /// The kernel's folder as the project sees it; none where it is about none, and where that is not known.
    #[serde(default)]
    pub path: Option<String>,
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

    /// Whether it goes on.
    pub fn is_open(&self) -> bool {
        self.state == SessionState::Open
    }

    /// Whether an attempt is about what the session is about: its kernel, where it has one.
    pub fn is_about(&self, attempt: &Attempted) -> bool {
        self.is_about_kernel(&attempt.kernel, &attempt.path)
    }

    /// Whether a kernel is the session's, where it has one. A copy of it in another folder is another kernel.
    pub fn is_about_kernel(&self, name: &str, path: &str) -> bool {
        let elsewhere = self.path.as_ref().is_some_and(|own| !path.is_empty() && own != path);
        self.kernel.as_ref().is_none_or(|kernel| kernel == name && !elsewhere)
    }

    /// Whether an attempt reaches the goal.
    pub fn is_reached_by(&self, attempt: &Attempted) -> bool {
        let reaches = |speedup| self.goal.is_reached(speedup, attempt.workload.as_deref());
        self.is_about(attempt) && attempt.speedup.is_some_and(reaches)
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

/// How a choice to stop begins.
const STOPS: [&str; 3] = ["stop", "use the baseline", "retire"];

impl Decision {
    /// Whether the work ends with it: a kernel is retired, or the choice begins with `stop` or `use the baseline`.
    pub fn stops(&self) -> bool {
        let choice = self.choice.trim().to_lowercase();
        let begins = |words: &str| {
            choice.strip_prefix(words).is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_alphanumeric()))
        };
        match self.kind {
            DecisionKind::Retired => true,
            DecisionKind::Restored => false,
            DecisionKind::Chosen => STOPS.into_iter().any(begins),
        }
    }

    /// Whether it is about what a session is about.
    pub fn is_of(&self, session: &Session) -> bool {
        let own = self.kernel.is_empty() || session.kernel.as_ref().is_none_or(|kernel| *kernel == self.kernel);
        own && self.session.as_ref() == Some(&session.id)
    }
}

#[cfg(test)]
pub(crate) fn decided(minute: f64, choice: &str) -> Decision {
    let session = sample();
    Decision {
        id: format!("{minute}-{choice}"),
        at_ms: (60e3 * minute) as i64,
        session: Some(session.id),
        kernel: session.kernel.unwrap_or_default(),
        path: String::new(),
        kind: DecisionKind::Chosen,
        options: Vec::new(),
        choice: choice.into(),
        because: "so".into(),
        user: "u".into(),
    }
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
        path: Some("kernels/k".into()),
        goal: Goal { text: "1.2x".into(), speedup: Some(1.2), workload: None },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_to_stop_says_so() {
        for choice in ["stop", "Stop: it is enough", "use the baseline", "Use the baseline (PyTorch)", "retire it"] {
            assert!(decided(1.0, choice).stops(), "{choice}");
        }
        for choice in ["go on", "keep tuning against the baseline", "stopwatch every phase", "profile, then stop"] {
            assert!(!decided(1.0, choice).stops(), "{choice}");
        }
        let of = |kind| Decision { kind, ..decided(1.0, "work on it again") };
        assert!(of(DecisionKind::Retired).stops() && !of(DecisionKind::Restored).stops());
        let other = Decision { kernel: "other".into(), ..decided(1.0, "stop") };
        assert!(decided(1.0, "stop").is_of(&sample()) && !other.is_of(&sample()));
    }

    #[test]
    fn a_copy_of_the_kernel_in_another_folder_is_another_kernel() {
        let session = sample();
        assert!(session.is_about_kernel("k", "kernels/k") && session.is_about_kernel("k", ""));
        assert!(!session.is_about_kernel("k", "kernels/copy") && !session.is_about_kernel("other", "kernels/k"));
        let unknown = Session { path: None, ..sample() };
        assert!(unknown.is_about_kernel("k", "kernels/copy"), "one that was begun before paths were kept");
    }
}
