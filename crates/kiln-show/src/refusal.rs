//! A refusal in words.

use kiln_core::Refusal;

/// Gate, what was measured, what was allowed, evidence, hint; a line each, indented.
pub fn refusal(refusal: &Refusal) -> String {
    let rule = if refusal.rule.is_empty() { String::new() } else { format!(" ({})", refusal.rule) };
    let mut text = format!("  {}{rule}: {}\n", refusal.gate, refusal.gate.meaning());
    let mut line = |name: &str, words: &str| {
        for (i, part) in words.lines().enumerate() {
            let name = if i == 0 { name } else { "" };
            text.push_str(&format!("    {name:<9} {part}\n"));
        }
    };
    line("measured", &refusal.measured);
    line("limit", &refusal.limit);
    line("evidence", &refusal.evidence);
    line("hint", refusal.hint.as_deref().unwrap_or_default());
    text
}
