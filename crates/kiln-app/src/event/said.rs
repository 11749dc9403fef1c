//! What the study and the apparatus say, kept: they lend their events for a moment, and only what is worth a line is copied.

use kiln_store::TrialState;
use kiln_study::Ended;

use crate::event::What;

impl From<&kiln_study::Event<'_>> for What {
    fn from(event: &kiln_study::Event<'_>) -> What {
        use kiln_study::Event as Said;
        match event {
            Said::Note { text } => What::Note { text: text.clone() },
            // A phase without a name ends the one before it.
            Said::Phase { phase: "", .. } | Said::Finished => What::PhaseEnd,
            Said::Phase { phase, planned } => What::Phase { phase: (*phase).into(), planned: *planned },
            Said::Baseline { name, workload, seconds, roofline } => What::Baseline {
                name: (*name).into(),
                workload: (*workload).into(),
                median_ms: seconds * 1e3,
                roofline: *roofline,
            },
            Said::Trial { phase, number, config, evaluation, best, recorded } => {
                let (state, workload) = match &evaluation.outcome {
                    Ended::Refused(_, workload) => (TrialState::Refused, workload.clone()),
                    Ended::Measured { hopeless: true, .. } => (TrialState::Stopped, None),
                    Ended::Measured { .. } => (TrialState::Passed, None),
                };
                What::Trial {
                    phase: (*phase).into(),
                    number: *number,
                    config: (*config).clone(),
                    state,
                    cost_ms: evaluation.cost().filter(|cost| cost.is_finite()).map(|cost| cost * 1e3),
                    refusal: evaluation.refusal().cloned(),
                    workload,
                    seconds: evaluation.wall_s,
                    best: *best,
                    recorded: *recorded,
                }
            }
            Said::FirstLook { baseline, workload, ratio } => {
                What::FirstLook { baseline: (*baseline).into(), workload: (*workload).into(), ratio: *ratio }
            }
            Said::Step { phase, done, planned } => {
                What::Step { phase: (*phase).into(), done: *done, planned: *planned }
            }
            Said::Ablation { tunable, worth } => What::Ablation { tunable: (*tunable).into(), worth: *worth },
            Said::Silence { doing, seconds } => What::Silence { doing: (*doing).into(), seconds: *seconds },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_without_a_name_ends_the_one_before() {
        let said = |event: kiln_study::Event<'_>| What::from(&event);
        assert_eq!(said(kiln_study::Event::Phase { phase: "", planned: 0 }), What::PhaseEnd);
        assert_eq!(said(kiln_study::Event::Finished), What::PhaseEnd);
        let phase = said(kiln_study::Event::Phase { phase: "s1/seed", planned: 3 });
        assert_eq!(phase, What::Phase { phase: "s1/seed".into(), planned: 3 });
    }
}
