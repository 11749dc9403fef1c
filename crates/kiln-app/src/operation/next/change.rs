//! What the last change gave. In: everything that was measured, the newest result, profiles. Out: how the result stands beside the state
//! before the change, and the command that brings that state back. A change is known by the sources' digests, where attempts recorded
//! them; a state that was found wrong is none to go back to.

use camino::Utf8PathBuf;
use kiln_core::quoted;
use kiln_diagnose::next::FixTried;

use super::asked::Asked;
use super::attempts::Logged;
use super::profile::{alike, causes};
use super::records::{Now, Records};
use super::result::{Found, Measured, Row, is_like};
use crate::attempt::{committed, sources_at};
use crate::kernel::folder;
use crate::repository::{git, short};

/// Commits of the kernel's folder that are looked through for a state, the newest.
const COMMITS: &str = "-n10";
/// Own time and time beside the baseline that tell of differences further apart than this are of another baseline or another shape.
const LIKE: f64 = 1.5;

/// The newest result, and what it is held against.
pub(super) struct Change<'a> {
    pub(super) records: &'a Records,
    pub(super) logged: &'a Logged,
    pub(super) measured: &'a [Measured],
    pub(super) found: &'a Found,
    /// The configuration that commands take by themselves.
    pub(super) default: Option<&'a str>,
    /// A change that gains less gained nothing.
    pub(super) no_gain: f64,
}

impl Change<'_> {
    /// The fastest state with other sources, where it was clearly faster.
    pub(super) fn slower_than_before(&self, asked: &Asked) -> Option<FixTried> {
        let now = self.logged.sources_at(self.found.began_ms)?;
        let faster = |own: &Measured| {
            let then = self.logged.sources_at(own.found.began_ms).filter(|then| *then != now)?;
            let found = self.faster(own)?;
            (!self.logged.found_wrong(then, own.found.config.as_deref(), self.default)).then_some(found)
        };
        let all = self.measured.iter().filter_map(|own| Some((own, faster(own)?)));
        let (best, (_, workload)) = all.max_by(|(_, (one, _)), (_, (other, _))| one.total_cmp(other))?;
        self.beside(best, workload, true, asked)
    }

    /// How many times as fast a state was over the workloads that both were measured on, and the one on which most was lost: where the
    /// intervals are apart on one at least, and on none the other way round. Where a baseline or a shape has changed under its name, or caches
    /// and threads were others, nothing can be said.
    fn faster(&self, own: &Measured) -> Option<(f64, &str)> {
        let same = |then: &Option<String>, now: &Option<String>| then.is_none() || now.is_none() || then == now;
        let threads = own.found.threads.zip(self.found.threads).is_none_or(|(then, now)| then == now);
        if !threads || !same(&own.found.cache, &self.found.cache) {
            return None;
        }
        let (mut all, mut worst) = (Vec::new(), None);
        for ours in &self.found.rows {
            let Some(theirs) = self.row_of(own, &ours.workload).filter(|row| row.baseline == ours.baseline) else {
                continue;
            };
            let (then, now) = (theirs.interval?, ours.interval?);
            let (times, longer) = (theirs.speedup / ours.speedup, ours.median_s? / theirs.median_s?);
            if (times / longer).ln().abs() > LIKE.ln() || now[0] > then[1] * self.no_gain {
                return None;
            }
            let lost = then[0] > now[1] && times.min(longer) > self.no_gain;
            if lost && worst.is_none_or(|(most, _)| times > most) {
                worst = Some((times, ours.workload.as_str()));
            }
            all.push(times.ln());
        }
        let (_, workload) = worst?;
        let mean = (all.iter().sum::<f64>() / all.len() as f64).exp();
        (mean > self.no_gain).then_some((mean, workload))
    }

    /// The state that the last profile was of.
    pub(super) fn after_profile(&self, now: &Now, asked: &Asked) -> Option<FixTried> {
        let found = self.found;
        let profile = self.records.profiles.iter().find(|own| alike(own, found) && own.at_ms < found.at_ms)?;
        let config = found.config.as_deref()?;
        let modified = now.modified_ms.unwrap_or(i64::MIN);
        // A file that was written need not have changed.
        let digests = (self.logged.sources_at(profile.at_ms), self.logged.sources_at(found.began_ms));
        let in_source = match digests {
            (Some(then), Some(now)) => then != now,
            _ => modified > profile.at_ms && modified <= found.at_ms,
        };
        if found.study.is_some() || !(in_source || profile.config != config) {
            return None;
        }
        let workload = found.slowest.workload.as_str();
        let before = |own: &&Measured| {
            let same = match (digests.0, self.logged.sources_at(own.found.began_ms)) {
                (Some(profiled), Some(then)) => then == profiled,
                _ => !in_source || own.found.at_ms < modified,
            };
            same && own.found.config.as_deref() == Some(&profile.config) && self.row_of(own, workload).is_some()
        };
        let before = self.measured.iter().find(before)?;
        let tried = self.beside(before, workload, in_source, asked)?;
        let mut causes = causes(profile, self.logged, found.began_ms, self.no_gain, Some(found)).into_iter();
        Some(FixTried { cause: causes.next(), other: causes.next(), ..tried })
    }

    /// What a state had on a workload, where it is an earlier one of the same work.
    fn row_of<'m>(&self, own: &'m Measured, workload: &str) -> Option<&'m Row> {
        let earlier = own.found.at_ms < self.found.at_ms && is_like(&own.found, self.found);
        let row = own.rows.iter().find(|row| row.workload == workload);
        row.filter(|row| earlier && row.median_s.is_some())
    }

    /// The result beside an earlier state.
    fn beside(&self, own: &Measured, workload: &str, in_source: bool, asked: &Asked) -> Option<FixTried> {
        let now = self.found.rows.iter().find(|row| row.workload == workload)?;
        let then = self.row_of(own, workload)?;
        let (before_s, after_s) = (then.median_s?, now.median_s?);
        // Beside the baseline, which took its turns both times: another state of the machine is no gain.
        let theirs = |name: &str| then.beside.iter().find(|(own, times)| own == name && *times > 0.0);
        let beside = now.beside.iter().find_map(|(name, times)| Some(times / theirs(name)?.1));
        let before = own.found.config.clone()?;
        let revert = match in_source {
            true => self.sources(own, asked),
            false => Some((configuration(&before, &asked.at(self.records), &then.workload), false)),
        };
        Some(FixTried {
            cause: None,
            workload: workload.to_string(),
            gain: beside.unwrap_or(before_s / after_s),
            before_s,
            before,
            stashes: revert.as_ref().is_some_and(|(_, stashes)| *stashes),
            revert: revert.map(|(command, _)| command),
            other: None,
        })
    }

    /// The command that brings the sources of a state back, and whether it stashes what was never committed; none where no commit holds
    /// that state.
    fn sources(&self, own: &Measured, asked: &Asked) -> Option<(String, bool)> {
        let (path, folder) = (asked.path.as_path(), folder(&asked.path));
        let (wanted, recorded) = (self.logged.sources_at(own.found.began_ms), own.found.commit.as_deref());
        // Files that differed from the commit need not be sources, and the state may have been committed since.
        let named = sources_at(path.as_str());
        let named: Vec<&str> = named.iter().filter_map(|file| Some(file.strip_prefix(folder).ok()?.as_str())).collect();
        let words = [&["rev-list", COMMITS, "HEAD", "--", "."][..], &named].concat();
        let listed = git(folder, &words).ok().and_then(Result::ok);
        let later = listed.iter().flat_map(|listed| listed.lines()).filter(|_| wanted.is_some());
        let first = recorded.filter(|commit| wanted.is_some() || !commit.ends_with('+'));
        let mut commits = first.map(|commit| commit.trim_end_matches('+')).into_iter().chain(later);
        let (commit, found) = commits.find_map(|commit| Some((commit, committed(path, commit, wanted)?)))?;
        let files = [&found.restored[..], &found.removed[..]].concat();
        if files.is_empty() {
            return None;
        }
        let typed = |files: &[&str]| files.iter().map(|file| quoted(file)).collect::<Vec<_>>().join(" ");
        let at = format!("git -C {}", quoted(folder.as_str()));
        let all: Vec<&str> = files.iter().map(|file| file.as_str()).collect();
        // What git ignores it neither stashes nor removes.
        let ignored = |file: &Utf8PathBuf| {
            git(folder, &["check-ignore", "--quiet", "--", file.as_str()]).is_ok_and(|own| own.is_ok())
        };
        if found.removed.iter().any(ignored) {
            return None;
        }
        // Nothing that is nowhere else is lost: it goes to the stash.
        let changed = git(folder, &[&["status", "--porcelain", "--"][..], &all].concat()).ok()?.ok()?;
        let stashes = !changed.is_empty();
        let stash = stashes.then(|| format!("{at} stash push --include-untracked -- {}", typed(&all)));
        let in_head =
            |file: &&str| git(folder, &["cat-file", "-e", &format!("HEAD:./{file}")]).is_ok_and(|own| own.is_ok());
        let differs = |file: &&str| {
            let words = ["diff", "--quiet", commit, "HEAD", "--", file];
            git(folder, &words).is_ok_and(|own| own.is_err())
        };
        // What the stash leaves is HEAD's.
        let restored: Vec<&str> = match stashes {
            true => found.restored.iter().map(|file| file.as_str()).filter(differs).collect(),
            false => found.restored.iter().map(|file| file.as_str()).collect(),
        };
        let removed = found.removed.iter().map(|file| file.as_str()).filter(in_head);
        let restored: Vec<&str> = restored.into_iter().chain(removed).collect();
        let restore =
            (!restored.is_empty()).then(|| format!("{at} restore --source={} -- {}", short(commit), typed(&restored)));
        Some((stash.into_iter().chain(restore).collect::<Vec<_>>().join(" && "), stashes))
    }
}

/// The command that measures the configuration to go back to.
fn configuration(config: &str, at: &str, workload: &str) -> String {
    let on = if workload.is_empty() { String::new() } else { format!(" --workload {}", quoted(workload)) };
    format!("kiln bench {at}{on} --config {}", quoted(config))
}
