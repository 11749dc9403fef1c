//! `kiln simulate`: searches replayed on recorded spaces. In: files or studies, strategies, a budget. Out: how close to the
//! optimum each comes after how many evaluations, as tables, JSON and a figure.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kiln_core::Report;
use kiln_formats::Recording;
use kiln_search::{Answer, Curve, Kind, Knowledge, Plan, Prior, Recorded, Settings, repeat, score};
use kiln_show::{
    ConvergenceFigure, ConvergenceLine, ConvergencePanel, Progress, SimulateView, SimulatedFigures, SimulatedSearch,
    SimulatedSpace,
};
use kiln_study::Event;

use crate::args::SimulateArgs;
use crate::exit::{Failure, INTERRUPTED, Success};
use crate::export::write_whole;
use crate::output;
use crate::recording;

/// Where searches are compared; with a prior also before the first of them, since that is where it helps.
const BUDGETS: [usize; 4] = [20, 50, 100, 220];
const EARLY: usize = 10;

pub(crate) fn run(args: &SimulateArgs) -> Result<Success, Failure> {
    let stopped = watch_for_ctrl_c();
    let kinds = kinds(&args.strategy)?;
    let knowledge = Knowledge { priors: priors(args)?, settings: settings(&args.constant)?, ..Knowledge::default() };
    let mut spaces = Vec::new();
    for name in &args.files {
        for (file, recording) in recording::find(name)? {
            if !camino::Utf8Path::new(name).exists() {
                let tried = recording.rows.len();
                output::note(&format!("study {file} tried {tried} configurations; a search on it knows no others"));
            }
            spaces.push(Replayed::new(file, recording)?);
        }
    }
    let threads = args.threads.map_or_else(processors, |threads| threads as usize);
    let progress = Progress::new();
    // An empty phase ends the last one's line.
    let done = || progress.hear(&Event::Phase { phase: "", planned: 0 });
    let (mut shown, mut panels) = (Vec::new(), Vec::new());
    for space in &spaces {
        let (mut searches, mut lines) = (Vec::new(), Vec::new());
        for kind in &kinds {
            let plan =
                Plan { kind: *kind, knowledge: knowledge.clone(), budget: args.budget as usize, noise: args.noise };
            let phase = format!("{kind} on {}", space.short());
            progress.hear(&Event::Phase { phase: &phase, planned: args.repeats as usize });
            let planned = args.repeats as usize;
            let step = |done| {
                progress.hear(&Event::Step { phase: &phase, done, planned });
                !stopped.load(Ordering::Relaxed)
            };
            let Some(curves) = repeat(&space.recorded, &plan, args.seed, planned, threads, &step) else {
                done();
                return Ok(Success::Interrupted);
            };
            searches.push(space.summed_up(*kind, &curves, &budgets(args)));
            lines.push(space.line(*kind, &curves, args.budget as usize));
        }
        panels.push(ConvergencePanel { title: space.short().into(), lines });
        shown.push(space.shown(searches));
    }
    done();
    if let Some(file) = &args.figure {
        let title =
            format!("How close to the optimum: mean of {} repeats, band down to the 10th percentile", args.repeats);
        write_whole(file, ConvergenceFigure { title, panels }.svg().as_bytes())?;
        output::note(&format!("wrote {file}"));
    }
    let view = SimulateView { spaces: &shown, repeats: args.repeats as usize, remarks: &remarks(args) };
    output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(Success::Done)
}

/// The strategies meant, each once.
fn kinds(names: &[String]) -> Result<Vec<Kind>, Failure> {
    let mut kinds = Vec::new();
    for name in names {
        let kind = Kind::parse(name.trim()).map_err(|e| Report::error(format!("--strategy: {e}")))?;
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    Ok(kinds)
}

fn priors(args: &SimulateArgs) -> Result<Vec<Arc<Prior>>, Failure> {
    let mut priors = Vec::new();
    for name in &args.prior {
        if args.files.contains(name) {
            output::note(&format!("{name} is prior and space at once: the search is told the answers"));
        }
        for (label, recording) in recording::find(name)? {
            let prior = Replayed::new(label.clone(), recording)?.recorded.prior(&label);
            priors.push(Arc::new(if args.invert_prior { prior.inverted() } else { prior }));
        }
    }
    Ok(priors)
}

fn settings(constants: &[String]) -> Result<Settings, Failure> {
    let mut settings = Settings::default();
    for words in constants {
        let expected = |why: &str| Report::error(format!("--constant {words}: {why}")).label("expected NAME=NUMBER");
        let (name, number) = words.split_once('=').ok_or_else(|| expected("there is no `=`"))?;
        let number: f64 = number.trim().parse().map_err(|_| expected(&format!("`{number}` is no number")))?;
        settings.set(name.trim(), number).map_err(|e| Report::error(format!("--constant: {e}")))?;
    }
    Ok(settings)
}

/// What is true of all searches, for people.
fn remarks(args: &SimulateArgs) -> Vec<String> {
    let mut remarks = Vec::new();
    if args.noise {
        remarks.push("answers are single samples, drawn at random".to_string());
    }
    if !args.prior.is_empty() {
        let inverted = if args.invert_prior { ", fast and slow exchanged" } else { "" };
        remarks.push(format!("searches start from {}{inverted}", args.prior.join(", ")));
    }
    remarks
}

/// The budgets to tell of: those within the one asked for, or that one if it is smaller than all.
fn budgets(args: &SimulateArgs) -> Vec<usize> {
    let early = (!args.prior.is_empty()).then_some(EARLY);
    let whole = args.budget as usize;
    let within: Vec<usize> = early.into_iter().chain(BUDGETS).filter(|budget| *budget <= whole).collect();
    if within.is_empty() { vec![whole] } else { within }
}

/// Set at the first Ctrl-C, when nothing has been written yet and nothing will be; the second ends the process at once.
fn watch_for_ctrl_c() -> &'static AtomicBool {
    static STOPPED: AtomicBool = AtomicBool::new(false);
    // Where it cannot be watched for, Ctrl-C ends the process as it always does.
    let _ = ctrlc::set_handler(|| {
        if STOPPED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        eprintln!("\nstopping: searches under way come to their end, nothing is written");
    });
    &STOPPED
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// A recorded space, ready to be searched.
struct Replayed {
    file: String,
    title: String,
    configurations: usize,
    failures: usize,
    recorded: Recorded,
}

impl Replayed {
    fn new(file: String, recording: Recording) -> Result<Replayed, Failure> {
        output::warnings(&recording.warnings);
        let title = [&recording.kernel, &recording.device].map(|part| part.as_deref().unwrap_or_default());
        let title = title.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" on ");
        let (configurations, failures) = (recording.rows.len(), recording.failures());
        let row = |row: &kiln_formats::Row| {
            let values = row.point.iter().zip(&recording.values).map(|(at, list)| list[*at as usize].clone()).collect();
            let answer = match &row.outcome {
                kiln_formats::Recorded::Time { seconds, samples } => {
                    Answer { time: Some(*seconds), samples: samples.to_vec() }
                }
                kiln_formats::Recorded::Failed { .. } => Answer::default(),
            };
            (values, answer)
        };
        let recorded = Recorded::new(&recording.names, recording.rows.iter().map(row).collect())
            .map_err(|e| Report::error(format!("{file} cannot be searched: {e}")))?;
        Ok(Replayed { file, title, configurations, failures, recorded })
    }

    /// The file's name without folder and endings.
    fn short(&self) -> &str {
        let name = self.file.rsplit('/').next().unwrap_or(&self.file);
        let name = name.strip_suffix(".gz").unwrap_or(name);
        name.strip_suffix(".json").unwrap_or(name)
    }

    fn summed_up(&self, kind: Kind, curves: &[Curve], budgets: &[usize]) -> SimulatedSearch {
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
    fn line(&self, kind: Kind, curves: &[Curve], budget: usize) -> ConvergenceLine {
        let scores = (1..=budget).map(|at| score(curves, self.recorded.optimum(), at));
        let (mean, p10) = scores.map(|at| (at.mean, at.p10)).unzip();
        ConvergenceLine { label: kind.name().into(), mean, p10 }
    }

    fn shown(&self, searches: Vec<SimulatedSearch>) -> SimulatedSpace {
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
