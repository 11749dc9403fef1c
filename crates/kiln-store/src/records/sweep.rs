//! A sweep's record: the grid of shapes that was asked for, and what was found on each of them. It is the result of a run, and
//! everything that is needed to go on with one that was interrupted. In: what was measured. Out: the same again.

use kiln_core::{Config, Refusal, Value};
use kiln_stats::Interval;
use serde::{Deserialize, Serialize};

/// A grid of shapes and what was measured on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepRecord {
    /// What was asked for.
    pub sweep: SweepPlan,
    /// What was found, in the order in which it was measured.
    pub cells: Vec<SweepCell>,
}

/// What was asked for: enough to go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepPlan {
    /// The dimensions that take several values, with these.
    pub axes: Vec<SweepAxis>,
    /// Dimensions that equal another one.
    pub linked: Vec<SweepLink>,
    /// Every dimension; what is neither an axis nor linked keeps this value.
    pub base: Config,
    /// The baselines, in order.
    pub baselines: Vec<String>,
    /// Values that were typed for every shape; empty where each has its own configuration.
    pub config: String,
    /// The only implementation that was asked for; none where all that run there compete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implementation: Option<String>,
    /// A hash of the kernel's sources.
    pub sources: String,
    /// Samples on each side, and at most.
    pub samples: (usize, usize),
    /// Per cent to which speedups are to be known, and below which differences do not matter.
    pub width: f64,
    /// See `width`.
    pub dead_zone: f64,
    /// Whether fewer samples may do on a GPU.
    pub early: bool,
}

/// A dimension with several values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepAxis {
    /// Its name.
    pub name: String,
    /// Its values: numbers from the smallest to the largest.
    pub values: Vec<Value>,
}

/// A dimension that equals another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepLink {
    /// The dimension.
    pub name: String,
    /// Which one it equals.
    pub like: String,
}

/// One shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepCell {
    /// The axes' values here.
    pub dims: Config,
    /// Whether it lies between shapes of the grid, to find a cross-over.
    pub refined: bool,
    /// Seconds it took to check and measure.
    pub seconds: f64,
    /// The configuration that was measured; none where there is none for this shape.
    pub config: Option<Config>,
    /// The workload whose entry of the table of tuned configurations that is; none for a default or a typed one.
    pub tuned: Option<String>,
    /// Seconds of one call; none where it was not measured.
    pub median: Option<f64>,
    /// The interval of that.
    pub median_ci95: Option<Interval>,
    /// Against each baseline that could be measured here.
    pub baselines: Vec<SweepAgainst>,
    /// Baselines that could not, and why.
    pub unmeasured: Vec<SweepUnmeasured>,
    /// What refused the configuration here.
    pub refusal: Option<Refusal>,
    /// Why the shape could not be measured for another reason.
    pub why: Option<String>,
}

/// A baseline on one shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepAgainst {
    /// Its name.
    pub name: String,
    /// Seconds of one call.
    pub median: f64,
    /// How many times as fast the configuration is.
    pub speedup: f64,
    /// Its interval.
    pub speedup_ci95: Interval,
    /// The verdict's name.
    pub verdict: String,
}

/// A baseline that could not be measured on a shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepUnmeasured {
    /// Its name.
    pub name: String,
    /// What refused it.
    #[serde(flatten)]
    pub refusal: Refusal,
}

impl SweepCell {
    /// The figures against a baseline.
    pub fn against(&self, baseline: &str) -> Option<&SweepAgainst> {
        self.baselines.iter().find(|against| against.name == baseline)
    }
}
