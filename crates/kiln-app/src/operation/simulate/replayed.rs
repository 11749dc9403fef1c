//! A recorded space, ready to be searched. In: a recording. Out: curves summed up. Refuses a recording that is no space.

use kiln_core::Report;
use kiln_formats::Recording;
use kiln_search::{Curve, Kind, Recorded, RecordedTime, score};

use super::result::{Convergence, SimulatedFigures, SimulatedSearch, SimulatedSpace};
use crate::failure::Failure;
use crate::teller::Teller;

/// A recorded space, ready to be searched.
pub(crate) struct Replayed {
    file: String,
    title: String,
    configurations: usize,
    failures: usize,
    pub(crate) recorded: Recorded,
}

impl Replayed {
    pub(crate) fn new(file: String, recording: Recording, teller: &Teller<'_>) -> Result<Replayed, Failure> {
        teller.warn(&recording.warnings);
        let title = [&recording.kernel, &recording.device].map(|part| part.as_deref().unwrap_or_default());
        let title = title.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" on ");
        let (configurations, failures) = (recording.rows.len(), recording.failures());
        let row = |row: &kiln_formats::Row| {
            let values = row.point.iter().zip(&recording.values).map(|(at, list)| list[*at as usize].clone()).collect();
            let answer = match &row.outcome {
                kiln_formats::Recorded::Time { seconds, samples } => {
                    RecordedTime { time: Some(*seconds), samples: samples.to_vec() }
                }
                kiln_formats::Recorded::Failed { .. } => RecordedTime::default(),
            };
            (values, answer)
        };
        let recorded = Recorded::new(&recording.names, recording.rows.iter().map(row).collect())
            .map_err(|e| Report::error(format!("{file} cannot be searched: {e}")))?;
        Ok(Replayed { file, title, configurations, failures, recorded })
    }

    /// The file's name without folder and endings.
    pub(crate) fn short(&self) -> &str {
        let name = self.file.rsplit('/').next().unwrap_or(&self.file);
        let name = name.strip_suffix(".gz").unwrap_or(name);
        name.strip_suffix(".json").unwrap_or(name)
    }

    pub(crate) fn summed_up(&self, kind: Kind, curves: &[Curve], budgets: &[usize]) -> SimulatedSearch {
        let count = curves.len() as f64;
        let evaluations: usize = curves.iter().map(|curve| curve.bests.len()).sum();
        let thinking: f64 = curves.iter().map(|curve| curve.thinking).sum();
        let failed = curves.iter().map(|curve| curve.failed as f64).sum::<f64>() / count;
        let figures = |budget: &usize| {
            let at = score(curves, self.recorded.optimum(), *budget);
            SimulatedFigures { budget: *budget, mean: at.mean, se: at.se, p10: at.p10, failed }
        };
        SimulatedSearch {
            strategy: kind.name().into(),
            figures: budgets.iter().map(figures).collect(),
            ask_us: thinking / evaluations as f64 * 1e6,
        }
    }

    /// The curves for the figure.
    pub(crate) fn line(&self, kind: Kind, curves: &[Curve], budget: usize) -> Convergence {
        let scores = (1..=budget).map(|at| score(curves, self.recorded.optimum(), at));
        let (mean, p10) = scores.map(|at| (at.mean, at.p10)).unzip();
        Convergence { strategy: kind.name().into(), mean, p10 }
    }

    pub(crate) fn shown(&self, searches: Vec<SimulatedSearch>) -> SimulatedSpace {
        SimulatedSpace {
            file: self.file.clone(),
            title: self.title.clone(),
            configurations: self.configurations,
            failures: self.failures,
            optimum: self.recorded.optimum(),
            searches,
        }
    }
}
