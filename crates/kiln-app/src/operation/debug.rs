//! What a kernel prints and asserts. In: a kernel file, a configuration, and the case: a workload, dimensions, or the smallest
//! workload that fails the check. Out: what one call of a debug build wrote, assertions that failed, and whether the answer was
//! right. Output is bounded, and nothing is timed.

mod assertions;

use std::time::Instant;

use kiln_core::{Config, Outcome, Refusal, Value, Workload};
use kiln_study::{Bench, Instrument, Probe, Probed, Settings, Stage, Subject, every_workload};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Opened, Selecting, surroundings};
use crate::operation::case::{CASE, given};
use crate::operation::sanitize::{ToolOutcome, limit, sources};
use crate::project::Project;
use crate::record::chosen::Chosen;
use crate::record::kept_cases;
use crate::seed::seed;
use crate::teller::{Listener, Teller};
pub use assertions::FailedAssertion;
use assertions::assertions;

/// Bytes kept of what a kernel prints.
const WORDS: usize = 64 << 10;

/// What is to be looked at.
#[derive(Debug, Clone, Default)]
pub struct DebugRequest {
    /// The kernel.
    pub selecting: Selecting,
    /// Values as `NAME=VALUE,...`; tunables left out take their default.
    pub config: String,
    /// The winner of this study instead.
    pub study: Option<String>,
    /// A case as `kiln fuzz` prints it, `S=65,D=64; inputs=spike; seed=3`; dimensions left out are the workload's.
    pub case: String,
    /// Seconds that the call may take.
    pub limit: Option<f64>,
    /// The seed of the inputs; a new one when none.
    pub seed: Option<u64>,
}

/// Why a workload was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DebuggedBecause {
    /// It was asked for.
    Asked,
    /// It is the smallest that fails the check.
    Fails,
    /// None fails, and it is the smallest.
    Smallest,
}

/// What was seen.
#[derive(Debug, Clone, Serialize)]
pub struct Debugged {
    /// The kernel's name.
    pub kernel: String,
    /// The target's name.
    pub target: String,
    /// The whole configuration.
    pub config: Config,
    /// The workload; empty for a file without any.
    pub workload: String,
    /// Its dimensions.
    #[serde(serialize_with = "by_name")]
    pub dims: Vec<(String, Value)>,
    /// Why that one.
    pub because: DebuggedBecause,
    /// The seed inputs were drawn with.
    pub seed: u64,
    /// How the call ended.
    pub outcome: ToolOutcome,
    /// Why, where it was refused; of the ordinary build, where that alone fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// Whether the ordinary build is refused and the debug build is not: its flags make the difference.
    pub only_without_debug: bool,
    /// Assertions that failed, each once.
    pub assertions: Vec<FailedAssertion>,
    /// What the kernel printed, on both its outputs.
    pub output: String,
    /// Bytes of that which were left out.
    pub left_out_bytes: u64,
}

fn by_name<S: Serializer>(dims: &[(String, Value)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(dims.len()))?;
    dims.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
    map.end()
}

impl Ends for Debugged {
    fn ending(&self) -> Ending {
        if self.refusal.is_none() && self.outcome == ToolOutcome::Passed { Ending::Done } else { Ending::Refused }
    }
}

/// Runs one case of a debug build.
pub fn debug(
    project: &Project,
    file: &KernelFile,
    request: &DebugRequest,
    listener: Listener<'_>,
) -> Result<Debugged, Failure> {
    let teller = Teller::new(listener);
    teller.end(run(project, file, request, &teller))
}

fn run(project: &Project, file: &KernelFile, request: &DebugRequest, teller: &Teller<'_>) -> Result<Debugged, Failure> {
    teller.warn(&file.warnings);
    let (seen, known) = looked(project, file, request, teller)?;
    match known.filter(|_| seen.because == DebuggedBecause::Smallest && request.case.is_empty()) {
        Some(case) => {
            teller.note(format!("no workload fails the quick check; kiln fuzz kept a case that failed: {case}"));
            Ok(looked(project, file, &DebugRequest { case, ..request.clone() }, teller)?.0)
        }
        None => Ok(seen),
    }
}

/// One look, and the case that `kiln fuzz` kept of this configuration.
fn looked(
    project: &Project,
    file: &KernelFile,
    request: &DebugRequest,
    teller: &Teller<'_>,
) -> Result<(Debugged, Option<String>), Failure> {
    let limit = limit(request.limit)?;
    let (seed, started) = (seed(request.seed)?, Instant::now());
    let which = (request.config.as_str(), request.study.as_deref());
    let Chosen { opened, config, selecting } = Chosen::new(project, file, &request.selecting, which, teller)?;
    let (workloads, mut because) = candidates(&opened, &config, &selecting);
    let given = given(&request.case, workloads.first().copied().flatten(), (&opened.kernel.selection, &config))?;
    if given.is_some() {
        because = DebuggedBecause::Asked;
    }
    let settings = Settings { seed, ..Settings::default() };
    let said = |event: &kiln_study::Event<'_>| teller.pass_on(event);
    let _held = opened.lock(project, teller)?;
    let around = surroundings(project, &said, true, opened.card.as_ref())?;
    let mut bench = Bench::without_stages(&opened.kernel, &settings, around)?;
    bench.allow_calls(limit);
    let mut seen = Debugged {
        kernel: opened.kernel.name().into(),
        target: opened.kernel.target().into(),
        config: config.clone(),
        workload: String::new(),
        dims: Vec::new(),
        because,
        seed,
        outcome: ToolOutcome::Refused,
        refusal: match &given {
            Some(given) => opened.kernel.unfit(&config, Some(&given.workload)),
            None => opened.kernel.broken(&config).map(|(refusal, _)| refusal),
        },
        only_without_debug: false,
        assertions: Vec::new(),
        output: String::new(),
        left_out_bytes: 0,
    };
    if seen.refusal.is_some() {
        return Ok((seen, None));
    }
    let ordinary = match bench.subject(&config)? {
        Outcome::Passed(subject) => subject,
        Outcome::Refused(refusal) => return Ok((Debugged { refusal: Some(refusal), ..seen }, None)),
    };
    bench.quiet();
    let subject = match bench.instrumented(&config, &Instrument::Debug)? {
        Outcome::Passed(subject) => subject,
        Outcome::Refused(refusal) => return Ok((Debugged { refusal: Some(refusal), ..seen }, None)),
    };
    let (mut stage, failing) = match &given {
        Some(given) => {
            let mut stage = bench.ground_of(&given.workload, &given.case)?;
            let failing = bench.check_on(&mut stage, &ordinary)?;
            (stage, failing)
        }
        None => smallest(&bench, &workloads, &ordinary, || started.elapsed() < limit, teller)?,
    };
    if because == DebuggedBecause::Fails && failing.is_none() {
        because = DebuggedBecause::Smallest;
    }
    let question = failing.as_ref().map_or(0, |(_, question)| *question);
    let probe = Probe { wrapper: None, apart: false, blank: false, words: WORDS, limit, until: None, question };
    let probed = bench.probe(&mut stage, &subject, &probe)?;
    seen.because = because;
    seen.workload = stage.name().into();
    if let Some(given) = &given {
        (seen.workload, seen.seed) = (CASE.into(), given.case.seed);
    }
    let dims = stage.workload.iter().flat_map(|workload| &workload.dims);
    seen.dims = dims.map(|(name, value)| (name.to_string(), value.clone())).collect();
    tell(&mut seen, probed, failing.map(|(refusal, _)| refusal));
    seen.assertions = assertions(&seen.output, &sources(&opened.kernel));
    Ok((seen, kept_cases::failing(project, &opened.kernel, &config)))
}

/// Workloads to look among, the smallest first, and why one of them will be looked at.
fn candidates<'a>(
    opened: &Opened<'a>,
    config: &Config,
    selecting: &Selecting,
) -> (Vec<Option<&'a Workload>>, DebuggedBecause) {
    let kernel = &opened.kernel;
    match (&selecting.workload, &kernel.selection.workloads[..]) {
        (Some(name), [_, ..]) if name != "all" => {
            let asked = kernel.selection.workloads.iter().map(|workload| Some(*workload)).collect();
            (asked, DebuggedBecause::Asked)
        }
        _ => match every_workload(kernel, config) {
            fitting if fitting.is_empty() => (vec![None], DebuggedBecause::Fails),
            fitting => (fitting.into_iter().map(Some).collect(), DebuggedBecause::Fails),
        },
    }
}

/// The smallest workload on which the ordinary build fails the quick check, with why and at which question; else the smallest.
fn smallest<'a>(
    bench: &Bench<'a>,
    workloads: &[Option<&'a Workload>],
    ordinary: &Subject,
    in_time: impl Fn() -> bool,
    teller: &Teller<'_>,
) -> Result<(Stage<'a>, Option<(Refusal, usize)>), Failure> {
    for (place, workload) in workloads.iter().enumerate() {
        if place > 0 && !in_time() {
            teller.note(format!("time was up after {place} of {} workloads, none of which fails", workloads.len()));
            break;
        }
        bench.go_on()?;
        let mut stage = bench.ground(*workload, "debug")?;
        if let Some(failing) = bench.check_on(&mut stage, ordinary)? {
            return Ok((stage, Some(failing)));
        }
    }
    Ok((bench.ground(workloads.first().copied().flatten(), "debug")?, None))
}

/// Takes over what came of the call.
fn tell(seen: &mut Debugged, probed: Probed, failing: Option<Refusal>) {
    seen.outcome = match &probed.outcome {
        _ if probed.timed_out() => ToolOutcome::TimedOut,
        Outcome::Passed(()) => ToolOutcome::Passed,
        Outcome::Refused(_) => ToolOutcome::Refused,
    };
    seen.only_without_debug = failing.is_some() && seen.outcome == ToolOutcome::Passed;
    seen.refusal = match probed.outcome {
        Outcome::Refused(refusal) => Some(refusal),
        Outcome::Passed(()) => failing,
    };
    (seen.output, seen.left_out_bytes) = (probed.words, probed.left_out);
    // The end of the output is the evidence of a crash.
    if let Some(refusal) = seen.refusal.as_mut().filter(|refusal| seen.output.trim_end().ends_with(&refusal.evidence)) {
        refusal.evidence.clear();
    }
}
