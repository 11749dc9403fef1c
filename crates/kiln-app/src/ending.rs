//! How an operation ended. The closed list behind exit codes and the last event; what each is as an exit code is the command
//! line's to say.

use serde::Serialize;

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It did what was asked for.
    Done,
    /// A candidate was refused by a gate.
    Refused,
    /// A study ended without the speedup aimed at.
    NotReached,
    /// A run is slower than the one it was compared with.
    Regressed,
    /// A claim was measured, and is not so.
    Refuted,
    /// The environment was examined, and something in it fails.
    Unfit,
    /// It was asked to stop; what was done is recorded.
    Interrupted,
    /// A fault of the environment ended it.
    Failed,
    /// A mistake in what was asked for.
    BadInput,
}

impl Ending {
    /// How grave it is: of several endings the gravest counts.
    pub fn gravity(self) -> u8 {
        match self {
            Ending::Done => 0,
            Ending::NotReached | Ending::Regressed | Ending::Refuted => 1,
            Ending::Refused => 2,
            Ending::BadInput => 3,
            Ending::Unfit | Ending::Failed => 4,
            Ending::Interrupted => 5,
        }
    }
}

/// A result that knows how its operation ended.
pub trait Ends {
    /// How it ended.
    fn ending(&self) -> Ending;

    /// Why, in words, where there is no result after all.
    fn reason(&self) -> Option<String> {
        None
    }
}
