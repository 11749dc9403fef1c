//! When a kernel became faster or slower. In: a kernel, and which of its runs count. Out: its series with their changes of level,
//! and for each slowdown between two commits the bisection that finds the culprit.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Report;
use kiln_stats::ChangeRule;
use kiln_store::{RunPoint, Store};
use serde::Serialize;

use super::only::{HistoryFilter, Only, Record};
use super::series::{self, Series, SeriesChange};
use super::{is_path, kernel_name, kernels};
use crate::failure::Failure;
use crate::kernel::folder;
use crate::project::Project;
use crate::record::{Whose, folder_of};
use crate::repository::{Repository, git};

/// Which runs count.
#[derive(Debug, Clone, Default)]
pub struct ChangesRequest {
    /// The kernel: its folder, its kernel.toml or its name.
    pub kernel: Utf8PathBuf,
    /// Whether that is a name, whatever lies in a folder of this name.
    pub by_name: bool,
    /// Of those, these alone.
    pub only: HistoryFilter,
    /// All configurations as one series.
    pub any_config: bool,
    /// In the order of runs instead of commits.
    pub by_time: bool,
    /// Least change, in per cent.
    pub min_change: f64,
}

/// The history of a kernel.
#[derive(Debug, Clone, Serialize)]
pub struct Changes {
    /// The kernel's name.
    pub kernel: String,
    /// Where it lies, as the newest run was typed.
    pub path: String,
    /// Runs that count.
    pub runs: usize,
    /// By workload, target, variant, machine and configuration.
    pub series: Vec<Series>,
    /// Kernels that have runs, where this one has none.
    #[serde(skip)]
    pub others: Vec<String>,
    /// Which filter left nothing, in words, where one did.
    #[serde(skip)]
    pub emptied: Option<String>,
}

/// Looks for changes.
pub fn changes(project: &Project, request: &ChangesRequest) -> Result<Changes, Failure> {
    let rule = rule(request.min_change)?;
    let only = Only::read(&request.only)?;
    let kernel = if request.by_name { request.kernel.to_string() } else { kernel_name(&request.kernel)? };
    let mut found = Changes {
        path: request.kernel.to_string(),
        kernel: kernel.clone(),
        runs: 0,
        series: Vec::new(),
        others: Vec::new(),
        emptied: None,
    };
    let Some(store) = project.recorded()? else { return Ok(found) };
    let at = Some(request.kernel.as_path()).filter(|words| !request.by_name && is_path(words));
    let mut runs = of_kernel(&store, &kernel, at)?;
    if !only.is_all() {
        let records: Vec<Record> = runs.iter().map(Record::from).collect();
        found.emptied = only.emptied(&records);
        let mut records = records.iter();
        runs.retain(|_| records.next().is_some_and(|record| only.keeps(record)));
    }
    if let Some(newest) = runs.last() {
        found.path.clone_from(&newest.path);
    } else {
        found.others = kernels(&store)?;
    }
    let mut ids: Vec<&str> = runs.iter().map(|run| run.run.as_str()).collect();
    ids.dedup();
    found.runs = ids.len();
    let when = if request.by_time { BTreeMap::new() } else { moments(&runs) };
    found.series = series::of(runs, request.any_config, &when, &rule)?;
    Ok(found)
}

/// What counts as a change, from so many per cent on.
pub(super) fn rule(min_change: f64) -> Result<ChangeRule, Failure> {
    if !(0.0..1000.0).contains(&min_change) {
        let report = Report::error(format!("--min-change {min_change} is out of range"));
        return Err(report.label("expected per cent, from 0 to 1000").into());
    }
    Ok(ChangeRule { min_change: min_change / 100.0, ..ChangeRule::default() })
}

/// What runs measured of a kernel; a path means the kernel there, not another one of its name.
pub(super) fn of_kernel(store: &Store, kernel: &str, at: Option<&Utf8Path>) -> Result<Vec<RunPoint>, Failure> {
    let mut runs = store.points(kernel)?;
    let whose = at.map(|path| Whose::at(kernel, path));
    runs.retain(|run| whose.as_ref().is_none_or(|whose| whose.measured(kernel, run)));
    Ok(runs)
}

/// When the commits of runs were made, as far as their repository is here.
pub(super) fn moments(runs: &[RunPoint]) -> BTreeMap<String, i64> {
    let mut commits: Vec<&str> =
        runs.iter().filter_map(|run| run.git_commit.as_deref()).map(|commit| commit.trim_end_matches('+')).collect();
    commits.sort_unstable();
    commits.dedup();
    let here = runs.iter().rev().find_map(|run| folder_of(Utf8Path::new(&run.path)));
    let Some(here) = here.filter(|_| !commits.is_empty()) else { return BTreeMap::new() };
    let words = ["log", "--no-walk=unsorted", "--ignore-missing", "--format=%H %ct"];
    let told = git(folder(&here), &[&words[..], &commits].concat());
    let Ok(Ok(told)) = told else { return BTreeMap::new() };
    let moment = |line: &str| {
        let (commit, seconds) = line.split_once(' ')?;
        Some((commit.to_string(), 1000 * seconds.trim().parse::<i64>().ok()?))
    };
    told.lines().filter_map(moment).collect()
}

impl Changes {
    /// The command that finds the culprit of a slowdown; none where the commits do not differ or nothing became slower.
    pub fn bisect(&self, series: &Series, change: &SeriesChange) -> Option<Vec<String>> {
        let (from, to) = (change.from_commit.as_ref()?, change.to_commit.as_ref()?);
        let slower = change.change.ratio - 1.0;
        if slower <= 0.0 || from == to {
            return None;
        }
        // Half of the change, and no more than the usual limit.
        let limit = (50.0 * slower).clamp(0.5, 3.0);
        let mut words = vec!["kiln".to_string(), "bisect".into(), self.path.clone()];
        let flags = [
            ("--good", short(from)),
            ("--bad", short(to)),
            ("--until", format!("fast:{}%", (limit * 10.0).floor() / 10.0)),
            ("--workload", series.key.workload.clone()),
            ("--target", series.key.target.clone()),
            ("--variant", series.key.variant.clone()),
            ("--config", series.key.config.clone()),
        ];
        for (flag, value) in flags.into_iter().filter(|(_, value)| !value.is_empty()) {
            words.extend([flag.to_string(), value]);
        }
        Some(words)
    }
}

fn short(commit: &str) -> String {
    crate::repository::short(commit).to_string()
}

/// The kernel's folder within its repository.
pub(super) fn inside(path: &Utf8Path) -> Option<(Repository, Utf8PathBuf)> {
    let folder = folder_of(path)?;
    let repository = Repository::around(&folder, "", "").ok()?;
    let inside = repository.inside(&folder)?;
    Some((repository, inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with a kernel and two commits, and a store in which runs of the second are 6 % slower.
    fn recorded() -> (tempfile::TempDir, Project, Utf8PathBuf, [String; 2]) {
        let holder = tempfile::tempdir().unwrap();
        let top = Utf8PathBuf::from_path_buf(holder.path().canonicalize().unwrap()).unwrap();
        let place = top.join("kernels/k");
        fs_err::create_dir_all(&place).unwrap();
        let toml = "[kernel]\nname = \"k\"\nentry = \"k\"\n[tunables]\nA = [1]\n[target.cpu]\nsource = \"k.c\"\n";
        fs_err::write(place.join("kernel.toml"), toml).unwrap();
        let told = |words: &[&str]| git(&top, words).unwrap().unwrap();
        told(&["init", "-q"]);
        let mut commits = Vec::new();
        for (text, date) in [("1", "2026-01-01T00:00:00Z"), ("2", "2026-02-01T00:00:00Z")] {
            fs_err::write(place.join("k.c"), text).unwrap();
            told(&["add", "."]);
            let own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
            let output = std::process::Command::new("git")
                .arg("-C")
                .arg(&top)
                .args(own)
                .args(["commit", "-qm", text])
                .env("GIT_COMMITTER_DATE", date)
                .output();
            assert!(output.unwrap().status.success());
            commits.push(told(&["rev-parse", "HEAD"]));
        }
        let project = Project::here(Some(top.join("kiln.db").to_string()), crate::project::Stop::never());
        let store = project.store().unwrap();
        for number in 0..30i64 {
            // Measured in turns, as a bisection would.
            let second = number % 2 == 1;
            let time = if second { 1.06e-3 } else { 1e-3 } * (1.0 + 0.004 * ((number * 7919) % 13) as f64 / 13.0);
            let side = kiln_store::RunSide { workload: "w".into(), median_s: Some(time), ..Default::default() };
            let run = kiln_store::Run {
                id: kiln_store::Study::new_id(),
                started_ms: 1_780_000_000_000 + number,
                seconds: 1.0,
                kernel: "k".into(),
                path: place.to_string(),
                target: "cpu".into(),
                arch: None,
                variant: String::new(),
                config: Some("A=1".into()),
                cache: "warm".into(),
                threads: 1,
                seed: 1,
                device: if number < 28 { "A Processor" } else { "Another" }.into(),
                environment: kiln_store::Kept::found(serde_json::json!({ "host": "h", "folder": place.as_str() })),
                git_commit: Some(commits[usize::from(second)].clone()),
                spec_hash: String::new(),
                kiln_version: "0.1.0".into(),
                result: kiln_store::Kept::found(serde_json::json!([])),
                sides: vec![side],
                samples: None,
            };
            store.record_run(&run).unwrap();
        }
        let commits = [commits[0].clone(), commits[1].clone()];
        (holder, project, place, commits)
    }

    #[test]
    fn a_slowdown_names_its_commits_and_offers_the_bisection() {
        let (_holder, project, place, [first, second]) = recorded();
        let request = ChangesRequest { kernel: place.clone(), min_change: 2.0, ..ChangesRequest::default() };
        let found = changes(&project, &request).unwrap();
        assert_eq!((found.runs, found.series.len()), (30, 2));
        let series = &found.series[0];
        assert_eq!((series.key.device.as_str(), series.points.len()), ("A Processor", 28));
        let [change] = &series.changes[..] else { panic!("{:?}", series.changes) };
        assert_eq!((change.from_commit.as_ref(), change.to_commit.as_ref()), (Some(&first), Some(&second)));
        let command = found.bisect(series, change).unwrap().join(" ");
        let (good, bad) = (short(&first), short(&second));
        let expected = format!(
            "kiln bisect {place} --good {good} --bad {bad} --until fast:3% --workload w --target cpu --config A=1"
        );
        assert_eq!(command, expected);
        // In the order of runs there is none: they were measured in turns.
        let by_time = changes(&project, &ChangesRequest { by_time: true, ..request.clone() }).unwrap();
        assert!(by_time.series.iter().all(|series| series.changes.is_empty()));
        let only = |request: ChangesRequest| changes(&project, &request).unwrap().runs;
        let filtered = |only: HistoryFilter| changes(&project, &ChangesRequest { only, ..request.clone() }).unwrap();
        let any = HistoryFilter::default;
        assert_eq!(filtered(HistoryFilter { device: Some("another".into()), ..any() }).runs, 2);
        assert_eq!(filtered(HistoryFilter { workload: Some("v".into()), ..any() }).runs, 0);
        let none = filtered(HistoryFilter { since: Some("2100-01-01".into()), ..any() });
        let why = "--since 2100-01-01 leaves none of 30 records: without it 30 would be left";
        assert_eq!((none.runs, none.emptied.as_deref()), (0, Some(why)));
        assert_eq!(only(ChangesRequest { min_change: 10.0, ..request.clone() }), 30);
        let large = changes(&project, &ChangesRequest { min_change: 10.0, ..request }).unwrap();
        assert!(large.series.iter().all(|series| series.changes.is_empty()));
    }

    #[test]
    fn the_newest_good_commit_is_named_by_each_measure() {
        let (_holder, project, place, [first, second]) = recorded();
        let newest = |judged: &str| super::super::last_good(&project, &place, judged).unwrap();
        // Runs are built and correct; only those of the first commit are fast.
        for (judged, commit, behind) in [("build", &second, 0), ("check", &second, 0), ("fast", &first, 1)] {
            let found = newest(judged);
            assert_eq!((found.commit.map(|found| found.commit).as_ref(), found.behind), (Some(commit), Some(behind)));
        }
        assert!(super::super::last_good(&project, &place, "slow").is_err());
        let wrong =
            |path: &str| super::super::last_good(&project, Utf8Path::new(path), "fast").unwrap_err().to_string();
        let none = wrong("nosuch");
        assert!(none.contains("there is no kernel `nosuch` here") && none.contains("hint: give the kernel"), "{none}");
        assert!(wrong("k").contains("`k` is a kernel's name"), "{}", wrong("k"));
    }
}
