//! What a result says about an attempt: the one place where results become records of attempts.

use kiln_core::{Outcome, Refusal};
use kiln_diagnose::Diagnosis;
use kiln_diagnose::lessons::Symptoms;
use kiln_session::SessionPhase;

use crate::doctor::{Examined, Health};
use crate::ending::Ends;
use crate::failure::Failure;
use crate::lessons::Symptomatic;
use crate::operation::{
    Baselined, Benched, Bisected, Checked, CiState, ClaimVerdict, Claimed, Compared, DiagnosedProfile, Forgings,
    FoundLimit, Fuzzed, Gated, GatedEverywhere, Guarded, KeptNow, Profiled, Reproduced, Sanitized, Swept, Tuned,
};

/// A speedup that was measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ratio {
    /// The workload; none for all together.
    pub(crate) on: Option<String>,
    /// The baseline, where its name is known.
    pub(crate) over: Option<String>,
    /// How many times as fast.
    pub(crate) times: f64,
    /// Whether nothing was tuned for that workload: it is no part of a mean.
    pub(crate) holdout: bool,
    /// Whether that is faster or slower, where that was judged.
    pub(crate) verdict: Option<&'static str>,
}

/// What is known of an attempt by its result.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// Another phase than its verb's.
    pub(crate) phase: Option<SessionPhase>,
    pub(crate) config: Option<String>,
    /// Speedups over baselines, in the order of the file.
    pub(crate) ratios: Vec<Ratio>,
    /// Speedups over other configurations, which count for no goal.
    pub(crate) against: Vec<Ratio>,
    /// What limits the kernel, and what its removal promises.
    pub(crate) limit: Option<(String, f64)>,
    /// What is wrong.
    pub(crate) seen: Symptoms,
    /// A name for it, where no gate, cause or finding has one.
    pub(crate) verdict: Option<String>,
}

impl Found {
    /// A fault of the environment.
    pub(crate) fn of_failure(failure: &Failure) -> Found {
        let verdict = match failure {
            Failure::Fault(fault) => fault.what.clone(),
            Failure::Input(_) | Failure::Io(_) => "system".into(),
        };
        Found { seen: failure.symptoms(), verdict: Some(verdict), ..Found::default() }
    }

    fn refused(refusal: &Refusal) -> Found {
        Found { seen: refusal.into(), ..Found::default() }
    }

    /// Whether nothing is seen that a lesson could know.
    pub(crate) fn is_silent(&self) -> bool {
        self.seen == Symptoms::default()
    }

    /// The gate, the cause or the finding; else the verdict.
    pub(crate) fn cause(&self) -> Option<String> {
        let Symptoms { gate, causes, findings, .. } = &self.seen;
        let gate = gate.map(|gate| gate.name().to_string());
        gate.or(causes.first().cloned()).or(findings.first().cloned()).or(self.verdict.clone())
    }

    /// The first line of what was said.
    pub(crate) fn words(&self) -> Option<String> {
        let line = self.seen.text.lines().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.chars().take(300).collect())
    }

    /// The speedup on the workload that matters.
    pub(crate) fn speedup(
        &self,
        goal: Option<&str>,
        counts: impl Fn(Option<&str>) -> bool,
    ) -> Option<(f64, Option<String>)> {
        match self.counting(goal, counts).as_slice() {
            [] => None,
            [one] => Some((one.times, one.on.clone())),
            many => {
                let mean = many.iter().map(|one| one.times.ln()).sum::<f64>() / many.len() as f64;
                Some((mean.exp(), None))
            }
        }
    }

    /// What that is made of: the speedup on the goal's workload, else on all together, else on the only one, else those whose mean it
    /// is. Only baselines that count do, and of those the first.
    pub(crate) fn counting(&self, goal: Option<&str>, counts: impl Fn(Option<&str>) -> bool) -> Vec<&Ratio> {
        let mut all: Vec<&Ratio> = Vec::new();
        let sound = |one: &&Ratio| one.times.is_finite() && one.times > 0.0 && counts(one.over.as_deref());
        for one in self.ratios.iter().filter(sound) {
            if !all.iter().any(|known| known.on == one.on) {
                all.push(one);
            }
        }
        let meant = all.iter().find(|one| one.on.is_some() && one.on.as_deref() == goal);
        let whole = all.iter().find(|one| one.on.is_none());
        if let Some(one) = meant.or(whole) {
            return vec![one];
        }
        all.retain(|one| !one.holdout);
        all
    }
}

/// A result that an attempt can be recorded of.
pub(crate) trait Tried: Ends {
    fn found(&self) -> Found;
}

impl Tried for Gated<'_> {
    fn found(&self) -> Found {
        Found { config: Some(self.config.to_string()), seen: self.symptoms(), ..Found::default() }
    }
}

impl Tried for GatedEverywhere<'_> {
    fn found(&self) -> Found {
        self.rows.iter().find(|row| !row.passed()).or(self.rows.first()).map(Tried::found).unwrap_or_default()
    }
}

impl Tried for Checked<'_> {
    fn found(&self) -> Found {
        Found { config: Some(self.config.to_string()), seen: self.symptoms(), ..Found::default() }
    }
}

impl Tried for Fuzzed {
    fn found(&self) -> Found {
        let again = self.kept.iter().find_map(|kept| match &kept.now {
            KeptNow::Fails(refusal) => Some((refusal, &kept.case.config)),
            _ => None,
        });
        let refusal = self.failure.as_ref().map(|failure| &failure.refusal).or(again.map(|(refusal, _)| refusal));
        let found = refusal.or(self.unusable.as_ref().map(|(_, refusal)| refusal)).map(Found::refused);
        let config = self.failure.as_ref().map(|failure| failure.smallest.config.to_string());
        let config = config.or(again.map(|(_, config)| config.to_string()));
        Found { config, ..found.unwrap_or_default() }
    }
}

impl Tried for Benched<'_> {
    fn found(&self) -> Found {
        let found = match &self.outcome {
            Outcome::Refused(refusal) => Found::refused(refusal),
            Outcome::Passed(figures) => {
                // Another configuration is no baseline.
                let stated = &self.kernel.selection.target.baselines;
                let is_stated = |one: &Ratio| stated.iter().any(|own| one.over.as_deref() == Some(&*own.name));
                let all = figures.iter().flat_map(|figure| {
                    figure.baselines.iter().map(|one| Ratio {
                        on: Some(figure.workload.clone()),
                        over: Some(one.name.clone()),
                        times: one.comparison.speedup,
                        holdout: false,
                        verdict: Some(one.comparison.verdict.name()),
                    })
                });
                let (ratios, against) = all.partition(is_stated);
                Found { ratios, against, ..Found::default() }
            }
        };
        Found { config: Some(self.config.to_string()), ..found }
    }
}

impl Tried for Baselined<'_> {
    fn found(&self) -> Found {
        Found::default()
    }
}

impl Tried for Swept {
    fn found(&self) -> Found {
        Found::default()
    }
}

impl Tried for Forgings<'_> {
    fn found(&self) -> Found {
        let first = self.forged.iter().find_map(|forged| match &forged.outcome {
            Outcome::Refused(refusal) => Some(Found::refused(refusal)),
            Outcome::Passed(_) => None,
        });
        first.unwrap_or_default()
    }
}

impl Tried for Tuned {
    fn found(&self) -> Found {
        match self {
            Tuned::Failed { failure, .. } => Found::of_failure(failure),
            Tuned::Interrupted { .. } => Found::default(),
            Tuned::Ended { summary, .. } => {
                let ratio = |on: Option<&String>, times: f64, holdout: bool| Ratio {
                    on: on.cloned(),
                    over: summary.baseline.clone(),
                    times,
                    holdout,
                    verdict: None,
                };
                // Faster than its own default is not faster than a baseline.
                let held = summary.baseline.is_some();
                let apart = summary.workloads.iter().map(|one| ratio(Some(&one.name), one.speedup, one.holdout));
                let apart = apart.filter(|_| held);
                let whole = summary.speedup.filter(|_| held).map(|speedup| ratio(None, speedup, false));
                let limit = summary.limit.as_ref();
                Found {
                    config: summary.config.as_ref().map(ToString::to_string),
                    ratios: whole.into_iter().chain(apart).collect(),
                    limit: limit.and_then(|limit| Some((limit.cause.clone()?, limit.expected_speedup))),
                    seen: summary.symptoms(),
                    verdict: Some(summary.verdict.name().into()),
                    phase: None,
                    against: Vec::new(),
                }
            }
        }
    }
}

impl Tried for Profiled {
    fn found(&self) -> Found {
        // What limits a baseline is known of the baseline.
        if self.baseline.is_some() {
            return Found { phase: Some(SessionPhase::Baseline), ..Found::default() };
        }
        let limit = match &self.found {
            Some(FoundLimit::Counters(found)) => {
                let diagnosis = &found.diagnosis;
                diagnosis.cause.map(|cause| (cause.id().to_string(), diagnosis.expected_speedup))
            }
            Some(FoundLimit::Coarse(found)) => {
                found.cause.map(|cause| (cause.id().to_string(), found.expected_speedup))
            }
            None => None,
        };
        Found { config: Some(self.config.to_string()), limit, seen: self.symptoms(), ..Found::default() }
    }
}

impl Tried for Sanitized {
    fn found(&self) -> Found {
        Found { config: Some(self.config.to_string()), seen: self.symptoms(), ..Found::default() }
    }
}

/// A log from another machine, of a kernel that was named.
impl Tried for Diagnosis {
    fn found(&self) -> Found {
        Found { seen: self.symptoms(), ..Found::default() }
    }
}

/// A page of a profiler from another machine, the same way.
impl Tried for DiagnosedProfile {
    fn found(&self) -> Found {
        let limit = self.diagnosis.cause.map(|cause| (cause.id().to_string(), self.diagnosis.expected_speedup));
        Found { limit, seen: self.symptoms(), ..Found::default() }
    }
}

impl Tried for Examined {
    fn found(&self) -> Found {
        let failed = self.findings.iter().find(|finding| finding.state == Health::Fail);
        Found { seen: failed.map(Symptomatic::symptoms).unwrap_or_default(), ..Found::default() }
    }
}

impl Tried for Compared {
    fn found(&self) -> Found {
        // Between two runs, neither of which is a baseline.
        let over = |overall: &kiln_stats::Estimate| Ratio {
            on: None,
            over: None,
            times: overall.value,
            holdout: false,
            verdict: Some(self.verdict.name()),
        };
        Found {
            config: self.candidate.config.clone(),
            against: self.overall.iter().map(over).collect(),
            verdict: Some(self.verdict.name().into()),
            ..Found::default()
        }
    }
}

impl Tried for Reproduced {
    fn found(&self) -> Found {
        let found = self.refused().map(Found::refused).unwrap_or_default();
        Found { config: Some(self.config.clone()), ..found }
    }
}

impl Tried for Guarded {
    fn found(&self) -> Found {
        let steps = self.kernels.iter().flat_map(|kernel| &kernel.steps);
        let bad = steps.into_iter().find(|step| !matches!(step.state, CiState::Passed | CiState::Skipped));
        let Some(step) = bad else { return Found::default() };
        let found = step.refusal.as_ref().map(Found::refused).unwrap_or_default();
        Found { verdict: Some(step.state.name().into()), ..found }
    }
}

impl Tried for Claimed {
    fn found(&self) -> Found {
        let refuted = self.claims.iter().find(|claim| claim.verdict == ClaimVerdict::Refuted);
        let verdict = refuted.map(|claim| claim.verdict.name().into());
        Found { verdict, seen: self.symptoms(), ..Found::default() }
    }
}

impl Tried for Bisected {
    fn found(&self) -> Found {
        self.refusal.as_ref().map(Found::refused).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(on: Option<&str>, over: &str, times: f64) -> Ratio {
        Ratio { on: on.map(String::from), over: Some(over.into()), times, holdout: false, verdict: None }
    }

    #[test]
    fn the_speedup_that_counts_is_the_goals() {
        let of = |ratios: &[Ratio], goal: Option<&str>| {
            Found { ratios: ratios.to_vec(), ..Found::default() }.speedup(goal, |_| true)
        };
        let (short, long) = (ratio(Some("s128"), "b", 4.0), ratio(Some("s512"), "b", 1.0));
        let both = [short.clone(), long.clone()];
        assert_eq!(of(&both, Some("s512")), Some((1.0, Some("s512".into()))));
        assert!(of(&both, None).is_some_and(|(speedup, on)| (speedup - 2.0).abs() < 1e-9 && on.is_none()));
        assert_eq!(of(&both[..1], Some("s512")), Some((4.0, Some("s128".into()))));
        let whole = [ratio(None, "b", 1.5), short.clone()];
        assert_eq!((of(&whole, None).unwrap().0, of(&whole, Some("s128")).unwrap().0), (1.5, 4.0));
        let kept = [short, Ratio { holdout: true, ..long }];
        assert_eq!(of(&kept, Some("s512")), Some((1.0, Some("s512".into()))), "a goal may be on a holdout");
        assert_eq!(of(&kept, None), Some((4.0, Some("s128".into()))), "which is no part of a mean");
        assert_eq!(of(&[], None), None);
    }

    #[test]
    fn only_a_baseline_that_counts_does() {
        let found = Found {
            ratios: vec![ratio(Some("s128"), "naive", 9.0), ratio(Some("s128"), "sdpa", 0.9)],
            ..Found::default()
        };
        assert_eq!(found.speedup(None, |_| true), Some((9.0, Some("s128".into()))), "the first");
        assert_eq!(found.speedup(None, |over| over == Some("sdpa")), Some((0.9, Some("s128".into()))));
        assert_eq!(found.speedup(None, |over| over == Some("other")), None);
    }
}
