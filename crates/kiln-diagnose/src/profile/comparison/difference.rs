//! Metrics that differ between two launches. In: two subjects. Out: those that people look at first, where they differ by enough to
//! matter, the most different first.

use serde::Serialize;

use super::super::metric::{self as m, Metric};
use super::super::subject::Subject;

/// A metric with both values; none where one side does not have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The metric's name, as the page has it.
    pub metric: String,
    /// Its value here.
    pub value: Option<f64>,
    /// Its value on the other side.
    pub against: Option<f64>,
}

/// What is looked at, beside what the causes cite.
const LOOKED_AT: &[Metric] = &[
    m::READ_BYTES,
    m::WRITE_BYTES,
    m::SECTORS,
    m::SHARED_WAVEFRONTS,
    m::INSTRUCTIONS,
    m::LOCAL_LOADS,
    m::LANES,
    m::GRID,
    m::BLOCK,
    m::REGISTERS,
    m::SHARED_BYTES,
    m::THEORETICAL,
    m::ACHIEVED,
    m::DRAM,
    m::L2,
    m::L1,
    m::WAVEFRONTS,
    m::ISSUE,
    m::FMA,
    m::ALU,
    m::FP64,
    m::XU,
    m::TENSOR,
    m::ATOMIC_BUSIEST,
];

/// Counts differ from this factor on, percentages from this many points on.
const FACTOR: f64 = 1.2;
const POINTS: f64 = 10.0;

/// No more than this are listed.
const MOST: usize = 8;

/// What differs and is not cited yet.
pub(super) fn others(here: &Subject, against: &Subject, cited: &[String]) -> Vec<Difference> {
    let mut all: Vec<(f64, Difference)> = Vec::new();
    for metric in LOOKED_AT {
        let (Some(one), Some(other)) = (here.reading(metric), against.reading(metric)) else { continue };
        // Two names of one quantity may be in two units.
        if one.name != other.name || cited.iter().any(|name| name == one.name) {
            continue;
        }
        let factor = factor(one.value, other.value);
        let differs =
            if one.name.contains("pct") { (one.value - other.value).abs() >= POINTS } else { factor >= FACTOR };
        if differs {
            let (value, against) = (Some(one.value), Some(other.value));
            all.push((factor, Difference { metric: one.name.into(), value, against }));
        }
    }
    all.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    all.into_iter().take(MOST).map(|(_, own)| own).collect()
}

/// By how much the larger exceeds the smaller.
fn factor(one: f64, other: f64) -> f64 {
    let (least, most) = (one.min(other), one.max(other));
    match least > 0.0 {
        true => most / least,
        false if most > 0.0 => f64::MAX,
        false => 1.0,
    }
}
