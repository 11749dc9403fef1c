//! Two versions of a kernel, measured in turns: what a base commit is to `kiln ci`, a good one is to `kiln bisect`. In: a kernel,
//! a configuration, and what to do with the bench. Out: what came of it, or the refusal. Every measurement has a bench,
//! workers and a seed of its own, so that a second one confirms or contradicts the first.

use std::time::Instant;

use camino::Utf8Path;
use kiln_core::{Config, Outcome};
use kiln_stats::Thresholds;
use kiln_study::{Bench, Extent, Kernel, Rival, Stage, Subject, Versus, versus};

use crate::failure::Failure;
use crate::kernel::{Opened, surroundings};
use crate::operation::bench::{self, BenchRequest, Setting};
use crate::project::Project;
use crate::teller::Teller;

/// Who measures, and for whom.
#[derive(Clone, Copy)]
pub(super) struct Measurer<'m> {
    pub(super) project: &'m Project,
    pub(super) teller: &'m Teller<'m>,
    /// How times are taken.
    pub(super) request: &'m BenchRequest,
    /// The kernel as the run is recorded under.
    pub(super) path: &'m Utf8Path,
}

/// A bench with a configuration on it, built and checked.
pub(super) fn with_bench<T>(
    measurer: Measurer<'_>,
    opened: &Opened<'_>,
    config: &Config,
    number: u64,
    work: impl FnOnce(&mut Bench<'_>, &Subject) -> Result<Outcome<T>, Failure>,
) -> Result<Outcome<T>, Failure> {
    let Measurer { project, teller, request, .. } = measurer;
    let mut settings = bench::settings(request, opened)?;
    // A seed that was asked for gives the second measurement other inputs too.
    settings.seed = settings.seed.wrapping_add(number);
    let said = |event: &kiln_study::Event<'_>| teller.pass_on(event);
    let _held = opened.lock(project, teller)?;
    let around = surroundings(project, &said, true, opened.card.as_ref())?;
    let mut bench = Bench::new(&opened.kernel, &settings, around)?;
    let subject = match bench.subject(config)? {
        Outcome::Passed(subject) => subject,
        Outcome::Refused(refusal) => return Ok(Outcome::Refused(refusal)),
    };
    if let Some((refusal, _)) = bench.quick_check(&subject)? {
        return Ok(Outcome::Refused(refusal));
    }
    work(&mut bench, &subject)
}

/// Measures the subject against rivals and records the run.
pub(super) fn fought(
    measurer: Measurer<'_>,
    bench: &Bench<'_>,
    (subject, rivals): (&Subject, &[Rival]),
    config: &Config,
    thresholds: &Thresholds,
) -> Result<Outcome<Vec<Versus>>, Failure> {
    let began = Instant::now();
    let thresholds = Thresholds {
        // So many workloads, so many chances to be wrong.
        confidence: 1.0 - (1.0 - thresholds.confidence) / bench.stages.len().max(1) as f64,
        ..*thresholds
    };
    let figures = match versus(bench, subject, rivals, &thresholds, Extent { all: false, early: false })? {
        Ok(found) => found.workloads,
        Err(lost) => return Ok(Outcome::Refused(lost.refusal)),
    };
    let setting = Setting { bench, path: measurer.path, config: Some(config), began, save: None };
    setting.record_figures(measurer.project, &figures, measurer.teller)?;
    Ok(Outcome::Passed(figures))
}

/// What a workload of two versions is.
pub(super) enum Ground {
    /// Something else in each: why.
    Incomparable(String),
    /// The same machine code, launched alike.
    Identical,
    /// To be measured.
    Open,
}

/// Whether two versions have to be measured on a workload.
pub(super) fn ground(
    bench: &Bench<'_>,
    stage: &Stage<'_>,
    subject: &Subject,
    (theirs, config): (&Kernel<'_>, &Config),
    version: &Subject,
) -> Result<Ground, Failure> {
    let own = bench.identity(stage, subject)?;
    if let Some(why) = bench.incomparable(stage, theirs, config) {
        return Ok(Ground::Incomparable(why));
    }
    let identical = own.is_some() && own == bench.identity(stage, version)?;
    Ok(if identical { Ground::Identical } else { Ground::Open })
}
