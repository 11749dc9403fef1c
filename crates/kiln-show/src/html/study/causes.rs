//! What tools that watch memory say of refused configurations. In: what a study recorded of them. Out: a table of causes with their fixes, and the gates for
//! which no cause was found.

use kiln_app::DiagnosisVerdict;
use kiln_study::SanitizedRefusal;

use crate::html::{Block, Cell, Table};

/// The first refusal of each gate that was sanitized.
pub(in crate::html) fn causes(sanitized: &[SanitizedRefusal]) -> Vec<Block> {
    let (found, unknown): (Vec<_>, Vec<_>) =
        sanitized.iter().partition(|refusal| refusal.diagnosis.verdict == DiagnosisVerdict::BugsFound);
    let mut table = Table::new(
        "Causes of refusals, the first of each gate sanitized",
        &["gate", "cause", "place", "what it is", "fix", "configuration"],
    );
    for SanitizedRefusal { gate, config, diagnosis, .. } in found {
        for finding in &diagnosis.findings {
            let place = match (&finding.file, finding.line) {
                (Some(file), Some(line)) => format!("{file}:{line}"),
                _ => "-".into(),
            };
            let source = finding.facts.text("source_line").map_or(String::new(), |line| format!(": {}", line.trim()));
            table.row(vec![
                Cell::code(gate.name()),
                Cell::code(finding.cause.to_string()),
                Cell::code(format!("{place}{source}")),
                finding.explanation.clone().into(),
                finding.fix.clone().into(),
                Cell::code(config.to_string()),
            ]);
        }
    }
    let mut blocks: Vec<Block> = (!table.rows.is_empty()).then_some(Block::Table(table)).into_iter().collect();
    if !unknown.is_empty() {
        let gates: Vec<&str> = unknown.iter().map(|refusal| refusal.gate.name()).collect();
        let words =
            format!("Sanitizers found no cause of {}: this does not make the kernel correct.", gates.join(", "));
        blocks.push(Block::words(words));
    }
    blocks
}
