//! What was found out about one part of the environment.

use serde::Serialize;

use crate::lessons::Taught;

/// How a part of the environment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As it should be.
    Ok,
    /// kiln works, and results may suffer.
    Warn,
    /// kiln does not work.
    Fail,
}

impl Health {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Health::Ok => "ok",
            Health::Warn => "warn",
            Health::Fail => "fail",
        }
    }
}

/// One part of the environment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its stable name.
    pub id: &'static str,
    /// How it is.
    pub state: Health,
    /// What was found.
    pub what: String,
    /// Why it matters.
    pub why: &'static str,
    /// What to do; none when nothing needs doing.
    pub fix: Option<String>,
    /// The lesson that fits it, where the doctor was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lesson: Option<Taught>,
}

impl Finding {
    /// All is well.
    pub fn ok(id: &'static str, why: &'static str, what: impl Into<String>) -> Finding {
        Finding { id, state: Health::Ok, what: what.into(), why, fix: None, lesson: None }
    }

    /// Results may suffer, unless `fix` is done.
    pub fn warn(id: &'static str, why: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { id, state: Health::Warn, what: what.into(), why, fix: Some(fix.into()), lesson: None }
    }

    /// kiln does not work, until `fix` is done.
    pub fn fail(id: &'static str, why: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { id, state: Health::Fail, what: what.into(), why, fix: Some(fix.into()), lesson: None }
    }
}
