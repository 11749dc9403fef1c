//! Why a figure could not be computed, and the checks that say so before anything is computed. In: samples. Out: nothing,
//! or the first sample at fault. A NaN that slips into a sort or a median comes out as a plausible number, so every
//! public function looks at its samples first.

/// Samples or settings that have no answer.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum StatsError {
    /// No samples at all.
    #[error("no samples")]
    Empty,
    /// A sample that is NaN or infinite.
    #[error("sample {index} is {value}, which is not a finite number")]
    NotFinite {
        /// Its place, from 0.
        index: usize,
        /// The sample.
        value: f64,
    },
    /// A ratio was asked for, and a time is zero or negative.
    #[error("sample {index} is {value}; a ratio needs times above 0")]
    NotPositive {
        /// Its place, from 0.
        index: usize,
        /// The sample.
        value: f64,
    },
    /// Fewer samples or blocks than the question needs.
    #[error("{given} given, at least {needed} needed")]
    TooFew {
        /// How many there are.
        given: usize,
        /// How many it takes.
        needed: usize,
    },
    /// Interleaved series are measured in pairs.
    #[error("{baseline} baseline and {candidate} candidate samples; interleaved series are equally long")]
    Unpaired {
        /// Samples of the baseline.
        baseline: usize,
        /// Samples of the candidate.
        candidate: usize,
    },
    /// A setting outside its range.
    #[error("{name} is {value}, expected {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// What it was set to.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// The caller's statistic gave NaN or infinity for some resample.
    #[error("the statistic gave {0} for a resample")]
    Statistic(f64),
}

/// At least one sample, all finite.
pub(crate) fn finite(samples: &[f64]) -> Result<(), StatsError> {
    if samples.is_empty() {
        return Err(StatsError::Empty);
    }
    match samples.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(StatsError::NotFinite { index, value: samples[index] }),
        None => Ok(()),
    }
}

/// At least one sample, all finite and above zero.
pub(crate) fn positive(samples: &[f64]) -> Result<(), StatsError> {
    finite(samples)?;
    match samples.iter().position(|v| *v <= 0.0) {
        Some(index) => Err(StatsError::NotPositive { index, value: samples[index] }),
        None => Ok(()),
    }
}

/// A probability strictly between 0 and 1.
pub(crate) fn open_unit(name: &'static str, value: f64) -> Result<(), StatsError> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(StatsError::Setting { name, value, expected: "a number between 0 and 1, both excluded" })
    }
}

/// A count that is not zero.
pub(crate) fn some(name: &'static str, value: usize) -> Result<(), StatsError> {
    if value > 0 { Ok(()) } else { Err(StatsError::Setting { name, value: 0.0, expected: "at least 1" }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sample_at_fault_is_named() {
        assert_eq!(finite(&[]), Err(StatsError::Empty));
        assert_eq!(
            finite(&[1.0, f64::INFINITY, f64::NAN]),
            Err(StatsError::NotFinite { index: 1, value: f64::INFINITY })
        );
        assert_eq!(positive(&[1.0, 0.0]), Err(StatsError::NotPositive { index: 1, value: 0.0 }));
        assert!(finite(&[0.0, -1.0]).is_ok());
        assert_eq!(positive(&[-2.0]).unwrap_err().to_string(), "sample 0 is -2; a ratio needs times above 0");
    }
}
