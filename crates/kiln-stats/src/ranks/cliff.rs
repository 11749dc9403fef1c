//! Cliff's delta: how often one sample's value is larger than the other's, minus how often it is smaller. In: two samples.
//! Out: a number in -1..=1 and the usual word for its size. A p-value says that a difference is there; delta says whether
//! it stands out from the noise. Refuses empty samples, NaN and infinity.

use serde::Serialize;

use crate::error::StatsError;
use crate::ranks::mann_whitney::Ranks;

/// Cliff's delta of `x` over `y`: 1 when every value of `x` is larger, 0 when neither tends to be.
pub fn cliffs_delta(x: &[f64], y: &[f64]) -> Result<f64, StatsError> {
    let pairs = x.len() as f64 * y.len() as f64;
    Ok((2.0 * Ranks::new(x, y)?.u - pairs) / pairs)
}

/// The usual words (Romano and others, 2006).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectSize {
    /// Below 0.147.
    Negligible,
    /// Below 0.33.
    Small,
    /// Below 0.474.
    Medium,
    /// The rest.
    Large,
}

impl EffectSize {
    /// The word for a delta of either sign.
    pub fn of(delta: f64) -> EffectSize {
        match delta.abs() {
            d if d < 0.147 => EffectSize::Negligible,
            d if d < 0.33 => EffectSize::Small,
            d if d < 0.474 => EffectSize::Medium,
            _ => EffectSize::Large,
        }
    }

    /// The stable identifier.
    pub fn name(self) -> &'static str {
        match self {
            EffectSize::Negligible => "negligible",
            EffectSize::Small => "small",
            EffectSize::Medium => "medium",
            EffectSize::Large => "large",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_counting_pairs() {
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[3.0]), Ok(-1.0));
        assert_eq!(cliffs_delta(&[3.0, 2.0, 1.0], &[2.0]), Ok(0.0));
        assert_eq!(cliffs_delta(&[4.0, 2.0, 2.0], &[2.0, 1.0]), Ok(4.0 / 6.0));
        assert!(cliffs_delta(&[], &[1.0]).is_err());
    }

    #[test]
    fn words_change_at_their_limits() {
        let words = [0.0, 0.1469, -0.147, 0.3299, 0.33, 0.4739, -0.474, 1.0].map(|d| EffectSize::of(d).name());
        assert_eq!(words, ["negligible", "negligible", "small", "small", "medium", "medium", "large", "large"]);
    }
}
