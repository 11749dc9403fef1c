//! A check in words: every question with the errors of each output beside what is allowed, or what refused it.

use std::fmt;

use kiln_core::{Config, Outcome, Refusal};
use kiln_judge::{Allowed, Bound, Level, Mark};
use kiln_study::{CheckReport, Kernel};
use serde_json::{Value, json};

use crate::words::number::counted;
use crate::words::refusal::refusal;
use crate::words::table::{Align, lines};

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
                let (passed, error, rel_l2, outputs) = match &r.outcome {
                    Outcome::Passed(marks) => {
                        (true, Some(marks.worst), Some(marks.rel_l2), marks.outputs.iter().map(object).collect())
                    }
                    Outcome::Refused(_) => (false, None, None, Vec::new()),
                };
                json!({
                    "workload": r.workload, "inputs": r.distribution, "passed": passed,
                    "share_of_tolerance": error, "rel_l2": rel_l2, "outputs": outputs,
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

/// One output's errors, with what it was held to.
fn object(mark: &Mark) -> Value {
    let Bound { allowed: Allowed { abs, rel }, rel_l2, .. } = mark.bound;
    json!({
        "name": mark.name, "max_error": mark.max_abs, "mean_error": mark.mean_abs,
        "allowed": { "abs": abs, "rel": rel, "rel_l2": rel_l2 },
        "share_of_tolerance": mark.worst, "rel_l2": mark.rel_l2,
    })
}

/// The same for a table.
fn cells(mark: &Mark) -> [String; 6] {
    [
        mark.name.clone(),
        format!("{:.1e}", mark.max_abs),
        format!("{:.1e}", mark.mean_abs),
        allowed(mark.bound.allowed, &mark.name),
        format!("{:.1} %", 100.0 * mark.worst),
        format!("{:.1e}", mark.rel_l2),
    ]
}

/// How far an element may be off, such as `1.0e-5 + 1.0e-4 |y|`.
fn allowed(Allowed { abs, rel }: Allowed, name: &str) -> String {
    match (abs == 0.0, rel == 0.0) {
        (true, true) => "0".into(),
        (false, true) => format!("{abs:.1e}"),
        (true, false) => format!("{rel:.1e} |{name}|"),
        (false, false) => format!("{abs:.1e} + {rel:.1e} |{name}|"),
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
        let titles = [
            "workload",
            "inputs",
            "output",
            "largest error",
            "mean error",
            "allowed",
            "of the tolerance",
            "relative error",
        ];
        let mut rows = vec![titles.map(String::from).to_vec()];
        for report in self.reports {
            let question = [report.workload.clone(), report.distribution.clone()];
            match &report.outcome {
                Outcome::Passed(marks) => {
                    rows.extend(marks.outputs.iter().map(|mark| [&question[..], &cells(mark)].concat()));
                }
                Outcome::Refused(refusal) => {
                    let [rule, refused, gate] = [&refusal.rule, "refused", refusal.gate.name()].map(String::from);
                    let nothing = String::new;
                    rows.push([&question[..], &[rule, nothing(), nothing(), nothing(), refused, gate]].concat());
                }
            }
        }
        if rows.len() > 1 {
            use Align::{Left, Right};
            f.write_str(&lines(&rows, &[Left, Left, Left, Right, Right, Right, Right, Right]))?;
            writeln!(f)?;
        }
        match self.refused {
            None => writeln!(f, "correct: {} passed", counted(self.reports.len() as u128, "question")),
            Some((found, workload)) => {
                let on = if workload.is_empty() { String::new() } else { format!(" on {workload}") };
                write!(f, "refused{on}\n{}", refusal(found, self.verbose))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_judge::Source;

    #[test]
    fn errors_stand_beside_what_is_allowed() {
        let bound = Bound { allowed: Allowed { abs: 1e-5, rel: 1e-4 }, rel_l2: Some(2e-6), source: Source::Assumed };
        let mark = Mark { name: "y".into(), worst: 0.5, max_abs: 2e-5, mean_abs: 3e-6, bound, rel_l2: 1e-6 };
        assert_eq!(cells(&mark), ["y", "2.0e-5", "3.0e-6", "1.0e-5 + 1.0e-4 |y|", "50.0 %", "1.0e-6"]);
        assert_eq!(object(&mark)["allowed"], json!({ "abs": 1e-5, "rel": 1e-4, "rel_l2": 2e-6 }));
        assert_eq!((&object(&mark)["max_error"], &object(&mark)["mean_error"]), (&json!(2e-5), &json!(3e-6)));
        assert_eq!(allowed(Allowed { abs: 0.0, rel: 0.0 }, "n"), "0");
        assert_eq!(allowed(Allowed { abs: 0.0, rel: 1e-3 }, "n"), "1.0e-3 |n|");
    }
}
