//! Changes of level in a file of somebody else's figures. In: CSV or JSON. Out: for each series where it changed, by how much and
//! how surely.

use std::io::Read;

use camino::Utf8Path;
use kiln_core::{Fault, Report};
use kiln_formats::{FileSeries, LARGEST_FILE, read_series};
use kiln_stats::{ChangePoint, Point, changes};
use serde::Serialize;

use super::changes::rule;
use crate::failure::Failure;
use crate::kernel::read_bounded;

/// One series of the file.
#[derive(Debug, Clone, Serialize)]
pub struct FileSeriesChanges {
    /// What it is called.
    pub name: String,
    /// Figures in it.
    pub points: usize,
    /// Where it changed.
    pub changes: Vec<FileChange>,
}

/// A change of level.
#[derive(Debug, Clone, Serialize)]
pub struct FileChange {
    /// Where and how much.
    #[serde(flatten)]
    pub change: ChangePoint,
    /// What the first run of the new level is called; none where the file does not say.
    pub label: Option<String>,
}

/// What was found in a file.
#[derive(Debug, Clone, Serialize)]
pub struct FileChanges {
    /// In the order of the file.
    pub series: Vec<FileSeriesChanges>,
}

/// Looks for changes in a file; `-` is standard input. `min_change` is in per cent.
pub fn series_changes(file: &Utf8Path, min_change: f64) -> Result<FileChanges, Failure> {
    let rule = rule(min_change)?;
    let bytes = match file.as_str() {
        "-" => {
            let mut bytes = Vec::new();
            std::io::stdin().take(LARGEST_FILE).read_to_end(&mut bytes)?;
            bytes
        }
        _ => read_bounded(file, LARGEST_FILE)?,
    };
    let text = String::from_utf8(bytes).map_err(|_| Report::error(format!("{file} is not UTF-8")))?;
    let found = |series: FileSeries| {
        let points: Vec<Point> = series.values.iter().map(|value| Point::from(*value)).collect();
        let changes = changes(&points, &rule, 0).map_err(|e| Fault::new(format!("looking at {}", series.name), e))?;
        let label = |change: ChangePoint| FileChange { label: series.labels.get(change.index).cloned(), change };
        let changes = changes.into_iter().map(label).collect();
        Ok(FileSeriesChanges { points: points.len(), changes, name: series.name })
    };
    let series = read_series(file.as_str(), &text)?.into_iter().map(found).collect::<Result<_, Failure>>()?;
    Ok(FileChanges { series })
}
