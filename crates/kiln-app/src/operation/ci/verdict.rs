//! What is said about a workload. In: figures of the work, and what they are held against: samples taken in turns, or a committed
//! entry's medians with their intervals. Out: a verdict by the rules of [`Thresholds`]; after a second measurement, by
//! both.

use kiln_stats::{Comparison, Estimate, Interval, Thresholds, Verdict, Warning};
use serde::Serialize;

/// What is said about a workload, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CiVerdict {
    /// Slower by more than the threshold, in two measurements.
    Regression,
    /// The samples do not tell.
    TooNoisy,
    /// Faster by more than the threshold.
    Improvement,
    /// No difference that matters.
    Same,
    /// The same machine code, launched alike.
    Identical,
    /// There is nothing to compare it with.
    New,
    /// What there is was measured on another machine.
    OtherMachine,
}

impl CiVerdict {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            CiVerdict::Regression => "regression",
            CiVerdict::TooNoisy => "too_noisy",
            CiVerdict::Improvement => "improvement",
            CiVerdict::Same => "same",
            CiVerdict::Identical => "identical",
            CiVerdict::New => "new",
            CiVerdict::OtherMachine => "other_machine",
        }
    }
}

impl From<Verdict> for CiVerdict {
    fn from(verdict: Verdict) -> CiVerdict {
        match verdict {
            Verdict::Slower => CiVerdict::Regression,
            Verdict::Faster => CiVerdict::Improvement,
            Verdict::Same => CiVerdict::Same,
            Verdict::TooNoisy => CiVerdict::TooNoisy,
        }
    }
}

/// One workload. Times in seconds of one call.
#[derive(Debug, Clone, Serialize)]
pub struct CiWorkload {
    /// The workload.
    pub workload: String,
    /// The configuration.
    pub config: String,
    /// What is said about it.
    pub verdict: CiVerdict,
    /// What it is compared with.
    pub base: Option<Estimate>,
    /// The work.
    pub candidate: Option<Estimate>,
    /// How many times as fast as before.
    pub speedup: Option<Estimate>,
    /// The baseline that both are counted in; none where times are compared as they are.
    pub yardstick: Option<String>,
    /// Mann-Whitney U, where there are samples of both.
    pub p_value: Option<f64>,
    /// The effect size, where there are samples of both.
    pub cliffs_delta: Option<f64>,
    /// Samples of the work.
    pub samples: usize,
    /// How often it was measured: 0 where that was not needed, 2 where the first verdict had to be confirmed.
    pub measured: u32,
    /// What the first of two measurements said.
    pub first: Option<Estimate>,
    /// Why it cannot be compared, or what else to know.
    pub notes: Vec<String>,
    /// What the machine did meanwhile: scatter, drift, outliers.
    pub warnings: Vec<String>,
}

impl CiWorkload {
    /// One that nothing was measured of.
    pub(super) fn unmeasured(workload: &str, config: &str, verdict: CiVerdict, why: impl Into<String>) -> CiWorkload {
        let why: String = why.into();
        CiWorkload {
            workload: workload.into(),
            config: config.into(),
            verdict,
            base: None,
            candidate: None,
            speedup: None,
            yardstick: None,
            p_value: None,
            cliffs_delta: None,
            samples: 0,
            measured: 0,
            first: None,
            notes: Some(why).filter(|why| !why.is_empty()).into_iter().collect(),
            warnings: Vec::new(),
        }
    }

    /// One whose two sides took turns; `comparison` has the base as its baseline.
    pub(super) fn in_turns(workload: &str, config: &str, comparison: &Comparison) -> CiWorkload {
        let estimate = |value, interval| Some(Estimate { value, interval });
        CiWorkload {
            base: estimate(comparison.baseline.median, comparison.baseline_ci95),
            candidate: estimate(comparison.candidate.median, comparison.candidate_ci95),
            speedup: estimate(comparison.speedup, comparison.speedup_ci95),
            p_value: Some(comparison.p_value),
            cliffs_delta: Some(comparison.cliffs_delta),
            samples: comparison.candidate.n,
            measured: 1,
            warnings: comparison.warnings.iter().map(|warning| of_versions(*warning).to_string()).collect(),
            ..CiWorkload::unmeasured(workload, config, comparison.verdict.into(), "")
        }
    }

    /// The verdict of two measurements: what the first one found counts where the second, which is `self`, finds it again.
    pub(super) fn confirming(mut self, first: &CiWorkload) -> CiWorkload {
        let change = |found: &CiWorkload| found.speedup.map_or(0.0, |speedup| 100.0 * (1.0 / speedup.value - 1.0));
        if self.verdict != first.verdict {
            self.notes.push(format!(
                "a first measurement said {} ({:+.1} %), the second did not confirm it ({:+.1} %)",
                first.verdict.name(),
                change(first),
                change(&self)
            ));
            // One measurement that says slower and one that says faster say nothing together.
            if matches!(self.verdict, CiVerdict::Regression | CiVerdict::Improvement) {
                self.verdict = CiVerdict::TooNoisy;
            }
        }
        CiWorkload { measured: first.measured + self.measured, first: first.speedup, ..self }
    }
}

/// Has a warning speak of versions: a baseline is something else here.
fn of_versions(mut warning: Warning) -> Warning {
    if let Warning::HighCv { side, .. } | Warning::Drift { side, .. } | Warning::Outliers { side, .. } = &mut warning {
        *side = if *side == "baseline" { "base" } else { "candidate" };
    }
    warning
}

/// The verdict where only medians with their intervals are known: slower by more than the threshold and intervals that do not
/// overlap, or faster by more and the same. `then` and `now` are how fast it was and is, in any unit.
pub(super) fn by_intervals(then: Estimate, now: Estimate, thresholds: &Thresholds) -> (CiVerdict, Estimate) {
    let value = now.value / then.value;
    // Both scatter on their own: on a log scale their half-widths add like the sides of a right angle.
    let half = now.interval.relative_half_width().hypot(then.interval.relative_half_width());
    let speedup = Estimate { value, interval: Interval { low: value / half.exp(), high: value * half.exp() } };
    let (slow, fast) = (1.0 / (1.0 + thresholds.dead_zone), 1.0 + thresholds.improvement);
    let apart = !then.interval.overlaps(now.interval);
    let verdict = match value {
        v if v < slow && apart => CiVerdict::Regression,
        v if v >= fast && apart => CiVerdict::Improvement,
        v if v < slow || v >= fast => CiVerdict::TooNoisy,
        _ => CiVerdict::Same,
    };
    (verdict, speedup)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(value: f64, share: f64) -> Estimate {
        Estimate { value, interval: Interval { low: value * (1.0 - share), high: value * (1.0 + share) } }
    }

    #[test]
    fn medians_are_judged_by_the_threshold_and_by_their_intervals() {
        let verdict =
            |now: f64, share: f64| by_intervals(about(4.0, share), about(now, share), &Thresholds::mission()).0;
        assert_eq!(verdict(4.0, 0.01), CiVerdict::Same);
        assert_eq!(verdict(3.9, 0.001), CiVerdict::Same);
        assert_eq!(verdict(3.8, 0.01), CiVerdict::Regression);
        assert_eq!(verdict(3.8, 0.05), CiVerdict::TooNoisy);
        assert_eq!(verdict(4.3, 0.01), CiVerdict::Same);
        assert_eq!(verdict(4.5, 0.01), CiVerdict::Improvement);
    }

    #[test]
    fn only_what_is_found_twice_counts() {
        let one = |verdict| CiWorkload {
            measured: 1,
            speedup: Some(about(0.9, 0.01)),
            ..CiWorkload::unmeasured("w", "", verdict, "")
        };
        use CiVerdict::{Improvement, Regression, Same, TooNoisy};
        for (first, second, both) in [
            (Regression, Regression, Regression),
            (Regression, Same, Same),
            (Regression, TooNoisy, TooNoisy),
            (Regression, Improvement, TooNoisy),
            (Improvement, Regression, TooNoisy),
            (Improvement, Improvement, Improvement),
        ] {
            let found = one(second).confirming(&one(first));
            assert_eq!((found.verdict, found.measured), (both, 2));
            assert_eq!(found.notes.is_empty(), first == second);
        }
    }
}
