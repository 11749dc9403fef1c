//! Runs as histories. In: what runs measured. Out: one series for each workload, target, variant, configuration and machine, in the
//! order of commits, with its changes of level. What differs between the environments on both sides of a change is named: a
//! new compiler is nobody's commit.

use std::collections::BTreeMap;

use kiln_stats::{ChangePoint, ChangeRule, Interval, Point, changes};
use kiln_store::{Environment, RunPoint};

use crate::failure::Failure;

/// Runs looked at, the newest of a longer history: time grows with the square of their number.
const MOST: usize = 2000;

/// What the points of a series share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct SeriesKey {
    /// The workload.
    pub workload: String,
    /// The target.
    pub target: String,
    /// The variant, as the user would type it.
    pub variant: String,
    /// The GPU or processor.
    pub device: String,
    /// The host's name; empty where it is not recorded.
    pub host: String,
    /// Whether calls found warm or cold caches.
    pub cache: String,
    /// Threads a call might use.
    pub threads: u64,
    /// The configuration; empty where all are taken together.
    pub config: String,
}

/// One run of a series.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SeriesPoint {
    /// The run.
    pub run: String,
    /// When it began, in milliseconds since 1970.
    pub started_ms: i64,
    /// The commit of the kernel's repository.
    pub commit: Option<String>,
    /// Whether files differed from it.
    pub dirty: bool,
    /// The configuration.
    pub config: String,
    /// Seconds of one call.
    pub median_s: f64,
    /// The 95 % interval of that; none where an older kiln recorded it.
    pub median_ci95: Option<Interval>,
    /// What may matter of the environment: names and versions.
    pub environment: BTreeMap<&'static str, String>,
}

/// A change of level.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SeriesChange {
    /// Where and how much.
    #[serde(flatten)]
    pub change: ChangePoint,
    /// When the first run of the new level began, in milliseconds since 1970.
    pub at_ms: i64,
    /// The commit of the last run before.
    pub from_commit: Option<String>,
    /// The commit of the first run after.
    pub to_commit: Option<String>,
    /// What else differs: `compiler: A -> B`.
    pub environment: Vec<String>,
}

/// A history.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Series {
    /// What its runs share.
    #[serde(flatten)]
    pub key: SeriesKey,
    /// Its runs, in the order of commits.
    pub points: Vec<SeriesPoint>,
    /// Its changes of level.
    pub changes: Vec<SeriesChange>,
}

/// Series of runs. `when` is the moment of a commit, where that is known: runs of one commit stay in the order they were made.
pub(super) fn of(
    runs: Vec<RunPoint>,
    any_config: bool,
    when: &BTreeMap<String, i64>,
    rule: &ChangeRule,
) -> Result<Vec<Series>, Failure> {
    let mut found: BTreeMap<SeriesKey, Vec<(i64, SeriesPoint)>> = BTreeMap::new();
    for run in runs {
        let environment = run.environment.read().cloned().unwrap_or_default();
        let key = SeriesKey {
            workload: run.workload.clone(),
            target: run.target.clone(),
            variant: run.variant.clone(),
            device: run.device.clone(),
            host: environment.host.clone().unwrap_or_default(),
            cache: run.cache.clone(),
            threads: run.threads,
            config: if any_config { String::new() } else { run.config.clone() },
        };
        let point = point(run, &environment);
        let order = point.commit.as_ref().and_then(|commit| when.get(commit)).copied().unwrap_or(point.started_ms);
        found.entry(key).or_default().push((order, point));
    }
    let series = |(key, mut points): (SeriesKey, Vec<(i64, SeriesPoint)>)| {
        points.sort_by_key(|(order, point)| (*order, point.started_ms));
        let points: Vec<SeriesPoint> = points.into_iter().rev().take(MOST).rev().map(|(_, point)| point).collect();
        let changes = changed(&points, rule)?;
        Ok(Series { key, points, changes })
    };
    found.into_iter().map(series).collect()
}

fn point(run: RunPoint, environment: &Environment) -> SeriesPoint {
    let dirty = run.git_commit.as_ref().is_some_and(|commit| commit.ends_with('+'));
    let commit = run.git_commit.map(|commit| commit.trim_end_matches('+').to_string());
    let python = environment.python.clone().unwrap_or_default();
    let parts = [
        ("compiler", environment.compiler.clone()),
        ("system", environment.system.clone()),
        ("governor", environment.governor.clone()),
        ("python", python.version),
        ("numpy", python.numpy),
        ("torch", python.torch),
        ("kiln", Some(run.kiln_version)),
    ];
    SeriesPoint {
        run: run.run,
        started_ms: run.started_ms,
        commit,
        dirty,
        config: run.config,
        median_s: run.median_s,
        median_ci95: run.median_ci95.map(|[low, high]| Interval { low, high }),
        environment: parts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
    }
}

fn changed(points: &[SeriesPoint], rule: &ChangeRule) -> Result<Vec<SeriesChange>, Failure> {
    let figures: Vec<Point> =
        points.iter().map(|point| Point { value: point.median_s, interval: point.median_ci95 }).collect();
    let found = changes(&figures, rule, 0).map_err(|e| kiln_core::Fault::new("looking for changes of level", e))?;
    let told = |change: ChangePoint| {
        let (before, after) = (&points[change.index - 1], &points[change.index]);
        let differs = |(name, now): (&&'static str, &String)| {
            let then = before.environment.get(name)?;
            (then != now).then(|| format!("{name}: {then} -> {now}"))
        };
        SeriesChange {
            change,
            at_ms: after.started_ms,
            from_commit: before.commit.clone(),
            to_commit: after.commit.clone(),
            environment: after.environment.iter().filter_map(differs).collect(),
        }
    };
    Ok(found.into_iter().map(told).collect())
}

impl Series {
    /// The median of each level, with the runs of it.
    fn levels(&self) -> Vec<(f64, &[SeriesPoint])> {
        let starts = std::iter::once(0).chain(self.changes.iter().map(|change| change.change.index));
        let ends = self.changes.iter().map(|change| change.change.index).chain([self.points.len()]);
        let level = |(from, to): (usize, usize)| {
            let times: Vec<f64> = self.points[from..to].iter().map(|point| point.median_s).collect();
            Some((kiln_stats::median(&times).ok()?, &self.points[from..to]))
        };
        starts.zip(ends).filter_map(level).collect()
    }

    /// Commits whose runs lie on a level within `slack` of the fastest, and those whose runs do not. A level hides a change of fewer
    /// runs than a level has at least: a commit with so few is held by their median.
    pub(super) fn fast(&self, slack: f64, rule: &ChangeRule) -> Vec<(&SeriesPoint, bool)> {
        let levels: Vec<Level<'_>> = self.levels().into_iter().map(|(median, runs)| Level::of(median, runs)).collect();
        let best = levels.iter().map(|level| level.fastest(rule)).fold(f64::INFINITY, f64::min);
        let limit = best * (1.0 + slack);
        let marks = levels.iter().flat_map(|level| {
            level.runs.iter().map(move |run| match level.commits.get(&run.commit) {
                Some((runs, median)) if *runs < rule.min_runs || level.is_undivided(rule) => *median <= limit,
                _ => level.median <= limit,
            })
        });
        self.points.iter().zip(marks).collect()
    }
}

/// Runs between two changes.
struct Level<'s> {
    median: f64,
    runs: &'s [SeriesPoint],
    /// How many runs each commit has in it, and their median.
    commits: BTreeMap<&'s Option<String>, (usize, f64)>,
}

impl<'s> Level<'s> {
    fn of(median: f64, runs: &'s [SeriesPoint]) -> Level<'s> {
        let mut times: BTreeMap<&Option<String>, Vec<f64>> = BTreeMap::new();
        runs.iter().for_each(|run| times.entry(&run.commit).or_default().push(run.median_s));
        let known = |(commit, times): (&'s Option<String>, Vec<f64>)| {
            Some((commit, (times.len(), kiln_stats::median(&times).ok()?)))
        };
        Level { median, runs, commits: times.into_iter().filter_map(known).collect() }
    }

    /// Whether it has too few runs to be divided where they differ.
    fn is_undivided(&self, rule: &ChangeRule) -> bool {
        self.runs.len() < 2 * rule.min_runs
    }

    /// What others are held against: of too few runs to find a change the best commit, else all of them together.
    fn fastest(&self, rule: &ChangeRule) -> f64 {
        match self.is_undivided(rule) {
            true => self.commits.values().map(|(_, median)| *median).fold(self.median, f64::min),
            false => self.median,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_store::Kept;

    fn run(number: i64, median_s: f64, commit: &str, compiler: &str) -> RunPoint {
        RunPoint {
            run: format!("run{number}"),
            started_ms: number,
            path: "k".into(),
            target: "cpu".into(),
            arch: None,
            variant: String::new(),
            config: "A=1".into(),
            cache: "warm".into(),
            threads: 1,
            device: "d".into(),
            environment: Kept::found(serde_json::json!({ "host": "h", "compiler": compiler })),
            git_commit: Some(commit.into()),
            kiln_version: "0.1.0".into(),
            workload: "w".into(),
            median_s,
            median_ci95: None,
        }
    }

    #[test]
    fn a_change_names_the_commits_and_what_else_differs() {
        let noise = |number: i64| 1.0 + 0.002 * ((number * 7919) % 11) as f64 / 11.0;
        let mut runs: Vec<RunPoint> = Vec::new();
        for number in 0..24 {
            let (time, commit, compiler) = if number < 12 { (1.0, "aa", "gcc 13") } else { (1.08, "bb", "gcc 14") };
            runs.push(run(number, time * noise(number), commit, compiler));
        }
        let other = RunPoint { config: "A=2".into(), git_commit: Some("bb+".into()), ..run(99, 5.0, "bb", "gcc 14") };
        runs.push(other);
        let found = of(runs.clone(), false, &BTreeMap::new(), &ChangeRule::default()).unwrap();
        assert_eq!(found.len(), 2);
        assert!(found[1].points[0].dirty && found[1].points[0].commit.as_deref() == Some("bb"));
        let [change] = &found[0].changes[..] else { panic!("{:?}", found[0].changes) };
        assert_eq!((change.change.index, change.at_ms), (12, 12));
        assert_eq!((change.from_commit.as_deref(), change.to_commit.as_deref()), (Some("aa"), Some("bb")));
        assert_eq!(change.environment, ["compiler: gcc 13 -> gcc 14"]);
        assert!(change.change.ratio_ci95.contains(1.08));
        let fast: Vec<bool> = found[0].fast(0.03, &ChangeRule::default()).into_iter().map(|(_, fast)| fast).collect();
        assert_eq!(fast, [vec![true; 12], vec![false; 12]].concat());
        // Measured in another order, it is the order of commits that counts.
        runs.reverse();
        let when = BTreeMap::from([("aa".to_string(), 1), ("bb".to_string(), 2)]);
        let shuffled: Vec<RunPoint> =
            (0..24).map(|i| RunPoint { started_ms: (i * 5) % 24, ..runs[i as usize + 1].clone() }).collect();
        let again = of(shuffled, false, &when, &ChangeRule::default()).unwrap();
        assert_eq!(again[0].changes.iter().map(|change| change.change.index).collect::<Vec<_>>(), [12]);
        assert_eq!(of(runs, true, &when, &ChangeRule::default()).unwrap().len(), 1);
    }

    #[test]
    fn a_slow_commit_with_few_runs_is_not_fast() {
        let rule = ChangeRule::default();
        let fast = |runs: Vec<RunPoint>| -> Vec<bool> {
            let found = of(runs, false, &BTreeMap::new(), &rule).unwrap();
            assert!(found[0].changes.is_empty(), "{:?}", found[0].changes);
            found[0].fast(0.03, &rule).into_iter().map(|(_, fast)| fast).collect()
        };
        assert_eq!(fast(vec![run(0, 1.0, "one", "gcc"), run(1, 4.0, "two", "gcc")]), [true, false]);
        assert_eq!(fast(vec![run(0, 4.0, "one", "gcc"), run(1, 1.0, "two", "gcc")]), [false, true]);
        assert_eq!(fast(vec![run(0, 1.0, "one", "gcc"), run(1, 1.02, "two", "gcc")]), [true, true]);
        // Many runs of one commit, then one that is slower: no change is found of a single run.
        let mut runs: Vec<RunPoint> =
            (0..20).map(|number| run(number, 1.0 + 1e-3 * (number % 5) as f64, "one", "gcc")).collect();
        runs.push(run(20, 4.0, "two", "gcc"));
        assert_eq!(fast(runs), [vec![true; 20], vec![false]].concat());
    }
}
