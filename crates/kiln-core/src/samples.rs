//! Raw samples of a run with the circumstances they were taken in: what is stored, saved to run files and compared later.

use serde::{Deserialize, Deserializer, Serialize};

/// The name of the side that was judged; the others are baselines.
pub const CANDIDATE: &str = "candidate";

/// One workload's samples.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MeasuredWorkload {
    /// The workload.
    pub name: String,
    /// Its dimensions, such as `S=4096 D=128`, where they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// Who was measured; sides of one workload took turns.
    pub sides: Vec<MeasuredSide>,
}

/// One side's samples.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MeasuredSide {
    /// [`CANDIDATE`], or the baseline.
    pub name: String,
    /// The hash of its machine code, where there is one.
    pub code: Option<String>,
    /// The hash of the file it is in, where it is a Python function: what that calls may lie elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Seconds of one call, sample by sample, in the order they were taken. Each round had a fresh worker or fresh memory.
    #[serde(deserialize_with = "with_nan")]
    pub rounds: Vec<Vec<f64>>,
    /// For each sample its place among all samples of its round.
    pub order: Vec<Vec<u32>>,
    /// For each round how many calls a sample had.
    pub calls: Vec<u32>,
    /// How the GPU was doing, looked at every now and then.
    pub states: Vec<DeviceState>,
}

/// How a GPU was doing just after a sample.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceState {
    /// The round.
    pub round: usize,
    /// Clock of the multiprocessors, in MHz.
    pub sm_mhz: Option<u32>,
    /// Clock of the memory, in MHz.
    pub memory_mhz: Option<u32>,
    /// Power, in W.
    pub power_w: Option<f64>,
    /// Temperature, in degrees Celsius.
    pub temperature_c: Option<u32>,
    /// Why its clocks were lowered; empty where they were not.
    pub throttled: Vec<String>,
}

impl MeasuredWorkload {
    /// The side of that name.
    pub fn side(&self, name: &str) -> Option<&MeasuredSide> {
        self.sides.iter().find(|side| side.name == name)
    }
}

impl MeasuredSide {
    /// The judged side of a run that took its samples one after the other.
    pub fn candidate(samples: Vec<f64>) -> MeasuredSide {
        MeasuredSide { name: CANDIDATE.into(), rounds: vec![samples], ..MeasuredSide::default() }
    }
}

/// Samples; what JSON has no number for is not a number, so that it is named later.
fn with_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<f64>>, D::Error> {
    let rounds = Vec::<Vec<Option<f64>>>::deserialize(deserializer)?;
    Ok(rounds.into_iter().map(|round| round.into_iter().map(|sample| sample.unwrap_or(f64::NAN)).collect()).collect())
}
