//! The four verdicts: one closed list whose names users may rely on.

use std::fmt;

use serde::{Serialize, Serializer};

/// What may be said of a candidate against its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Takes less time, by at least the improvement asked for.
    Faster,
    /// Takes more time, by more than the dead zone.
    Slower,
    /// No difference that matters, and measured well enough to say so.
    Same,
    /// The samples do not decide.
    TooNoisy,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Verdict; 4] = [Verdict::Faster, Verdict::Slower, Verdict::Same, Verdict::TooNoisy];

    /// The stable identifier shown to users and stored in records.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::TooNoisy => "too_noisy",
        }
    }

    /// The verdict with the sides swapped.
    pub fn swapped(self) -> Verdict {
        match self {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            other => other,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
