//! Two runs against each other, in words: a row for each workload, what it rests on, and what to do. In Markdown it is a comment
//! for a pull request.

mod elsewhere;
mod markdown;

use std::fmt;

use kiln_app::{CompareVerdict, Compared, ComparedWorkload, RunFile};
use serde_json::{Value, json};

use crate::words::number::duration;
use crate::words::table::{Align, lines};
use crate::words::visible::visible;
use crate::words::warnings::gathered;

/// Everything `kiln compare` says.
pub struct CompareView<'a> {
    /// What was compared.
    pub compared: &'a Compared,
    /// The command that compares them again.
    pub command: &'a str,
}

impl CompareView<'_> {
    /// One object; times in seconds.
    pub fn json(&self) -> Value {
        let Compared { base, candidate, side, yardstick, workloads, overall, verdict, notes } = self.compared;
        let about = |run: &RunFile| {
            json!({
                "source": run.source,
                "id": run.id,
                "started_ms": run.started_ms,
                "commit": run.commit,
                "config": run.config,
                "device": run.device,
            })
        };
        json!({
            "verdict": verdict,
            "kernel": candidate.kernel,
            "side": side,
            "yardstick": yardstick,
            "speedup": overall.map(|found| found.value),
            "speedup_ci95": overall.map(|found| found.interval),
            "workloads": workloads,
            "base": about(base),
            "candidate": about(candidate),
            "notes": notes,
        })
    }

    /// What it all comes to.
    fn headline(&self) -> String {
        let Compared { workloads, verdict, .. } = self.compared;
        let of = |wanted: CompareVerdict| {
            let names: Vec<&str> =
                workloads.iter().filter(|w| w.verdict == wanted).map(|w| w.workload.as_str()).collect();
            match names.len() == workloads.len() && names.len() > 1 {
                true => "every workload".to_string(),
                false => names.join(", "),
            }
        };
        match verdict {
            CompareVerdict::Regression => format!("regression on {}", of(*verdict)),
            CompareVerdict::Improvement => format!("improvement on {}", of(*verdict)),
            CompareVerdict::TooNoisy => format!("too noisy to tell on {}", of(*verdict)),
            CompareVerdict::Same => "no significant difference".into(),
            CompareVerdict::Identical => "identical machine code: no verdict needed".into(),
        }
    }

    /// What both runs are measured in, and what differs besides.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let Compared { yardstick, workloads, notes, .. } = self.compared;
        let mut remarks = Vec::new();
        match yardstick {
            Some(name) => remarks.push(format!("both runs have baseline {name}: times are compared relative to it")),
            None => remarks.push(
                "measured apart, without a baseline in common: a change of the machine looks like one of the kernel"
                    .into(),
            ),
        }
        for ComparedWorkload { workload, more_samples, verdict, .. } in workloads {
            match (more_samples, verdict) {
                (Some(more), _) => {
                    remarks.push(format!("{workload}: about {more} more samples on each side would tell"));
                }
                (None, CompareVerdict::TooNoisy) if yardstick.is_some() => remarks.push(format!(
                    "{workload}: more samples would not tell, because the baseline itself took other times in the two runs; \
                     `kiln ci --base COMMIT` measures both versions in turns"
                )),
                (None, CompareVerdict::TooNoisy) => {
                    remarks.push(format!("{workload}: how many more samples would tell is not known: measure again"));
                }
                _ => {}
            }
        }
        remarks.extend(notes.iter().cloned());
        let warnings: Vec<(String, String)> = workloads
            .iter()
            .flat_map(|w| w.comparison.warnings.iter().map(move |warning| (w.workload.clone(), warning)))
            .map(|(workload, warning)| (workload, warning.to_string()))
            .collect();
        remarks.extend(gathered(&warnings));
        remarks
    }
}

/// A p-value; one that rounds to nothing is only known to be small.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "<0.001".into() } else { format!("{p:.3}") }
}

/// How much more time the candidate takes, in per cent, with its interval.
fn change(workload: &ComparedWorkload) -> (String, String) {
    let found = &workload.comparison;
    let percent = |speedup: f64| format!("{:+.1}", 100.0 * (1.0 / speedup - 1.0));
    let interval = format!("[{}, {}] %", percent(found.speedup_ci95.high), percent(found.speedup_ci95.low));
    (format!("{} %", percent(found.speedup)), interval)
}

impl fmt::Display for CompareView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Compared { candidate, workloads, overall, .. } = self.compared;
        let kernel = if candidate.kernel.is_empty() { &candidate.source } else { &candidate.kernel };
        writeln!(f, "{kernel}: {}\n", self.headline())?;
        let titles = ["workload", "base", "candidate", "time", "95 % interval", "p", "delta", "verdict"];
        let mut rows = vec![titles.map(String::from).to_vec()];
        for workload in workloads {
            let (found, (time, interval)) = (&workload.comparison, change(workload));
            rows.push(vec![
                visible(&workload.workload).replace(['\n', '\t'], " "),
                duration(found.baseline.median),
                duration(found.candidate.median),
                time,
                interval,
                p_value(found.p_value),
                format!("{:+.2}", found.cliffs_delta),
                workload.verdict.name().into(),
            ]);
        }
        use Align::{Left, Right};
        write!(f, "{}", lines(&rows, &[Left, Right, Right, Right, Left, Right, Right, Left]))?;
        if let (Some(overall), true) = (overall, workloads.len() > 1) {
            let (low, high) = (overall.interval.low, overall.interval.high);
            writeln!(f, "  speedup over all workloads {:.3}x [{low:.3}, {high:.3}]", overall.value)?;
        }
        for remark in self.remarks() {
            writeln!(f, "  {remark}")?;
        }
        Ok(())
    }
}
