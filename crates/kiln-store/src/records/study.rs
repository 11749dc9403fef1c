//! A study: one search over one kernel on one target, from its question to its verdict.

use std::time::{SystemTime, UNIX_EPOCH};

use uuid::{NoContext, Timestamp, Uuid};

use crate::{Environment, Kept, Options, Summary};

/// A study without its trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// A UUID of version 7 in lower case, from [`Study::new_id`].
    pub id: String,
    /// When it began, in milliseconds since 1970.
    pub started_ms: i64,
    /// When it last ended; none while it runs.
    pub ended_ms: Option<i64>,
    /// How it stands.
    pub state: State,
    /// The process that runs it, or ran it last: `pid@host`.
    pub owner: String,
    /// The kernel's name.
    pub kernel: String,
    /// The kernel file.
    pub path: String,
    /// The target: `cpu`, `cuda`.
    pub target: String,
    /// The device architecture, where there is one.
    pub arch: Option<String>,
    /// The variant tuned, as the user would type it.
    pub variant: String,
    /// The seed of everything drawn.
    pub seed: u64,
    /// The search strategy.
    pub strategy: String,
    /// What was asked for: budgets, limits, thresholds.
    pub options: Kept<Options>,
    /// What it ran on: machine, compiler, versions.
    pub environment: Kept<Environment>,
    /// The commit of the kernel's repository.
    pub git_commit: Option<String>,
    /// The hash of the kernel file.
    pub spec_hash: String,
    /// The kernel file itself, so that a record can be read when the file has moved on.
    pub spec_text: String,
    /// The kiln that ran it.
    pub kiln_version: String,
    /// The verdict, once there is one.
    pub verdict: Option<String>,
    /// The result in figures, once there is one.
    pub summary: Option<Kept<Summary>>,
    /// How long it has run, all its runs together.
    pub seconds: f64,
}

impl Study {
    /// A fresh id. Ids made later sort after those made before by the same process.
    pub fn new_id() -> String {
        id_at(SystemTime::now()).to_string()
    }

    /// The end of the id, which is random: short, and enough for [`Store::find`](crate::Store::find).
    pub fn short_id(&self) -> &str {
        self.id.get(self.id.len().saturating_sub(8)..).unwrap_or(&self.id)
    }
}

/// An id made at a moment. A clock that stands before 1970 counts as 1970.
fn id_at(now: SystemTime) -> Uuid {
    match now.duration_since(UNIX_EPOCH) {
        Ok(_) => Uuid::now_v7(),
        Err(_) => Uuid::new_v7(Timestamp::from_unix(NoContext, 0, 0)),
    }
}

/// How a study stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// It runs, or its process was killed before it could say otherwise.
    Running,
    /// It came to its end; the verdict may still be that nothing was found.
    Finished,
    /// It was stopped and may be resumed.
    Interrupted,
    /// A fault ended it.
    Failed,
}

impl State {
    /// Every state.
    pub const ALL: [State; 4] = [State::Running, State::Finished, State::Interrupted, State::Failed];

    /// The stable name shown and stored.
    pub fn name(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Finished => "finished",
            State::Interrupted => "interrupted",
            State::Failed => "failed",
        }
    }

    /// The state of that name.
    pub fn from_name(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|s| s.name() == name)
    }
}

/// Which studies to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Only those of this kernel.
    pub kernel: Option<String>,
    /// At most so many, the newest.
    pub limit: Option<u32>,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_before_1970_gives_ids_all_the_same() {
        let before = UNIX_EPOCH - Duration::from_secs(86_400);
        let (a, b) = (id_at(before), id_at(before));
        assert_ne!(a, b);
        assert_eq!(a.get_version_num(), 7);
        assert!(a < id_at(SystemTime::now()));
    }
}
