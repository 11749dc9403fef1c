//! Searches replayed on recorded spaces: one table for each file and one over all of them. In: figures for each file, strategy
//! and budget. Out: text or JSON; nothing is computed here but means over files.

use std::fmt;

use kiln_app::{SimulatedFigures, SimulatedSearch, SimulatedSpace};
use serde_json::{Value, json};

use crate::words::number::{counted, duration, grouped};
use crate::words::table::{Align, lines};

/// Everything `kiln simulate` says.
pub struct SimulateView<'a> {
    /// The recorded spaces, in the order given.
    pub spaces: &'a [SimulatedSpace],
    /// Repeats of each search.
    pub repeats: usize,
    /// What the searches knew and how they were answered, for people.
    pub remarks: &'a [String],
}

impl SimulateView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let mut runs = Vec::new();
        for space in self.spaces {
            for search in &space.searches {
                runs.extend(search.figures.iter().map(|at| {
                    json!({
                        "file": space.file,
                        "strategy": search.strategy,
                        "budget": at.budget,
                        "repeats": self.repeats,
                        "mean": at.mean,
                        "se": at.se,
                        "p10": at.p10,
                        "failed": at.failed,
                        "ask_us": search.ask_us,
                    })
                }));
            }
        }
        json!({ "runs": runs })
    }

    /// The mean over spaces of what each strategy came to: all have the same strategies and budgets.
    fn over_spaces(&self) -> Vec<SimulatedSearch> {
        let count = self.spaces.len() as f64;
        let mean = |of: &dyn Fn(&SimulatedSpace) -> f64| self.spaces.iter().map(of).sum::<f64>() / count;
        let first = self.spaces.first().map_or(&[][..], |space| &space.searches);
        let search = |(s, one): (usize, &SimulatedSearch)| SimulatedSearch {
            strategy: one.strategy.clone(),
            figures: (0..one.figures.len())
                .map(|b| SimulatedFigures {
                    budget: one.figures[b].budget,
                    mean: mean(&|space| space.searches[s].figures[b].mean),
                    se: mean(&|space| space.searches[s].figures[b].se.powi(2) / count).sqrt(),
                    p10: mean(&|space| space.searches[s].figures[b].p10),
                    failed: mean(&|space| space.searches[s].figures[b].failed),
                })
                .collect(),
            ask_us: mean(&|space| space.searches[s].ask_us),
        };
        first.iter().enumerate().map(search).collect()
    }
}

/// Strategies by row, budgets by column.
fn table(searches: &[SimulatedSearch]) -> String {
    let budgets = searches.first().map_or(&[][..], |search| &search.figures);
    let mut titles = vec!["strategy".to_string()];
    titles.extend(budgets.iter().map(|at| at.budget.to_string()));
    titles.extend(["failed".to_string(), "ask + tell".to_string()]);
    let mut rows = vec![titles];
    for search in searches {
        let mut row = vec![search.strategy.clone()];
        row.extend(search.figures.iter().map(|at| format!("{:.3} ±{:.3} [{:.3}]", at.mean, at.se, at.p10)));
        row.push(search.figures.last().map_or("-".into(), |at| format!("{:.1}", at.failed)));
        row.push(duration(search.ask_us * 1e-6));
        rows.push(row);
    }
    let mut aligns = vec![Align::Right; budgets.len() + 3];
    aligns[0] = Align::Left;
    lines(&rows, &aligns)
}

impl fmt::Display for SimulateView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "optimum/best after so many evaluations: mean ±standard error [10th percentile] of {} repeats",
            self.repeats
        )?;
        for remark in self.remarks {
            writeln!(f, "{remark}")?;
        }
        for space in self.spaces {
            let title = if space.title.is_empty() { String::new() } else { format!("{}, ", space.title) };
            writeln!(
                f,
                "\n{}\n  {title}{}, {} failed, optimum {}",
                space.file,
                counted(space.configurations as u128, "configuration"),
                grouped(space.failures as u128),
                duration(space.optimum)
            )?;
            f.write_str(&table(&space.searches))?;
        }
        if self.spaces.len() > 1 {
            writeln!(f, "\nmean over {} files", self.spaces.len())?;
            f.write_str(&table(&self.over_spaces()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(file: &str, means: [f64; 2], se: f64) -> SimulatedSpace {
        let figures = |budget: usize, mean: f64| SimulatedFigures { budget, mean, se, p10: mean - 0.1, failed: 1.5 };
        let search = SimulatedSearch {
            strategy: "random".into(),
            figures: vec![figures(20, means[0]), figures(50, means[1])],
            ask_us: 12.5,
        };
        SimulatedSpace {
            file: file.into(),
            title: "k on A GPU".into(),
            configurations: 1234,
            failures: 12,
            optimum: 1.5e-3,
            searches: vec![search],
        }
    }

    #[test]
    fn a_table_for_each_file_and_one_over_all() {
        let spaces = [space("a.json", [0.5, 0.7], 0.03), space("b.json", [0.7, 0.9], 0.04)];
        let view = SimulateView { spaces: &spaces, repeats: 30, remarks: &["answers are single samples".into()] };
        insta::assert_snapshot!(view, @r"
        optimum/best after so many evaluations: mean ±standard error [10th percentile] of 30 repeats
        answers are single samples

        a.json
          k on A GPU, 1,234 configurations, 12 failed, optimum 1.50 ms
          strategy                    20                    50  failed  ask + tell
          random    0.500 ±0.030 [0.400]  0.700 ±0.030 [0.600]     1.5     12.5 us

        b.json
          k on A GPU, 1,234 configurations, 12 failed, optimum 1.50 ms
          strategy                    20                    50  failed  ask + tell
          random    0.700 ±0.040 [0.600]  0.900 ±0.040 [0.800]     1.5     12.5 us

        mean over 2 files
          strategy                    20                    50  failed  ask + tell
          random    0.600 ±0.025 [0.500]  0.800 ±0.025 [0.700]     1.5     12.5 us
        ");
        let object = view.json();
        assert_eq!(object["runs"].as_array().map(Vec::len), Some(4));
        assert_eq!(object["runs"][3]["file"], "b.json");
        assert_eq!(object["runs"][3]["budget"], 50);
        assert_eq!(object["runs"][3]["repeats"], 30);
    }
}
