//! What can be seen of one failure or state, whoever saw it: a gate, the compiler's words, a sanitizer's cause, a profile's
//! bottleneck, a finding of the doctor, habits. All of it is optional. It serialises without what is empty, so that it can
//! be stored with an attempt.

use std::collections::BTreeMap;

use kiln_core::{Fault, Gate, Refusal};
use serde::{Deserialize, Serialize};

use super::Habit;
use crate::coarse::CoarseDiagnosis;
use crate::profile::ProfileDiagnosis;
use crate::{Diagnosis, Finding};

/// What can be seen of one failure or state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Symptoms {
    /// The gate that refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// The rule at that gate.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// What was said: the compiler's message, the refusal's numbers and evidence, the fault's words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Identifiers of causes: of a sanitizer's diagnosis, a profile's or a coarse one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// Identifiers of the doctor's findings that warn or fail.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// Numbers by name, such as a profile's metrics or `speedup`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// The architecture it was built for, such as `sm_90a`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// What kind of kernel it is: its target, the operation that its reference computes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// What the attempts before it show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub habits: Vec<Habit>,
}

impl Symptoms {
    /// The same on an architecture, if there is one.
    pub fn on(mut self, arch: Option<&str>) -> Symptoms {
        self.arch = arch.map(String::from);
        self
    }

    /// The same of a kernel of these kinds.
    pub fn of(mut self, kinds: impl IntoIterator<Item = impl Into<String>>) -> Symptoms {
        self.kinds.extend(kinds.into_iter().map(Into::into));
        self
    }

    /// The symptoms of one finding of the doctor that warns or fails.
    pub fn of_environment(finding: &str, words: &str) -> Symptoms {
        Symptoms { findings: vec![finding.into()], text: words.into(), ..Symptoms::default() }
    }

    /// The symptoms of habits alone.
    pub fn of_habits(habits: &[Habit]) -> Symptoms {
        Symptoms { habits: habits.to_vec(), ..Symptoms::default() }
    }
}

impl From<&Refusal> for Symptoms {
    fn from(refusal: &Refusal) -> Symptoms {
        // The command and the hint are kiln's own words: they would match what was never said.
        let text = [&refusal.measured, &refusal.limit, refusal.words()].join("\n");
        Symptoms { gate: Some(refusal.gate), rule: refusal.rule.clone(), text, ..Symptoms::default() }
    }
}

impl From<&Fault> for Symptoms {
    fn from(fault: &Fault) -> Symptoms {
        Symptoms { text: format!("{}: {}", fault.what, fault.why), ..Symptoms::default() }
    }
}

impl From<&Finding> for Symptoms {
    fn from(finding: &Finding) -> Symptoms {
        let fact = |name: &str| finding.facts.text(name).unwrap_or_default();
        let text = format!("{}\n{}\nreason: {}", finding.explanation, fact("source_line"), fact("reason"));
        Symptoms { text, causes: vec![finding.cause.id().into()], ..Symptoms::default() }
    }
}

/// Those of the first finding: the others most often follow from it.
impl From<&Diagnosis> for Symptoms {
    fn from(diagnosis: &Diagnosis) -> Symptoms {
        diagnosis.findings.first().map(Symptoms::from).unwrap_or_default()
    }
}

/// The first cause with the numbers that show it.
impl From<&ProfileDiagnosis> for Symptoms {
    fn from(diagnosis: &ProfileDiagnosis) -> Symptoms {
        let causes = diagnosis.cause.iter().map(|cause| cause.id().into()).collect();
        let metrics = diagnosis.evidence.iter().map(|own| (own.metric.clone(), own.value)).collect();
        Symptoms { causes, metrics, text: diagnosis.explanation.clone(), ..Symptoms::default() }
    }
}

impl From<&CoarseDiagnosis> for Symptoms {
    fn from(diagnosis: &CoarseDiagnosis) -> Symptoms {
        let causes = diagnosis.cause.iter().map(|cause| cause.id().into()).collect();
        let metrics = diagnosis.evidence.iter().map(|own| (own.metric.clone(), own.value)).collect();
        Symptoms { causes, metrics, text: diagnosis.explanation.clone(), ..Symptoms::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_speaks_in_the_tools_words_alone() {
        let refusal = Refusal {
            gate: Gate::BuildFailed,
            rule: "nvcc".into(),
            measured: "1 error".into(),
            limit: "none".into(),
            evidence: "k.cu(3): error: static assertion failed".into(),
            hint: Some("misaligned address".into()),
        };
        let seen = Symptoms::from(&refusal.by_command("nvcc -arch=sm_90a k.cu"));
        assert_eq!((seen.gate, seen.rule.as_str()), (Some(Gate::BuildFailed), "nvcc"));
        assert!(seen.text.contains("static assertion") && !seen.text.contains("misaligned"), "{}", seen.text);
        assert!(!seen.text.contains("-arch"), "{}", seen.text);
    }

    #[test]
    fn what_is_empty_is_not_stored_and_reads_back() {
        let seen = Symptoms::of_habits(&[Habit::BlindChange]).on(Some("sm_90a")).of(["attention"]);
        let json = serde_json::to_string(&seen).unwrap();
        assert_eq!(json, r#"{"arch":"sm_90a","kinds":["attention"],"habits":["blind_change"]}"#);
        assert_eq!(serde_json::from_str::<Symptoms>(&json).unwrap(), seen);
        assert_eq!(serde_json::to_string(&Symptoms::default()).unwrap(), "{}");
    }
}
