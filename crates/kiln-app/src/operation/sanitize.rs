//! The cause of a fault, by tools that watch every access: compute-sanitizer on a GPU, the compiler's address and
//! undefined-behaviour sanitizers on a processor. In: a kernel file and a configuration. Out: findings with cause, line and fix,
//! and a verdict. Tools that find nothing are no proof: a wrong or varying result is then inconclusive. Nothing is timed.

mod fold;
mod run;
mod sources;
mod tools;

use std::time::Duration;

use kiln_core::{Config, Outcome, Refusal, Report, Workload};
use kiln_diagnose::{Diagnosis, Verdict};
use kiln_study::{Bench, Kernel, Settings, tool_workloads};
use serde::Serialize;

use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::event::What;
use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting, runnable, surroundings};
use crate::operation::case::{self, given};
use crate::project::Project;
use crate::record::chosen::Chosen;
use crate::record::kept_cases;
use crate::seed::seed;
use crate::teller::{Listener, Teller};
use kiln_session::SessionPhase;
pub(crate) use run::{Bounds, Examined, Ground, Plain, examine};
pub use run::{SanitizerRun, ToolOutcome};
pub(crate) use sources::{sources, sources_text};
pub(crate) use tools::Tools;

/// Seconds that one run of a tool may take, unless told otherwise.
const LIMIT: f64 = 60.0;
/// What progress is shown under.
pub(crate) const PHASE: &str = "sanitize";

/// What is to be sanitized.
#[derive(Debug, Clone, Default)]
pub struct SanitizeRequest {
    /// The kernel.
    pub selecting: Selecting,
    /// Values as `NAME=VALUE,...`; tunables left out take their default.
    pub config: String,
    /// The winner of this study instead.
    pub study: Option<String>,
    /// A case as `kiln fuzz` prints it, `S=65,D=64; inputs=spike; seed=3`, instead of workloads; dimensions left out are the
    /// workload's.
    pub case: String,
    /// Names of compute-sanitizer's tools; all that make sense when none.
    pub tools: Vec<String>,
    /// Seconds that one run may take.
    pub limit: Option<f64>,
    /// The seed of the inputs; a new one when none.
    pub seed: Option<u64>,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct Sanitized {
    /// Findings, verdict and notes, as `kiln diagnose` has them.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// The kernel's name.
    pub kernel: String,
    /// The target's name.
    pub target: String,
    /// The whole configuration.
    pub config: Config,
    /// The seed inputs were drawn with.
    pub seed: u64,
    /// What it was sanitized with, and its version.
    pub tools: String,
    /// Every run, in order.
    pub runs: Vec<SanitizerRun>,
    /// Why nothing was run: a rule, or the compiler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
}

impl Ends for Sanitized {
    fn ending(&self) -> Ending {
        // A gate that refuses the configuration refuses it here too: that no tool ran is not the environment's fault.
        match (&self.refusal, self.diagnosis.verdict) {
            (Some(_), _) | (None, Verdict::BugsFound | Verdict::Inconclusive) => Ending::Refused,
            (None, Verdict::Clean) => Ending::Done,
            (None, Verdict::NotRun) => Ending::Unfit,
        }
    }
}

/// Sanitizes a configuration.
pub fn sanitize(
    project: &Project,
    file: &KernelFile,
    request: &SanitizeRequest,
    listener: Listener<'_>,
) -> Result<Sanitized, Failure> {
    let teller = Teller::new(listener);
    let trying = Trying::new(project, "sanitize", SessionPhase::Check, About::of(file, &request.selecting.path));
    trying.told(&teller, run(project, file, request, &teller))
}

pub(crate) fn run(
    project: &Project,
    file: &KernelFile,
    request: &SanitizeRequest,
    teller: &Teller<'_>,
) -> Result<Sanitized, Failure> {
    teller.warn(&file.warnings);
    let limit = limit(request.limit)?;
    if request.study.is_none() {
        // Before the environment is looked at: there may be nothing to do.
        Tools::of(&runnable(file, &request.selecting)?.0, &request.tools)?;
    }
    let which = (request.config.as_str(), request.study.as_deref());
    let Chosen { opened, config, selecting } = Chosen::new(project, file, &request.selecting, which, teller)?;
    let tools = Tools::of(&opened.kernel.selection, &request.tools)?;
    let workloads = workloads(&opened.kernel, &config, &selecting);
    let given = given(&request.case, workloads.first().copied().flatten(), (&opened.kernel.selection, &config))?;
    let seed = match &given {
        Some(given) => given.case.seed,
        None => seed(request.seed)?,
    };
    let found = |examined: Examined, refusal: Option<Refusal>| Sanitized {
        diagnosis: examined.diagnosis,
        kernel: opened.kernel.name().into(),
        target: opened.kernel.target().into(),
        config: config.clone(),
        seed,
        tools: tools.title(),
        runs: examined.runs,
        refusal,
    };
    let unfit = match &given {
        Some(given) => opened.kernel.unfit(&config, Some(&given.workload)),
        None => opened.kernel.broken(&config).map(|(refusal, _)| refusal),
    };
    if unfit.is_some() {
        return Ok(found(Examined::nothing(), unfit));
    }
    // A case that is known to fail says more than workloads, which may all be right.
    let known = selecting.workload.is_none().then(|| kept_cases::failing(project, &opened.kernel, &config)).flatten();
    let known = known.and_then(|typed| {
        case::given(&typed, workloads.first().copied().flatten(), (&opened.kernel.selection, &config)).ok().flatten()
    });
    let grounds: Vec<Ground<'_>> = match (&given, &known) {
        (Some(given), _) => vec![Ground::Case(given)],
        (None, known) => known.iter().map(Ground::Case).chain(workloads.into_iter().map(Ground::Workload)).collect(),
    };
    let settings = Settings { seed, ..Settings::default() };
    let said = |event: &kiln_study::Event<'_>| teller.pass_on(event);
    let _held = opened.lock(project, teller)?;
    let around = surroundings(project, &said, true, opened.card.as_ref())?;
    let mut bench = Bench::without_stages(&opened.kernel, &settings, around)?;
    bench.allow_calls(limit);
    let ordinary = match bench.subject(&config)? {
        Outcome::Passed(subject) => subject,
        Outcome::Refused(refusal) => return Ok(found(Examined::nothing(), Some(refusal))),
    };
    bench.quiet();
    let bounds = Bounds { each: limit, until: None };
    let planned = tools.runs() * grounds.len();
    teller.tell(What::Phase { phase: PHASE.into(), planned });
    let step = |done: usize| teller.tell(What::Step { phase: PHASE.into(), done, planned });
    let examined = examine(&bench, &config, Plain::Check(&ordinary), &grounds, &tools, &bounds, &step)?;
    teller.tell(What::PhaseEnd);
    let refusal = examined.refusal.clone();
    Ok(found(examined, refusal))
}

/// The workloads to run on: those asked for, else a small one and one that no tile divides.
pub(crate) fn workloads<'a>(kernel: &Kernel<'a>, config: &Config, selecting: &Selecting) -> Vec<Option<&'a Workload>> {
    match (&selecting.workload, &kernel.selection.workloads[..]) {
        (Some(_), asked) if !asked.is_empty() => asked.iter().map(|workload| Some(*workload)).collect(),
        _ => tool_workloads(kernel, config),
    }
}

/// Seconds as they were given.
pub(crate) fn limit(seconds: Option<f64>) -> Result<Duration, Failure> {
    let seconds = seconds.unwrap_or(LIMIT);
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err(Report::error(format!("--limit {seconds} is out of range")).label("expected seconds above 0").into()),
    }
}
