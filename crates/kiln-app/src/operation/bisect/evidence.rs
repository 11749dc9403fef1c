//! What measurements say about a commit. In: how many times as long as the good commit it took, each time with an interval, and
//! the limit. Out: good, bad, or that it takes more. Pure.
//!
//! Measurements of one commit are independent: fresh workers, another seed. They are put together weighted by their
//! precision, and where they differ by more than their intervals explain, the interval of all grows by as much.

use kiln_stats::Interval;
use serde::{Deserialize, Serialize};

use super::search::Standing;

/// How many times as long as the other a version takes on a workload; written as `value` and `ci95`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slowdown {
    /// The workload; empty where the file has none.
    pub workload: String,
    /// Its time over the other's: above 1 it is slower.
    pub ratio: f64,
    /// The 95 % interval of that.
    pub ratio_ci95: Interval,
    /// Whether both are the same machine code, which needs no measurement.
    pub identical: bool,
}

/// All measurements of a workload as one.
pub(super) fn together(measured: &[&Slowdown]) -> Option<Slowdown> {
    let first = measured.first()?;
    // Even identical code is known no better than this.
    let half = |one: &Slowdown| one.ratio_ci95.relative_half_width().max(1e-4);
    let weights: Vec<f64> = measured.iter().map(|one| half(one).powi(-2)).collect();
    let total: f64 = weights.iter().sum();
    let logs = measured.iter().map(|one| one.ratio.ln());
    let mean = logs.clone().zip(&weights).map(|(log, weight)| log * weight).sum::<f64>() / total;
    // In units of half-widths: 1 is 1.96 standard errors.
    let apart: f64 = logs.zip(&weights).map(|(log, weight)| weight * (log - mean).powi(2)).sum::<f64>() * 1.96 * 1.96;
    let excess = if measured.len() > 1 { (apart / (measured.len() - 1) as f64).sqrt().max(1.0) } else { 1.0 };
    let half = excess / total.sqrt();
    Some(Slowdown {
        workload: first.workload.clone(),
        ratio: mean.exp(),
        ratio_ci95: Interval { low: (mean - half).exp(), high: (mean + half).exp() },
        identical: measured.iter().all(|one| one.identical),
    })
}

/// What they say of a commit; none where they do not tell yet. `limit` is how many times as long is too long. `bad` is what
/// was measured of the bad commit: only workloads on which that is too slow count, and what lies at the limit is held
/// against the middle between good and bad.
pub(super) fn standing(found: &[Slowdown], limit: f64, bad: Option<&[Slowdown]>) -> Option<Standing> {
    let slow = |one: &&Slowdown| bad.is_none_or(|bad| slow_ratio(bad, &one.workload, limit).is_some());
    let counted: Vec<&Slowdown> = found.iter().filter(slow).collect();
    if counted.is_empty() {
        return Some(Standing::Unjudged);
    }
    let against = |limit: &dyn Fn(&Slowdown) -> f64| {
        if counted.iter().any(|one| one.ratio_ci95.low > limit(one)) {
            Some(Standing::Bad)
        } else if counted.iter().all(|one| one.ratio_ci95.high < limit(one)) {
            Some(Standing::Good)
        } else {
            None
        }
    };
    let middle = |one: &Slowdown| {
        bad.and_then(|bad| slow_ratio(bad, &one.workload, limit)).map_or(limit, |ratio| ratio.max(limit).sqrt())
    };
    against(&|_| limit).or_else(|| bad.and_then(|_| against(&middle)))
}

/// How slow the bad commit is on a workload, where it is too slow.
fn slow_ratio(bad: &[Slowdown], workload: &str, limit: f64) -> Option<f64> {
    bad.iter().find(|one| one.workload == workload && one.ratio > limit).map(|one| one.ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(workload: &str, ratio: f64, half: f64) -> Slowdown {
        let ratio_ci95 = Interval { low: ratio * (1.0 - half), high: ratio * (1.0 + half) };
        Slowdown { workload: workload.into(), ratio, ratio_ci95, identical: false }
    }

    #[test]
    fn a_commit_is_judged_by_the_whole_interval() {
        let of = |ratio, half| standing(&[slow("w", ratio, half)], 1.03, None);
        assert_eq!(of(1.05, 0.01), Some(Standing::Bad));
        assert_eq!(of(1.0, 0.01), Some(Standing::Good));
        assert_eq!(of(0.5, 0.01), Some(Standing::Good));
        assert_eq!((of(1.05, 0.03), of(1.03, 0.01), of(1.0, 0.05)), (None, None, None));
    }

    #[test]
    fn at_the_limit_the_middle_between_good_and_bad_decides() {
        let bad = [slow("w", 1.035, 0.004)];
        let of = |ratio, half| standing(&[slow("w", ratio, half)], 1.03, Some(&bad));
        assert_eq!((of(1.035, 0.01), of(1.03, 0.01)), (Some(Standing::Bad), Some(Standing::Bad)));
        assert_eq!((of(1.0, 0.01), of(1.0, 0.03)), (Some(Standing::Good), None));
    }

    #[test]
    fn only_workloads_on_which_the_bad_commit_is_slow_count() {
        let bad = [slow("small", 1.0, 0.01), slow("large", 1.1, 0.01)];
        let found = [slow("small", 1.3, 0.01), slow("large", 1.0, 0.01)];
        assert_eq!(standing(&found, 1.03, Some(&bad)), Some(Standing::Good));
        assert_eq!(standing(&found, 1.03, None), Some(Standing::Bad));
        assert_eq!(standing(&found[..1], 1.03, Some(&bad)), Some(Standing::Unjudged));
        assert_eq!(standing(&[], 1.03, None), Some(Standing::Unjudged));
    }

    #[test]
    fn measurements_that_agree_narrow_and_those_that_do_not_widen() {
        let (one, other) = (slow("w", 1.05, 0.02), slow("w", 1.05, 0.02));
        let both = together(&[&one, &other]).unwrap();
        assert!((both.ratio - 1.05).abs() < 1e-12);
        assert!((both.ratio_ci95.relative_half_width() - 0.02 / 2f64.sqrt()).abs() < 1e-3);
        let far = slow("w", 1.15, 0.02);
        let apart = together(&[&one, &far]).unwrap();
        assert!(apart.ratio_ci95.relative_half_width() > 0.06, "{apart:?}");
        assert!(together(&[]).is_none());
    }
}
