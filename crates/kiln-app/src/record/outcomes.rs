//! What fixes gave, for the decision model. In: a project. Out: the outcomes that come with kiln and those of the project's own profiles: a change after a profile
//! promised something, and the next profile of the same work. Coarse promises are upper bounds, and are left out.

use kiln_core::Fault;
use kiln_diagnose::model::{GainModel, Outcome, PhaseTime, Ratio, shipped_outcomes};

use super::profiles::{AppliedFix, applied};
use crate::operation::DiagnosedProfile;
use crate::project::Project;

/// The outcomes of the project's own profiles, oldest first.
pub(crate) fn own_outcomes(project: &Project) -> Result<Vec<Outcome>, Fault> {
    // Nothing was profiled where there is no store, and none is made for the question.
    let Some(store) = project.recorded()? else { return Ok(Vec::new()) };
    Ok(applied(&store.profiles(None)?).iter().filter(|fix| !fix.coarse).map(outcome).collect())
}

fn outcome(fix: &AppliedFix) -> Outcome {
    Outcome {
        kernel: fix.kernel.clone(),
        workload: fix.workload.clone(),
        chip: fix.device.clone(),
        cause: fix.cause.clone(),
        // A profile shows that the code is another, not which of the fixes it is.
        fix: None,
        promised: Some(Ratio::of(fix.predicted)),
        measured: Ratio::of(fix.measured),
        command: Some("kiln profile".into()),
        source: None,
    }
}

/// The model with everything that is known here.
pub(crate) fn gain_model(project: &Project) -> Result<GainModel, Fault> {
    let own = own_outcomes(project)?;
    Ok(GainModel::fit(shipped_outcomes().iter().chain(&own)))
}

/// Says what to expect of a diagnosis' causes and fixes, and orders the fixes by it. A store that cannot be read is a note: what is shipped is used then.
pub(crate) fn weigh(project: &Project, found: &mut DiagnosedProfile, kernel: Option<&str>, chip: Option<&str>) {
    let model = gain_model(project).unwrap_or_else(|fault| {
        found.notes.push(format!("outcomes recorded here are left out of what to expect: {fault}"));
        GainModel::fit(shipped_outcomes())
    });
    model.weigh(&mut found.diagnosis, kernel, chip);
}

/// How long the phases of the project's studies took.
pub(crate) fn phase_times(project: &Project) -> Result<Vec<PhaseTime>, Fault> {
    let Some(store) = project.recorded()? else { return Ok(Vec::new()) };
    let time = |(kernel, phase, seconds): (String, String, f64)| {
        let phase = kiln_store::PhaseId::parse(&phase).name.to_string();
        PhaseTime { kernel, phase, seconds }
    };
    Ok(store.phase_seconds()?.into_iter().map(time).collect())
}
