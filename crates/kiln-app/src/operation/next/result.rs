//! The newest result against a baseline. In: runs and studies. Out: the slowest of the workloads that the same code was measured on, with
//! everything later evidence is held against. A study that stopped has its result in what it measured before it did. Sources that
//! were brought back have the result they had.

use kiln_diagnose::next::{LastResult, Look};
use kiln_stats::median;
use kiln_store::{Measurement, PhaseId, Run, State, Study, TuneVerdict};

use super::asked::Asked;
use super::attempts::Logged;
use super::records::{Now, Records};
use super::search::is_current;

/// A verdict that scatter keeps open has an interval near or over 1; a narrow one beyond it was kept open by the length of the calls.
const NARROW: f64 = 1.1;
/// The phases in which a study holds its default, or its best so far, against the rule.
const RULES: [&str; 2] = ["standing", "rule"];
const NOISY: &str = "too_noisy";

/// A result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// When it was known, in milliseconds since 1970.
    pub(super) at_ms: i64,
    /// When its measurement began.
    pub(super) began_ms: i64,
    pub(super) target: String,
    pub(super) variant: String,
    pub(super) device: String,
    pub(super) config: Option<String>,
    /// The study it is of, by its whole id.
    pub(super) study: Option<String>,
    /// The commit it was measured at, with a `+` where files differed from it.
    pub(super) commit: Option<String>,
    /// Whether the sources are known to be as they were; none where nobody recorded them.
    pub(super) current: Option<bool>,
    /// Whether calls found warm or cold caches, and how many threads they had, where that is known.
    pub(super) cache: Option<String>,
    pub(super) threads: Option<u64>,
    /// What the same code reached on each workload, the newest of each.
    pub(super) rows: Vec<Row>,
    /// The workload that was slowest.
    pub(super) slowest: Row,
    /// Whether that figure is of the same run or study as all else here.
    pub(super) of_study: bool,
    /// Every workload that the same code was measured on.
    pub(super) workloads: Vec<String>,
}

/// What was found on a workload.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) workload: String,
    pub(super) baseline: String,
    pub(super) speedup: f64,
    pub(super) interval: Option<[f64; 2]>,
    /// Seconds of a call.
    pub(super) median_s: Option<f64>,
    pub(super) noisy: bool,
    /// Speedups over every baseline that it was measured beside.
    pub(super) beside: Vec<(String, f64)>,
}

/// What one run or study measured.
pub(super) struct Measured {
    pub(super) found: Found,
    pub(super) rows: Vec<Row>,
}

/// Everything that was measured, the newest first.
pub(super) fn measured(records: &Records, logged: &Logged, asked: &Asked, now: &Now) -> Vec<Measured> {
    let runs = records.runs.iter().filter_map(|run| of_run(run, logged, asked));
    let mut all: Vec<Measured> =
        runs.chain(records.studies.iter().filter_map(|study| of_study(records, study, asked, now))).collect();
    all.sort_by_key(|own| std::cmp::Reverse(own.found.at_ms));
    all
}

/// The newest result of all; that of the sources as they are now, where an older one is known to be of them and the newest is not.
pub(super) fn newest(all: &[Measured], logged: &Logged, now: &Now) -> Option<Found> {
    let newest = all.first()?;
    let back = || all.iter().find(|own| own.found.current == Some(true));
    let chosen = if edited(&newest.found, now) == Some(true) { back().unwrap_or(newest) } else { newest };
    // A slower configuration that somebody tried, or that a poorer search found, makes the winner of a study no worse.
    let beats = |own: &&Measured| {
        let on = |row: &Row| chosen.rows.iter().find(|theirs| theirs.workload == row.workload);
        let won = own.found.study.is_some() && own.found.current == Some(true) && own.rows.iter().all(Row::is_verdict);
        won && is_like(&own.found, &chosen.found)
            && own.rows.iter().any(|row| on(row).is_some_and(|theirs| row.speedup > theirs.speedup))
            && !own.rows.iter().any(|row| on(row).is_some_and(|theirs| row.speedup < theirs.speedup))
    };
    let standing = || all.iter().filter(beats).max_by(|one, other| slowest(one).total_cmp(&slowest(other)));
    let chosen = if chosen.found.current != Some(false) { standing() } else { None }.unwrap_or(chosen);
    let mut rows: Vec<&Row> = Vec::new();
    for row in all.iter().filter(|own| is_same(own, chosen, logged, now)).flat_map(|own| &own.rows) {
        if !rows.iter().any(|known| known.workload == row.workload) {
            rows.push(row);
        }
    }
    let slowest = rows.iter().min_by(|one, other| one.speedup.total_cmp(&other.speedup)).copied()?.clone();
    let mut workloads = chosen.found.workloads.clone();
    workloads.extend(rows.iter().map(|row| row.workload.clone()));
    // A later benchmark's figure is none of the study's.
    let of_study = chosen.rows.contains(&slowest);
    let rows = rows.into_iter().cloned().collect();
    Some(Found { rows, slowest, workloads, of_study, ..chosen.found.clone() })
}

/// The least speedup of what was measured.
fn slowest(own: &Measured) -> f64 {
    own.rows.iter().map(|row| row.speedup).fold(f64::INFINITY, f64::min)
}

impl Row {
    /// Whether it was confirmed, not a first look.
    fn is_verdict(&self) -> bool {
        self.interval.is_some()
    }
}

/// Whether two are of the same work on the same device.
pub(super) fn is_like(one: &Found, other: &Found) -> bool {
    (&one.target, &one.variant, &one.device) == (&other.target, &other.variant, &other.device)
}

/// Whether two measured the same code on the same device: the same configuration and sources. Where no attempt tells of those, none was
/// written between the two.
fn is_same(one: &Measured, other: &Measured, logged: &Logged, now: &Now) -> bool {
    let since = now.modified_ms.unwrap_or(i64::MIN);
    let (own, theirs) = (&one.found, &other.found);
    let same = match (logged.sources_at(own.began_ms), logged.sources_at(theirs.began_ms)) {
        (Some(own), Some(theirs)) => own == theirs,
        _ => own.began_ms >= since && theirs.began_ms >= since,
    };
    let work = is_like(own, theirs) && own.config == theirs.config && own.config.is_some();
    (own.at_ms, &own.study) == (theirs.at_ms, &theirs.study) || work && same
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
fn of_run(run: &Run, logged: &Logged, asked: &Asked) -> Option<Measured> {
    let config = run.config.clone()?;
    let target = asked.target(&run.target);
    let is_baseline = |name: &str| target.is_none_or(|target| target.baselines.iter().any(|own| own.name == name));
    let mut rows: Vec<Row> = Vec::new();
    for side in run.sides.iter().filter(|side| is_baseline(&side.side)) {
        let Some((speedup, interval)) = side.speedup else { continue };
        let beside = (side.side.clone(), speedup);
        match rows.iter_mut().find(|own| own.workload == side.workload) {
            Some(known) => known.beside.push(beside),
            None => rows.push(Row {
                workload: side.workload.clone(),
                baseline: side.side.clone(),
                speedup,
                interval: Some(interval),
                median_s: median_of(run, &side.workload),
                noisy: side.verdict.as_deref() == Some(NOISY),
                beside: vec![beside],
            }),
        }
    }
    let slowest = rows.first()?.clone();
    let found = Found {
        at_ms: run_ended_ms(run),
        began_ms: run.started_ms,
        target: run.target.clone(),
        variant: run.variant.clone(),
        device: run.device.clone(),
        config: Some(config),
        study: None,
        commit: run.git_commit.clone(),
        current: logged.current_at(run.started_ms),
        cache: Some(run.cache.clone()),
        threads: Some(run.threads),
        rows: Vec::new(),
        slowest,
        of_study: true,
        workloads: Vec::new(),
    };
    Some(Measured { found, rows })
}

/// Seconds of a call of the configuration.
pub(super) fn median_of(run: &Run, workload: &str) -> Option<f64> {
    run.sides.iter().find(|side| side.side.is_empty() && side.workload == workload)?.median_s
}

fn of_study(records: &Records, study: &Study, asked: &Asked, now: &Now) -> Option<Measured> {
    let summary = study.summary.as_ref().filter(|_| study.state == State::Finished)?.read().ok()?;
    // Faster than its own default is not faster than a baseline. One that could not run here is another matter.
    let names_one = asked.target(&study.target).is_none_or(|target| !target.baselines.is_empty());
    if summary.baseline.is_none() && !names_one {
        return None;
    }
    let baseline = summary.baseline.clone().unwrap_or_else(|| "the default configuration".into());
    let tuned = summary.workloads.iter().filter(|own| !own.holdout).map(|own| Row {
        workload: own.name.clone(),
        baseline: baseline.clone(),
        speedup: own.speedup,
        interval: Some([own.speedup_ci95.low, own.speedup_ci95.high]),
        median_s: Some(1e-3 * own.best_ms),
        noisy: own.verdict.name() == NOISY,
        beside: vec![(baseline.clone(), own.speedup)],
    });
    let mut rows: Vec<Row> = tuned.collect();
    if rows.is_empty() && summary.verdict == TuneVerdict::Stopped {
        let (speedup, workload, median_s) = stopped(records, study)?;
        let (interval, noisy) = (None, false);
        let beside = vec![(baseline.clone(), speedup)];
        rows.push(Row { workload, baseline, speedup, interval, median_s: Some(median_s), noisy, beside });
    }
    let options = study.options.read().ok();
    let found = Found {
        at_ms: ended_ms(study),
        began_ms: study.started_ms,
        target: study.target.clone(),
        variant: study.variant.clone(),
        device: study.device().unwrap_or_default().into(),
        config: summary.config.as_ref().map(ToString::to_string),
        study: Some(study.id.clone()),
        commit: study.git_commit.clone(),
        current: now.sources.as_ref().map(|_| is_current(records, study, now)),
        cache: options.as_ref().and_then(|options| options.cache.clone()),
        threads: options.and_then(|options| options.threads.map(|threads| threads as u64)),
        rows: Vec::new(),
        slowest: rows.first()?.clone(),
        of_study: true,
        // Holdouts were measured too.
        workloads: summary.workloads.iter().map(|own| own.name.clone()).collect(),
    };
    Some(Measured { found, rows })
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

/// Whether any baseline was measured.
pub(super) fn baseline_measured(records: &Records) -> bool {
    let in_run = |run: &Run| run.sides.iter().any(|side| !side.side.is_empty() && side.median_s.is_some());
    let in_study = |study: &Study| {
        let summary = study.summary.as_ref().and_then(|own| own.read().ok());
        summary.is_some_and(|own| own.baseline.is_some() && !own.workloads.is_empty())
    };
    records.runs.iter().any(in_run) || records.studies.iter().any(in_study)
}

/// The result as the tree takes it, of all workloads of the kernel.
pub(super) fn told(found: Found, all: &[String]) -> LastResult {
    let study = found.study.as_ref().and_then(|id| id.get(id.len().saturating_sub(8)..)).map(String::from);
    let row = found.slowest;
    // A study that stopped has no winner to name.
    let won = row.interval.is_some();
    let other = all.iter().find(|name| !found.workloads.contains(name)).cloned();
    LastResult {
        speedup: row.speedup,
        interval: row.interval,
        workload: Some(row.workload).filter(|name| !name.is_empty()),
        baseline: row.baseline,
        config: found.config,
        study: study.filter(|_| won),
        of_study: found.of_study,
        noisy: row.noisy,
        too_short: row.noisy && row.interval.is_some_and(|[low, high]| low > 1.05 && high < NARROW * low),
        other_workload: if all.is_empty() { Look::Unknown } else { Look::of(other) },
    }
}
