//! A sanitized configuration in words: what was run on what, then every finding and the verdict.

use std::fmt;

use kiln_app::{Sanitized, ToolOutcome};
use serde_json::{Value, json};

use crate::results::diagnosis::DiagnosisView;
use crate::words::number::duration;
use crate::words::refusal::refusal;
use crate::words::table::{Align, lines};

/// Everything `kiln sanitize` says.
pub struct SanitizeView<'a> {
    /// What was found.
    pub sanitized: &'a Sanitized,
    /// Show the compiler's command, too.
    pub verbose: bool,
}

impl SanitizeView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        json!(self.sanitized)
    }
}

impl fmt::Display for SanitizeView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sanitized { diagnosis, kernel, target, config, seed, tools, runs, refusal: refused } = self.sanitized;
        writeln!(f, "{kernel} on {target}, {tools}, seed {seed}\n  {config}")?;
        if let Some(why) = refused {
            return writeln!(f, "refused before any tool ran\n{}", refusal(why, self.verbose));
        }
        let row = |run: &kiln_app::SanitizerRun| {
            let outcome = match (&run.refusal, run.outcome) {
                (_, ToolOutcome::TimedOut) => "did not end in time".into(),
                (Some(refusal), _) => format!("refused: {}", refusal.gate),
                (None, _) => "correct result".into(),
            };
            vec![run.workload.clone(), run.tool.into(), outcome, duration(run.seconds)]
        };
        let rows: Vec<Vec<String>> = runs.iter().map(row).collect();
        let table = lines(&rows, &[Align::Left, Align::Left, Align::Left, Align::Right]);
        write!(f, "\n{table}\n{}", DiagnosisView { diagnosis })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_come_before_the_verdict() {
        let text = r#"{"findings":[],"verdict":"clean"}"#;
        let sanitized = Sanitized {
            diagnosis: serde_json::from_str(text).unwrap(),
            kernel: "softmax".into(),
            target: "cpu".into(),
            config: kiln_core::Config::parse("VEC=8").unwrap(),
            seed: 7,
            tools: "sanitizers of gcc 12".into(),
            runs: vec![kiln_app::SanitizerRun {
                workload: "one".into(),
                tool: "asan+ubsan",
                outcome: ToolOutcome::Passed,
                refusal: None,
                seconds: 0.25,
            }],
            refusal: None,
        };
        let view = SanitizeView { sanitized: &sanitized, verbose: false };
        let told = view.to_string();
        assert!(told.starts_with("softmax on cpu, sanitizers of gcc 12, seed 7\n  VEC=8\n\n"), "{told}");
        assert!(told.contains("one  asan+ubsan  correct result") && told.contains("\nclean: "), "{told}");
        let object = view.json();
        assert_eq!((&object["verdict"], &object["runs"][0]["outcome"]), (&json!("clean"), &json!("passed")));
    }
}
