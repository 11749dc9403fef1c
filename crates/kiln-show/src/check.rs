//! A check in words: every question with how much of the allowed error was used, or what refused it.

use std::fmt;

use kiln_core::{Config, Outcome, Refusal};
use kiln_judge::Level;
use kiln_study::{CheckReport, Kernel};
use serde_json::{Value, json};

use crate::number::counted;
use crate::refusal::refusal;
use crate::table::{Align, lines};

/// Everything `kiln check` says.
pub struct CheckView<'a> {
    /// The kernel.
    pub kernel: &'a Kernel<'a>,
    /// The configuration.
    pub config: &'a Config,
    /// How thoroughly.
    pub level: Level,
    /// The seed inputs were drawn with.
    pub seed: u64,
    /// The questions that were put.
    pub reports: &'a [CheckReport],
    /// What refused it, and on which workload.
    pub refused: Option<&'a (Refusal, String)>,
    /// Show the compiler's command, too.
    pub verbose: bool,
}

impl CheckView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let questions: Vec<Value> = self
            .reports
            .iter()
            .map(|r| {
                let (passed, error, rel_l2) = match &r.outcome {
                    Outcome::Passed(marks) => (true, Some(marks.worst), Some(marks.rel_l2)),
                    Outcome::Refused(_) => (false, None, None),
                };
                json!({
                    "workload": r.workload, "inputs": r.distribution, "passed": passed,
                    "share_of_tolerance": error, "rel_l2": rel_l2,
                })
            })
            .collect();
        json!({
            "name": self.kernel.name(),
            "target": self.kernel.target(),
            "config": self.config,
            "level": self.level.name(),
            "full": self.level == Level::Suite,
            "seed": self.seed,
            "passed": self.refused.is_none(),
            "questions": questions,
            "refusal": self.refused.map(|(refusal, _)| refusal),
            "workload": self.refused.map(|(_, workload)| workload),
        })
    }
}

impl fmt::Display for CheckView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, target) = (self.kernel.name(), self.kernel.target());
        // As the flags have it: `kiln check`, `kiln check --full`.
        let kind = match self.level {
            Level::Quick => "quick check",
            Level::Full => "check",
            Level::Suite => "full check",
        };
        writeln!(f, "{name}, target {target}, {kind}, seed {}\n  {}\n", self.seed, self.config)?;
        let mut rows = vec![["workload", "inputs", "of the tolerance", "relative error"].map(String::from).to_vec()];
        for report in self.reports {
            let (used, rel) = match &report.outcome {
                Outcome::Passed(marks) => (format!("{:.1} %", 100.0 * marks.worst), format!("{:.1e}", marks.rel_l2)),
                Outcome::Refused(refusal) => ("refused".into(), refusal.gate.name().into()),
            };
            rows.push(vec![report.workload.clone(), report.distribution.clone(), used, rel]);
        }
        if rows.len() > 1 {
            f.write_str(&lines(&rows, &[Align::Left, Align::Left, Align::Right, Align::Right]))?;
            writeln!(f)?;
        }
        match self.refused {
            None => writeln!(f, "right: {} passed", counted(self.reports.len() as u128, "question")),
            Some((found, workload)) => {
                let on = if workload.is_empty() { String::new() } else { format!(" on {workload}") };
                write!(f, "refused{on}\n{}", refusal(found, self.verbose))
            }
        }
    }
}
