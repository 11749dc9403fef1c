//! How much a study may take. In: minutes, or money and a price by the hour. Out: whether there is time for another trial.

use std::time::{Duration, Instant};

/// The share of the time that is kept for finals, confirmation and ablation, and the most that is kept where they are expected
/// to take longer: without a search there is nothing to prove.
const KEPT: f64 = 0.25;
const MOST_KEPT: f64 = 0.75;

/// A limit on time.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    started: Instant,
    whole: Option<Duration>,
    /// How much of it is kept for the proof; the usual share where nothing is known of it.
    kept: Option<Duration>,
}

impl Budget {
    /// From a moment on.
    pub fn since(started: Instant, minutes: Option<f64>) -> Budget {
        // More than a duration can hold is no limit.
        let whole = minutes.and_then(|m| Duration::try_from_secs_f64(m * 60.0).ok());
        Budget { started, whole, kept: None }
    }

    /// The limit of the first `parts` of `all` equal parts of the work: those that come later get their share too.
    pub(crate) fn of(&self, parts: usize, all: usize) -> Budget {
        let whole = self.whole.map(|w| w.mul_f64(parts as f64 / all.max(1) as f64));
        Budget { started: self.started, whole, kept: None }
    }

    /// The same for a search that begins now, with a proof behind it that will take about so long.
    pub(crate) fn with_proof(&self, now: Instant, proof: Duration) -> Budget {
        let kept = self.left(now).map(|left| proof.max(left.mul_f64(KEPT)).min(left.mul_f64(MOST_KEPT)));
        Budget { kept, ..*self }
    }

    /// The minutes an amount of money buys.
    pub fn minutes_for(cost: f64, price_per_hour: f64) -> f64 {
        cost / price_per_hour * 60.0
    }

    /// Whether searching must end.
    pub(crate) fn search_is_over(&self, now: Instant) -> bool {
        let kept = |whole: Duration| self.kept.unwrap_or(whole.mul_f64(KEPT));
        self.whole.is_some_and(|whole| self.elapsed(now) > whole.saturating_sub(kept(whole)))
    }

    /// Whether everything must end that can.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        self.whole.is_some_and(|whole| self.elapsed(now) > whole)
    }

    /// What is left; none without a limit.
    pub fn left(&self, now: Instant) -> Option<Duration> {
        self.whole.map(|whole| whole.saturating_sub(self.elapsed(now)))
    }

    /// When that share of what is left before the rest will be spent; never without a limit.
    pub(crate) fn deadline(&self, now: Instant, share: f64, rest: Duration) -> Option<Instant> {
        self.left(now).and_then(|left| now.checked_add(left.saturating_sub(rest).mul_f64(share)))
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
        // A proof that takes long is given more, but not everything; of a part that has begun late, a share of what is left.
        let ends = |budget: Budget, minute: u64| budget.search_is_over(began + Duration::from_secs(60 * minute));
        let proof = |minutes: u64| hour.with_proof(began, Duration::from_secs(60 * minutes));
        assert!(!ends(proof(20), 39) && ends(proof(20), 41) && !ends(proof(1), 44) && ends(proof(1), 46));
        assert!(!ends(proof(90), 14) && ends(proof(90), 16));
        let last = hour.with_proof(later, Duration::ZERO);
        assert!(!ends(last, 57) && ends(last, 58) && !ends(of(None).with_proof(began, Duration::MAX), 999));
        assert_eq!(hour.deadline(later, 0.5, Duration::ZERO), Some(later + Duration::from_secs(300)));
        assert_eq!(hour.deadline(later, 0.5, Duration::from_secs(200)), Some(later + Duration::from_secs(200)));
    }
}
