//! The map of a sweep: which axis lies along columns and which along rows, one map for each baseline and each combination of the
//! other axes. In: a record. Out: cells as they are drawn, for text and for pictures.

use kiln_core::{Config, Value};
use kiln_stats::{Interval, Verdict};
use kiln_store::{SweepAxis, SweepCell, SweepRecord};

/// One map.
pub(crate) struct Map<'r> {
    /// Against which baseline.
    pub(crate) baseline: &'r str,
    /// What the other axes are here; empty where there are none.
    pub(crate) slice: String,
    /// The names of rows and columns.
    pub(crate) corner: String,
    /// Titles of the columns.
    pub(crate) columns: Vec<String>,
    /// Titles of the rows, and their cells.
    pub(crate) rows: Vec<(String, Vec<Shown>)>,
}

/// A cell as it is drawn.
pub(crate) enum Shown {
    /// Measured.
    Figure {
        /// The speedup.
        speedup: f64,
        /// Its interval.
        interval: Interval,
        /// What is decided.
        mark: Mark,
    },
    /// A word for why there is no figure.
    Word(&'static str),
    /// Not tried.
    Nothing,
}

/// What is decided of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Faster,
    Slower,
    Same,
    TooNoisy,
}

impl Mark {
    fn of(verdict: &str) -> Mark {
        match Verdict::ALL.into_iter().find(|known| known.name() == verdict) {
            Some(Verdict::Faster) => Mark::Faster,
            Some(Verdict::Slower) => Mark::Slower,
            Some(Verdict::Same) => Mark::Same,
            Some(Verdict::TooNoisy) | None => Mark::TooNoisy,
        }
    }

    /// One letter for it.
    pub(crate) fn sign(self) -> char {
        match self {
            Mark::Faster => '+',
            Mark::Slower => '-',
            Mark::Same => '=',
            Mark::TooNoisy => '?',
        }
    }
}

/// A speedup with three digits, `1.52x`.
pub(crate) fn figure(speedup: f64) -> String {
    let decimals = match speedup {
        s if s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.0995 => 2,
        // Three digits, however small.
        s => (2.0 - s.max(1e-6).log10().floor()) as usize,
    };
    format!("{speedup:.decimals$}x")
}

/// Every map of a record: columns are the longest axis, rows the next.
pub(crate) fn maps(record: &SweepRecord) -> Vec<Map<'_>> {
    let mut axes: Vec<&SweepAxis> = record.sweep.axes.iter().collect();
    axes.sort_by_key(|axis| std::cmp::Reverse(axis.values.len()));
    let Some((columns, others)) = axes.split_first() else { return Vec::new() };
    let (rows, others) = others.split_first().map_or((None, others), |(rows, others)| (Some(*rows), others));
    let mut maps = Vec::new();
    for baseline in &record.sweep.baselines {
        for slice in slices(others) {
            maps.push(map(record, baseline, (columns, rows), &slice));
        }
    }
    maps
}

/// Every combination of axes that are neither rows nor columns.
fn slices(axes: &[&SweepAxis]) -> Vec<Vec<(String, Value)>> {
    let mut slices = vec![Vec::new()];
    for axis in axes {
        let with = |slice: &Vec<(String, Value)>| {
            let longer = |value: &Value| slice.iter().cloned().chain([(axis.name.clone(), value.clone())]).collect();
            axis.values.iter().map(longer).collect::<Vec<_>>()
        };
        slices = slices.iter().flat_map(with).collect();
    }
    slices
}

fn map<'r>(
    record: &'r SweepRecord,
    baseline: &'r str,
    (columns, rows): (&SweepAxis, Option<&SweepAxis>),
    slice: &[(String, Value)],
) -> Map<'r> {
    let pairs: Vec<String> = slice.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let at = |row: Option<&Value>, column: &Value| {
        let is = |dims: &Config| {
            dims.get(&columns.name) == Some(column)
                && rows.is_none_or(|rows| dims.get(&rows.name) == row)
                && slice.iter().all(|(name, value)| dims.get(name) == Some(value))
        };
        shown(record.cells.iter().find(|cell| is(&cell.dims)), baseline)
    };
    let line = |row: Option<&Value>| columns.values.iter().map(|column| at(row, column)).collect::<Vec<_>>();
    let lines = match rows {
        Some(rows) => rows.values.iter().map(|row| (row.to_string(), line(Some(row)))).collect(),
        None => vec![(String::new(), line(None))],
    };
    Map {
        baseline,
        slice: pairs.join(", "),
        corner: rows.map_or_else(|| columns.name.clone(), |rows| format!("{} / {}", rows.name, columns.name)),
        columns: columns.values.iter().map(ToString::to_string).collect(),
        rows: lines,
    }
}

fn shown(cell: Option<&SweepCell>, baseline: &str) -> Shown {
    let Some(cell) = cell else { return Shown::Nothing };
    match (cell.against(baseline), &cell.refusal, &cell.why) {
        (Some(one), _, _) => {
            Shown::Figure { speedup: one.speedup, interval: one.speedup_ci95, mark: Mark::of(&one.verdict) }
        }
        (None, Some(refusal), _) => Shown::Word(refusal.gate.name()),
        (None, None, Some(_)) => Shown::Word("no answer"),
        (None, None, None) => Shown::Word("no baseline"),
    }
}
