//! A kernel against its baselines over a grid of shapes: where it wins, where it loses, where that turns. In: a kernel file, a
//! grid. Out: what was found on each shape, cross-overs and a summary; recorded as a run that grows shape by shape, so
//! that one that was interrupted can go on. A shape that is refused is a cell that says why, and so is a baseline that does not
//! take it.

mod cell;
mod crossing;
mod grid;
mod halt;
mod order;
mod recorded;
mod request;
mod resume;
mod story;

use std::time::{Duration, Instant};

use kiln_core::Report;
use kiln_stats::Thresholds;
use kiln_store::{Run, SweepPlan, SweepRecord};
use kiln_study::{Baselines, Bench, Event, Rival, Settings, Surroundings};

use crate::attempt::{About, Trying};
use crate::event::What;
use crate::failure::Failure;
use crate::kernel::{KernelFile, Opened, Selecting, runnable, surroundings};
use crate::operation::bench::{self, BenchRequest};
use crate::project::Project;
use crate::record::chosen::Chosen;
use crate::teller::{Listener, Teller};
use cell::Course;
pub use crossing::Crossover;
use grid::Grid;
pub use grid::MOST_CELLS;
use halt::{Halt, halting};
use kiln_session::SessionPhase;
use recorded::Recorder;
pub use request::{SweepEnd, SweepRequest, Swept};
pub use story::{SweepCount, SweepExtreme, SweepStory};

/// What the progress is called.
const PHASE: &str = "sweep";
/// A budget beyond this is none: two years.
const MOST_MINUTES: f64 = 1e6;
/// What a first shape may take at least: with less, an attempt to go on might get nowhere.
const FIRST: Duration = Duration::from_secs(60);

/// Measures a kernel over a grid of shapes.
pub fn sweep(
    project: &Project,
    file: &KernelFile,
    request: &SweepRequest,
    listener: Listener<'_>,
) -> Result<Swept, Failure> {
    let teller = Teller::new(listener);
    let trying = Trying::new(project, "sweep", SessionPhase::Confirm, About::of(file, &request.selecting.path));
    trying.told(&teller, run(project, file, request, &teller))
}

fn run(project: &Project, file: &KernelFile, request: &SweepRequest, teller: &Teller<'_>) -> Result<Swept, Failure> {
    request.checked()?;
    teller.warn(&file.warnings);
    let clock = Clock::new(request.minutes);
    let past = request.resume.as_deref().map(|name| resume::run(project, file, request, name)).transpose()?;
    let request = &past.as_ref().map_or_else(|| request.clone(), |(run, record)| resume::request(request, run, record));
    let as_bench = as_bench(request);
    bench::sensible(&as_bench)?;
    let selecting = with_base(file, &request.selecting)?;
    let which = (request.config.as_str(), request.study.as_deref());
    let chosen = Chosen::new(project, file, &selecting, which, teller)?;
    let typed = if request.study.is_some() { chosen.config.to_string() } else { request.config.clone() };
    let opened = chosen.opened;
    let plan = match &past {
        Some((run, record)) => resume::checked(run, record, &opened)?,
        None => plan(file, request, &opened, typed)?,
    };
    let settings = bench::settings(&as_bench, &opened)?;
    request.measuring.remarks(teller);
    // The sweep's own steps are shown, not those of every shape.
    let said = |event: &Event<'_>| {
        if !matches!(event, Event::Phase { .. } | Event::Step { .. }) {
            teller.pass_on(event);
        }
    };
    let _held = opened.lock(project, teller)?;
    halting(project.stopped(), clock.first(), |halt| {
        let around = surroundings(project, &said, true, opened.card.as_ref())?;
        let around = Surroundings { stopped: halt.flag(), ..around };
        let measured = measured(project, request, (&opened, &settings), (plan, past), around, (clock, halt), teller);
        match measured {
            Err(_) if halt.is_up() && !project.is_stopped() => Err(no_time(request)),
            other => other,
        }
    })
}

/// What was asked for and there is no time for.
fn no_time(request: &SweepRequest) -> Failure {
    let minutes = request.minutes.unwrap_or_default();
    let report = Report::error(format!("the first shape was not measured within --minutes {minutes}"));
    let report = report.label(format!("a first shape has {} s at least, and was stopped", FIRST.as_secs()));
    report.hint("give it more minutes, smaller shapes (--dim) or fewer samples (--max-samples)").into()
}

/// The machine, the baselines, and shape after shape.
fn measured(
    project: &Project,
    request: &SweepRequest,
    (opened, settings): (&Opened<'_>, &Settings),
    (plan, past): (SweepPlan, Option<(Run, SweepRecord)>),
    around: Surroundings<'_>,
    (clock, halt): (Clock, &Halt<'_>),
    teller: &Teller<'_>,
) -> Result<Swept, Failure> {
    let bench = Bench::without_stages(&opened.kernel, settings, around)?;
    let (mut rivals, mut skipped) = (Vec::new(), Vec::new());
    for name in &plan.baselines {
        let found = Baselines::find(&bench, Some(name))?;
        rivals.extend(found.ready.iter().map(Rival::baseline));
        skipped.extend(found.skipped);
    }
    let thresholds = Thresholds::with_dead_zone(plan.dead_zone / 100.0);
    let course = Course { bench: &bench, path: &request.selecting.path, rivals, skipped, thresholds };
    let recorder = match past {
        Some((run, record)) => Recorder::go_on(run, record, bench.hardware())?,
        None => Recorder::new(&bench, request, SweepRecord { sweep: plan, cells: Vec::new() }),
    };
    all(project, &course, recorder, (clock, halt), teller)
}

/// Shape after shape, until all are done, the time is up or somebody stops it.
fn all(
    project: &Project,
    course: &Course<'_, '_>,
    mut recorder: Recorder,
    (clock, halt): (Clock, &Halt<'_>),
    teller: &Teller<'_>,
) -> Result<Swept, Failure> {
    let planned = grid::cells(&recorder.record.sweep.axes).len();
    teller.tell(What::Phase { phase: PHASE.into(), planned });
    let mut taken: Vec<f64> = Vec::new();
    let end = loop {
        let open = order::next_of_grid(&recorder.record);
        let in_grid = open.is_some();
        let finer = || order::next_refined(&recorder.record).filter(|_| clock.most.is_some());
        let Some(dims) = open.or_else(finer) else { break SweepEnd::Complete };
        // One at least: each attempt to go on gets somewhere.
        if !taken.is_empty() && !clock.has(mean(&taken)) {
            break if in_grid { SweepEnd::OutOfTime } else { SweepEnd::Complete };
        }
        if let (false, Some(most)) = (taken.is_empty(), clock.rest(mean(&taken))) {
            halt.allow(most);
        }
        match course.cell(&recorder.record.sweep, &dims, !in_grid) {
            Ok((cell, figures)) => {
                taken.push(cell.seconds);
                teller.note(said(&cell));
                recorder.add(project, cell, figures, teller);
            }
            Err(_) if project.is_stopped() => break SweepEnd::Interrupted,
            Err(failure) if recorder.record.cells.is_empty() => return Err(failure),
            Err(_) if halt.is_up() => break SweepEnd::OutOfTime,
            Err(failure) => break SweepEnd::Failed(failure),
        }
        let done = recorder.record.cells.len();
        teller.tell(What::Step { phase: PHASE.into(), done, planned: planned.max(done) });
    };
    teller.tell(What::PhaseEnd);
    let Recorder { run, record, .. } = recorder;
    Ok(Swept { run, story: SweepStory::of(record), end })
}

/// A cell in one line, as it is found.
fn said(cell: &kiln_store::SweepCell) -> String {
    let dims = &cell.dims;
    if let Some(refusal) = &cell.refusal {
        return format!("{dims}: refused, {}: {}", refusal.gate, refusal.measured);
    }
    if let Some(why) = &cell.why {
        return format!("{dims}: not measured, {why}");
    }
    let against = |one: &kiln_store::SweepAgainst| {
        let kiln_stats::Interval { low, high } = one.speedup_ci95;
        let digits = if one.speedup < 0.1 { 5 } else { 2 };
        let (speedup, name, verdict) = (one.speedup, &one.name, &one.verdict);
        format!("{speedup:.digits$}x [{low:.digits$}, {high:.digits$}] against {name}, {verdict}")
    };
    let without = cell.unmeasured.iter().map(|one| format!("{} not measured", one.name));
    let parts: Vec<String> = cell.baselines.iter().map(against).chain(without).collect();
    format!("{dims}: {}", parts.join("; "))
}

/// What was asked for.
fn plan(file: &KernelFile, request: &SweepRequest, opened: &Opened<'_>, config: String) -> Result<SweepPlan, Failure> {
    let selection = &opened.kernel.selection;
    for name in &request.baselines {
        opened.baseline(Some(name))?;
    }
    let named = |name: &str| request.baselines.is_empty() || request.baselines.iter().any(|asked| asked == name);
    let all = selection.target.baselines.iter().map(|baseline| baseline.name.clone());
    let baselines: Vec<String> = all.filter(|name| named(name)).collect();
    if baselines.is_empty() {
        let report = Report::error(format!("{} has no baselines to compare with", opened.kernel.name()));
        return Err(report.hint("name some: [baselines] numpy = \"baseline.py:function\"").into());
    }
    let Some(base) = selection.workloads.first() else {
        let report = Report::error(format!("{} has no workloads", opened.kernel.name()));
        return Err(report.hint("add [[workloads]] with dims: shapes are made from the first").into());
    };
    let Grid { axes, linked, base } = Grid::new(&request.dims, &file.spec.sweep.dims, base)?;
    Ok(SweepPlan {
        axes,
        linked,
        base,
        baselines,
        config,
        implementation: request.selecting.implementation.clone(),
        sources: opened.kernel.fingerprint()?,
        samples: (request.measuring.samples, request.max_samples),
        width: request.width,
        dead_zone: request.dead_zone,
        early: request.early,
    })
}

/// The selection with one workload, the first where none is named: other dimensions are taken from it.
fn with_base(file: &KernelFile, selecting: &Selecting) -> Result<Selecting, Failure> {
    let (selection, _) = runnable(file, selecting)?;
    let first = selection.workloads.first().map(|workload| workload.name.to_string());
    let named = selecting.workload.clone().filter(|name| name != "all");
    Ok(Selecting { workload: named.or(first), ..selecting.clone() })
}

/// How each shape is measured: as `kiln bench` does.
fn as_bench(request: &SweepRequest) -> BenchRequest {
    BenchRequest {
        selecting: request.selecting.clone(),
        measuring: request.measuring.clone(),
        config: request.config.clone(),
        study: request.study.clone(),
        against: None,
        baseline: None,
        width: request.width,
        max_samples: request.max_samples,
        early: request.early,
        dead_zone: request.dead_zone,
        all: false,
        save: None,
    }
}

/// The time there is.
struct Clock {
    began: Instant,
    most: Option<Duration>,
}

impl Clock {
    fn new(minutes: Option<f64>) -> Clock {
        let most = minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes.min(MOST_MINUTES)));
        Clock { began: Instant::now(), most }
    }

    /// How long the first shape may take.
    fn first(&self) -> Option<Duration> {
        self.most.map(|most| most.saturating_sub(self.began.elapsed()).max(FIRST))
    }

    /// How long a shape may take for which there seemed to be time: what is left, and once more what others took.
    fn rest(&self, mean: f64) -> Option<Duration> {
        let more = Duration::try_from_secs_f64(mean).unwrap_or_default();
        self.most.map(|most| most.saturating_sub(self.began.elapsed()).saturating_add(more))
    }

    /// Whether there is time for something that takes so many seconds.
    fn has(&self, seconds: f64) -> bool {
        self.most.is_none_or(|most| self.began.elapsed().as_secs_f64() + seconds <= most.as_secs_f64())
    }
}

fn mean(seconds: &[f64]) -> f64 {
    if seconds.is_empty() { 0.0 } else { seconds.iter().sum::<f64>() / seconds.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_that_turns_out_larger_has_the_rest_and_the_mean() {
        assert_eq!(Clock::new(None).rest(3.0), None);
        assert_eq!(Clock::new(Some(0.0)).rest(3.0), Some(Duration::from_secs(3)));
        let minute = Clock::new(Some(1.0)).rest(2.0).unwrap();
        assert!(minute > Duration::from_secs(50) && minute <= Duration::from_secs(62), "{minute:?}");
    }

    #[test]
    fn a_first_shape_has_the_time_there_is_and_never_less_than_a_minute() {
        assert_eq!(Clock::new(None).first(), None);
        assert_eq!(Clock::new(Some(0.0001)).first(), Some(FIRST));
        let hour = Clock::new(Some(60.0)).first().unwrap();
        assert!(hour > Duration::from_secs(3000) && hour <= Duration::from_secs(3600), "{hour:?}");
    }
}
