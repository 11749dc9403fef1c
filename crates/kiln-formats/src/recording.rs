//! Recorded spaces: every configuration somebody measured, with what became of it. In: a Kernel Tuner cache or a T4 file.
//! Out: a [`Recording`], the same from both. Refuses a file without a single configuration in it; what is odd but can be
//! read is told as a warning.

mod cache;
mod collect;
pub(crate) mod t4;
mod time;

use std::sync::Arc;

use kiln_core::{Config, Report, Value};

pub(crate) use collect::Collection;

use crate::json;
use crate::{Kind, kind, plain_bytes};

/// What was measured of one kernel on one device.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The kernel's name, where the file tells it.
    pub kernel: Option<String>,
    /// The device's name, where the file tells it.
    pub device: Option<String>,
    /// The tunables, in the file's order.
    pub names: Vec<Arc<str>>,
    /// For each tunable the values it may take: a cache's own lists, for T4 those that occur, in ascending order.
    pub values: Vec<Vec<Value>>,
    /// The configurations, each once, in the file's order.
    pub rows: Vec<Row>,
    /// What is odd about the file.
    pub warnings: Vec<Report>,
}

/// One configuration with its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// For each tunable the place of its value in [`Recording::values`].
    pub point: Box<[u32]>,
    /// What became of it.
    pub outcome: Recorded,
}

/// What became of one configuration.
#[derive(Debug, Clone, PartialEq)]
pub enum Recorded {
    /// It ran.
    Time {
        /// The time it is ranked by, in seconds.
        seconds: f64,
        /// Single measurements in seconds; none where the file has only the time.
        samples: Box<[f64]>,
    },
    /// It has no time.
    Failed {
        /// In T4's terms.
        kind: Invalidity,
        /// In the file's own words.
        reason: Arc<str>,
    },
}

/// Why a configuration has no time: T4's closed list without `correct`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Invalidity {
    /// It took too long.
    Timeout,
    /// The compiler refused it.
    Compile,
    /// It could not be launched, or crashed.
    Runtime,
    /// Its answer is wrong.
    Correctness,
    /// A rule of the space or a limit of the device forbids it.
    Constraints,
}

impl Invalidity {
    /// All of them.
    pub const ALL: [Invalidity; 5] = [
        Invalidity::Timeout,
        Invalidity::Compile,
        Invalidity::Runtime,
        Invalidity::Correctness,
        Invalidity::Constraints,
    ];

    /// As T4 spells it.
    pub fn name(self) -> &'static str {
        match self {
            Invalidity::Timeout => "timeout",
            Invalidity::Compile => "compile",
            Invalidity::Runtime => "runtime",
            Invalidity::Correctness => "correctness",
            Invalidity::Constraints => "constraints",
        }
    }
}

impl Recorded {
    /// A measured time with its samples; a failure if it can rank nothing. Some files rank by something else than their
    /// samples hold, such as a time with transfers: a time that lies outside its samples becomes their mean, by scaling
    /// them, so that they tell how it scatters. Samples that are no times are left out altogether.
    pub fn time(seconds: f64, mut samples: Vec<f64>) -> Recorded {
        // Older Kernel Tuners wrote 1e20 ms for what failed.
        if !(seconds > 0.0 && seconds < 1e17) {
            return Recorded::failed(Invalidity::Runtime, "no time");
        }
        if !samples.iter().all(|sample| sample.is_finite() && *sample > 0.0) {
            samples.clear();
        }
        let (least, most) = samples.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), s| (s.min(l), s.max(m)));
        // A mean of equal samples may miss them by its last digit.
        if !(least * (1.0 - 1e-9)..=most * (1.0 + 1e-9)).contains(&seconds) {
            let mean = samples.iter().sum::<f64>() / samples.len() as f64;
            samples.iter_mut().for_each(|sample| *sample *= seconds / mean);
        }
        Recorded::Time { seconds, samples: samples.into() }
    }

    /// A failure with its reason.
    pub fn failed(kind: Invalidity, reason: impl Into<Arc<str>>) -> Recorded {
        Recorded::Failed { kind, reason: reason.into() }
    }

    /// The time to rank by; none for a failure.
    pub fn seconds(&self) -> Option<f64> {
        match self {
            Recorded::Time { seconds, .. } => Some(*seconds),
            Recorded::Failed { .. } => None,
        }
    }
}

impl Recording {
    /// A row's values by name.
    pub fn config(&self, row: &Row) -> Config {
        let value = |(place, index): (usize, &u32)| self.values[place][*index as usize].clone();
        Config::new(self.names.iter().cloned().zip(row.point.iter().enumerate().map(value)).collect())
    }

    /// The best time in seconds; none if everything failed.
    pub fn optimum(&self) -> Option<f64> {
        self.rows.iter().filter_map(|row| row.outcome.seconds()).min_by(f64::total_cmp)
    }

    /// How many configurations failed.
    pub fn failures(&self) -> usize {
        self.rows.iter().filter(|row| row.outcome.seconds().is_none()).count()
    }
}

/// Reads a recorded space: a Kernel Tuner cache or a T4 file, gzipped or not.
pub fn read_recording(name: &str, bytes: &[u8]) -> Result<Recording, Vec<Report>> {
    let bytes = plain_bytes(name, bytes)?;
    let read = match kind(&bytes) {
        Some(Kind::Cache) => cache::read,
        Some(Kind::T1) => {
            return Err(vec![
                Report::error(format!("{name} is a T1 file: it describes a space, and records nothing"))
                    .label("expected a Kernel Tuner cache or a T4 file"),
            ]);
        }
        None if t4::is_t4(&bytes) => t4::read,
        None => {
            json::check(name, &bytes)?;
            return Err(vec![
                Report::error(format!("{name} holds no recorded configurations"))
                    .label("expected a Kernel Tuner cache (with tune_params and cache) or a T4 file (with results)"),
            ]);
        }
    };
    // Python writes NaN and Infinity where JSON knows neither; only a file that has them is gone over twice.
    match read(name, &bytes) {
        Err(broken) => match json::without_nan(&bytes) {
            Some(mended) => read(name, &mended),
            None => Err(broken),
        },
        read => read,
    }
}

#[cfg(test)]
mod tests;
