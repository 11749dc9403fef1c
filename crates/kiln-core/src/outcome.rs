//! What a stage says about a candidate: it passed, or it was refused and why.

use serde::{Deserialize, Serialize};

use crate::Gate;

/// The candidate's fault: which gate refused it and on what evidence. Stored and counted, never an error of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// The gate.
    pub gate: Gate,
    /// The rule at that gate, e.g. the constraint's name.
    pub rule: String,
    /// What was measured, in words with numbers.
    pub measured: String,
    /// What was allowed.
    pub limit: String,
    /// The expression or output it rests on.
    pub evidence: String,
    /// What to try next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What the command that was run stands behind, on the last line of the evidence.
const PROMPT: &str = "$ ";

impl Refusal {
    /// The same with the command that was run, as it would be typed.
    pub fn by_command(mut self, command: &str) -> Refusal {
        let end = if self.evidence.is_empty() { "" } else { "\n" };
        self.evidence.push_str(&format!("{end}{PROMPT}{}", command.replace('\n', " ")));
        self
    }

    /// The evidence without the command.
    pub fn words(&self) -> &str {
        match self.evidence.rsplit_once('\n') {
            Some((words, last)) if last.starts_with(PROMPT) => words,
            None if self.evidence.starts_with(PROMPT) => "",
            _ => &self.evidence,
        }
    }

    /// The command that was run, where it is known.
    pub fn command(&self) -> Option<&str> {
        self.evidence.lines().next_back()?.strip_prefix(PROMPT)
    }
}

/// The result of a stage.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<T> {
    /// Through the gate, with what the stage made.
    Passed(T),
    /// Stopped at a gate.
    Refused(Refusal),
}

impl<T> Outcome<T> {
    /// What passed, made into something else; a refusal stays one.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Outcome::Passed(value) => Outcome::Passed(f(value)),
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_told_from_the_words_before_it() {
        let refused = |evidence: &str| Refusal {
            gate: Gate::BuildFailed,
            rule: String::new(),
            measured: String::new(),
            limit: String::new(),
            evidence: evidence.into(),
            hint: None,
        };
        let plain = refused("k.c:1: error\n  1 | x");
        assert_eq!((plain.words(), plain.command()), ("k.c:1: error\n  1 | x", None));
        let typed = plain.clone().by_command("cc -O3 k.c");
        assert_eq!((typed.words(), typed.command()), (plain.words(), Some("cc -O3 k.c")));
        let alone = refused("").by_command("cc");
        assert_eq!((alone.words(), alone.command()), ("", Some("cc")));
    }
}
