//! Two runs, measured at different times, against each other. In: run files, other benchmarks' files or stored runs. Out: for each
//! workload and over all of them a verdict with interval, rank test and effect size. Refuses runs that do not compare: of
//! other kernels, devices, caches or threads, or without a workload in common.
//!
//! Where both runs hold the same baseline, it serves as the yardstick: times count in units of what it took in the same
//! rounds, so that a machine that is slower today accuses nobody.

mod comparable;
pub(crate) mod read;
mod yardstick;

use kiln_core::{CANDIDATE, Fault, MeasuredWorkload, Report};
use kiln_formats::RunFile;
use kiln_stats::{Apart, Comparison, Estimate, Reason, Thresholds, Verdict, Warning, compare_runs, overall};
use kiln_store::Run;
use serde::Serialize;

use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::project::Project;
use crate::record::run_file;
use comparable::comparable;
use kiln_session::SessionPhase;
use yardstick::yardstick;

/// What is to be compared.
#[derive(Debug, Clone)]
pub struct CompareRequest {
    /// The run to compare with: a file, a stored run's id, or `last`.
    pub base: String,
    /// The run that is judged.
    pub candidate: String,
    /// The side of both runs that is compared; the candidate's when none.
    pub side: Option<String>,
    /// Compare times as they are, without a yardstick.
    pub plain: bool,
    /// Compare runs of other devices, caches or threads all the same.
    pub anyway: bool,
    /// What a verdict demands.
    pub thresholds: Thresholds,
}

/// What is said about a workload, and about all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompareVerdict {
    /// Slower by more than the threshold.
    Regression,
    /// The samples do not tell.
    TooNoisy,
    /// Faster by more than the threshold.
    Improvement,
    /// No difference that matters.
    Same,
    /// Both runs measured the same machine code.
    Identical,
}

/// One workload.
#[derive(Debug, Clone, Serialize)]
pub struct ComparedWorkload {
    /// The workload.
    pub workload: String,
    /// What is said about it.
    pub verdict: CompareVerdict,
    /// Samples on each side that would probably tell, where these do not.
    pub more_samples: Option<usize>,
    /// The figures; the base run is the baseline in it.
    pub comparison: Comparison,
}

/// What was compared.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The run to compare with.
    pub base: RunFile,
    /// The run that was judged.
    pub candidate: RunFile,
    /// The side of both that was compared.
    pub side: String,
    /// The side that both runs have in common, which times are counted in.
    pub yardstick: Option<String>,
    /// The workloads that both have.
    pub workloads: Vec<ComparedWorkload>,
    /// The speedup over all of them.
    pub overall: Option<Estimate>,
    /// The worst of the verdicts.
    pub verdict: CompareVerdict,
    /// What differs between the runs besides their times.
    pub notes: Vec<String>,
}

impl CompareVerdict {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            CompareVerdict::Regression => "regression",
            CompareVerdict::TooNoisy => "too_noisy",
            CompareVerdict::Improvement => "improvement",
            CompareVerdict::Same => "same",
            CompareVerdict::Identical => "identical",
        }
    }
}

impl Ends for Compared {
    fn ending(&self) -> Ending {
        if self.verdict == CompareVerdict::Regression { Ending::Regressed } else { Ending::Done }
    }
}

/// Compares two runs.
pub fn compare(project: &Project, request: &CompareRequest) -> Result<Compared, Failure> {
    let began = |kernel: &str| {
        let about = About { kernel: kernel.into(), ..About::default() };
        Trying::new(project, "compare", SessionPhase::Confirm, about)
    };
    let base = read::run(project, &request.base)?;
    let candidate = read::run(project, &request.candidate)?;
    let trying = began(&candidate.kernel);
    trying.quietly(runs((base, candidate), request))
}

/// Compares two stored runs by their ids, for whoever looks: no file is read, and no attempt is recorded.
pub fn compare_stored(project: &Project, base: &str, candidate: &str) -> Result<Compared, Failure> {
    let found = |id: &str| -> Result<Option<Run>, Failure> {
        let store = project.recorded_for(id)?;
        let run = store.find_run(id)?;
        let none = || Fault::new(format!("looking for run `{id}`"), "no study and no run has that id");
        if run.is_none() && store.find(id).is_err() {
            return Err(none().hint("`kiln history` lists both").into());
        }
        Ok(run)
    };
    let (base_run, candidate_run) = match (found(base)?, found(candidate)?) {
        (Some(one), Some(other)) => (one, other),
        (one, _) => {
            let study = if one.is_none() { base } else { candidate };
            let report = Report::error(format!("`{study}` is a study: a study and a run cannot be compared"));
            return Err(report.hint("compare two studies, or two runs; `kiln history` lists both").into());
        }
    };
    let request = CompareRequest {
        base: base.into(),
        candidate: candidate.into(),
        side: None,
        plain: false,
        anyway: false,
        thresholds: Thresholds::default(),
    };
    runs((run_file(&base_run)?, run_file(&candidate_run)?), &request)
}

/// Compares two runs that were read.
pub(crate) fn runs((base, candidate): (RunFile, RunFile), request: &CompareRequest) -> Result<Compared, Failure> {
    let side = request.side.clone().unwrap_or_else(|| CANDIDATE.into());
    let mut notes = comparable(&base, &candidate, request.anyway)?;
    let pairs = pairs(&base, &candidate, &side, &mut notes)?;
    let yardstick = if request.plain { None } else { yardstick(&base, &candidate, &side, &pairs) };
    let thresholds = Thresholds {
        // So many workloads, so many chances to be wrong.
        confidence: 1.0 - (1.0 - request.thresholds.confidence) / pairs.len().max(1) as f64,
        ..request.thresholds
    };
    // The same code with other sizes or another launch is not the same work.
    let alike = base.spec_hash == candidate.spec_hash && (side != CANDIDATE || base.config == candidate.config);
    let compared = pairs.iter().map(|pair| compared(*pair, (&side, alike), yardstick.as_deref(), &thresholds));
    let workloads = compared.collect::<Result<Vec<_>, _>>()?;
    let estimate =
        |w: &ComparedWorkload| (1.0, Estimate { value: w.comparison.speedup, interval: w.comparison.speedup_ci95 });
    let overall = overall(&workloads.iter().map(estimate).collect::<Vec<_>>()).ok();
    let worst = |wanted: CompareVerdict| workloads.iter().any(|w| w.verdict == wanted).then_some(wanted);
    let order =
        [CompareVerdict::Regression, CompareVerdict::TooNoisy, CompareVerdict::Improvement, CompareVerdict::Same];
    let verdict = order.into_iter().find_map(worst).unwrap_or(CompareVerdict::Identical);
    Ok(Compared { base, candidate, side, yardstick, workloads, overall, verdict, notes })
}

/// A workload in both runs.
type Pair<'r> = (&'r MeasuredWorkload, &'r MeasuredWorkload);

/// Workloads that both runs have that side on; what only one has is noted.
fn pairs<'r>(
    base: &'r RunFile,
    candidate: &'r RunFile,
    side: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<Pair<'r>>, Failure> {
    let has = |workload: &&MeasuredWorkload| workload.side(side).is_some_and(|side| !side.rounds.concat().is_empty());
    let find = |run: &'r RunFile, name: &str| run.workloads.iter().filter(has).find(|workload| workload.name == name);
    let mut pairs = Vec::new();
    for one in base.workloads.iter().filter(has) {
        match find(candidate, &one.name) {
            Some(other) => pairs.push((one, other)),
            None => notes.push(format!("workload {} is in the base run only", one.name)),
        }
    }
    let new = candidate.workloads.iter().filter(has).filter(|workload| find(base, &workload.name).is_none());
    notes.extend(new.map(|workload| format!("workload {} is in the candidate run only", workload.name)));
    if pairs.is_empty() {
        let of = |run: &RunFile| {
            let sides =
                run.workloads.iter().flat_map(|w| w.sides.iter().map(move |s| format!("{}/{}", w.name, s.name)));
            sides.collect::<Vec<_>>().join(", ")
        };
        return Err(Report::error(format!("the runs have no workload in common with samples of `{side}`"))
            .label(format!("base: {}; candidate: {}", of(base), of(candidate)))
            .hint("--side NAME compares another side")
            .into());
    }
    Ok(pairs)
}

/// The verdict on one workload.
fn compared(
    (base, candidate): Pair<'_>,
    (side, alike): (&str, bool),
    yardstick: Option<&str>,
    thresholds: &Thresholds,
) -> Result<ComparedWorkload, Failure> {
    let rounds = |workload: &MeasuredWorkload, name: &str| workload.side(name).map(|side| side.rounds.clone());
    let of = |workload: &MeasuredWorkload| {
        (rounds(workload, side).unwrap_or_default(), yardstick.and_then(|name| rounds(workload, name)))
    };
    let ((own, unit), (other, other_unit)) = (of(base), of(candidate));
    let apart = |rounds, unit| Apart { rounds, yardstick: unit };
    let mut found = compare_runs(apart(&own, unit.as_deref()), apart(&other, other_unit.as_deref()), thresholds, 1)
        .map_err(|e| Report::error(format!("workload {}: {e}", base.name)))?;
    // That is said once, for all workloads.
    found.warnings.retain(|warning| *warning != Warning::NotInterleaved);
    found.warnings.iter_mut().for_each(of_runs);
    let code = |workload: &MeasuredWorkload| workload.side(side).and_then(|side| side.code.clone());
    let identical = alike && code(base).is_some_and(|own| code(candidate) == Some(own));
    let verdict = match found.verdict {
        _ if identical => CompareVerdict::Identical,
        Verdict::Slower => CompareVerdict::Regression,
        Verdict::Faster => CompareVerdict::Improvement,
        Verdict::Same => CompareVerdict::Same,
        Verdict::TooNoisy => CompareVerdict::TooNoisy,
    };
    let wide = found.reasons.iter().find_map(|reason| match reason {
        Reason::Wide { more_blocks, .. } => *more_blocks,
        _ => None,
    });
    let each = found.candidate.n.div_ceil(found.blocks.max(1));
    let more_samples = wide.filter(|_| verdict == CompareVerdict::TooNoisy).map(|blocks| blocks * each);
    Ok(ComparedWorkload { workload: base.name.clone(), verdict, more_samples, comparison: found })
}

/// Has a warning speak of runs: a baseline is something else here.
fn of_runs(warning: &mut Warning) {
    if let Warning::HighCv { side, .. } | Warning::Drift { side, .. } | Warning::Outliers { side, .. } = warning {
        *side = if *side == "baseline" { "base run" } else { "candidate run" };
    }
}
