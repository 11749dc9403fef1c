//! What promises were worth, and what the decision model makes of them. In: a project. Out: outcomes by cause with what the model expects, how well that holds for
//! kernels it has not seen, and how long phases take.

use std::collections::BTreeSet;

use kiln_diagnose::model::{CauseFactor, Duration, Durations, GainModel, LeftOut, leave_out, shipped_outcomes};
use serde::Serialize;

use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::project::Project;
use crate::record::outcomes::{own_outcomes, phase_times};

/// How good promises and expectations are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GainCalibration {
    /// Outcomes that the model learns from.
    pub outcomes: usize,
    /// How many of all outcomes come with kiln.
    pub shipped: usize,
    /// How many are this project's own.
    pub own: usize,
    /// How many promised nothing, or not by counters: these are left out.
    pub unused: usize,
    /// What the promises of each cause were worth.
    pub causes: Vec<CauseFactor>,
    /// How far each grouping matters.
    pub spreads: GainSpreads,
    /// What is expected of kernels the model has not seen, against what was measured.
    pub left_out: LeftOut,
    /// How long the phases of studies take here.
    pub phases: Vec<PhaseDuration>,
}

/// Standard deviations of the model's effects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GainSpreads {
    /// Between causes.
    pub cause: f64,
    /// Between fixes of a cause.
    pub fix: f64,
    /// Between chips.
    pub chip: f64,
    /// Between kernels.
    pub kernel: f64,
    /// Between outcomes that have all of these in common.
    pub noise: f64,
}

/// How long a phase of a kernel is expected to take.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseDuration {
    /// The kernel.
    pub kernel: String,
    /// The phase.
    pub phase: String,
    /// What to expect.
    #[serde(flatten)]
    pub expected: Duration,
}

impl Ends for GainCalibration {
    fn ending(&self) -> Ending {
        Ending::Done
    }
}

/// Holds promises and expectations against what was measured.
pub fn gain_calibration(project: &Project) -> Result<GainCalibration, Failure> {
    let own = own_outcomes(project)?;
    let all: Vec<_> = shipped_outcomes().iter().chain(&own).cloned().collect();
    let model = GainModel::fit(&all);
    let spreads = model.spreads();
    let of = |grouping: usize| spreads.groupings.get(grouping).copied().unwrap_or_default();
    Ok(GainCalibration {
        outcomes: model.outcomes(),
        shipped: shipped_outcomes().len(),
        own: own.len(),
        unused: all.len() - model.outcomes(),
        causes: model.causes(),
        spreads: GainSpreads { cause: of(0), fix: of(1), chip: of(2), kernel: of(3), noise: spreads.noise },
        left_out: leave_out(&all),
        phases: phases(project)?,
    })
}

fn phases(project: &Project) -> Result<Vec<PhaseDuration>, Failure> {
    let times = phase_times(project)?;
    let known: BTreeSet<(&str, &str)> = times.iter().map(|own| (own.kernel.as_str(), own.phase.as_str())).collect();
    let model = Durations::fit(&times);
    let phase = |(kernel, phase): (&str, &str)| {
        let expected = model.expect(kernel, phase)?;
        Some(PhaseDuration { kernel: kernel.into(), phase: phase.into(), expected })
    };
    Ok(known.into_iter().filter_map(phase).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Stop;

    #[test]
    fn without_a_store_there_is_what_kiln_brings_along() {
        let place = tempfile::tempdir().unwrap();
        let store = place.path().join("none.db").to_string_lossy().into_owned();
        let found = gain_calibration(&Project::here(Some(store), Stop::never())).unwrap();
        assert_eq!((found.own, found.outcomes + found.unused), (0, found.shipped));
        assert!(found.phases.is_empty() && found.left_out.held.len() == found.outcomes);
    }
}
