//! The one thing to do now, and the way that led to it.

use serde::Serialize;

use super::walk::Answer;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The node of the tree.
    pub node: String,
    /// The phase of the loop: assess, build, check, baseline, profile, tune, confirm or record.
    pub phase: String,
    /// The thing to do.
    #[serde(rename = "do")]
    pub action: String,
    /// The command for it.
    pub command: String,
    /// The command that follows once this one is done.
    pub then: Option<String>,
    /// Why, with numbers.
    pub because: String,
    /// What it may give; none where that is not known.
    pub gain: Option<String>,
    /// What it takes; none where that is not known.
    pub time: Option<String>,
    /// The questions on the way, first to last.
    pub path: Vec<Step>,
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The node of the tree.
    pub node: String,
    /// The question.
    pub ask: String,
    /// The answer.
    pub answer: Answer,
    /// What was looked at, for people; none where it is only so or not.
    pub value: Option<String>,
}
