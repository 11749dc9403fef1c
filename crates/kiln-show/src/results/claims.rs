//! Claims and what came of them, in words: a row for each, and why where figures do not say it.

use std::fmt;
use std::fmt::Write as _;

use kiln_app::{CheckedClaim, ClaimVerdict, Claimed, ClaimedFigure};
use serde_json::{Value, json};

use crate::words::markdown::escaped;
use crate::words::number::duration;
use crate::words::table::{Align, lines};

/// Everything `kiln claims` says.
pub struct ClaimsView<'a> {
    /// What was checked.
    pub claimed: &'a Claimed,
}

impl ClaimsView<'_> {
    /// One object; times in seconds.
    pub fn json(&self) -> Value {
        let row = |one: &CheckedClaim| {
            let claim = &one.claim;
            let (kind, range) = match claim.figure {
                ClaimedFigure::Time(range) => ("time", range),
                ClaimedFigure::Speedup(range) => ("speedup", range),
            };
            let measured = one
                .measured
                .iter()
                .map(|(workload, found)| json!({ "workload": workload, "value": found.value, "ci95": found.interval }));
            json!({
                "claim": claim.claim,
                "where": claim.place,
                "line": claim.line,
                "kernel": claim.kernel,
                "workload": claim.workload,
                "config": claim.config,
                "baseline": claim.baseline,
                "figure": kind,
                "claimed": range,
                "tolerance": claim.tolerance,
                "verdict": one.verdict,
                "measured": measured.collect::<Vec<_>>(),
                "device": one.device,
                "why": one.why,
            })
        };
        json!({
            "file": self.claimed.file,
            "confirmed": self.count(ClaimVerdict::Confirmed),
            "refuted": self.count(ClaimVerdict::Refuted),
            "unverifiable": self.count(ClaimVerdict::Unverifiable),
            "claims": self.claimed.claims.iter().map(row).collect::<Vec<_>>(),
        })
    }

    /// As Markdown: a table.
    pub fn markdown(&self) -> String {
        let mut text = format!("### kiln: {}\n\n", escaped(&self.headline()));
        text.push_str("| claim | where | claimed | measured | verdict |\n|---|---|--:|--:|---|\n");
        for one in &self.claimed.claims {
            let cells = [
                one.claim.claim.clone(),
                one.claim.place.clone().unwrap_or_default(),
                claimed(one),
                measured(one),
                verdict(one),
            ];
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {} |", cells.map(|cell| escaped(&cell)).join(" | "));
        }
        text
    }

    fn count(&self, verdict: ClaimVerdict) -> usize {
        self.claimed.claims.iter().filter(|one| one.verdict == verdict).count()
    }

    fn headline(&self) -> String {
        format!(
            "{}: {} confirmed, {} refuted, {} unverifiable here",
            self.claimed.file,
            self.count(ClaimVerdict::Confirmed),
            self.count(ClaimVerdict::Refuted),
            self.count(ClaimVerdict::Unverifiable)
        )
    }
}

fn claimed(one: &CheckedClaim) -> String {
    let range = |[low, high]: [f64; 2], word: &dyn Fn(f64) -> String| match low == high {
        true => word(low),
        false => format!("{} to {}", word(low), word(high)),
    };
    let figure = match one.claim.figure {
        ClaimedFigure::Time(figure) => range(figure, &duration),
        ClaimedFigure::Speedup(figure) => range(figure, &|speedup| format!("{speedup}x")),
    };
    // As a file would state it: tolerances are typed with few digits.
    format!("{figure} ± {} %", (one.claim.tolerance * 1e4).round() / 1e2)
}

fn measured(one: &CheckedClaim) -> String {
    let word = |value: f64| match one.claim.figure {
        ClaimedFigure::Time(_) => duration(value),
        ClaimedFigure::Speedup(_) => format!("{value:.3}x"),
    };
    let figures = one.measured.iter().map(|(workload, found)| {
        let on = if one.measured.len() > 1 { format!(" on {workload}") } else { String::new() };
        format!("{} [{}, {}]{on}", word(found.value), word(found.interval.low), word(found.interval.high))
    });
    let figures: Vec<String> = figures.collect();
    if figures.is_empty() { "-".into() } else { figures.join("; ") }
}

fn verdict(one: &CheckedClaim) -> String {
    match one.why.is_empty() {
        true => one.verdict.name().into(),
        false => format!("{}: {}", one.verdict.name(), one.why),
    }
}

impl fmt::Display for ClaimsView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Align::{Left, Right};
        writeln!(f, "{}\n", self.headline())?;
        let mut rows = vec![["line", "claim", "claimed", "measured", "verdict"].map(String::from).to_vec()];
        for one in &self.claimed.claims {
            let cells =
                [one.claim.line.to_string(), one.claim.claim.clone(), claimed(one), measured(one), verdict(one)];
            rows.push(cells.to_vec());
        }
        write!(f, "{}", lines(&rows, &[Right, Left, Right, Left, Left]))
    }
}
