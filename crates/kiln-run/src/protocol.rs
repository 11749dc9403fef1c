//! What parent and worker say to each other: one JSON object a line, numbered, versioned in the greeting.

use serde::{Deserialize, Serialize};

/// The version both sides must speak.
pub const PROTOCOL: u32 = 1;

/// What the parent asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Ask {
    /// Load a library and find the function that takes an array of pointers.
    Load {
        /// The library's path.
        library: String,
        /// The function's name.
        symbol: String,
    },
    /// Map the shared memory and remember where the arguments lie in it.
    Map {
        /// A path that opens the shared file.
        arena: String,
        /// Offsets of the arguments, in order.
        arguments: Vec<usize>,
    },
    /// Call the function once.
    Call,
    /// Time the function: `samples` times, each the time of `calls` calls.
    Time {
        /// Samples to take.
        samples: u32,
        /// Calls in a sample.
        calls: u32,
    },
}

/// A numbered question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) id: u64,
    #[serde(flatten)]
    pub(crate) ask: Ask,
}

/// What the worker answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The worker is there and speaks this version.
    Ready(u32),
    /// Done, nothing to tell.
    Done,
    /// The times that were asked for.
    Times(Timing),
    /// It could not be done; the worker is still there.
    Failed(String),
}

/// Measured times.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Timing {
    /// Nanoseconds of each sample.
    pub nanoseconds: Vec<u64>,
    /// Calls in a sample.
    pub calls: u32,
}

/// A numbered answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) id: u64,
    pub(crate) answer: Answer,
}
