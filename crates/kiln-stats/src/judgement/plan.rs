//! How many samples it takes. In: the scatter of a pilot run, or an interval already measured, and the half-width wanted.
//! Out: a number of samples. Refuses numbers that are not positive.
//!
//! Half-widths are relative: 0.01 asks for plus or minus 1 %. The plan is for medians of normal noise; skewed noise is
//! denser around its median and usually needs fewer.

use crate::distributions::normal;
use crate::error::{StatsError, open_unit};

/// Samples for a median known to `half_width`, from a pilot's coefficient of variation.
pub fn samples_for_median(cv: f64, half_width: f64, confidence: f64) -> Result<usize, StatsError> {
    samples(cv, half_width, confidence)
}

/// Samples *per side* for a ratio of medians known to `half_width`, when each side scatters by its `cv` on its own.
/// Interleaving makes shared noise cancel, so this is the most it should take.
pub fn samples_for_ratio(
    baseline_cv: f64,
    candidate_cv: f64,
    half_width: f64,
    confidence: f64,
) -> Result<usize, StatsError> {
    samples(baseline_cv.hypot(candidate_cv), half_width, confidence)
}

/// How many more samples (or blocks) bring an interval from its half-width to the one wanted, widths shrinking with the
/// square root of the number. Zero when it is narrow enough.
pub fn more_samples(measured: usize, half_width: f64, wanted: f64) -> Result<usize, StatsError> {
    above_zero("half-width", wanted)?;
    if !(half_width.is_finite() && half_width >= 0.0) {
        return Err(StatsError::Setting { name: "half-width", value: half_width, expected: "a number of at least 0" });
    }
    let needed = rounded_up(measured as f64 * (half_width / wanted).powi(2));
    Ok(needed.saturating_sub(measured))
}

fn samples(cv: f64, half_width: f64, confidence: f64) -> Result<usize, StatsError> {
    open_unit("confidence", confidence)?;
    above_zero("half-width", half_width)?;
    if !(cv.is_finite() && cv >= 0.0) {
        return Err(StatsError::Setting { name: "cv", value: cv, expected: "a number of at least 0" });
    }
    let z = normal::quantile(0.5 + confidence / 2.0);
    Ok(rounded_up((z * normal::median_penalty() * cv / half_width).powi(2)).max(2))
}

/// Exact answers must not go one up because of rounding in the last place.
fn rounded_up(exact: f64) -> usize {
    (exact * (1.0 - 1e-12)).ceil() as usize
}

fn above_zero(name: &'static str, value: f64) -> Result<(), StatsError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(StatsError::Setting { name, value, expected: "a number above 0" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_plans() {
        // 1.96 * 1.2533 * 5 % / sqrt(n) = 1 % at n = 151; both sides at 5 % take twice that each.
        assert_eq!(samples_for_median(0.05, 0.01, 0.95), Ok(151));
        assert_eq!(samples_for_ratio(0.05, 0.05, 0.01, 0.95), Ok(302));
        assert_eq!(samples_for_median(0.0, 0.01, 0.95), Ok(2));
        assert_eq!(more_samples(100, 0.02, 0.01), Ok(300));
        assert_eq!(more_samples(100, 0.005, 0.01), Ok(0));
    }

    #[test]
    fn plans_without_sense_are_refused() {
        assert!(samples_for_median(f64::NAN, 0.01, 0.95).is_err());
        assert!(samples_for_median(0.05, 0.0, 0.95).is_err());
        assert!(more_samples(10, f64::INFINITY, 0.1).is_err());
    }
}
