//! The newest result against a baseline. In: runs and studies. Out: the slower of its workloads, with everything later evidence is held
//! against. A study that stopped has its result in what it measured before it did.

use kiln_diagnose::next::{LastResult, Look};
use kiln_stats::median;
use kiln_store::{Measurement, PhaseId, Run, State, Study, TuneVerdict};

use super::asked::Asked;
use super::records::{Now, Records};
use super::search::is_current;

/// The phases in which a study holds its default, or its best so far, against the rule.
const RULES: [&str; 2] = ["standing", "rule"];
const NOISY: &str = "too_noisy";

/// A result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// When it was known, in milliseconds since 1970.
    pub(super) at_ms: i64,
    pub(super) target: String,
    pub(super) variant: String,
    pub(super) device: String,
    pub(super) config: Option<String>,
    /// The study it is of, by its whole id.
    pub(super) study: Option<String>,
    /// Whether the sources are known to be as they were; none where nobody recorded them.
    pub(super) current: Option<bool>,
    pub(super) commit: Option<String>,
    pub(super) speedup: f64,
    pub(super) interval: Option<[f64; 2]>,
    pub(super) workload: String,
    pub(super) baseline: String,
    /// Seconds of a call.
    pub(super) median_s: Option<f64>,
    pub(super) noisy: bool,
    pub(super) workloads: Vec<String>,
}

/// The newest result of all.
pub(super) fn newest(records: &Records, asked: &Asked) -> Option<Found> {
    let run = records.runs.iter().find_map(|run| of_run(run, asked));
    let study = records.studies.iter().find_map(|study| of_study(records, study));
    [run, study].into_iter().flatten().max_by_key(|found| found.at_ms)
}

/// When a run was over.
pub(super) fn run_ended_ms(run: &Run) -> i64 {
    run.started_ms + (1e3 * run.seconds) as i64
}

/// When a study was over, as far as it is.
pub(super) fn ended_ms(study: &Study) -> i64 {
    study.ended_ms.unwrap_or(study.started_ms)
}

/// What a run found against the first baseline of each workload.
pub(super) fn of_run(run: &Run, asked: &Asked) -> Option<Found> {
    let config = run.config.clone()?;
    let targets = asked.file.as_ref().map(|file| &file.spec.targets);
    let target = targets.and_then(|all| all.iter().find(|target| target.kind.name() == run.target));
    let is_baseline = |name: &str| target.is_none_or(|target| target.baselines.iter().any(|own| own.name == name));
    type OfWorkload<'r> = (&'r str, &'r str, (f64, [f64; 2]), bool);
    let mut sides: Vec<OfWorkload<'_>> = Vec::new();
    for side in run.sides.iter().filter(|side| is_baseline(&side.side)) {
        if let Some(speedup) = side.speedup.filter(|_| !sides.iter().any(|own| own.0 == side.workload)) {
            sides.push((&side.workload, &side.side, speedup, side.verdict.as_deref() == Some(NOISY)));
        }
    }
    let (workload, baseline, (speedup, interval), noisy) =
        *sides.iter().min_by(|(_, _, one, _), (_, _, other, _)| one.0.total_cmp(&other.0))?;
    Some(Found {
        at_ms: run_ended_ms(run),
        target: run.target.clone(),
        variant: run.variant.clone(),
        device: run.device.clone(),
        config: Some(config),
        study: None,
        current: None,
        commit: run.git_commit.clone(),
        speedup,
        interval: Some(interval),
        workload: workload.into(),
        baseline: baseline.into(),
        median_s: median_of(run, workload),
        noisy,
        workloads: sides.iter().map(|side| side.0.to_string()).collect(),
    })
}

/// Seconds of a call of the configuration.
pub(super) fn median_of(run: &Run, workload: &str) -> Option<f64> {
    run.sides.iter().find(|side| side.side.is_empty() && side.workload == workload)?.median_s
}

fn of_study(records: &Records, study: &Study) -> Option<Found> {
    let summary = study.summary.as_ref().filter(|_| study.state == State::Finished)?.read().ok()?;
    let tuned = summary.workloads.iter().filter(|own| !own.holdout);
    let slowest = tuned.min_by(|one, other| one.speedup.total_cmp(&other.speedup));
    let baseline = summary.baseline.clone().unwrap_or_else(|| "the default configuration".into());
    let rule = || stopped(records, study).filter(|_| summary.verdict == TuneVerdict::Stopped);
    let (speedup, interval, workload, median_s, noisy) = match slowest {
        Some(own) => {
            let interval = Some([own.speedup_ci95.low, own.speedup_ci95.high]);
            (own.speedup, interval, own.name.clone(), Some(1e-3 * own.best_ms), own.verdict.name() == NOISY)
        }
        None => rule().map(|(speedup, workload, median_s)| (speedup, None, workload, Some(median_s), false))?,
    };
    Some(Found {
        at_ms: ended_ms(study),
        target: study.target.clone(),
        variant: study.variant.clone(),
        device: study.device().unwrap_or_default().into(),
        config: summary.config.as_ref().map(ToString::to_string),
        study: Some(study.id.clone()),
        current: None,
        commit: study.git_commit.clone(),
        speedup,
        interval,
        workload,
        baseline,
        median_s,
        noisy,
        workloads: summary.workloads.iter().map(|own| own.name.clone()).collect(),
    })
}

/// What a study that stopped measured: baseline over candidate, the workload, seconds of a call.
fn stopped(records: &Records, study: &Study) -> Option<(f64, String, f64)> {
    let all = records.store.as_ref()?.measurements(&study.id).ok()?;
    let ruled = |own: &&Measurement| RULES.contains(&PhaseId::parse(&own.phase).name);
    // The rule that was asked last is the one that stopped it.
    let phase = all.iter().rfind(ruled)?.phase.clone();
    let own: Vec<&Measurement> = all.iter().filter(|own| own.phase == phase).collect();
    let workload = own.first()?.workload.clone();
    let seconds = |candidate: bool| {
        let samples = own.iter().filter(|m| (m.subject == "candidate") == candidate).flat_map(|m| m.samples.iter());
        median(&samples.copied().collect::<Vec<f64>>()).ok().filter(|seconds| *seconds > 0.0)
    };
    let (ours, theirs) = (seconds(true)?, seconds(false)?);
    Some((theirs / ours, workload, ours))
}

/// Whether the sources changed after a result; by their hash where it was recorded, else by when they were written.
pub(super) fn edited(found: &Found, now: &Now) -> Option<bool> {
    match found.current {
        Some(current) => Some(!current),
        None => now.modified_ms.map(|modified| modified > found.at_ms),
    }
}

/// Whether a result of a study is of the sources as they are now.
pub(super) fn with_sources(found: Found, records: &Records, now: &Now) -> Found {
    let study = records.studies.iter().find(|study| Some(&study.id) == found.study.as_ref());
    let current = study.filter(|_| now.sources.is_some()).map(|study| is_current(records, study, now));
    Found { current, ..found }
}

/// Whether any baseline was measured.
pub(super) fn baseline_measured(records: &Records) -> bool {
    let in_run = |run: &Run| run.sides.iter().any(|side| !side.side.is_empty() && side.median_s.is_some());
    let in_study = |study: &Study| {
        let summary = study.summary.as_ref().and_then(|own| own.read().ok());
        summary.is_some_and(|own| own.baseline.is_some() && !own.workloads.is_empty())
    };
    records.runs.iter().any(in_run) || records.studies.iter().any(in_study)
}

/// The result as the tree takes it.
pub(super) fn told(found: Found, records: &Records, asked: &Asked, workloads: &[String], now: &Now) -> LastResult {
    let larger = larger(&found, records, asked, workloads, now);
    let study = found.study.as_ref().and_then(|id| id.get(id.len().saturating_sub(8)..)).map(String::from);
    // A study that stopped has no winner to name.
    let won = study.as_ref().is_some_and(|_| found.interval.is_some());
    LastResult {
        speedup: found.speedup,
        interval: found.interval,
        workload: Some(found.workload).filter(|name| !name.is_empty()),
        baseline: found.baseline,
        config: found.config,
        study: study.filter(|_| won),
        noisy: found.noisy,
        larger_workload: larger,
    }
}

/// The next larger workload that nobody measured with this configuration since the sources changed.
fn larger(found: &Found, records: &Records, asked: &Asked, all: &[String], now: &Now) -> Look<String> {
    if all.is_empty() {
        return Look::Unknown;
    }
    let since = now.modified_ms.unwrap_or(i64::MIN);
    let alike = |run: &&Run| {
        run.config == found.config
            && run.target == found.target
            && run.variant == found.variant
            && run_ended_ms(run) >= since
    };
    let runs: Vec<Found> = records.runs.iter().filter(alike).filter_map(|run| of_run(run, asked)).collect();
    let measured =
        |name: &String| found.workloads.contains(name) || runs.iter().any(|run| run.workloads.contains(name));
    Look::of(all.iter().find(|name| !measured(name)).cloned())
}
