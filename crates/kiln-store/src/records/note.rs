//! A free remark about a study: the load of the machine, a changed frequency, a baseline that was skipped.

/// One remark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// What it is about, in one word.
    pub kind: String,
    /// The remark.
    pub text: String,
}
