//! What limits a study's kernel. In: a configuration of it: the default that is far too slow, the best of a study that stopped, or the winner. Out:
//! the cause, with what to do. A quick profile of half a minute at most, after what is measured; no fault in it is the study's.

use std::time::{Duration, Instant};

use camino::Utf8Path;
use kiln_core::{Config, Outcome};
use kiln_store::ProfileRecord;
use kiln_study::{Bench, Instrument, StudyLimit, Summary, TuneVerdict};

use crate::failure::Failure;
use crate::operation::profile::{
    Examined, FoundLimit, Place, ProfileLevel, Taken, Wanted, examine, has_profiler, record_of,
};
use crate::project::Project;
use crate::record::profiles::{promoted, record};
use crate::teller::Teller;

/// How long it may take.
const ALL: Duration = Duration::from_secs(30);

/// What is profiled for which study.
#[derive(Debug, Clone, Copy)]
pub(super) struct For<'f> {
    pub(super) project: &'f Project,
    /// The kernel's folder or file.
    pub(super) path: &'f Utf8Path,
    /// The study's id.
    pub(super) study: &'f str,
}

/// Where a profile is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Workload {
    Smallest,
    Largest,
}

/// Says what limits a default that is far too slow, before a study searches all the same.
pub(super) fn slow<'a>(of: For<'_>, bench: &mut Bench<'a>, config: &Config, teller: &Teller<'_>) -> Option<StudyLimit> {
    let wanted = Profile { which: Workload::Smallest, level: ProfileLevel::Quick, limit: ALL };
    let (found, _) = told(of, bench, config, wanted, teller)?;
    teller.note(format!("the default is limited by {}", in_words(&found)));
    Some(found)
}

/// What limits the configuration that a study came to. Where it stopped, also what can be said without a profiler.
pub(super) fn limit<'a>(
    of: For<'_>,
    bench: &mut Bench<'a>,
    summary: &Summary,
    left: Option<Duration>,
    teller: &Teller<'_>,
) -> Option<StudyLimit> {
    let config = summary.config.clone()?;
    let until = left.map(|left| Instant::now() + left);
    let time = || until.map_or(ALL, |until| until.saturating_duration_since(Instant::now()).min(ALL));
    let which = match summary.verdict {
        TuneVerdict::Stopped => Workload::Smallest,
        TuneVerdict::Reached | TuneVerdict::NotReached if bench.gpu.is_some() && has_profiler() => Workload::Largest,
        _ => return None,
    };
    let default = bench.kernel.default_config().filter(|default| *default != config && which == Workload::Largest);
    let mut profile = |config: &Config, level: ProfileLevel| {
        let limit = time();
        let wanted = Profile { which, level, limit };
        (!limit.is_zero() && !of.project.is_stopped()).then(|| told(of, bench, config, wanted, teller)).flatten()
    };
    let (found, own) = profile(&config, ProfileLevel::Quick)?;
    let before = default.and_then(|default| profile(&default, ProfileLevel::Quick));
    // A winner that works in another way than the default is worth the whole profile.
    let reasons = before.map(|(_, before)| promoted(&before, &own)).unwrap_or_default();
    if reasons.is_empty() {
        return Some(found);
    }
    let words =
        reasons.iter().map(|one| format!("{} {:.0} %, with the default {:.0} %", one.what, one.now, one.before));
    let words: Vec<String> = words.collect();
    let full = profile(&config, ProfileLevel::Full).map(|(full, _)| full);
    Some(full.map_or(found, |full| StudyLimit { promoted: words, ..full }))
}

/// How a profile is wanted.
#[derive(Debug, Clone, Copy)]
struct Profile {
    which: Workload,
    level: ProfileLevel,
    limit: Duration,
}

/// Profiles a configuration; what keeps it from that is noted.
fn told<'a>(
    of: For<'_>,
    bench: &mut Bench<'a>,
    config: &Config,
    wanted: Profile,
    teller: &Teller<'_>,
) -> Option<(StudyLimit, ProfileRecord)> {
    match profiled(of, bench, config, wanted, teller) {
        Ok(found) => found,
        Err(_) if of.project.is_stopped() => None,
        Err(failure) => {
            teller.note(format!("what limits {config} was not found out: {failure}"));
            None
        }
    }
}

fn profiled<'a>(
    For { project, path, study }: For<'_>,
    bench: &mut Bench<'a>,
    config: &Config,
    Profile { which, level, limit }: Profile,
    teller: &Teller<'_>,
) -> Result<Option<(StudyLimit, ProfileRecord)>, Failure> {
    let stage = match which {
        Workload::Smallest => bench.stages.first(),
        Workload::Largest => bench.stages.last(),
    };
    let workload = stage.and_then(|stage| stage.workload);
    let name = workload.map(|workload| workload.name.to_string()).unwrap_or_default();
    let built = match level {
        ProfileLevel::Quick => bench.subject(config)?,
        ProfileLevel::Full => bench.instrumented(config, &Instrument::Lines)?,
    };
    let Outcome::Passed(subject) = built else { return Ok(None) };
    bench.quiet();
    let place = Place::named(project, bench.kernel.name(), &name, None, level.name());
    let wanted = Wanted { level, limit, place: &place, step: &|_| () };
    let Examined { found, report, page, notes, .. } = examine(bench, &subject, workload, &wanted)?;
    // Why nothing was found, where nothing was.
    let named = match &found {
        Some(FoundLimit::Counters(found)) => found.diagnosis.cause.is_some(),
        Some(FoundLimit::Coarse(found)) => found.cause.is_some(),
        None => false,
    };
    notes.into_iter().filter(|_| !named).for_each(|note| teller.note(note));
    let Some(found) = found else { return Ok(None) };
    let taken = Taken { study: Some(study), path, subject: &subject, config, workload, level };
    let own = record_of(bench, &taken, &found, page.as_deref())?;
    if let Err(fault) = record(project, &own) {
        teller.note(format!("this profile is not recorded: {fault}"));
    }
    let text = |path: Option<camino::Utf8PathBuf>| path.map(camino::Utf8PathBuf::into_string);
    let (report, page, config, promoted) = (text(report), text(page), config.clone(), Vec::new());
    let limit = match found {
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
            promoted,
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
            promoted,
        },
    };
    Ok(Some((limit, own)))
}

/// What limits a kernel that is less than half as fast as its baseline: `scalar_loop, at most 3.20x without it (coarse). All 4 ... Fix: let the compiler ...`.
fn in_words(limit: &StudyLimit) -> String {
    let coarse = if limit.coarse { " (coarse)" } else { "" };
    let Some(cause) = &limit.cause else {
        return format!("nothing that shows: bound by {}{coarse}. {}", limit.bound, limit.explanation)
            .trim_end()
            .into();
    };
    let fix = limit.fix.as_ref().map_or(String::new(), |fix| format!(" Fix: {fix}."));
    format!("{cause}, {}{coarse}. {}{fix}", limit.worth(true), limit.explanation)
}
