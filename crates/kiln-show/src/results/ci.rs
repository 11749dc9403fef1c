//! What became of guarded kernels, in words: the steps, a row for each workload, what to do. In Markdown it is a comment for a pull
//! request or a step's summary.

mod elsewhere;
mod markdown;

use std::fmt;

use kiln_app::{CiAgainst, CiKernel, CiState, CiVerdict, CiWorkload, Ends, Guarded};
use serde_json::{Value, json};

use super::compare::p_value;
use super::diagnosis;
use crate::words::number::{duration, stretch};
use crate::words::refusal::refusal;
use crate::words::table::{Align, lines};
use crate::words::visible::visible;
use crate::words::warnings::gathered;

/// Everything `kiln ci` says.
pub struct CiView<'a> {
    /// What was guarded.
    pub guarded: &'a Guarded,
    /// The command that does it again.
    pub command: &'a str,
}

impl CiView<'_> {
    /// One object; times in seconds.
    pub fn json(&self) -> Value {
        json!({ "passed": self.guarded.ending() == kiln_app::Ending::Done, "kernels": self.guarded.kernels })
    }
}

/// What it comes to for one kernel.
fn headline(kernel: &CiKernel) -> String {
    match kernel.steps.last() {
        None => "it could not be opened".into(),
        Some(step) if step.state == CiState::Passed || step.state == CiState::Regressed => step.words.clone(),
        Some(step) => format!("{} at {}: {}", step.state.name(), step.step, step.words),
    }
}

/// What it was compared with.
fn against(kernel: &CiKernel) -> Option<String> {
    match &kernel.against {
        CiAgainst::Ratchet { file } => Some(format!("compared with {file}")),
        CiAgainst::Base { asked, commit } => {
            let short = commit.get(..12).unwrap_or(commit);
            Some(format!("compared with {asked} ({short}), measured in turns"))
        }
        CiAgainst::Nothing => None,
    }
}

/// What time a workload takes now: the change with its interval, in per cent.
fn change(workload: &CiWorkload) -> Option<(String, String)> {
    let found = workload.speedup?;
    let percent = |speedup: f64| format!("{:+.1}", 100.0 * (1.0 / speedup - 1.0));
    let interval = format!("[{}, {}] %", percent(found.interval.high), percent(found.interval.low));
    Some((format!("{} %", percent(found.value)), interval))
}

/// The cells of a workload's row: workload, before, now, time, interval, p, delta, verdict.
fn cells(workload: &CiWorkload) -> Vec<String> {
    let none = || "-".to_string();
    let (time, interval) = change(workload).unwrap_or_else(|| (none(), none()));
    vec![
        if workload.workload.is_empty() { none() } else { workload.workload.clone() },
        workload.base.map_or_else(none, |found| duration(found.value)),
        workload.candidate.map_or_else(none, |found| duration(found.value)),
        time,
        interval,
        workload.p_value.map_or_else(none, p_value),
        workload.cliffs_delta.map_or_else(none, |delta| format!("{delta:+.2}")),
        workload.verdict.name().into(),
    ]
}

/// The titles of those cells.
const TITLES: [&str; 8] = ["workload", "before", "now", "time", "95 % interval", "p", "delta", "verdict"];

/// What a reader should know of a kernel.
fn remarks(kernel: &CiKernel) -> Vec<String> {
    let mut remarks = Vec::new();
    let yardstick = kernel.workloads.iter().find_map(|w| w.yardstick.as_ref());
    remarks
        .extend(yardstick.map(|name| format!("times count relative to baseline {name}, measured in the same rounds")));
    for workload in &kernel.workloads {
        if workload.verdict == CiVerdict::Regression && workload.measured > 1 {
            remarks.push(format!("{}: confirmed by a second measurement in fresh processes", workload.workload));
        }
        let named = |note: &String| match workload.workload.is_empty() {
            true => note.clone(),
            false => format!("{}: {note}", workload.workload),
        };
        remarks.extend(workload.notes.iter().map(named));
    }
    let warnings =
        kernel.workloads.iter().flat_map(|w| w.warnings.iter().map(|words| (w.workload.clone(), words.clone())));
    remarks.extend(gathered(&warnings.collect::<Vec<_>>()));
    remarks.extend(kernel.notes.iter().cloned());
    if let (false, CiAgainst::Ratchet { file }) = (kernel.moved.is_empty(), &kernel.against) {
        let named = kernel.moved.iter().filter(|w| !w.is_empty()).cloned().collect::<Vec<_>>().join(", ");
        let of = if named.is_empty() { String::new() } else { format!(" for {named}") };
        remarks.push(format!("{file} has new figures{of}: review and commit it"));
    }
    remarks
}

impl fmt::Display for CiView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Align::{Left, Right};
        for (number, kernel) in self.guarded.kernels.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{}: {}", kernel.kernel, headline(kernel))?;
            if let Some(against) = against(kernel) {
                writeln!(f, "  {against}")?;
            }
            let row = |step: &kiln_app::CiStep| {
                vec![step.step.to_string(), step.state.name().into(), stretch(step.seconds), step.words.clone()]
            };
            let steps: Vec<Vec<String>> = kernel.steps.iter().map(row).collect();
            write!(f, "{}", lines(&steps, &[Left, Left, Right, Left]))?;
            if !kernel.workloads.is_empty() {
                let mut rows = vec![TITLES.map(String::from).to_vec()];
                rows.extend(kernel.workloads.iter().map(cells));
                write!(f, "\n{}", lines(&rows, &[Left, Right, Right, Right, Left, Right, Right, Left]))?;
            }
            for step in &kernel.steps {
                if let Some(found) = &step.refusal {
                    write!(f, "\n{}", refusal(found, false))?;
                }
                for finding in &step.findings {
                    write!(f, "\n{}", visible(&diagnosis::shown(finding)))?;
                }
            }
            for remark in remarks(kernel) {
                writeln!(f, "  {remark}")?;
            }
        }
        Ok(())
    }
}
