//! Searches replayed on recorded spaces. In: files or studies, strategies, a budget. Out: how close to the optimum each comes
//! after how many evaluations. Refuses what is no recording, and strategies and constants that there are not.

mod replayed;
mod result;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use camino::Utf8Path;
use kiln_core::Report;
use kiln_search::{Kind, Knowledge, Plan, Prior, SearchSettings, repeat};

use crate::ending::{Ending, Ends};
use crate::event::What;
use crate::failure::Failure;
use crate::project::Project;
use crate::record::recording;
use crate::teller::{Listener, Teller};
use replayed::Replayed;
pub use result::{Convergence, SimulatedFigures, SimulatedSearch, SimulatedSpace};

/// Where searches are compared; with a prior also before the first of them, since that is where it helps.
const BUDGETS: [usize; 4] = [20, 50, 100, 220];
const EARLY: usize = 10;

/// What is to be replayed.
#[derive(Debug, Clone)]
pub struct SimulateRequest {
    /// Recorded files, or studies of this folder.
    pub files: Vec<String>,
    /// Strategies to try.
    pub strategy: Vec<String>,
    /// Evaluations of one search.
    pub budget: usize,
    /// Searches with each strategy on each file.
    pub repeats: usize,
    /// The seed of the first search; the next have the next.
    pub seed: u64,
    /// Files and studies that searches start from.
    pub prior: Vec<String>,
    /// Exchange fast and slow in them.
    pub invert_prior: bool,
    /// Answer with one recorded sample, drawn at random.
    pub noise: bool,
    /// Other numbers for constants of the strategies, `NAME=NUMBER`.
    pub constant: Vec<String>,
    /// Searches at a time; one for each processor when none.
    pub threads: Option<usize>,
}

/// What the searches came to.
pub enum Simulated {
    /// All were replayed.
    Ended {
        /// The recorded spaces, in the order given.
        spaces: Vec<SimulatedSpace>,
        /// For each, its short name and the curves of its searches.
        curves: Vec<(String, Vec<Convergence>)>,
        /// What is true of all searches, for people.
        remarks: Vec<String>,
    },
    /// It was asked to stop.
    Interrupted,
}

impl Ends for Simulated {
    fn ending(&self) -> Ending {
        match self {
            Simulated::Ended { .. } => Ending::Done,
            Simulated::Interrupted => Ending::Interrupted,
        }
    }
}

/// Replays searches.
pub fn simulate(project: &Project, request: &SimulateRequest, listener: Listener<'_>) -> Result<Simulated, Failure> {
    let teller = Teller::new(listener);
    teller.end(run(project, request, &teller))
}

fn run(project: &Project, request: &SimulateRequest, teller: &Teller<'_>) -> Result<Simulated, Failure> {
    let stopped = project.stopped();
    let kinds = kinds(&request.strategy)?;
    let (priors, settings) = (priors(project, request, teller)?, settings(&request.constant)?);
    let knowledge = Knowledge { priors, settings, ..Knowledge::default() };
    let mut replayed = Vec::new();
    for name in &request.files {
        for (file, recording) in recording::find(project, name)? {
            if !Utf8Path::new(name).exists() {
                let tried = recording.rows.len();
                let tried = kiln_core::counted(tried as u128, "configuration");
                teller.note(format!("study {file} tried {tried}; a search on it knows no others"));
            }
            replayed.push(Replayed::new(file, recording, teller)?);
        }
    }
    let threads = request.threads.unwrap_or_else(processors);
    let (mut spaces, mut curves) = (Vec::new(), Vec::new());
    for space in &replayed {
        let (mut searches, mut lines) = (Vec::new(), Vec::new());
        for kind in &kinds {
            let phase = format!("{kind} on {}", space.short());
            let planned = request.repeats;
            teller.tell(What::Phase { phase: phase.clone(), planned });
            let step = |done| {
                teller.tell(What::Step { phase: phase.clone(), done, planned });
                !stopped.load(Ordering::Relaxed)
            };
            let plan = plan(request, *kind, &knowledge);
            let Some(found) = repeat(&space.recorded, &plan, request.seed, planned, threads, &step) else {
                teller.tell(What::PhaseEnd);
                return Ok(Simulated::Interrupted);
            };
            searches.push(space.summed_up(*kind, &found, &budgets(request)));
            lines.push(space.line(*kind, &found, request.budget));
        }
        curves.push((space.short().to_string(), lines));
        spaces.push(space.shown(searches));
    }
    teller.tell(What::PhaseEnd);
    Ok(Simulated::Ended { spaces, curves, remarks: remarks(request) })
}

fn plan(request: &SimulateRequest, kind: Kind, knowledge: &Knowledge) -> Plan {
    Plan { kind, knowledge: knowledge.clone(), budget: request.budget, noise: request.noise }
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

fn priors(project: &Project, request: &SimulateRequest, teller: &Teller<'_>) -> Result<Vec<Arc<Prior>>, Failure> {
    let mut priors = Vec::new();
    for name in &request.prior {
        if request.files.contains(name) {
            teller.note(format!("{name} is prior and space at once: the search is told the answers"));
        }
        for (label, recording) in recording::find(project, name)? {
            let prior = Replayed::new(label.clone(), recording, teller)?.recorded.prior(&label);
            priors.push(Arc::new(if request.invert_prior { prior.inverted() } else { prior }));
        }
    }
    Ok(priors)
}

fn settings(constants: &[String]) -> Result<SearchSettings, Failure> {
    let mut settings = SearchSettings::default();
    for words in constants {
        let expected = |why: &str| Report::error(format!("--constant {words}: {why}")).label("expected NAME=NUMBER");
        let (name, number) = words.split_once('=').ok_or_else(|| expected("there is no `=`"))?;
        let number: f64 = number.trim().parse().map_err(|_| expected(&format!("`{number}` is no number")))?;
        settings.set(name.trim(), number).map_err(|e| Report::error(format!("--constant: {e}")))?;
    }
    Ok(settings)
}

/// What is true of all searches, for people.
fn remarks(request: &SimulateRequest) -> Vec<String> {
    let mut remarks = Vec::new();
    if request.noise {
        remarks.push("answers are single samples, drawn at random".to_string());
    }
    if !request.prior.is_empty() {
        let inverted = if request.invert_prior { ", fast and slow exchanged" } else { "" };
        remarks.push(format!("searches start from {}{inverted}", request.prior.join(", ")));
    }
    remarks
}

/// The budgets to tell of: those within the one asked for, or that one if it is smaller than all.
fn budgets(request: &SimulateRequest) -> Vec<usize> {
    let early = (!request.prior.is_empty()).then_some(EARLY);
    let whole = request.budget;
    let within: Vec<usize> = early.into_iter().chain(BUDGETS).filter(|budget| *budget <= whole).collect();
    if within.is_empty() { vec![whole] } else { within }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
