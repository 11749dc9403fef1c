//! The record of a sweep. In: cells as they are found. Out: one run in the store, written anew after each cell, so that nothing
//! measured is lost. A store that cannot be written to is reported once; the sweep goes on.

use std::time::Instant;

use kiln_core::{MeasuredWorkload, Report};
use kiln_store::{Kept, Run, RunSide, Study, SweepCell, SweepRecord};
use kiln_study::{Bench, Versus};
use serde_json::json;

use super::request::SweepRequest;
use crate::failure::Failure;
use crate::operation::bench::sides;
use crate::operation::tune::{environment_of, git_commit, spec_hash};
use crate::project::Project;
use crate::teller::Teller;

/// A sweep as it is recorded.
pub(super) struct Recorder {
    pub(super) run: Run,
    pub(super) record: SweepRecord,
    samples: Vec<MeasuredWorkload>,
    began: Instant,
    /// Seconds of earlier runs of it.
    spent: f64,
    /// Whether the store could not be written to.
    broken: bool,
}

impl Recorder {
    /// A new sweep.
    pub(super) fn new(bench: &Bench<'_>, request: &SweepRequest, record: SweepRecord) -> Recorder {
        let (kernel, settings) = (bench.kernel, bench.settings);
        let run = Run {
            id: Study::new_id(),
            started_ms: jiff::Timestamp::now().as_millisecond(),
            seconds: 0.0,
            kernel: kernel.name().into(),
            path: request.selecting.path.to_string(),
            target: kernel.target().into(),
            arch: kernel.selection.arch.map(|a| a.name().to_string()),
            variant: kernel.variant(),
            config: Some(record.sweep.config.clone()).filter(|config| !config.is_empty()),
            cache: settings.cache.name().into(),
            threads: settings.threads as u64,
            seed: settings.seed,
            device: bench.hardware().into(),
            environment: environment_of(kernel, bench),
            git_commit: git_commit(kernel),
            spec_hash: spec_hash(kernel),
            kiln_version: env!("CARGO_PKG_VERSION").into(),
            result: Kept::found(json!(record)),
            sides: Vec::new(),
            samples: Some(Kept::new(Vec::new())),
        };
        Recorder { run, record, samples: Vec::new(), began: Instant::now(), spent: 0.0, broken: false }
    }

    /// One that goes on. Refuses another device: its times cannot stand beside the old ones.
    pub(super) fn go_on(run: Run, record: SweepRecord, device: &str) -> Result<Recorder, Failure> {
        if run.device != device {
            let report = Report::error(format!("sweep {} was measured on {}", run.short_id(), run.device));
            return Err(report.label(format!("here is {device}")).hint("begin a new one: omit --resume").into());
        }
        let samples = run.samples.as_ref().and_then(|samples| samples.read().ok().cloned()).unwrap_or_default();
        let spent = run.seconds;
        Ok(Recorder { run, record, samples, began: Instant::now(), spent, broken: false })
    }

    /// Records a cell.
    pub(super) fn add(&mut self, project: &Project, cell: SweepCell, figures: Option<Versus>, teller: &Teller<'_>) {
        if let Some(figures) = figures {
            self.run.sides.extend(sides(std::slice::from_ref(&figures)));
            self.samples.push(figures.measured);
        } else if let Some(refusal) = cell.refusal.clone() {
            let workload = cell.dims.to_string();
            self.run.sides.push(RunSide { workload, refusal: Some(refusal), ..RunSide::default() });
        }
        self.record.cells.push(cell);
        self.run.seconds = self.spent + self.began.elapsed().as_secs_f64();
        self.run.result = Kept::found(json!(self.record));
        self.run.samples = Some(Kept::new(self.samples.clone()));
        let written = project.store().and_then(|store| store.replace_run(&self.run));
        if let Err(fault) = written.as_ref().err().filter(|_| !self.broken).map_or(Ok(()), Err) {
            self.broken = true;
            teller.warn(&[Report::warning(format!("this sweep is not recorded: {fault}"))]);
        }
    }
}
