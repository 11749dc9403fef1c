//! The comment for a pull request. A hidden marker at its top lets a script find and update it instead of adding another.

use std::fmt::Write;

use kiln_app::{CiKernel, CiState, CiVerdict};

use super::{CiView, TITLES, against, cells, headline, remarks};
use crate::words::markdown::{as_code, escaped};
use crate::words::number::stretch;

impl CiView<'_> {
    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::from("<!-- kiln(start): ci -->\n");
        self.guarded.kernels.iter().for_each(|kernel| part(&mut text, kernel));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "Repeat: {}\n<!-- kiln(end) -->", as_code(self.command));
        text
    }
}

fn sign(kernel: &CiKernel) -> &'static str {
    match (kernel.steps.last().map(|step| step.state), kernel.verdict) {
        (Some(CiState::Passed), Some(CiVerdict::Improvement)) => "🚀 ",
        (Some(CiState::Passed), Some(CiVerdict::TooNoisy)) => "⚠️ ",
        (Some(CiState::Passed), _) => "✅ ",
        _ => "❌ ",
    }
}

fn part(text: &mut String, kernel: &CiKernel) {
    let _ = writeln!(text, "### {}kiln: {}: {}\n", sign(kernel), escaped(&kernel.kernel), escaped(&headline(kernel)));
    if !kernel.workloads.is_empty() {
        let _ = writeln!(text, "| {} |\n|---|--:|--:|--:|---|--:|--:|---|", TITLES.join(" | "));
        for workload in &kernel.workloads {
            let cells: Vec<String> = cells(workload).iter().map(|cell| escaped(cell)).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        text.push('\n');
    }
    for step in kernel.steps.iter().filter_map(|step| step.refusal.as_ref()) {
        let evidence = step.evidence.lines().take(20).collect::<Vec<_>>().join("\n");
        let _ = writeln!(text, "```\n{}: {}\n{evidence}\n```", step.gate, step.measured);
        if let Some(hint) = &step.hint {
            let _ = writeln!(text, "hint: {}\n", escaped(hint));
        }
    }
    for finding in kernel.steps.iter().flat_map(|step| &step.findings) {
        let (cause, why, fix) = (finding.cause.id(), escaped(&finding.explanation), escaped(&finding.fix));
        let _ = writeln!(text, "- `{cause}`: {why}\n  fix: {fix}\n");
    }
    let _ = writeln!(text, "<details><summary>steps, and what this rests on</summary>\n");
    let place = [kernel.target.clone(), kernel.variant.clone(), kernel.device.clone()];
    let place: Vec<String> = place.into_iter().flatten().filter(|words| !words.is_empty()).collect();
    let configs: Vec<&str> = kernel.workloads.iter().map(|w| w.config.as_str()).collect();
    if !place.is_empty() {
        let _ = writeln!(text, "- {}", escaped(&place.join(", ")));
    }
    if let Some(config) = configs.first().filter(|config| !config.is_empty()) {
        let _ = writeln!(text, "- `{config}`");
    }
    if let Some(against) = against(kernel) {
        let _ = writeln!(text, "- {}", escaped(&against));
    }
    for step in &kernel.steps {
        let (name, state, time) = (step.step, step.state.name(), stretch(step.seconds));
        let _ = writeln!(text, "- {name}: {state}, {time}: {}", escaped(&step.words));
    }
    for remark in remarks(kernel) {
        let _ = writeln!(text, "- {}", escaped(&remark));
    }
    let _ = writeln!(text, "\n</details>\n");
}
