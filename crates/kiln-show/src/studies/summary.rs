//! The end of a study in words: what won, by how much, what it rests on, what to do next.

use std::fmt;

use kiln_study::Summary;

use crate::studies::outcome::OutcomeView;
use crate::words::number::{counted, duration};

/// Everything `kiln tune` says at the end.
pub struct SummaryView<'a> {
    /// The study's end.
    pub summary: &'a Summary,
    /// Files that were written.
    pub files: &'a [String],
    /// Commands that make sense now.
    pub next: &'a [String],
}

impl fmt::Display for SummaryView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.summary;
        write!(f, "{}", OutcomeView { summary: s })?;
        let refused: usize = s.refused.values().sum();
        let parts: Vec<String> = s.refused.iter().map(|(gate, count)| format!("{gate} {count}")).collect();
        let refused = if refused > 0 { format!(", {refused} refused ({})", parts.join(", ")) } else { String::new() };
        let ablated = s.ablated.filter(|more| *more > 0).map(|more| format!(" ({more} in the ablation)"));
        let tried = format!("{} tried{}", counted(s.trials as u128, "configuration"), ablated.unwrap_or_default());
        let spent = s.cost.map_or(String::new(), |cost| format!(", cost {cost:.2}"));
        writeln!(f, "\n{tried}{refused}, {}{spent}", duration(s.seconds))?;
        if !self.files.is_empty() {
            writeln!(f, "wrote {}", self.files.join(" and "))?;
        }
        if !self.next.is_empty() {
            writeln!(f, "next")?;
            for command in self.next {
                writeln!(f, "  {command}")?;
            }
        }
        Ok(())
    }
}
