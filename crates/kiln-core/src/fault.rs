//! A fault: the environment's doing (a full disk, a missing tool, Ctrl-C), never counted against a candidate and never
//! cached.

use std::fmt;

/// What failed, why, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What was being done.
    pub what: String,
    /// Why it failed.
    pub why: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Fault {
    /// A fault without a hint.
    pub fn new(what: impl Into<String>, why: impl fmt::Display) -> Fault {
        Fault { what: what.into(), why: why.to_string(), hint: None }
    }

    /// The same with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  = hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}
