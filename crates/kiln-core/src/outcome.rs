//! What a stage says about a candidate: it passed, or it was refused and why.

use serde::{Deserialize, Serialize};

use crate::Gate;

/// The candidate's fault: which gate refused it and on what evidence. Stored and counted, never an error of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// The gate.
    pub gate: Gate,
    /// The rule at that gate, e.g. the constraint's name.
    pub rule: String,
    /// What was measured, in words with numbers.
    pub measured: String,
    /// What was allowed.
    pub limit: String,
    /// The expression or output it rests on.
    pub evidence: String,
    /// What to try next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The result of a stage.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<T> {
    /// Through the gate, with what the stage made.
    Passed(T),
    /// Stopped at a gate.
    Refused(Refusal),
}

impl<T> Outcome<T> {
    /// What passed, made into something else; a refusal stays one.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Outcome::Passed(value) => Outcome::Passed(f(value)),
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
        }
    }
}
