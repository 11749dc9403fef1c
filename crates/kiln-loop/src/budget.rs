//! How much a study may take. In: minutes, or money and a price by the hour. Out: whether there is time for another trial.

use std::time::{Duration, Instant};

/// The share of the time that is kept for finals, confirmation and ablation.
const KEPT: f64 = 0.25;

/// A limit on time.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    started: Instant,
    whole: Option<Duration>,
}

impl Budget {
    /// From now on.
    pub fn new(minutes: Option<f64>) -> Budget {
        let whole = minutes.filter(|m| m.is_finite() && *m >= 0.0).map(|m| Duration::from_secs_f64(m * 60.0));
        Budget { started: Instant::now(), whole }
    }

    /// The minutes an amount of money buys.
    pub fn minutes_for(cost: f64, price_per_hour: f64) -> f64 {
        cost / price_per_hour * 60.0
    }

    /// Whether searching must end.
    pub(crate) fn search_is_over(&self) -> bool {
        self.whole.is_some_and(|whole| self.started.elapsed() > whole.mul_f64(1.0 - KEPT))
    }

    /// Whether everything must end.
    pub(crate) fn is_over(&self) -> bool {
        self.whole.is_some_and(|whole| self.started.elapsed() > whole)
    }

    /// Since when.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_time() {
        assert_eq!(Budget::minutes_for(1.0, 4.0), 15.0);
        assert!(!Budget::new(None).is_over() && !Budget::new(Some(1e9)).search_is_over());
        assert!(Budget::new(Some(0.0)).is_over());
    }
}
