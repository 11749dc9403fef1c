//! A sweep that goes on. In: a run's name and the kernel as it is now. Out: its record, and what is asked for now as it was asked
//! for then. Refuses what is no sweep, a sweep of another kernel, and one whose kernel has changed since.

use kiln_core::Report;
use kiln_store::{Filter, Run, SweepPlan, SweepRecord};

use super::request::SweepRequest;
use crate::failure::Failure;
use crate::kernel::{KernelFile, Measuring, Opened, Selecting};
use crate::operation::tune::spec_hash;
use crate::project::Project;
use crate::record::Whose;

/// The newest.
const LAST: &str = "last";

/// The sweep of that name.
pub(super) fn run(
    project: &Project,
    file: &KernelFile,
    request: &SweepRequest,
    name: &str,
) -> Result<(Run, SweepRecord), Failure> {
    let kernel = file.spec.name.as_str();
    let whose = Whose::at(kernel, &request.selecting.path);
    let missing = |what: String| -> Failure {
        Report::error(what).hint(format!("`kiln history {kernel}` lists runs; omit --resume to begin a sweep")).into()
    };
    let Some(store) = project.recorded()? else {
        return Err(missing(format!("there is no sweep to go on with: {} does not exist", project.store_place())));
    };
    if name == LAST {
        let runs = store.runs(&Filter { kernel: Some(kernel.into()), limit: None })?;
        let mut sweeps = runs.into_iter().filter(|run| whose.ran(run)).filter_map(|run| Some((run.sweep()?, run)));
        let (record, run) = sweeps.next().ok_or_else(|| missing(format!("there is no sweep of {kernel}")))?;
        same_implementation(request, &run, &record)?;
        return Ok((run, record));
    }
    let run = store.find_run(name)?.ok_or_else(|| missing(format!("there is no run `{name}`")))?;
    if !whose.ran(&run) {
        return Err(missing(format!("run {} is of another kernel, {}", run.short_id(), run.kernel)));
    }
    let record = run.sweep().ok_or_else(|| missing(format!("run {} is no sweep", run.short_id())))?;
    same_implementation(request, &run, &record)?;
    Ok((run, record))
}

/// Refuses another implementation than the sweep's.
fn same_implementation(request: &SweepRequest, run: &Run, record: &SweepRecord) -> Result<(), Failure> {
    let (now, then) = (&request.selecting.implementation, &record.sweep.implementation);
    if now.is_none() || now == then {
        return Ok(());
    }
    let then = then.as_deref().unwrap_or("all");
    let report = Report::error(format!("sweep {} is of another implementation: {then}", run.short_id()));
    Err(report.hint("omit --implementation: it is that of the sweep").into())
}

/// What was asked for then; only the time is asked for now.
pub(super) fn request(now: &SweepRequest, run: &Run, record: &SweepRecord) -> SweepRequest {
    let plan = &record.sweep;
    let said = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
    let cold = run.cache == kiln_study::CacheState::Cold.name();
    SweepRequest {
        selecting: Selecting {
            target: now.selecting.target.clone().or_else(|| said(&run.target)),
            variant: now.selecting.variant.clone().or_else(|| said(&run.variant)),
            implementation: plan.implementation.clone(),
            ..now.selecting.clone()
        },
        measuring: Measuring {
            samples: plan.samples.0,
            cold,
            warm: !cold,
            threads: usize::try_from(run.threads).unwrap_or(1),
            pin: now.measuring.pin,
            seed: Some(run.seed),
        },
        dims: Vec::new(),
        config: plan.config.clone(),
        study: None,
        baselines: plan.baselines.clone(),
        width: plan.width,
        max_samples: plan.samples.1,
        early: plan.early,
        dead_zone: plan.dead_zone,
        minutes: now.minutes,
        resume: now.resume.clone(),
    }
}

/// The plan as it was, where the kernel is as it was.
pub(super) fn checked(run: &Run, record: &SweepRecord, opened: &Opened<'_>) -> Result<SweepPlan, Failure> {
    let kernel = &opened.kernel;
    let changed = |what: &str| -> Failure {
        let report = Report::error(format!("{what} since sweep {} began", run.short_id()));
        let report = report.label("figures of before and after cannot stand in one map");
        report.hint("begin a new one: omit --resume").into()
    };
    if (kernel.target(), kernel.variant().as_str()) != (run.target.as_str(), run.variant.as_str()) {
        let report = Report::error(format!("sweep {} is of target {} {}", run.short_id(), run.target, run.variant));
        return Err(report.hint("omit --target and --variant: they are those of the sweep").into());
    }
    if spec_hash(kernel) != run.spec_hash {
        return Err(changed("the kernel file has changed"));
    }
    if kernel.fingerprint()? != record.sweep.sources {
        return Err(changed("the kernel's sources have changed"));
    }
    for name in &record.sweep.baselines {
        opened.baseline(Some(name))?;
    }
    Ok(record.sweep.clone())
}
