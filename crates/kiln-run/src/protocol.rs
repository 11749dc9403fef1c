//! What parent and worker say to each other: one JSON object a line, numbered, versioned in the greeting. A worker for C
//! and one for Python speak the same.

use serde::{Deserialize, Serialize};

/// The version both sides must speak.
pub const PROTOCOL: u32 = 2;

/// What the parent asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Ask {
    /// Keep the whole worker, threads it has and will have, to these processors.
    Pin {
        /// Numbers of processors, as the system counts them.
        cpus: Vec<usize>,
    },
    /// Load what is to be called.
    Load {
        /// The path of a shared library, or of a Python file.
        library: String,
        /// The function's name: of C, one that takes an array of pointers; of Python, `f(inputs, scalars, outputs)`.
        symbol: String,
        /// Python only: a keyword argument for each tunable, an object from names to values.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        config: Option<serde_json::Value>,
    },
    /// Map the shared memory and remember where the arguments lie in it.
    Map {
        /// A path that opens the shared file.
        arena: String,
        /// The arguments, in order.
        slots: Vec<Slot>,
    },
    /// Call the function once.
    Call,
    /// Time the function: `samples` times, each the time of `calls` calls.
    Time {
        /// Samples to take.
        samples: u32,
        /// Calls in a sample.
        calls: u32,
        /// What is put back before every sample, untimed. A second call in a sample would not see it, so `calls` must
        /// be 1 when there is any.
        #[serde(default)]
        restore: Vec<Copy>,
        /// Bytes of private memory walked before every sample, untimed, so that caches are cold; 0 leaves them warm.
        #[serde(default)]
        flush: u64,
    },
}

/// One argument in the shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Slot {
    /// The argument's name.
    pub name: String,
    /// Where it begins.
    pub offset: usize,
    /// How long it is.
    pub bytes: usize,
    /// Its elements, as in a kernel file: `f32`, `bf16`, `i64`.
    pub dtype: String,
    /// Its dimensions; none for a scalar.
    pub shape: Vec<usize>,
    /// `in`, `out`, `inout`, `scratch` or `scalar`.
    pub role: String,
    /// Elements from one index to the next, for each dimension; none when they lie one after another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strides: Option<Vec<usize>>,
}

/// Bytes copied inside the shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    /// Where they are.
    pub from: usize,
    /// Where they go.
    pub to: usize,
    /// How many.
    pub bytes: usize,
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
    /// Nanoseconds of each sample, all its calls together.
    pub nanoseconds: Vec<u64>,
    /// Calls in a sample.
    pub calls: u32,
    /// From the first sample's start to the last one's end.
    pub wall_nanoseconds: u64,
    /// Spent in between on putting memory back and on cooling caches.
    pub untimed_nanoseconds: u64,
    /// For each sample how often the system gave its processor to somebody else; empty when that is not known.
    #[serde(default)]
    pub preemptions: Vec<u64>,
}

/// A numbered answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) id: u64,
    pub(crate) answer: Answer,
}
