//! A debug run in words: the case, assertions that failed, what the kernel printed, how the call ended.

use std::fmt;

use kiln_app::{Debugged, DebuggedBecause, ToolOutcome};
use serde_json::{Value, json};

use crate::words::refusal::refusal;
use crate::words::visible::visible;

/// Everything `kiln debug` says.
pub struct DebugView<'a> {
    /// What was seen.
    pub debugged: &'a Debugged,
    /// Show the compiler's command, too.
    pub verbose: bool,
}

impl DebugView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        json!(self.debugged)
    }
}

impl fmt::Display for DebugView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = self.debugged;
        writeln!(f, "{} on {}, debug build, seed {}\n  {}", seen.kernel, seen.target, seen.seed, seen.config)?;
        if !seen.workload.is_empty() {
            let because = match seen.because {
                DebuggedBecause::Asked => "",
                DebuggedBecause::Fails => ", the smallest that fails",
                DebuggedBecause::Smallest => ", the smallest; no workload fails the quick check",
            };
            let dims: Vec<String> = seen.dims.iter().map(|(name, value)| format!("{name}={value}")).collect();
            writeln!(f, "  workload {} ({}){because}", seen.workload, dims.join(", "))?;
        }
        for assertion in &seen.assertions {
            let (condition, place) = (visible(&assertion.condition), assertion.place());
            writeln!(f, "\nassertion failed: {condition}\n  at {}", visible(&place))?;
            if let Some(line) = &assertion.source_line {
                writeln!(f, "  | {}", visible(line))?;
            }
        }
        match seen.output.trim_end() {
            "" => writeln!(f, "\nthe kernel printed nothing")?,
            output => writeln!(f, "\noutput\n{}", visible(output))?,
        }
        writeln!(f)?;
        match (&seen.refusal, seen.outcome) {
            (Some(why), ToolOutcome::Passed) => {
                writeln!(f, "correct result in the debug build; the ordinary build is refused")?;
                f.write_str(&refusal(why, self.verbose))
            }
            (Some(why), _) => f.write_str(&refusal(why, self.verbose)),
            (None, ToolOutcome::TimedOut) => writeln!(f, "did not end in time"),
            (None, _) => writeln!(f, "correct result"),
        }
    }
}
