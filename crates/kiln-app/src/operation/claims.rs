//! What was claimed, held against what is measured. In: a file of claims. Out: for each confirmed, refuted with the figure that was
//! measured, or unverifiable here and why: another device, no GPU, a baseline that cannot be had. Refuses a file whose
//! kernels, workloads or baselines are not there, before anything is measured.

mod judge;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Outcome, Report, nearest};
use kiln_formats::{Claim, ClaimedFigure, read_claims};
use kiln_space::Problem;
use kiln_stats::{Estimate, Interval};
use kiln_study::{Machine, Versus};
use serde::Serialize;

use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Measuring, Selecting, complete, read_bounded, runnable};
use crate::operation::bench::{self, BenchRequest};
use crate::project::Project;
use crate::teller::{Listener, Teller};
use judge::{Judged, judged};
use kiln_session::SessionPhase;

/// No file of claims comes near this size.
const LARGEST: u64 = 4 << 20;

/// What is to be checked.
#[derive(Debug, Clone)]
pub struct ClaimsRequest {
    /// The file.
    pub file: Utf8PathBuf,
    /// How times are taken; caches and threads are each claim's own.
    pub measuring: Measuring,
    /// The GPU.
    pub device: Option<String>,
    /// Measure until figures are known to plus or minus this many per cent.
    pub width: f64,
    /// Samples on each side at most.
    pub max_samples: usize,
}

/// What is said about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// It is so, or better.
    Confirmed,
    /// It is not.
    Refuted,
    /// That cannot be said here.
    Unverifiable,
}

impl ClaimVerdict {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            ClaimVerdict::Confirmed => "confirmed",
            ClaimVerdict::Refuted => "refuted",
            ClaimVerdict::Unverifiable => "unverifiable",
        }
    }
}

/// A claim, and what came of it.
#[derive(Debug, Clone)]
pub struct CheckedClaim {
    /// What was claimed.
    pub claim: Claim,
    /// What is said about it.
    pub verdict: ClaimVerdict,
    /// What was measured, by workload: seconds, or a speedup.
    pub measured: Vec<(String, Estimate)>,
    /// What it was measured on.
    pub device: Option<String>,
    /// Why, in words; empty where the figures say it all.
    pub why: String,
}

/// All claims of a file.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The file.
    pub file: String,
    /// In file order.
    pub claims: Vec<CheckedClaim>,
    /// Whether it was asked to stop before all of them were measured.
    pub interrupted: bool,
}

impl Ends for Claimed {
    fn ending(&self) -> Ending {
        let refuted = self.claims.iter().any(|claim| claim.verdict == ClaimVerdict::Refuted);
        match (self.interrupted, refuted) {
            (true, _) => Ending::Interrupted,
            (false, true) => Ending::Refuted,
            (false, false) => Ending::Done,
        }
    }
}

/// Checks claims.
pub fn claims(project: &Project, request: &ClaimsRequest, listener: Listener<'_>) -> Result<Claimed, Failure> {
    let teller = Teller::new(listener);
    let trying = Trying::new(project, "claims", SessionPhase::Report, About::default());
    trying.told(&teller, run(project, request, &teller))
}

fn run(project: &Project, request: &ClaimsRequest, teller: &Teller<'_>) -> Result<Claimed, Failure> {
    let bytes = read_bounded(&request.file, LARGEST)?;
    let text = String::from_utf8(bytes).map_err(|_| Report::error(format!("{} is not UTF-8", request.file)))?;
    let claims = read_claims(request.file.as_str(), &text)?;
    let folder = request.file.parent().unwrap_or(Utf8Path::new(""));
    let (mut files, mut wrong) = (Vec::with_capacity(claims.len()), Vec::new());
    for claim in &claims {
        match opened(claim, folder) {
            Ok(file) => files.push(file),
            Err(failure) => wrong.extend(failure.reports().into_iter().map(|report| Report {
                message: format!("{}:{}: {}", request.file, claim.line, report.message),
                ..report
            })),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong.into());
    }
    claims.iter().try_for_each(|claim| bench::sensible(&asked(claim, folder, request)))?;
    let mut checked: Vec<CheckedClaim> = Vec::with_capacity(claims.len());
    // Claims about the same thing are about the same figures.
    let mut measured: Vec<(BenchRequest, Found)> = Vec::new();
    // From here on Ctrl-C is a wish: what is known by then is told.
    project.stopped();
    for (claim, file) in claims.into_iter().zip(&files) {
        let asked = asked(&claim, folder, request);
        let known = || measured.iter().find(|(other, _)| same(other, &asked)).map(|(_, found)| found.clone());
        let found = match device(file, &claim, &asked) {
            Err(why) => Found::Nothing(why),
            Ok(device) => match known() {
                Some(found) => found,
                None if project.is_stopped() => Found::Nothing("interrupted before it was measured".into()),
                None => {
                    teller.note(format!("line {}: {}", claim.line, claim.claim));
                    let found = figures(project, file, device, &asked, teller);
                    measured.push((asked, found.clone()));
                    found
                }
            },
        };
        checked.push(concluded(claim, found));
    }
    Ok(Claimed { file: request.file.to_string(), claims: checked, interrupted: project.is_stopped() })
}

/// The kernel of a claim; refuses what its file does not have.
fn opened(claim: &Claim, folder: &Utf8Path) -> Result<KernelFile, Failure> {
    let file = KernelFile::read(&folder.join(&claim.kernel))?;
    let selection = file.select(&selecting(claim, folder))?;
    let problem = Problem::from_selection(&selection).map_err(|e| Report::error(e.to_string()))?;
    complete(&selection, &problem, &claim.config)?;
    let names = || selection.target.baselines.iter().map(|b| b.name.as_str());
    match claim.baseline.as_deref().filter(|name| !names().any(|known| known == *name)) {
        None => {}
        // Another target of the file may be the one that can be run.
        Some(name) if claim.target.is_none() && has_baseline(&file, name) => {}
        Some(name) => {
            let near = nearest(name, names()).map(|near| format!("did you mean {near}?"));
            let expected = format!("expected one of {}", names().collect::<Vec<_>>().join(", "));
            return Err(Report::error(format!("there is no baseline `{name}`"))
                .label(expected)
                .maybe_hint(near)
                .into());
        }
    }
    Ok(file)
}

fn has_baseline(file: &KernelFile, name: &str) -> bool {
    file.spec.targets.iter().any(|target| target.baselines.iter().any(|b| b.name == name))
}

fn selecting(claim: &Claim, folder: &Utf8Path) -> Selecting {
    Selecting {
        path: folder.join(&claim.kernel),
        target: claim.target.clone(),
        variant: claim.variant.clone(),
        workload: claim.workload.clone(),
        ..Selecting::default()
    }
}

fn asked(claim: &Claim, folder: &Utf8Path, request: &ClaimsRequest) -> BenchRequest {
    let measuring = Measuring {
        cold: claim.cold == Some(true),
        warm: claim.cold == Some(false),
        threads: claim.threads,
        ..request.measuring.clone()
    };
    BenchRequest {
        selecting: Selecting { device: request.device.clone(), ..selecting(claim, folder) },
        measuring,
        config: claim.config.clone(),
        study: None,
        against: None,
        baseline: claim.baseline.clone(),
        width: request.width,
        max_samples: request.max_samples,
        early: true,
        dead_zone: 0.0,
        all: false,
        save: None,
    }
}

/// Whether two claims are measured by the same benchmark.
fn same(one: &BenchRequest, other: &BenchRequest) -> bool {
    let key = |request: &BenchRequest| {
        let s = &request.selecting;
        let which = (s.path.clone(), s.target.clone(), s.variant.clone(), s.workload.clone());
        let how = (request.measuring.cold, request.measuring.warm, request.measuring.threads);
        (which, how, request.config.clone(), request.baseline.clone())
    };
    key(one) == key(other)
}

/// What a measurement gave, and on what; or why there is none.
#[derive(Debug, Clone)]
enum Found {
    Figures(Vec<Versus>, String),
    Refused(String, String),
    Nothing(String),
}

/// What a claim would be measured on here, or why it cannot be.
fn device(file: &KernelFile, claim: &Claim, asked: &BenchRequest) -> Result<String, String> {
    let (_, card) = runnable(file, &asked.selecting).map_err(|failure| failure.reason().unwrap_or_default())?;
    let device = card.map_or_else(|| Machine::look().processor, |card| card.name);
    let contains = |name: &str| device.to_lowercase().contains(&name.to_lowercase());
    match claim.device.as_deref().filter(|name| !contains(name)) {
        Some(other) => Err(format!("it is about {other}; this is {device}")),
        None => Ok(device),
    }
}

/// Measures what claims are about.
fn figures(project: &Project, file: &KernelFile, device: String, asked: &BenchRequest, teller: &Teller<'_>) -> Found {
    let interrupted = || Found::Nothing("interrupted while it was measured".into());
    match bench::run(project, file, asked, teller) {
        Ok(done) if !done.left.is_empty() => interrupted(),
        Ok(done) => match done.outcome {
            Outcome::Passed(figures) => Found::Figures(figures, device),
            Outcome::Refused(refusal) => Found::Refused(format!("{}: {}", refusal.gate, refusal.measured), device),
        },
        Err(_) if project.is_stopped() => interrupted(),
        Err(failure) => Found::Nothing(failure.reason().unwrap_or_default()),
    }
}

/// The verdict on a claim.
fn concluded(claim: Claim, found: Found) -> CheckedClaim {
    let told = |claim, verdict, device, why| CheckedClaim { claim, verdict, measured: Vec::new(), device, why };
    let (figures, device) = match found {
        Found::Figures(figures, device) => (figures, device),
        Found::Refused(why, device) => {
            let why = format!("the configuration is refused: {why}");
            return told(claim, ClaimVerdict::Refuted, Some(device), why);
        }
        Found::Nothing(why) => return told(claim, ClaimVerdict::Unverifiable, None, why),
    };
    let mut measured = Vec::with_capacity(figures.len());
    let mut judgements = Vec::with_capacity(figures.len());
    for figure in &figures {
        match estimate(&claim, figure) {
            Ok(found) => {
                judgements.push(judged(&claim, found));
                measured.push((figure.workload.clone(), found));
            }
            Err(why) => judgements.push(Judged { verdict: ClaimVerdict::Unverifiable, why }),
        }
    }
    // A claim about several workloads is as good as the worst of them.
    let of = |verdict: ClaimVerdict| judgements.iter().find(|judged| judged.verdict == verdict);
    let worst = of(ClaimVerdict::Refuted).or_else(|| of(ClaimVerdict::Unverifiable)).or_else(|| judgements.first());
    let (verdict, why) = match worst {
        Some(judged) => (judged.verdict, judged.why.clone()),
        None => (ClaimVerdict::Unverifiable, "nothing was measured".into()),
    };
    CheckedClaim { claim, verdict, measured, device: Some(device), why }
}

/// The figure that a claim is about, or why there is none.
fn estimate(claim: &Claim, figure: &Versus) -> Result<Estimate, String> {
    if let ClaimedFigure::Time(_) = claim.figure {
        return Ok(Estimate { value: figure.times.median, interval: figure.median_ci95 });
    }
    let name = claim.baseline.as_deref().unwrap_or_default();
    if let Some(against) = figure.baselines.iter().find(|against| against.name == name) {
        let Interval { low, high } = against.comparison.speedup_ci95;
        return Ok(Estimate { value: against.comparison.speedup, interval: Interval { low, high } });
    }
    let why = figure.unmeasured.iter().find(|one| one.name == name);
    let why = why.map_or_else(String::new, |one| format!(": {}", one.refusal.measured));
    Err(format!("baseline {name} cannot be measured on {}{why}", figure.workload))
}
