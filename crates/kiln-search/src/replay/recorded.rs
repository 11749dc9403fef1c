//! A recorded space: every configuration that somebody measured, with what was measured. In: names, rows of values, an
//! [`RecordedTime`] each. Out: a [`Space`] of exactly those rows and the answer of each by its index, so that a search can be
//! replayed on it without a GPU. Refuses a recording in which nothing has a time.

use std::fmt;
use std::sync::Arc;

use kiln_core::Value;
use kiln_space::{Dimension, Point, Space};

use crate::known::observation::Observation;
use crate::known::prior::Prior;

/// What was measured of one configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordedTime {
    /// The time that counts (mean or median of the samples); none for a failure.
    pub time: Option<f64>,
    /// The raw samples, where they were kept.
    pub samples: Vec<f64>,
}

/// A space with an answer for each of its configurations.
#[derive(Debug, Clone)]
pub struct Recorded {
    space: Arc<Space>,
    /// By index in the space.
    answers: Vec<RecordedTime>,
    optimum: f64,
}

/// Why rows make no recorded space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unrecorded {
    /// A row has another number of values than there are names.
    Ragged {
        /// The row, counted from 0.
        row: usize,
    },
    /// No row has a time, so there is no optimum to find.
    NoTimes,
}

impl fmt::Display for Unrecorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unrecorded::Ragged { row } => {
                write!(f, "row {row} of the recording has another number of values than there are tunables")
            }
            Unrecorded::NoTimes => f.write_str("no configuration of the recording has a time"),
        }
    }
}

impl std::error::Error for Unrecorded {}

impl Recorded {
    /// Takes rows of values in the order of `names`; of equal rows the last counts.
    pub fn new(names: &[Arc<str>], rows: Vec<(Vec<Value>, RecordedTime)>) -> Result<Recorded, Unrecorded> {
        if let Some(row) = rows.iter().position(|(values, _)| values.len() != names.len()) {
            return Err(Unrecorded::Ragged { row });
        }
        let dimension = |(place, name): (usize, &Arc<str>)| {
            let mut values: Vec<Value> = rows.iter().map(|(row, _)| row[place].clone()).collect();
            // In ascending order, as kernel files list them.
            values.sort();
            values.dedup();
            Dimension { name: name.clone(), values }
        };
        let dimensions: Vec<Dimension> = names.iter().enumerate().map(dimension).collect();
        let place = |(value, dimension): (&Value, &Dimension)| {
            // Every value is in the list that was made of it.
            dimension.values.binary_search(value).unwrap_or(0) as u32
        };
        let points: Vec<Point> = rows.iter().map(|(row, _)| row.iter().zip(&dimensions).map(place).collect()).collect();
        let space = Space::listed(dimensions, &points).ok_or(Unrecorded::NoTimes)?;
        let mut answers = vec![RecordedTime::default(); space.len() as usize];
        for (point, (_, answer)) in points.iter().zip(rows) {
            if let Some(index) = space.index(point) {
                let time = answer.time.and_then(|time| Observation::Time(time).cost());
                answers[index as usize] = RecordedTime { time, samples: answer.samples };
            }
        }
        let optimum = answers.iter().filter_map(|answer| answer.time).fold(f64::INFINITY, f64::min);
        if optimum.is_infinite() {
            return Err(Unrecorded::NoTimes);
        }
        Ok(Recorded { space: Arc::new(space), answers, optimum })
    }

    /// The rows as a space.
    pub fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// The answers in the order of the space's indices.
    pub fn answers(&self) -> &[RecordedTime] {
        &self.answers
    }

    /// The best time there is.
    pub fn optimum(&self) -> f64 {
        self.optimum
    }

    /// The answer to a configuration; none when it was not recorded.
    pub fn answer(&self, point: &[u32]) -> Option<&RecordedTime> {
        self.answers.get(self.space.index(point)? as usize)
    }

    /// The recording as what another study knows.
    pub fn prior(&self, label: &str) -> Prior {
        let observe = |answer: &RecordedTime| answer.time.map_or(Observation::Failed, Observation::Time);
        let trials =
            self.space.iter().zip(&self.answers).map(|(point, a)| (self.space.config(&point), observe(a))).collect();
        Prior { label: label.into(), trials }
    }
}
