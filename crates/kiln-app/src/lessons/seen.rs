//! What can be seen of each result: the one place where results become symptoms.

use kiln_core::{Outcome, Report};
use kiln_diagnose::Diagnosis;
use kiln_diagnose::lessons::{Habit, Symptoms};
use kiln_space::Judgement;
use kiln_spec::{Origin, Selection};
use kiln_study::{Resources, Summary, TuneVerdict};

use crate::doctor::{Finding, Health};
use crate::failure::Failure;
use crate::operation::{Checked, ClaimVerdict, Claimed, DiagnosedProfile, FoundLimit, Gated, Profiled, Sanitized, Way};

/// A result of which something may be seen.
pub trait Symptomatic {
    /// What is seen; nothing where nothing is wrong.
    fn symptoms(&self) -> Symptoms;

    /// The configuration it is about, as it is typed.
    fn configuration(&self) -> Option<String> {
        None
    }
}

/// The same of a kernel: where it runs, what it computes.
fn of_kernel(seen: Symptoms, selection: &Selection<'_>) -> Symptoms {
    let computes = selection.spec.reference.as_ref().and_then(|reference| match &reference.origin {
        Origin::Builtin(name) => Some(name.clone()),
        _ => None,
    });
    let kinds = [Some(selection.target.kind.name().to_string()), computes];
    seen.on(selection.arch.map(|arch| arch.name())).of(kinds.into_iter().flatten())
}

/// What the compiler says of code that is built all the same.
fn of_resources(resources: &[Resources]) -> Symptoms {
    let serialised = resources.iter().any(|kernel| kernel.wgmma_serialized);
    let text = if serialised { "wgmma_serialized".into() } else { String::new() };
    Symptoms { text, ..Symptoms::default() }
}

impl Symptomatic for Gated<'_> {
    fn symptoms(&self) -> Symptoms {
        let judgements = self.judgements();
        let rule = judgements.iter().find_map(|(_, judgement)| match judgement {
            Judgement::Refuses(refusal) => Some(Symptoms::from(refusal)),
            _ => None,
        });
        let seen = rule.unwrap_or_else(|| match &self.way {
            Way::Static(_) => Symptoms::default(),
            Way::Built(forged, _) => match &forged.outcome {
                Outcome::Refused(refusal) => Symptoms::from(refusal),
                Outcome::Passed(resources) => of_resources(resources),
            },
            Way::Climbed(evaluation) => match evaluation.refusal() {
                Some(refusal) => Symptoms::from(refusal),
                None => of_resources(&evaluation.resources),
            },
        });
        if seen == Symptoms::default() { seen } else { of_kernel(seen, &self.selection) }
    }

    fn configuration(&self) -> Option<String> {
        Some(self.config.to_string())
    }
}

/// A figure that does not hold was claimed and not measured.
impl Symptomatic for Claimed {
    fn symptoms(&self) -> Symptoms {
        let refuted = self.claims.iter().find(|claim| claim.verdict == ClaimVerdict::Refuted);
        refuted.map_or_else(Symptoms::default, |one| Symptoms {
            text: format!("{}: {}", one.claim.claim, one.why),
            habits: vec![Habit::UnmeasuredClaim],
            ..Symptoms::default()
        })
    }
}

impl Symptomatic for Checked<'_> {
    fn symptoms(&self) -> Symptoms {
        match &self.refused {
            Some((refusal, _)) => of_kernel(Symptoms::from(refusal), &self.kernel.selection),
            None => Symptoms::default(),
        }
    }

    fn configuration(&self) -> Option<String> {
        Some(self.config.to_string())
    }
}

impl Symptomatic for Diagnosis {
    fn symptoms(&self) -> Symptoms {
        Symptoms::from(self)
    }
}

impl Symptomatic for Sanitized {
    fn symptoms(&self) -> Symptoms {
        self.refusal.as_ref().map_or_else(|| Symptoms::from(&self.diagnosis), Symptoms::from)
    }

    fn configuration(&self) -> Option<String> {
        Some(self.config.to_string())
    }
}

impl Symptomatic for DiagnosedProfile {
    fn symptoms(&self) -> Symptoms {
        // Whoever asks for one rule wants its numbers.
        if self.why.is_some() { Symptoms::default() } else { Symptoms::from(&self.diagnosis) }
    }
}

impl Symptomatic for Profiled {
    fn symptoms(&self) -> Symptoms {
        match (&self.refusal, &self.found) {
            (_, Some(FoundLimit::Counters(found))) => found.symptoms(),
            (_, Some(FoundLimit::Coarse(found))) => Symptoms::from(&**found),
            (Some(refusal), None) => Symptoms::from(refusal),
            (None, None) => Symptoms::default(),
        }
    }

    fn configuration(&self) -> Option<String> {
        self.baseline.is_none().then(|| self.config.to_string())
    }
}

/// A study that ended early: by what limits it, by the gate that refused everything, else by its own words.
impl Symptomatic for Summary {
    fn symptoms(&self) -> Symptoms {
        let words = || Symptoms { text: self.reason.clone(), ..Symptoms::default() };
        match (self.verdict, self.limit.as_ref().and_then(|limit| limit.cause.clone())) {
            (TuneVerdict::Reached, _) => Symptoms::default(),
            (TuneVerdict::NoValidCandidate, _) => {
                let most = self.refused.iter().max_by_key(|(_, count)| **count);
                Symptoms { gate: most.map(|(gate, _)| *gate), ..words() }
            }
            (_, Some(cause)) => Symptoms { causes: vec![cause], ..Symptoms::default() },
            (_, None) => words(),
        }
    }

    fn configuration(&self) -> Option<String> {
        self.config.as_ref().map(ToString::to_string)
    }
}

impl Symptomatic for Finding {
    fn symptoms(&self) -> Symptoms {
        match self.state {
            Health::Ok => Symptoms::default(),
            Health::Warn | Health::Fail => Symptoms::of_environment(self.id, &self.what),
        }
    }
}

/// The first mistake or the fault, in its own words.
impl Symptomatic for Failure {
    fn symptoms(&self) -> Symptoms {
        let said = |report: &Report| format!("{}\n{}", report.message, report.label);
        let text = self.reports().first().map(said).unwrap_or_default();
        Symptoms { text, ..Symptoms::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_core::{Fault, Gate};
    use kiln_diagnose::lessons::Library;

    fn best(result: &dyn Symptomatic) -> Option<String> {
        Library::default().best(&result.symptoms()).map(|own| own.lesson.id.clone())
    }

    #[test]
    fn faults_and_mistakes_are_known_by_their_words() {
        let fault: Failure =
            Fault::new("before starting: environment", "compiler is 12.2.0, the file asks for >=99").into();
        assert_eq!(best(&fault).as_deref(), Some("no_exceptions_to_the_environment"));
        let report: Failure = Report::error("target cuda needs a GPU: no NVIDIA driver here").into();
        assert_eq!(best(&report).as_deref(), Some("no_gpu_here"));
        let typo: Failure = Report::error("BLOK_M is not defined").label("not a tunable").into();
        assert_eq!(best(&typo), None);
    }

    #[test]
    fn findings_teach_only_where_something_is_wrong() {
        let full = Finding::warn("disk", "", "382 MB free for .kiln", "free some");
        assert_eq!(best(&full).as_deref(), Some("room_on_the_disk"));
        assert_eq!(best(&Finding::ok("disk", "", "82 GB free for .kiln")), None);
    }

    fn summary(verdict: &str, cause: Option<&str>) -> Summary {
        let limit = cause.map(|cause| {
            serde_json::json!({ "workload": "", "config": {}, "cause": cause, "confidence": 0.5, "expected_speedup": 2.0,
                "coarse": true, "bound": "latency", "explanation": "", "fix": null, "report": null, "page": null })
        });
        serde_json::from_value(serde_json::json!({
            "verdict": verdict, "reason": "the default configuration runs at 0.0113x of good, under 0.5x: remove what limits it",
            "workloads": [], "config": null, "speedup": null, "speedup_ci95": null, "target_speedup": 1.1, "baseline": "good",
            "trials": 1, "refused": { "spills": 3, "numerics": 1 }, "ablation": [], "seed": 1, "seconds": 1.0, "study": "s", "limit": limit
        }))
        .unwrap()
    }

    #[test]
    fn a_stopped_study_teaches_what_limits_it_or_to_profile() {
        assert_eq!(best(&summary("stopped", Some("small_grid"))).as_deref(), Some("design_for_the_chip"));
        assert_eq!(best(&summary("stopped", None)).as_deref(), Some("profile_before_optimising"));
        let none = summary("no_valid_candidate", None);
        assert_eq!(none.symptoms().gate, Some(Gate::Spills));
        assert_eq!(best(&summary("reached", Some("small_grid"))), None);
    }
}
