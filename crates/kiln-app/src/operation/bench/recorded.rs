//! The record of a run. In: what was measured, and where. Out: a row in the store, with one for each side. A store that cannot
//! be written is told; the figures are not lost for it.

use std::time::Instant;

use camino::Utf8Path;
use kiln_core::{Config, MeasuredWorkload, Report};
use kiln_store::{Kept, Run, RunSide, Study};
use kiln_study::{Bench, Standing, Unmeasured, Versus, write_whole};
use serde::Serialize;
use serde_json::json;

use crate::failure::Failure;
use crate::operation::tune::{environment_of, git_commit, spec_hash};
use crate::project::Project;
use crate::record::run_file;
use crate::teller::Teller;

/// Where and when something was measured.
pub(crate) struct Setting<'s, 'a> {
    pub(crate) bench: &'s Bench<'a>,
    pub(crate) path: &'s Utf8Path,
    /// None where only baselines were.
    pub(crate) config: Option<&'s Config>,
    pub(crate) began: Instant,
    /// The run file to write, where one is wanted.
    pub(crate) save: Option<&'s Utf8Path>,
}

/// A run as it is recorded.
pub(crate) struct Recorded {
    pub(crate) run: Run,
    /// Whether the file that was wanted could not be written.
    pub(crate) unsaved: bool,
}

impl Setting<'_, '_> {
    /// Records what a configuration was measured against; the run as it is recorded.
    pub(crate) fn record_figures(
        &self,
        project: &Project,
        figures: &[Versus],
        teller: &Teller<'_>,
    ) -> Result<Recorded, Failure> {
        let samples = figures.iter().map(|figure| figure.measured.clone()).collect();
        self.record(project, (sides(figures), samples), &figures, teller)
    }

    /// Records the run, and saves it to a file where that is wanted.
    pub(super) fn record(
        &self,
        project: &Project,
        (sides, samples): (Vec<RunSide>, Vec<MeasuredWorkload>),
        figures: &impl Serialize,
        teller: &Teller<'_>,
    ) -> Result<Recorded, Failure> {
        let run = self.run((sides, samples), figures);
        // What was measured is not lost for a place that cannot be written.
        if let Err(fault) = project.store().and_then(|store| store.record_run(&run)) {
            teller.warn(&[Report::warning(format!("this run is not recorded: {fault}"))]);
        }
        let mut unsaved = false;
        if let Some(file) = self.save {
            match write_whole(file, run_file(&run)?.json().as_bytes()) {
                Ok(()) => teller.note(format!("saved to {file}")),
                Err(fault) => {
                    teller.warn(&[Report::warning(format!("this run is not saved: {fault}"))]);
                    unsaved = true;
                }
            }
        }
        Ok(Recorded { run, unsaved })
    }

    fn run(&self, (sides, samples): (Vec<RunSide>, Vec<MeasuredWorkload>), figures: &impl Serialize) -> Run {
        let Setting { bench, path, config, began, .. } = self;
        let (kernel, settings, seconds) = (bench.kernel, bench.settings, began.elapsed().as_secs_f64());
        Run {
            id: Study::new_id(),
            started_ms: jiff::Timestamp::now().as_millisecond() - (1e3 * seconds) as i64,
            seconds,
            kernel: kernel.name().into(),
            path: path.to_string(),
            target: kernel.target().into(),
            arch: kernel.selection.arch.map(|a| a.name().to_string()),
            variant: kernel.variant(),
            config: config.map(ToString::to_string),
            cache: settings.cache.name().into(),
            threads: settings.threads as u64,
            seed: settings.seed,
            device: bench.hardware().into(),
            environment: environment_of(kernel, bench),
            git_commit: git_commit(kernel),
            spec_hash: spec_hash(kernel),
            kiln_version: env!("CARGO_PKG_VERSION").into(),
            result: Kept::found(json!(figures)),
            sides,
            samples: Some(Kept::new(samples)),
        }
    }
}

/// A configuration and those it was measured against.
pub(crate) fn sides(figures: &[Versus]) -> Vec<RunSide> {
    let mut sides = Vec::new();
    for figure in figures {
        sides.push(RunSide {
            workload: figure.workload.clone(),
            median_s: Some(figure.times.median),
            median_ci95: Some([figure.median_ci95.low, figure.median_ci95.high]),
            peak_memory: figure.peak_memory,
            gpu_memory: figure.gpu_memory,
            ..RunSide::default()
        });
        sides.extend(figure.baselines.iter().map(|against| RunSide {
            workload: figure.workload.clone(),
            side: against.name.clone(),
            median_s: Some(against.comparison.baseline.median),
            median_ci95: Some([against.comparison.baseline_ci95.low, against.comparison.baseline_ci95.high]),
            speedup: Some((
                against.comparison.speedup,
                [against.comparison.speedup_ci95.low, against.comparison.speedup_ci95.high],
            )),
            verdict: Some(against.comparison.verdict.name().into()),
            peak_memory: against.peak_memory,
            gpu_memory: against.gpu_memory,
            refusal: None,
        }));
        sides.extend(figure.unmeasured.iter().map(|one| unmeasured(&figure.workload, one)));
    }
    sides
}

/// Baselines alone.
pub(super) fn standing_sides(standings: &[Standing]) -> Vec<RunSide> {
    let mut sides = Vec::new();
    for standing in standings {
        sides.extend(standing.baselines.iter().map(|stands| RunSide {
            workload: standing.workload.clone(),
            side: stands.name.clone(),
            median_s: Some(stands.times.median),
            peak_memory: stands.peak_memory,
            gpu_memory: stands.gpu_memory,
            ..RunSide::default()
        }));
        sides.extend(standing.unmeasured.iter().map(|one| unmeasured(&standing.workload, one)));
    }
    sides
}

fn unmeasured(workload: &str, one: &Unmeasured) -> RunSide {
    let (workload, side) = (workload.to_string(), one.name.clone());
    RunSide { workload, side, refusal: Some(one.refusal.clone()), ..RunSide::default() }
}
