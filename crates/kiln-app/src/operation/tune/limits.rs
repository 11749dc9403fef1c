//! What limits a study's kernel. In: a configuration of it: the default that is far too slow, the best of a study that stopped, or the winner. Out:
//! the cause, with what to do. A quick profile of half a minute at most, after what is measured; no fault in it is the study's.

use std::time::Duration;

use kiln_core::{Config, Outcome};
use kiln_study::{Bench, StudyLimit, Summary, TuneVerdict};

use crate::failure::Failure;
use crate::operation::profile::{Examined, FoundLimit, Place, ProfileLevel, Wanted, examine, has_profiler};
use crate::project::Project;
use crate::teller::Teller;

/// How long it may take.
const ALL: Duration = Duration::from_secs(30);

/// Where a profile is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Workload {
    Smallest,
    Largest,
}

/// Says what limits a default that is far too slow, before anything is searched.
pub(super) fn slow<'a>(project: &Project, bench: &mut Bench<'a>, config: &Config, teller: &Teller<'_>) {
    if let Some(found) = told(project, bench, config, (Workload::Smallest, ALL), teller) {
        teller.note(format!("the default is limited by {}", in_words(&found)));
    }
}

/// What limits the configuration that a study came to. Where it stopped, also what can be said without a profiler.
pub(super) fn limit<'a>(
    project: &Project,
    bench: &mut Bench<'a>,
    summary: &Summary,
    left: Option<Duration>,
    teller: &Teller<'_>,
) -> Option<StudyLimit> {
    let config = summary.config.clone()?;
    let time = left.unwrap_or(ALL).min(ALL);
    let workload = match summary.verdict {
        TuneVerdict::Stopped => Workload::Smallest,
        TuneVerdict::Reached | TuneVerdict::NotReached if bench.gpu.is_some() && has_profiler() => Workload::Largest,
        _ => return None,
    };
    if time.is_zero() {
        return None;
    }
    told(project, bench, &config, (workload, time), teller)
}

/// Profiles a configuration; what keeps it from that is noted.
fn told<'a>(
    project: &Project,
    bench: &mut Bench<'a>,
    config: &Config,
    which: (Workload, Duration),
    teller: &Teller<'_>,
) -> Option<StudyLimit> {
    match profiled(project, bench, config, which) {
        Ok(found) => found,
        Err(_) if project.is_stopped() => None,
        Err(failure) => {
            teller.note(format!("what limits {config} was not found out: {failure}"));
            None
        }
    }
}

fn profiled<'a>(
    project: &Project,
    bench: &mut Bench<'a>,
    config: &Config,
    (which, limit): (Workload, Duration),
) -> Result<Option<StudyLimit>, Failure> {
    let stage = match which {
        Workload::Smallest => bench.stages.first(),
        Workload::Largest => bench.stages.last(),
    };
    let workload = stage.and_then(|stage| stage.workload);
    let name = workload.map(|workload| workload.name.to_string()).unwrap_or_default();
    let Outcome::Passed(subject) = bench.subject(config)? else { return Ok(None) };
    bench.quiet();
    let level = ProfileLevel::Quick;
    let place = Place::named(project, bench.kernel.name(), &name, None, level.name());
    let wanted = Wanted { level, limit, place: &place, step: &|_| () };
    let Examined { found, report, page, .. } = examine(bench, &subject, workload, &wanted)?;
    Ok(found.map(|found| {
        let path = |path: Option<camino::Utf8PathBuf>| path.map(camino::Utf8PathBuf::into_string);
        let (report, page, config) = (path(report), path(page), config.clone());
        match found {
            FoundLimit::Counters(found) => StudyLimit {
                workload: name,
                config,
                cause: found.diagnosis.cause.map(|cause| cause.id().to_string()),
                confidence: found.diagnosis.confidence,
                expected_speedup: found.diagnosis.expected_speedup,
                coarse: false,
                bound: found.diagnosis.roofline.bound.name().into(),
                explanation: found.diagnosis.explanation.clone(),
                fix: found.diagnosis.fixes.first().map(|fix| format!("{}: {}", fix.what, fix.how)),
                report,
                page,
            },
            FoundLimit::Coarse(found) => StudyLimit {
                workload: name,
                config,
                cause: found.cause.map(|cause| cause.id().to_string()),
                confidence: found.confidence,
                expected_speedup: found.expected_speedup,
                coarse: true,
                bound: found.roofline.bound.name().into(),
                explanation: found.explanation.clone(),
                fix: found.fixes.first().map(|fix| format!("{}: {}", fix.what, fix.how)),
                report,
                page,
            },
        }
    }))
}

/// `scalar_loop, at most 3.20x without it (coarse). All 4 ... Fix: let the compiler ...`.
fn in_words(limit: &StudyLimit) -> String {
    let coarse = if limit.coarse { " (coarse)" } else { "" };
    let Some(cause) = &limit.cause else { return format!("nothing that shows: bound by {}{coarse}", limit.bound) };
    let fix = limit.fix.as_ref().map_or(String::new(), |fix| format!(" Fix: {fix}."));
    format!("{cause}, at most {:.2}x without it{coarse}. {}{fix}", limit.expected_speedup, limit.explanation)
}
