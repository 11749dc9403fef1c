//! Records for tests.

use kiln_store::{Details, Kept, Trial, TrialState};

/// A trial that passed with a time, or was refused without one.
pub(crate) fn trial(cost: Option<f64>) -> Trial {
    Trial {
        number: 0,
        phase: "standing".into(),
        config: "A=1".into(),
        state: if cost.is_some() { TrialState::Passed } else { TrialState::Refused },
        cost,
        refusal: None,
        workload: None,
        artifact: None,
        started_ms: 0,
        build_s: 0.0,
        check_s: 0.0,
        measure_s: 0.0,
        wall_s: 0.0,
        details: Kept::new(Details::default()),
    }
}
