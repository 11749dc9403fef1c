//! One shape: the configuration for it, checked and measured against the baselines. In: the bench of the sweep and the cell's
//! dimensions. Out: figures, or why there are none: a rule or a gate that refuses the configuration, a shape that the file
//! or this machine has no answer for. A fault of the environment ends the sweep.

use std::time::Instant;

use kiln_core::{Config, Fault, Outcome, Refusal, Report, Workload};
use kiln_space::Problem;
use kiln_spec::Selection;
use kiln_stats::Thresholds;
use kiln_store::{SweepAgainst, SweepCell, SweepPlan, SweepUnmeasured};
use kiln_study::{Bench, Extent, Figures, Rival, Trouble, Unmeasured, Versus, peaks, versus};

use super::grid::workload;
use crate::ending::Ends;
use crate::failure::Failure;
use crate::kernel::{complete, kernel};

/// What every shape is measured with.
pub(super) struct Course<'c, 'a> {
    pub(super) bench: &'c Bench<'a>,
    pub(super) path: &'c camino::Utf8Path,
    pub(super) rivals: Vec<Rival>,
    /// Baselines that cannot be had here, on any shape.
    pub(super) skipped: Vec<Unmeasured>,
    pub(super) thresholds: Thresholds,
}

/// A cell, and its figures with every sample where there are some.
pub(super) type Tried = (SweepCell, Option<Versus>);

/// The configuration for a shape, and the workload whose tuned entry it is.
type Fitting = (Config, Option<String>);

impl Course<'_, '_> {
    /// Tries one shape.
    pub(super) fn cell(&self, plan: &SweepPlan, dims: &Config, refined: bool) -> Result<Tried, Failure> {
        let began = Instant::now();
        let shape = workload(plan, dims);
        let mut cell = empty(dims, refined);
        let tried = self.on(plan, &shape, &mut cell);
        // What stopped it is not the shape's doing.
        self.bench.go_on()?;
        let figures = tried?;
        cell.seconds = began.elapsed().as_secs_f64();
        if let Some(figures) = &figures {
            fill(&mut cell, figures, &self.skipped);
        }
        Ok((cell, figures))
    }

    fn on(&self, plan: &SweepPlan, shape: &Workload, cell: &mut SweepCell) -> Result<Option<Versus>, Failure> {
        let selection = Selection { workloads: vec![shape], ..self.bench.kernel.selection.clone() };
        let problem = match Problem::from_selection(&selection) {
            Ok(problem) => problem,
            Err(error) => return unanswered(cell, Report::error(error.to_string()).into()),
        };
        let (config, tuned) = match configuration(&selection, &problem, &plan.config) {
            Ok(chosen) => chosen,
            Err(failure) => return unanswered(cell, failure),
        };
        (cell.config, cell.tuned) = (Some(config.clone()), tuned);
        if let Some((refusal, _)) = problem.broken(&config) {
            return refused(cell, refusal);
        }
        let kernel = match kernel(selection, self.path) {
            Ok(kernel) => kernel,
            Err(failure) => return unanswered(cell, failure),
        };
        let mut bench = match self.bench.with_workloads(&kernel) {
            Ok(bench) => bench,
            // A shape that does not fit into memory, a reference that does not take it.
            Err(trouble) => return unanswered(cell, trouble.into()),
        };
        bench.peaks = peaks(&bench).ok();
        let subject = match bench.subject(&config)? {
            Outcome::Passed(subject) => subject,
            Outcome::Refused(refusal) => return refused(cell, refusal),
        };
        if let Some((refusal, _)) = bench.quick_check(&subject)? {
            return refused(cell, refusal);
        }
        let extent = Extent { all: false, early: plan.early };
        match versus(&bench, &subject, &self.rivals, &self.thresholds, extent) {
            Ok(Ok(Figures { mut workloads, .. })) => Ok(workloads.pop()),
            Ok(Err(lost)) => refused(cell, lost.refusal),
            Err(Trouble::File(report)) => unanswered(cell, report.into()),
            Err(Trouble::Fault(fault)) => Err(fault.into()),
        }
    }
}

/// The configuration that was typed, completed for this shape; without one that of the table's nearest entry, else the default.
fn configuration(selection: &Selection<'_>, problem: &Problem, typed: &str) -> Result<Fitting, Failure> {
    let (config, _) = complete(selection, problem, typed)?;
    let allows = |config: &Config| problem.broken(config).is_none();
    let tuned = selection.tuned(&allows).filter(|_| typed.is_empty()).map(|entry| entry.workload.clone());
    Ok((config, tuned))
}

fn empty(dims: &Config, refined: bool) -> SweepCell {
    SweepCell {
        dims: dims.clone(),
        refined,
        seconds: 0.0,
        config: None,
        tuned: None,
        median: None,
        median_ci95: None,
        baselines: Vec::new(),
        unmeasured: Vec::new(),
        refusal: None,
        why: None,
    }
}

fn refused(cell: &mut SweepCell, refusal: Refusal) -> Result<Option<Versus>, Failure> {
    cell.refusal = Some(refusal);
    Ok(None)
}

/// A shape for which there is no answer.
fn unanswered(cell: &mut SweepCell, failure: Failure) -> Result<Option<Versus>, Failure> {
    cell.why = Some(match &failure {
        Failure::Fault(Fault { why, .. }) => why.clone(),
        other => other.reason().unwrap_or_default(),
    });
    Ok(None)
}

fn fill(cell: &mut SweepCell, figures: &Versus, skipped: &[Unmeasured]) {
    cell.median = Some(figures.times.median);
    cell.median_ci95 = Some(figures.median_ci95);
    let against = figures.baselines.iter().map(|one| SweepAgainst {
        name: one.name.clone(),
        median: one.comparison.baseline.median,
        speedup: one.comparison.speedup,
        speedup_ci95: one.comparison.speedup_ci95,
        verdict: one.comparison.verdict.name().into(),
    });
    cell.baselines = against.collect();
    let without = skipped.iter().chain(&figures.unmeasured);
    let without = without.map(|one| SweepUnmeasured { name: one.name.clone(), refusal: one.refusal.clone() });
    cell.unmeasured = without.collect();
}
