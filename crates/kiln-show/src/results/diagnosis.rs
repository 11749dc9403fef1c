//! A diagnosis in words: for each finding the cause, the place with its line, what supports it, and the fix.

use std::fmt;

use kiln_app::{DiagnosedCause, DiagnosedFinding, Diagnosis, DiagnosisVerdict};
use kiln_core::counted;

use crate::words::visible::visible;

/// Everything `kiln diagnose` says.
pub struct DiagnosisView<'a> {
    /// The diagnosis.
    pub diagnosis: &'a Diagnosis,
}

/// Facts that the explanation has in words already, or that are shown elsewhere.
const SHOWN_ELSEWHERE: [&str; 2] = ["source_line", "detail"];

impl fmt::Display for DiagnosisView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnosis { findings, verdict, notes } = self.diagnosis;
        for finding in findings {
            f.write_str(&visible(&shown(finding)))?;
        }
        let verdict = match verdict {
            DiagnosisVerdict::BugsFound => format!("{} found", counted(findings.len() as u128, "cause")),
            DiagnosisVerdict::Clean => {
                "clean: the tools found nothing. No tool sees races between blocks, wrong indices or hangs".into()
            }
            DiagnosisVerdict::Inconclusive => "inconclusive: this is not a clean result".into(),
            DiagnosisVerdict::NotRun => "not run: no tool checked anything".into(),
        };
        writeln!(f, "{verdict}")?;
        notes.iter().try_for_each(|note| writeln!(f, "  {}", visible(note)))
    }
}

/// One finding.
pub(super) fn shown(finding: &DiagnosedFinding) -> String {
    let DiagnosedFinding { cause, tool, kernel, file, line, count, facts, explanation, fix } = finding;
    let place = match (file, line) {
        (Some(file), Some(line)) => format!(" at {file}:{line}"),
        (Some(file), None) => format!(" in {file}"),
        _ => String::new(),
    };
    let kernel = kernel.as_ref().map(|kernel| format!(" in {kernel}")).unwrap_or_default();
    let mut text =
        format!("{}{kernel}{place} ({}, {})\n", cause.id(), tool.name(), counted(u128::from(*count), "report"));
    if let Some(source) = facts.text("source_line") {
        text.push_str(&format!("  | {source}\n"));
    }
    text.push_str(&format!("  {explanation}\n"));
    let others = facts.iter().filter(|(name, _)| !SHOWN_ELSEWHERE.contains(name));
    let words: Vec<String> = others.map(|(name, value)| format!("{name} {}", in_words(value))).collect();
    if !words.is_empty() {
        text.push_str(&format!("  facts: {}\n", words.join(", ")));
    }
    // Where no cause is certain, there is nothing to repair yet.
    let open = *cause == DiagnosedCause::Inconclusive || facts.get("reason").is_some();
    let advice = if open { "try" } else { "fix" };
    text.push_str(&format!("  {advice}: {fix}\n\n"));
    text
}

/// A fact's value without quotes.
fn in_words(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items.iter().map(in_words).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a log says may come from a kernel.
    #[test]
    fn nothing_in_a_log_reaches_the_terminal() {
        let text = r#"{"findings":[{"cause":"inconclusive","tool":"program","kernel":"k\u001b[31m","file":"a\rb.c","line":3,"count":1,
            "facts":{"detail":"\u001b]0;title\u0007","source_line":"x\u001b[2J"},"explanation":"\u001b[1mno","fix":"look\u0008"}],
            "verdict":"inconclusive","notes":["\u001b[0mnote"]}"#;
        let diagnosis: Diagnosis = serde_json::from_str(text).unwrap();
        let told = DiagnosisView { diagnosis: &diagnosis }.to_string();
        assert!(!told.chars().any(|c| c.is_control() && c != '\n'), "{told:?}");
        assert!(told.contains("k\\u{1b}[31m at a\\rb.c:3") && told.contains("  try: look\\u{8}\n"), "{told}");
    }
}
