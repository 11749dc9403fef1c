//! A result measured again, in words: whether it is the same, and what differs.

use std::fmt;

use kiln_app::{CompareVerdict, Compared, Difference, Outcome, Reproduced};
use serde_json::{Value, json};

use super::compare::CompareView;
use crate::words::number::duration;
use crate::words::refusal::refusal;
use crate::words::table::{Align, lines};
use crate::words::visible::visible;

/// Everything `kiln reproduce` says.
pub struct ReproduceView<'a> {
    /// What was measured again.
    pub reproduced: &'a Reproduced,
    /// The command that does it once more.
    pub command: &'a str,
}

impl ReproduceView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let Reproduced { what, kernel, config, environment, code, same_device, result } = self.reproduced;
        let (comparison, refused) = match result {
            Outcome::Passed(compared) => (Some(CompareView { compared, command: self.command }.json()), None),
            Outcome::Refused(refusal) => (None, Some(refusal)),
        };
        json!({
            "what": what,
            "kernel": kernel,
            "config": config,
            "reproduced": self.is_so(),
            "same_device": same_device,
            "environment": environment,
            "code": code,
            "comparison": comparison,
            "refused": refused,
        })
    }

    /// Whether the result is the same; none where another device or noise leaves it open.
    fn is_so(&self) -> Option<bool> {
        match &self.reproduced.result {
            Outcome::Refused(_) => Some(false),
            Outcome::Passed(_) if !self.reproduced.same_device => None,
            Outcome::Passed(compared) => match compared.verdict {
                CompareVerdict::Regression => Some(false),
                CompareVerdict::TooNoisy => None,
                CompareVerdict::Improvement | CompareVerdict::Same | CompareVerdict::Identical => Some(true),
            },
        }
    }

    fn headline(&self) -> &'static str {
        match (&self.reproduced.result, self.is_so()) {
            (Outcome::Refused(_), _) => "not reproduced: the configuration is refused now",
            (_, Some(true)) => "reproduced",
            (_, Some(false)) => "not reproduced: it is slower now",
            (_, None) if !self.reproduced.same_device => "measured on another device: times are shown, not judged",
            (_, None) => "too noisy to tell",
        }
    }
}

fn table(title: &str, differences: &[Difference]) -> String {
    if differences.is_empty() {
        return format!("\n{title}: the same\n");
    }
    let word = |words: &Option<String>| words.clone().unwrap_or_else(|| "-".into());
    let mut rows = vec![[title, "then", "now"].map(String::from).to_vec()];
    rows.extend(differences.iter().map(|d| vec![d.what.clone(), word(&d.then), word(&d.now)]));
    format!("\n{}", lines(&rows, &[Align::Left, Align::Left, Align::Left]))
}

/// What both devices took, without a verdict.
fn times(compared: &Compared) -> String {
    let mut rows = vec![["workload", "then", "now"].map(String::from).to_vec()];
    rows.extend(compared.workloads.iter().map(|workload| {
        let (then, now) = (workload.comparison.baseline.median, workload.comparison.candidate.median);
        vec![visible(&workload.workload).into_owned(), duration(then), duration(now)]
    }));
    lines(&rows, &[Align::Left, Align::Right, Align::Right])
}

impl fmt::Display for ReproduceView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reproduced { what, kernel, config, environment, code, result, same_device, .. } = self.reproduced;
        writeln!(f, "{what} of {kernel}: {}\n  {config}", self.headline())?;
        match result {
            Outcome::Refused(found) => write!(f, "\n{}", refusal(found, false)),
            Outcome::Passed(compared) => {
                write!(f, "{}{}", table("environment", environment), table("code", code))?;
                match same_device {
                    true => write!(f, "\n{}", CompareView { compared, command: self.command }),
                    false => write!(f, "\n{}", times(compared)),
                }
            }
        }
    }
}
