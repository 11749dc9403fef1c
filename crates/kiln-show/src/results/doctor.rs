//! The state of the environment: one line for what is well, and for what is not also why it matters and the fix.

use std::fmt;

use kiln_app::{Finding, Health};
use serde_json::{Value, json};

use crate::words::lesson::lesson_line;

/// Everything `kiln doctor` says.
pub struct DoctorView<'a> {
    /// What was found.
    pub findings: &'a [Finding],
    /// What was put right, in words.
    pub fixed: &'a [String],
}

impl DoctorView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        json!({ "healthy": self.count(Health::Fail) == 0, "findings": self.findings, "fixed": self.fixed })
    }

    fn count(&self, state: Health) -> usize {
        self.findings.iter().filter(|f| f.state == state).count()
    }
}

impl fmt::Display for DoctorView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.findings.iter().map(|found| found.id.len()).max().unwrap_or(0);
        for found in self.findings {
            let Finding { id, state, what, why, fix, lesson } = found;
            let room = WIDEST - 8 - width;
            let mut words = what.lines().flat_map(|line| wrapped(line, room));
            writeln!(f, "{:<4}  {id:<width$}  {}", state.name(), words.next().unwrap_or_default())?;
            words.try_for_each(|line| writeln!(f, "{:6}{:width$}  {line}", "", ""))?;
            // What is well needs no fix, though there may be more to have.
            let rest = [("why", Some(why.to_string())), ("fix", fix.clone())];
            for (noun, words) in rest.into_iter().filter(|_| *state != Health::Ok) {
                for (place, line) in wrapped(words.as_deref().unwrap_or_default(), room - 5).iter().enumerate() {
                    let noun = if place == 0 { format!("{noun}:") } else { String::new() };
                    writeln!(f, "{:6}{:width$}  {noun:4} {line}", "", "")?;
                }
            }
            if let Some(lesson) = lesson {
                write!(f, "{:6}{:width$}  {}", "", "", lesson_line(lesson))?;
            }
        }
        writeln!(f)?;
        self.fixed.iter().try_for_each(|done| writeln!(f, "fixed: {done}"))?;
        match (self.count(Health::Warn), self.count(Health::Fail)) {
            (0, 0) => writeln!(f, "kiln is ready"),
            (warn, 0) => writeln!(f, "kiln is ready, with {}", counted(warn, "warning")),
            (0, fail) => writeln!(f, "kiln is not ready: {}", counted(fail, "failure")),
            (warn, fail) => {
                writeln!(f, "kiln is not ready: {}, {}", counted(fail, "failure"), counted(warn, "warning"))
            }
        }
    }
}

/// Columns of the widest line.
const WIDEST: usize = 120;

/// Words in lines of at most so many characters, where no word is longer.
fn wrapped(words: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> Vec<Finding> {
        vec![
            Finding::ok("compiler", "candidates are compiled", "cc 13.3 builds"),
            Finding::warn("load", "times are noisy", "3.0 on 2 processors", "wait"),
            Finding::fail("disk", "records are written", "full\nreally", "free some"),
        ]
    }

    #[test]
    fn what_is_not_well_says_why_and_what_to_do() {
        let (findings, fixed) = (found(), ["made .kiln".to_string()]);
        insta::assert_snapshot!(DoctorView { findings: &findings, fixed: &fixed }, @r"
        ok    compiler  cc 13.3 builds
        warn  load      3.0 on 2 processors
                        why: times are noisy
                        fix: wait
        fail  disk      full
                        really
                        why: records are written
                        fix: free some

        fixed: made .kiln
        kiln is not ready: 1 failure, 1 warning
        ");
        let healthy = DoctorView { findings: &findings[..2], fixed: &[] };
        assert!(healthy.to_string().ends_with("kiln is ready, with 1 warning\n"));
    }

    #[test]
    fn long_lines_are_wrapped_and_what_is_well_has_no_fix() {
        let long = "pip install nvidia-cuda-nvcc ".repeat(12);
        let mut findings = vec![Finding::warn("nvcc", "it compiles", long.clone(), long)];
        let text = DoctorView { findings: &findings, fixed: &[] }.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= WIDEST) && text.matches("fix:").count() == 1, "{text}");
        findings[0].state = Health::Ok;
        assert!(!DoctorView { findings: &findings, fixed: &[] }.to_string().contains("fix:"));
    }

    #[test]
    fn json_keeps_its_keys() {
        let findings = found();
        let object = DoctorView { findings: &findings, fixed: &[] }.json();
        assert_eq!(object["healthy"], false);
        assert_eq!(object["findings"][2]["state"], "fail");
        let keys: Vec<_> = object["findings"][0].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["id", "state", "what", "why", "fix"]);
    }
}
