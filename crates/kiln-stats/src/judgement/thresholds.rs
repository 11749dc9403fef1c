//! What a verdict demands. In: nothing, or a dead zone. Out: [`Thresholds`], every number settable. `check` refuses numbers
//! without sense before they lead to a verdict without sense.

use serde::{Deserialize, Serialize};

use crate::error::{StatsError, open_unit};
use crate::interval::Interval;

/// How much of the speedup's interval must support a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// The estimate lies beyond the threshold, and the interval excludes "no difference". This is the mission's rule. A
    /// difference well beyond the threshold is found with few samples; one right at it, half the time.
    Difference,
    /// The whole interval lies beyond the threshold: "at least 10 % faster" and not "10 % faster, give or take". Takes many
    /// more samples: a 5 % slowdown at CV 5 % passes a 3 % threshold this way in two of three runs of 100 samples.
    Whole,
}

/// Limits of a verdict. Fractions: 0.03 is 3 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// A candidate is slower when it takes more than this fraction more time.
    pub dead_zone: f64,
    /// A candidate is faster when the baseline takes at least this fraction more time: 0.10 asks for a speedup of 1.10.
    pub improvement: f64,
    /// Confidence of the intervals that decide; the rank test must reach 1 minus it.
    pub confidence: f64,
    /// Least Cliff's delta for slower.
    pub min_effect: f64,
    /// Least Cliff's delta for faster.
    pub min_effect_improvement: f64,
    /// How much of the interval must support the claim.
    pub proof: Proof,
    /// An interval that is not inside the dead zone still means `same` up to this half-width, and `too_noisy` above.
    pub resolution: f64,
    /// Fewer blocks than this are always too noisy.
    pub min_blocks: usize,
    /// Coefficient of variation above which a warning is given.
    pub max_cv: f64,
    /// Bootstrap resamples.
    pub resamples: usize,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds::with_dead_zone(0.03)
    }
}

impl Thresholds {
    /// The same limits with a dead zone of at least this: for times that cannot be told apart more finely.
    pub fn no_finer_than(self, fraction: f64) -> Thresholds {
        let (dead_zone, improvement) = (self.dead_zone.max(fraction), self.improvement.max(fraction));
        Thresholds { dead_zone, improvement, ..self }
    }

    /// The same threshold for faster and slower. With a dead zone of 0 any difference counts.
    pub fn with_dead_zone(dead_zone: f64) -> Thresholds {
        Thresholds {
            dead_zone,
            improvement: dead_zone,
            confidence: 0.95,
            min_effect: 0.147,
            min_effect_improvement: 0.147,
            proof: Proof::Difference,
            resolution: (dead_zone / 2.0).max(0.01),
            min_blocks: 5,
            max_cv: 0.12,
            resamples: 10_000,
        }
    }

    /// The mission's rules for performance CI. Regression: more than 3 % slower and intervals do not overlap. Improvement:
    /// 10 % faster, no overlap, Cliff's delta at least 0.3. Otherwise no significant difference.
    pub fn mission() -> Thresholds {
        Thresholds {
            improvement: 0.10,
            min_effect: 0.0,
            min_effect_improvement: 0.3,
            ..Thresholds::with_dead_zone(0.03)
        }
    }

    /// Speedups that do not matter.
    pub(crate) fn zone(&self) -> Interval {
        Interval { low: 1.0 / (1.0 + self.dead_zone), high: 1.0 + self.improvement }
    }

    pub(crate) fn check(&self) -> Result<(), StatsError> {
        let fractions = [
            ("dead_zone", self.dead_zone),
            ("improvement", self.improvement),
            ("resolution", self.resolution),
            ("max_cv", self.max_cv),
        ];
        for (name, value) in fractions {
            if !(value.is_finite() && value >= 0.0) {
                return Err(StatsError::Setting { name, value, expected: "a number of at least 0" });
            }
        }
        for (name, value) in [("min_effect", self.min_effect), ("min_effect_improvement", self.min_effect_improvement)]
        {
            if !(0.0..=1.0).contains(&value) {
                return Err(StatsError::Setting { name, value, expected: "a number from 0 to 1" });
            }
        }
        open_unit("confidence", self.confidence)?;
        if self.resamples < 100 {
            let value = self.resamples as f64;
            return Err(StatsError::Setting { name: "resamples", value, expected: "at least 100" });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_sense_are_refused() {
        assert!(Thresholds::default().check().is_ok() && Thresholds::mission().check().is_ok());
        let wrong = [
            Thresholds::with_dead_zone(-0.1),
            Thresholds::with_dead_zone(f64::NAN),
            Thresholds { confidence: 1.0, ..Thresholds::default() },
            Thresholds { min_effect: 1.5, ..Thresholds::default() },
            Thresholds { resamples: 10, ..Thresholds::default() },
        ];
        assert!(wrong.iter().all(|t| t.check().is_err()));
    }

    #[test]
    fn a_file_may_name_only_what_differs() {
        let set: Thresholds = serde_json::from_str(r#"{"improvement": 0.2, "proof": "whole"}"#).unwrap();
        assert_eq!(set, Thresholds { improvement: 0.2, proof: Proof::Whole, ..Thresholds::default() });
        assert!(serde_json::from_str::<Thresholds>(r#"{"dead_zoned": 0.2}"#).is_err());
    }
}
