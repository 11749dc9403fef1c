//! Profiles beside results. In: the newest result, profiles. Out: the profile of what was measured, where there is one, with the first of its
//! causes that nobody tried to remove in vain; and what a change after an earlier profile gave.

use camino::Utf8Path;
use kiln_diagnose::next::{FixTried, ProfileNow, quoted};
use kiln_store::{ProfileRecord, Run, RunSide};

use super::attempts::Logged;
use super::records::{Now, Records};
use super::result::{Found, median_of, run_ended_ms};
use crate::attempt::committed;
use crate::kernel::folder;
use crate::repository::short;

/// Whether a profile is of the same work.
fn alike(profile: &ProfileRecord, found: &Found) -> bool {
    (&profile.target, &profile.variant) == (&found.target, &found.variant)
}

/// The profile that shows what was measured: of the same configuration and the same sources. Where no attempt tells of those, they have
/// not changed between the two.
pub(super) fn describing(
    records: &Records,
    logged: &Logged,
    found: &Found,
    edited: Option<bool>,
    now: &Now,
    no_gain: f64,
) -> Option<ProfileNow> {
    let since = if edited == Some(true) { found.at_ms } else { now.modified_ms.unwrap_or(i64::MIN) };
    let measured = logged.sources_at(found.began_ms);
    let same = |profile: &ProfileRecord| match (logged.sources_at(profile.at_ms), measured) {
        // That of the change itself makes it no guess.
        (Some(own), Some(measured)) => own == measured || logged.current_at(profile.at_ms) == Some(true),
        _ => profile.at_ms >= since,
    };
    let shows = |profile: &&ProfileRecord| {
        let own = profile.study.is_some() && profile.study == found.study;
        let config = found.config.as_deref() == Some(profile.config.as_str());
        alike(profile, found) && (own || config && same(profile))
    };
    let profile = records.profiles.iter().find(shows)?;
    let study = records.studies.iter().find(|study| Some(&study.id) == profile.study.as_ref());
    let limit = study.and_then(|study| study.summary.as_ref()?.read().ok()?.limit.clone());
    Some(ProfileNow {
        limit: profile.cause.clone(),
        cause: causes(profile, logged, i64::MAX, no_gain).into_iter().next(),
        fix: limit.and_then(|limit| limit.fix),
    })
}

/// The causes that can be removed and were not tried in vain until a moment, the one that promises most first.
fn causes(profile: &ProfileRecord, logged: &Logged, until_ms: i64, no_gain: f64) -> Vec<(String, f64)> {
    let ranked = profile.ranked.read().cloned().unwrap_or_default();
    let removable = ranked.into_iter().filter(|(cause, gain)| *gain > 1.0 && !cause.starts_with("at_roofline"));
    removable.skip(logged.in_vain(profile.at_ms, &profile.config, until_ms, no_gain)).collect()
}

/// What a change after the last profile gave: that profile's first cause, beside the run before the change.
pub(super) fn tried(
    records: &Records,
    logged: &Logged,
    found: &Found,
    now: &Now,
    at: &str,
    no_gain: f64,
) -> Option<FixTried> {
    let profile = records.profiles.iter().find(|profile| alike(profile, found) && profile.at_ms < found.at_ms)?;
    let (config, modified) = (found.config.clone()?, now.modified_ms.unwrap_or(i64::MIN));
    let in_source = modified > profile.at_ms && modified <= found.at_ms;
    let in_config = profile.config != config;
    if found.study.is_some() || !(in_source || in_config) {
        return None;
    }
    let row = &found.slowest;
    let before = |run: &&Run| {
        let earlier = run_ended_ms(run) < found.at_ms && (!in_source || run_ended_ms(run) < modified);
        let same = (&run.target, &run.variant, &run.device) == (&found.target, &found.variant, &found.device);
        earlier && same && run.config.as_deref() == Some(&profile.config) && median_of(run, &row.workload).is_some()
    };
    let run = records.runs.iter().find(before)?;
    let (before_s, after_s) = (median_of(run, &row.workload)?, row.median_s?);
    let mut causes = causes(profile, logged, found.began_ms, no_gain).into_iter();
    let (cause, promise) = causes.next()?;
    let revert = if in_source { sources(run, logged) } else { configuration(run, at, &row.workload) };
    // Beside the baseline, which took its turns both times: another state of the machine is no gain.
    let then = |name: &str| {
        let side = |own: &&RunSide| own.side == name && own.workload == row.workload;
        run.sides.iter().find(side)?.speedup.map(|(speedup, _)| speedup).filter(|then| *then > 0.0)
    };
    let beside = row.beside.iter().find_map(|(name, now)| Some(now / then(name)?));
    let gain = beside.unwrap_or(before_s / after_s);
    let before = profile.config.clone();
    Some(FixTried { cause, promise, gain, before_s, before, revert, other: causes.next() })
}

/// The command that brings the sources of a run back, and touches nothing else; none where they were not committed.
fn sources(run: &Run, logged: &Logged) -> Option<String> {
    let (commit, path) = (run.git_commit.as_deref()?, Utf8Path::new(&run.path));
    let found = committed(path, commit.trim_end_matches('+'))?;
    // Files that differed from the commit need not be sources.
    let same = match logged.sources_at(run.started_ms) {
        Some(sources) => sources == found.digest,
        None => !commit.ends_with('+'),
    };
    let files: Vec<String> = found.files.iter().map(|file| quoted(file.as_str())).collect();
    let (folder, files) = (quoted(folder(path).as_str()), files.join(" "));
    same.then(|| format!("git -C {folder} restore --source={} -- {files}", short(commit)))
}

/// The configuration to go back to.
fn configuration(run: &Run, at: &str, workload: &str) -> Option<String> {
    let on = if workload.is_empty() { String::new() } else { format!(" --workload {}", quoted(workload)) };
    Some(format!("kiln bench {at}{on} --config {}", quoted(run.config.as_deref()?)))
}
