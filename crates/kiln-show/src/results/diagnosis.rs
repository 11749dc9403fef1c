//! A diagnosis in words: for each finding the cause, the place with its line, what supports it, and the fix.

use std::fmt;

use kiln_app::{DiagnosedFinding, Diagnosis, DiagnosisVerdict};
use kiln_core::counted;

/// Everything `kiln diagnose` says.
pub struct DiagnosisView<'a> {
    /// The diagnosis.
    pub diagnosis: &'a Diagnosis,
}

/// Facts that the explanation has in words already, or that are shown elsewhere.
const SHOWN_ELSEWHERE: [&str; 1] = ["source_line"];

impl fmt::Display for DiagnosisView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnosis { findings, verdict, notes } = self.diagnosis;
        for finding in findings {
            show(f, finding)?;
        }
        let verdict = match verdict {
            DiagnosisVerdict::BugsFound => format!("{} found", counted(findings.len() as u128, "cause")),
            DiagnosisVerdict::Clean => {
                "clean: the tools found nothing. No tool sees races between blocks, wrong indices or hangs".into()
            }
            DiagnosisVerdict::Inconclusive => "inconclusive: this is not a clean result".into(),
            DiagnosisVerdict::NotRun => "not run: no tool has checked anything".into(),
        };
        writeln!(f, "{verdict}")?;
        notes.iter().try_for_each(|note| writeln!(f, "  {note}"))
    }
}

/// One finding.
pub(super) fn show(f: &mut fmt::Formatter<'_>, finding: &DiagnosedFinding) -> fmt::Result {
    let DiagnosedFinding { cause, tool, kernel, file, line, count, facts, explanation, fix } = finding;
    let place = match (file, line) {
        (Some(file), Some(line)) => format!(" at {file}:{line}"),
        (Some(file), None) => format!(" in {file}"),
        _ => String::new(),
    };
    let kernel = kernel.as_ref().map(|kernel| format!(" in {kernel}")).unwrap_or_default();
    writeln!(f, "{}{kernel}{place} ({}, {})", cause.id(), tool.name(), counted(u128::from(*count), "report"))?;
    if let Some(source) = facts.text("source_line") {
        writeln!(f, "  | {source}")?;
    }
    writeln!(f, "  {explanation}")?;
    let shown = facts.iter().filter(|(name, _)| !SHOWN_ELSEWHERE.contains(name));
    let words: Vec<String> = shown.map(|(name, value)| format!("{name} {}", in_words(value))).collect();
    if !words.is_empty() {
        writeln!(f, "  facts: {}", words.join(", "))?;
    }
    writeln!(f, "  fix: {fix}\n")
}

/// A fact's value without quotes.
fn in_words(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items.iter().map(in_words).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}
