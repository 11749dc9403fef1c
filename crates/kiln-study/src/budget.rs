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
    /// From a moment on.
    pub fn since(started: Instant, minutes: Option<f64>) -> Budget {
        // More than a duration can hold is no limit.
        let whole = minutes.and_then(|m| Duration::try_from_secs_f64(m * 60.0).ok());
        Budget { started, whole }
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
    pub(crate) fn search_is_over(&self, now: Instant) -> bool {
        self.whole.is_some_and(|whole| self.elapsed(now) > whole.mul_f64(1.0 - KEPT))
    }

    /// Whether everything must end that can.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        self.whole.is_some_and(|whole| self.elapsed(now) > whole)
    }

    /// What is left; none without a limit.
    pub fn left(&self, now: Instant) -> Option<Duration> {
        self.whole.map(|whole| whole.saturating_sub(self.elapsed(now)))
    }

    /// When that share of what is left will be spent; never without a limit.
    pub(crate) fn deadline(&self, now: Instant, share: f64) -> Option<Instant> {
        self.left(now).and_then(|left| now.checked_add(left.mul_f64(share)))
    }

    /// Spent so far.
    pub fn elapsed(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_time() {
        assert_eq!(Budget::minutes_for(1.0, 4.0), 15.0);
        let began = Instant::now();
        let (soon, later) = (began + Duration::from_secs(1), began + Duration::from_secs(3000));
        let of = |minutes| Budget::since(began, minutes);
        assert!(!of(None).is_over(later) && !of(Some(1e9)).search_is_over(later) && of(None).left(later).is_none());
        assert!(of(Some(0.0)).is_over(soon) && !of(Some(1e300)).is_over(later));
        let hour = of(Some(60.0));
        assert_eq!(hour.of(1, 4).whole, Some(Duration::from_secs(900)));
        assert!(!hour.search_is_over(soon) && hour.search_is_over(later) && !hour.is_over(later));
        assert_eq!(hour.left(later), Some(Duration::from_secs(600)));
        assert_eq!(hour.deadline(later, 0.5), Some(later + Duration::from_secs(300)));
    }
}
