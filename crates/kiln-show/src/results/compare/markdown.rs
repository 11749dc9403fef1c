//! The comment for a pull request. A hidden marker at its top lets a script find and update it instead of adding another.

use std::fmt::Write;

use kiln_app::{Compared, ComparedWorkload, RunFile};

use super::{CompareView, change, p_value};
use crate::words::markdown::{as_code, escaped};
use crate::words::number::duration;
use crate::words::visible::visible;

/// Bars of a distribution, from empty to full.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Columns of a distribution.
const COLUMNS: usize = 24;

impl CompareView<'_> {
    /// As Markdown, for a pull request or a step's summary.
    pub fn markdown(&self) -> String {
        let Compared { base, candidate, workloads, overall, side, .. } = self.compared;
        let mut text = String::new();
        let kernel = escaped(&candidate.kernel);
        let variant = candidate.variant.as_deref().filter(|variant| !variant.is_empty());
        let variant = variant.map_or_else(String::new, |variant| format!(" {variant}"));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "<!-- kiln(start): compare {kernel}{variant} -->");
        let _ = writeln!(text, "### kiln: {kernel}: {}\n", escaped(&self.headline()));
        let _ = writeln!(text, "| workload | base | candidate | time | 95 % interval | p | Cliff's delta | verdict |");
        let _ = writeln!(text, "|---|--:|--:|--:|---|--:|--:|---|");
        for workload in workloads {
            let (found, (time, interval)) = (&workload.comparison, change(workload));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {time} | {interval} | {} | {:+.2} | {} |",
                escaped(&workload.workload),
                duration(found.baseline.median),
                duration(found.candidate.median),
                p_value(found.p_value),
                found.cliffs_delta,
                workload.verdict.name(),
            );
        }
        if let (Some(overall), true) = (overall, workloads.len() > 1) {
            let (low, high) = (overall.interval.low, overall.interval.high);
            let _ = writeln!(text, "\nSpeedup over all workloads: {:.3}x [{low:.3}, {high:.3}].", overall.value);
        }
        let _ = writeln!(text, "\n<details><summary>distributions, and what this rests on</summary>\n");
        for ComparedWorkload { workload, .. } in workloads {
            let samples = |run: &RunFile| {
                let found = run.workloads.iter().find(|one| one.name == *workload).and_then(|one| one.side(side));
                found.map(|side| side.rounds.concat()).unwrap_or_default()
            };
            let _ = writeln!(text, "{}", distributions(workload, &samples(base), &samples(candidate)));
        }
        for remark in self.remarks() {
            let _ = writeln!(text, "- {}", escaped(&remark));
        }
        let _ = writeln!(text, "\nRepeat: {}\n\n</details>\n<!-- kiln(end) -->", as_code(self.command));
        text
    }
}

/// Both runs' samples on one axis, as bars.
fn distributions(workload: &str, base: &[f64], candidate: &[f64]) -> String {
    let mut all: Vec<f64> = base.iter().chain(candidate).copied().collect();
    all.sort_by(f64::total_cmp);
    // The slowest few would squeeze all others into one column.
    let (Some(low), Some(high)) = (all.first().copied(), all.get(all.len().saturating_sub(1) * 98 / 100).copied())
    else {
        return String::new();
    };
    let bars = |samples: &[f64]| {
        let mut counts = [0usize; COLUMNS];
        for sample in samples {
            let place = (sample - low) / (high - low).max(f64::MIN_POSITIVE) * COLUMNS as f64;
            counts[(place.max(0.0) as usize).min(COLUMNS - 1)] += 1;
        }
        let most = counts.iter().copied().max().unwrap_or(1).max(1);
        let bar = |count: &usize| match count {
            0 => ' ',
            count => BARS[(count * (BARS.len() - 1)).div_ceil(most)],
        };
        counts.iter().map(bar).collect::<String>()
    };
    let (from, to) = (duration(low), duration(high));
    // Nothing in a name ends the block.
    let workload = visible(workload).replace('`', "'").replace(['\n', '\t'], " ");
    format!("```\n{workload}, {from} to {to}\nbase      |{}|\ncandidate |{}|\n```", bars(base), bars(candidate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_runs_are_drawn_on_one_axis() {
        let drawn = distributions("w", &[1.0; 50], &[1.0, 2.0, 2.0, 2.0, 90.0]);
        let lines: Vec<&str> = drawn.lines().collect();
        assert!(lines[2].starts_with("base      |█") && lines[3].ends_with("█|"), "{drawn}");
        assert_eq!(lines[2].chars().count(), lines[3].chars().count());
        assert_eq!(distributions("w", &[], &[]), "");
    }

    #[test]
    fn nothing_in_a_name_ends_the_figure() {
        let drawn = distributions("x\n```\n# big", &[1.0, 2.0], &[1.0, 2.0]);
        assert_eq!(drawn.lines().filter(|line| line.contains("```")).count(), 2, "{drawn}");
    }
}
