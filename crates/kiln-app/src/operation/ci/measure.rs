//! Measuring a case. In: a kernel, a configuration, and what to do with the bench. Out: what came of it, or the refusal; of
//! two measurements, what both say.

use kiln_core::{Outcome, Refusal};
use kiln_study::{Bench, Rival, Subject, Versus};

use super::CiRequest;
use super::choice::Case;
use super::course::{Course, Stepped};
use super::verdict::{CiVerdict, CiWorkload};
use crate::failure::Failure;
use crate::kernel::Opened;
use crate::operation::bench::{self, BenchRequest};
use crate::operation::versions::{self, Measurer};

/// Refuses numbers that mean nothing before anything is done.
pub(super) fn sensible(request: &CiRequest) -> Result<(), Failure> {
    bench::sensible(&as_bench(request))
}

fn as_bench(request: &CiRequest) -> BenchRequest {
    BenchRequest {
        selecting: request.selecting.clone(),
        measuring: request.measuring.clone(),
        config: request.config.clone(),
        study: None,
        against: None,
        baseline: None,
        width: request.width,
        max_samples: request.max_samples,
        early: false,
        dead_zone: 0.0,
        all: false,
        save: None,
    }
}

/// A bench with the case's subject, built and checked.
pub(super) fn with_bench<T>(
    course: &Course<'_>,
    opened: &Opened<'_>,
    case: &Case,
    number: u64,
    work: impl FnOnce(&mut Bench<'_>, &Subject) -> Result<Outcome<T>, Failure>,
) -> Result<Outcome<T>, Failure> {
    measuring(course, |measurer| versions::with_bench(measurer, opened, &case.config, number, work))
}

/// Measures the subject against rivals and records the run.
pub(super) fn fought(
    course: &Course<'_>,
    bench: &Bench<'_>,
    sides: (&Subject, &[Rival]),
    case: &Case,
) -> Result<Outcome<Vec<Versus>>, Failure> {
    measuring(course, |measurer| versions::fought(measurer, bench, sides, &case.config, &course.request.thresholds))
}

fn measuring<T>(course: &Course<'_>, work: impl FnOnce(Measurer<'_>) -> T) -> T {
    let request = as_bench(course.request);
    let Course { project, teller, selecting, .. } = course;
    work(Measurer { project, teller, request: &request, path: &selecting.path })
}

/// Names of the workloads of a verdict.
pub(super) fn named(workloads: &[CiWorkload], verdict: CiVerdict) -> Vec<String> {
    workloads.iter().filter(|w| w.verdict == verdict).map(|w| w.workload.clone()).collect()
}

/// Puts the second look at some workloads in place of the first.
pub(super) fn confirmed(first: Vec<CiWorkload>, second: Vec<CiWorkload>) -> Vec<CiWorkload> {
    let mut second = second;
    let mut take = |name: &str| second.iter().position(|w| w.workload == name).map(|place| second.swap_remove(place));
    first
        .into_iter()
        .map(|one| match take(&one.workload) {
            Some(again) => again.confirming(&one),
            None => one,
        })
        .collect()
}

/// Takes the verdicts into the kernel's account, and says how the step ended.
pub(super) fn concluded(course: &mut Course<'_>, workloads: Vec<CiWorkload>) -> Stepped {
    let slower = named(&workloads, CiVerdict::Regression);
    course.kernel.verdict = workloads.iter().map(|w| w.verdict).min();
    course.kernel.workloads = workloads;
    if !slower.is_empty() {
        return Stepped::Regressed(format!("regression on {}", slower.join(", ")));
    }
    let faster = named(&course.kernel.workloads, CiVerdict::Improvement);
    Stepped::Passed(match course.kernel.verdict {
        Some(CiVerdict::TooNoisy) => {
            format!("too noisy to tell on {}", named(&course.kernel.workloads, CiVerdict::TooNoisy).join(", "))
        }
        Some(CiVerdict::Improvement) => format!("improvement on {}", faster.join(", ")),
        Some(CiVerdict::Identical) => "identical machine code: no verdict needed".into(),
        Some(CiVerdict::New) if !course.kernel.moved.is_empty() => "first figures recorded".into(),
        Some(CiVerdict::New) => "nothing to compare with".into(),
        Some(CiVerdict::OtherMachine) => "the ratchet is of another machine".into(),
        _ => "no significant difference".into(),
    })
}

/// A refusal at this step.
pub(super) fn refused(refusal: Refusal) -> Stepped {
    let words = format!("{}: {}", refusal.gate, refusal.measured);
    Stepped::Refused(refusal, words)
}
