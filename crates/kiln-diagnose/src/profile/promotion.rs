//! Which candidates deserve a full profile. In: what two quick profiles say about the caches, DRAM and the tensor cores. Out: the changes
//! that are large enough: the kernel works in another way than before, and the earlier diagnosis no longer describes it.

use serde::{Deserialize, Serialize};

use super::metric::{self as m, Metric};
use super::subject::Subject;

/// Points by which the hit rate of L2 must rise.
const HITS: f64 = 8.0;
/// Points of its peak by which DRAM's traffic must fall.
const TRAFFIC: f64 = 10.0;
/// How many times as busy tensor cores must be.
const TENSOR: f64 = 2.0;
/// Per cent from which on tensor cores are in use: twice nearly nothing is nothing.
const IN_USE: f64 = 1.0;

/// What a profile says about the way a kernel works, in per cent; none where it was not collected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// Of accesses to L2, those that hit.
    pub l2_hits: Option<f64>,
    /// Of DRAM's peak, the traffic.
    pub dram: Option<f64>,
    /// Of the tensor cores' peak.
    pub tensor: Option<f64>,
}

impl Activity {
    pub(crate) fn of(subject: &Subject) -> Self {
        let read = |metric: Metric| subject.reading(metric).map(|reading| reading.value);
        Self { l2_hits: read(m::L2_HITS), dram: read(m::DRAM), tensor: read(m::TENSOR) }
    }

    /// The reasons to profile this one in full, beside an earlier one of the same work; empty where there are none.
    pub fn promoted(&self, before: &Activity) -> Vec<Promotion> {
        let both = |before: Option<f64>, now: Option<f64>| before.zip(now);
        let hits = both(before.l2_hits, self.l2_hits).filter(|(before, now)| now - before >= HITS);
        let traffic = both(before.dram, self.dram).filter(|(before, now)| before - now >= TRAFFIC);
        let tensor = both(before.tensor, self.tensor)
            .filter(|(before, now)| *now >= TENSOR * before && *now >= IN_USE && now > before);
        let all = [("hit rate of L2", hits), ("traffic of DRAM", traffic), ("tensor cores busy", tensor)];
        let promotion = |(what, change): (&'static str, Option<(f64, f64)>)| {
            change.map(|(before, now)| Promotion { what, before, now })
        };
        all.into_iter().filter_map(promotion).collect()
    }
}

/// A reason for a full profile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Promotion {
    /// What changed.
    pub what: &'static str,
    /// Per cent before.
    pub before: f64,
    /// Per cent now.
    pub now: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(l2_hits: f64, dram: f64, tensor: f64) -> Activity {
        Activity { l2_hits: Some(l2_hits), dram: Some(dram), tensor: Some(tensor) }
    }

    #[test]
    fn a_kernel_that_works_in_another_way_is_promoted() {
        let before = activity(50.0, 60.0, 20.0);
        let reasons = |after: Activity| after.promoted(&before).iter().map(|one| one.what).collect::<Vec<_>>();
        assert!(reasons(activity(57.9, 50.1, 39.9)).is_empty());
        assert_eq!(reasons(activity(58.0, 60.0, 20.0)), ["hit rate of L2"]);
        assert_eq!(reasons(activity(50.0, 50.0, 20.0)), ["traffic of DRAM"]);
        assert_eq!(reasons(activity(50.0, 60.0, 40.0)), ["tensor cores busy"]);
        // What got worse, or was not collected, is no reason.
        assert!(reasons(activity(20.0, 90.0, 5.0)).is_empty() && reasons(Activity::default()).is_empty());
        // A kernel without products has none to double.
        let none = activity(50.0, 60.0, 0.0);
        assert!(none.promoted(&none).is_empty() && activity(50.0, 60.0, 0.4).promoted(&none).is_empty());
        assert_eq!(activity(50.0, 60.0, 30.0).promoted(&none).len(), 1);
    }
}
