//! Baselines alone: what there is to beat, before any candidate works. In: a kernel file. Out: what each baseline takes on
//! every workload, and the times a candidate needs; the run is recorded. Refuses a file without baselines.

use std::time::Instant;

use kiln_core::Report;
use kiln_run::GpuState;
use kiln_study::{Baselines, Bench, Kernel, Rival, Settings, Standing, environment, peaks, standing};
use serde_json::Value;

use super::BenchRequest;
use super::recorded::{Setting, standing_sides};
use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Opened, surroundings};
use crate::project::Project;
use crate::teller::{Listener, Teller};
use kiln_session::SessionPhase;

/// What there is to beat.
pub struct Baselined<'a> {
    /// The kernel.
    pub kernel: Kernel<'a>,
    /// How it was measured.
    pub settings: Settings,
    /// On which GPU or processor.
    pub hardware: String,
    /// The machine and its tools, as the run records them.
    pub ran_on: Value,
    /// How that felt afterwards, where it is a GPU that tells.
    pub gpu: Option<GpuState>,
    /// The speedup that is aimed at.
    pub target_speedup: f64,
    /// The figures.
    pub workloads: Vec<Standing>,
    /// Whether the file that was wanted could not be written.
    unsaved: bool,
}

impl Ends for Baselined<'_> {
    fn ending(&self) -> Ending {
        if self.unsaved { Ending::Failed } else { Ending::Done }
    }
}

/// Measures the baselines of a kernel.
pub fn baselines<'a>(
    project: &Project,
    file: &'a KernelFile,
    request: &BenchRequest,
    listener: Listener<'_>,
) -> Result<Baselined<'a>, Failure> {
    let teller = Teller::new(listener);
    let trying = Trying::new(project, "bench", SessionPhase::Baseline, About::of(file, &request.selecting.path));
    trying.told(&teller, run(project, file, request, &teller))
}

fn run<'a>(
    project: &Project,
    file: &'a KernelFile,
    request: &BenchRequest,
    teller: &Teller<'_>,
) -> Result<Baselined<'a>, Failure> {
    teller.warn(&file.warnings);
    super::sensible(request)?;
    let began = Instant::now();
    let opened = Opened::new(project, file, &request.selecting, teller)?;
    opened.baseline(request.baseline.as_deref())?;
    if opened.kernel.selection.target.baselines.is_empty() {
        let report = Report::error(format!("{} has no baselines", opened.kernel.name()));
        return Err(report.hint("name some: [baselines] numpy = \"baseline.py:function\"").into());
    }
    super::save_to(request.save.as_deref())?;
    let settings = super::settings(request, &opened)?;
    request.measuring.remarks(teller);
    let (hardware, ran_on, gpu, target_speedup, (workloads, unsaved)) = {
        let said = |event: &kiln_study::Event<'_>| teller.pass_on(event);
        let _held = opened.lock(project, teller)?;
        let around = surroundings(project, &said, true, opened.card.as_ref())?;
        let mut bench = Bench::new(&opened.kernel, &settings, around)?;
        bench.peaks = peaks(&bench).ok();
        let found = Baselines::find(&bench, request.baseline.as_deref())?;
        let rivals: Vec<Rival> = found.ready.iter().map(Rival::baseline).collect();
        let target_speedup = opened.kernel.selection.spec.objective.target_speedup;
        let mut workloads = standing(&bench, &rivals, target_speedup, request.all)?;
        workloads.iter_mut().for_each(|one| _ = one.unmeasured.splice(0..0, found.skipped.iter().cloned()));
        let (path, save) = (&request.selecting.path, request.save.as_deref());
        let setting = Setting { bench: &bench, path, config: None, began, save };
        let samples = workloads.iter().map(|standing| standing.measured.clone()).collect();
        let recorded = setting.record(project, (standing_sides(&workloads), samples), &workloads, teller)?;
        (
            bench.hardware().to_string(),
            environment(&bench),
            bench.gpu_state(),
            target_speedup,
            (workloads, recorded.unsaved),
        )
    };
    Ok(Baselined { kernel: opened.kernel, settings, hardware, ran_on, gpu, target_speedup, workloads, unsaved })
}
