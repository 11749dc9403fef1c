//! The history of a kernel's times: each series with its changes of level; for people, as JSON, as CSV of every run.

use std::fmt;

use jiff::tz::TimeZone;
use kiln_app::{Changes, FileChanges, LastGood, Series, SeriesChange};
use serde_json::{Value, json};

use crate::words::command::quoted;
use crate::words::number::{counted, duration};
use crate::words::table::{Align, lines};
use crate::words::time::{moment, stamp};

/// Everything `kiln history --changes` says.
pub struct ChangesView<'a> {
    /// What was found.
    pub found: &'a Changes,
    /// The store it is from.
    pub place: &'a str,
}

impl ChangesView<'_> {
    /// One object; times in seconds.
    pub fn json(&self) -> Value {
        let mut object = json!(self.found);
        let listed = object["series"].as_array_mut().into_iter().flatten();
        for (told, series) in listed.zip(&self.found.series) {
            let changes = told["changes"].as_array_mut().into_iter().flatten();
            for (told, change) in changes.zip(&series.changes) {
                told["bisect"] = json!(self.bisect(series, change));
            }
        }
        object
    }

    /// Every run of every series as a row.
    pub fn csv(&self) -> String {
        let titles = "started,run,commit,dirty,target,variant,workload,device,host,cache,threads,config,median_s,\
                      median_low_s,median_high_s,level,change";
        let mut text = format!("{titles}\n");
        for Series { key, points, changes } in &self.found.series {
            for (place, point) in points.iter().enumerate() {
                let level = changes.iter().filter(|change| change.change.index <= place).count();
                let change = changes.iter().find(|change| change.change.index == place);
                let ends = point
                    .median_ci95
                    .map_or([String::new(), String::new()], |i| [i.low, i.high].map(|v| v.to_string()));
                let [low, high] = ends;
                let cells = [
                    stamp(point.started_ms).unwrap_or_default(),
                    point.run.clone(),
                    point.commit.clone().unwrap_or_default(),
                    u8::from(point.dirty).to_string(),
                    key.target.clone(),
                    key.variant.clone(),
                    key.workload.clone(),
                    key.device.clone(),
                    key.host.clone(),
                    key.cache.clone(),
                    key.threads.to_string(),
                    point.config.clone(),
                    point.median_s.to_string(),
                    low,
                    high,
                    level.to_string(),
                    change.map_or_else(String::new, |change| change.change.ratio.to_string()),
                ];
                text.push_str(&cells.map(|cell| cell_of(&cell)).join(","));
                text.push('\n');
            }
        }
        text
    }

    fn bisect(&self, series: &Series, change: &SeriesChange) -> Option<String> {
        let words = self.found.bisect(series, change)?;
        Some(words.iter().map(|word| quoted(word).to_string()).collect::<Vec<_>>().join(" "))
    }

    fn nothing(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(why) = &self.found.emptied {
            return writeln!(f, "no runs of {} to show: {why}", self.found.kernel);
        }
        writeln!(f, "no runs of {} in {}", self.found.kernel, self.place)?;
        match self.found.others.is_empty() {
            true => writeln!(f, "next\n  kiln bench {}", quoted(&self.found.path)),
            false => writeln!(f, "kernels that have studies: {}", self.found.others.join(", ")),
        }
    }

    /// The changes alone, a block for each series that has some.
    pub fn summary(&self) -> String {
        let changed = self.found.series.iter().filter(|series| !series.changes.is_empty());
        changed.map(|series| self.block(series)).collect::<Vec<_>>().join("\n")
    }

    fn block(&self, series: &Series) -> String {
        let key = &series.key;
        let runs = counted(series.points.len() as u128, "run");
        let mut named = vec![key.workload.as_str(), key.target.as_str(), key.variant.as_str(), key.config.as_str()];
        named.push(&key.device);
        named.retain(|part| !part.is_empty());
        let mut text = format!("{}: {runs}\n", named.join(", "));
        let zone = TimeZone::system();
        let rows: Vec<Vec<String>> = series.changes.iter().map(|change| row(change, &zone)).collect();
        if !rows.is_empty() {
            use Align::{Left, Right};
            text.push_str(&lines(&rows, &[Left, Left, Right, Left, Right, Left, Left]));
        }
        for change in &series.changes {
            if !change.environment.is_empty() {
                text.push_str(&format!("  the environment changed too: {}\n", change.environment.join("; ")));
            }
            if let Some(command) = self.bisect(series, change) {
                text.push_str(&format!("  next: {command}\n"));
            }
        }
        text
    }
}

fn row(change: &SeriesChange, zone: &TimeZone) -> Vec<String> {
    let found = &change.change;
    let percent = |ratio: f64| format!("{:+.1}", 100.0 * (ratio - 1.0));
    let commit = |commit: &Option<String>| {
        commit.as_ref().map_or("-".to_string(), |commit| commit.get(..12).unwrap_or(commit).to_string())
    };
    let commits = match (&change.from_commit, &change.to_commit) {
        (None, None) => "-".into(),
        (from, to) if from == to => commit(from),
        (from, to) => format!("{}..{}", commit(from), commit(to)),
    };
    vec![
        moment(change.at_ms, zone),
        if found.ratio > 1.0 { "slower".into() } else { "faster".into() },
        format!("{} %", percent(found.ratio)),
        format!("[{}, {}]", percent(found.ratio_ci95.low), percent(found.ratio_ci95.high)),
        format!("p {}", (found.p_value * 1e4).round() / 1e4),
        format!("{} -> {}", duration(found.before), duration(found.after)),
        commits,
    ]
}

/// A cell as CSV takes it.
fn cell_of(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

impl fmt::Display for ChangesView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.found.series.is_empty() {
            return self.nothing(f);
        }
        let changes: usize = self.found.series.iter().map(|series| series.changes.len()).sum();
        let series = self.found.series.len();
        let (runs, series) = (counted(self.found.runs as u128, "run"), format!("{series} series"));
        writeln!(f, "{}: {runs} in {series}, {}\n", self.found.kernel, counted(changes as u128, "change"))?;
        let blocks: Vec<String> = self.found.series.iter().map(|series| self.block(series)).collect();
        f.write_str(&blocks.join("\n"))
    }
}

/// Everything `kiln history --series` says.
pub struct FileChangesView<'a>(pub &'a FileChanges);

impl FileChangesView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        json!(self.0)
    }
}

impl fmt::Display for FileChangesView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |ratio: f64| format!("{:+.1}", 100.0 * (ratio - 1.0));
        for series in &self.0.series {
            let changes = counted(series.changes.len() as u128, "change");
            writeln!(f, "{}: {}, {changes}", series.name, counted(series.points as u128, "point"))?;
            let row = |one: &kiln_app::FileChange| {
                let found = &one.change;
                vec![
                    format!("at {}", found.index),
                    one.label.clone().unwrap_or_default(),
                    format!("{} %", percent(found.ratio)),
                    format!("[{}, {}]", percent(found.ratio_ci95.low), percent(found.ratio_ci95.high)),
                    format!("{:.4} -> {:.4}", found.before, found.after),
                    format!("p {}", (found.p_value * 1e4).round() / 1e4),
                ]
            };
            let rows: Vec<Vec<String>> = series.changes.iter().map(row).collect();
            if !rows.is_empty() {
                f.write_str(&lines(&rows, &[Align::Left; 6]))?;
            }
        }
        Ok(())
    }
}

/// Everything `kiln history --last-good` says.
pub struct LastGoodView<'a>(pub &'a LastGood);

impl LastGoodView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        json!(self.0)
    }
}

impl fmt::Display for LastGoodView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LastGood { kernel, judged, commit, behind, recorded } = self.0;
        let what = match *judged {
            "build" => "built",
            "check" => "correct",
            _ => "fast",
        };
        match (commit, behind) {
            (Some(commit), Some(behind)) => {
                let after = match behind {
                    0 => "the current commit".to_string(),
                    n => format!("{} ago", counted(*n as u128, "commit")),
                };
                writeln!(f, "{} {}", commit.commit, commit.subject)?;
                writeln!(f, "  the newest commit recorded as {what} for {kernel}: {after}")
            }
            _ if *recorded > 0 => {
                let commits = counted(*recorded as u128, "commit");
                writeln!(f, "no ancestor of HEAD is recorded as {what} for {kernel}; {commits} elsewhere are")
            }
            _ => writeln!(f, "no commit is recorded as {what} for {kernel}"),
        }
    }
}
