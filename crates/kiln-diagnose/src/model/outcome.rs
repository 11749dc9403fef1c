//! One outcome: what a diagnosis promised for a fix, and what the fix gave. A line of `fixtures/outcomes/*.jsonl` is one.

use serde::{Deserialize, Serialize};

/// A fix that was promised and measured. Other keys of a line are for its readers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The kernel.
    pub kernel: String,
    /// The workload; empty where there is only one.
    #[serde(default)]
    pub workload: String,
    /// The chip, such as `NVIDIA H200`.
    pub chip: String,
    /// The cause that was named, as docs/diagnosis.md spells it.
    pub cause: String,
    /// What was changed, in the words of the diagnosis where it is one of its fixes; none where nobody said.
    #[serde(default)]
    pub fix: Option<String>,
    /// The speedup that was promised; `null` where the cause was not claimed.
    #[serde(deserialize_with = "Option::deserialize")]
    pub promised: Option<Ratio>,
    /// The speedup that was measured.
    pub measured: Ratio,
    /// The command that measured it.
    #[serde(default)]
    pub command: Option<String>,
    /// Where it comes from.
    #[serde(default)]
    pub source: Option<String>,
}

/// A speedup, with its 95 % interval where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// Time before over time after.
    pub ratio: f64,
    /// The interval's lower end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Its upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// A 95 % interval is this many standard deviations wide.
const WIDE: f64 = 2.0 * 1.96;

impl Ratio {
    /// A speedup without an interval.
    pub fn of(ratio: f64) -> Ratio {
        Ratio { ratio, low: None, high: None }
    }

    /// The variance of its logarithm; 0 where no interval says so.
    pub(super) fn log_variance(&self) -> f64 {
        let width = self.low.zip(self.high).map(|(low, high)| (high / low).ln() / WIDE);
        width.map_or(0.0, |width| width * width)
    }
}

impl Outcome {
    /// The logarithm of the promise; none where nothing was promised: a factor of 1 or less says that there is nothing to gain.
    pub(super) fn log_promise(&self) -> Option<f64> {
        self.promised.map(|promised| promised.ratio.ln()).filter(|promise| *promise > 0.0)
    }

    /// The logarithm of what was measured.
    pub(super) fn log_measured(&self) -> f64 {
        self.measured.ratio.ln()
    }
}
