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
        // More than a duration can hold is no limit.
        let whole = minutes.and_then(|m| Duration::try_from_secs_f64(m * 60.0).ok());
        Budget { started: Instant::now(), whole }
    }

    /// The limit of the first `parts` of `all` equal parts of the work: those that come later get their share too.
    pub(crate) fn of(&self, parts: usize, all: usize) -> Budget {
        Budget { started: self.started, whole: self.whole.map(|w| w.mul_f64(parts as f64 / all.max(1) as f64)) }
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
        assert!(Budget::new(Some(0.0)).is_over() && !Budget::new(Some(1e300)).is_over());
        let hour = Budget::new(Some(60.0));
        assert_eq!(hour.of(1, 4).whole, Some(Duration::from_secs(900)));
    }
}
