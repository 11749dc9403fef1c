//! What a kernel's time goes to. In: a kernel file and a configuration, or the name of a baseline. Out: a diagnosis: from Nsight Compute's
//! counters on a GPU, coarse where there are none: from machine code, resources and the measured time. Counters come from
//! plain calls under the profiler, which are never timed. The report is kept in the project's folder. Refuses an environment in
//! which nothing can be profiled, with what to do.

mod coarse;
mod counters;
mod disassembly;
mod place;
mod recorded;
mod trouble;

use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use kiln_core::{Config, Fault, Outcome, Refusal, Report, Workload};
use kiln_diagnose::coarse::CoarseDiagnosis;
use kiln_diagnose::profile::Promotion;
use kiln_store::{Remark, RemarkSubject};
use kiln_study::{Baselines, Bench, Instrument, Kernel, Settings, Subject, environment, every_workload};
use serde_json::Value;

use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::event::What;
use crate::failure::Failure;
use crate::kernel::{KernelFile, Opened, Selecting, surroundings};
use crate::operation::diagnose::profile::DiagnosedProfile;
use crate::project::Project;
use crate::record::chosen::Chosen;
use crate::record::outcomes::weigh;
use crate::record::profiles::{AppliedFix, record};
use crate::seed::seed;
use crate::teller::{Listener, Teller};
use kiln_session::SessionPhase;
pub(crate) use place::Place;
pub(crate) use recorded::{Taken, record_of};

/// What progress is shown under, and its steps: build and set up, collect, read.
const PHASE: &str = "profile";
const STEPS: usize = 3;

/// How much is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProfileLevel {
    /// What the diagnosis reads.
    #[default]
    Quick,
    /// Everything, with the source's lines.
    Full,
}

impl ProfileLevel {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            ProfileLevel::Quick => "quick",
            ProfileLevel::Full => "full",
        }
    }

    /// Seconds that a profile may take, unless told otherwise.
    fn limit(self) -> f64 {
        match self {
            ProfileLevel::Quick => 60.0,
            ProfileLevel::Full => 180.0,
        }
    }
}

/// What is to be profiled.
#[derive(Debug, Clone, Default)]
pub struct ProfileRequest {
    /// The kernel.
    pub selecting: Selecting,
    /// Values as `NAME=VALUE,...`; tunables left out take their default.
    pub config: String,
    /// The winner of this study instead.
    pub study: Option<String>,
    /// A baseline instead.
    pub baseline: Option<String>,
    /// How much is collected.
    pub level: ProfileLevel,
    /// Seconds that it may take.
    pub limit: Option<f64>,
    /// The seed of the inputs; a new one when none.
    pub seed: Option<u64>,
}

/// What was found, and by what.
#[derive(Debug, Clone)]
pub enum FoundLimit {
    /// By counters.
    Counters(Box<DiagnosedProfile>),
    /// Without any.
    Coarse(Box<CoarseDiagnosis>),
}

/// A profile.
#[derive(Debug, Clone)]
pub struct Profiled {
    /// The kernel's name.
    pub kernel: String,
    /// The target's name.
    pub target: String,
    /// The baseline's name; none for a configuration.
    pub baseline: Option<String>,
    /// The whole configuration; empty for a baseline.
    pub config: Config,
    /// The workload; empty for a file without any.
    pub workload: String,
    /// On which GPU or processor.
    pub hardware: String,
    /// How much was asked for.
    pub level: ProfileLevel,
    /// The profiler and its version; none where it took no part.
    pub tool: Option<String>,
    /// How often the profiler had the kernel repeated.
    pub passes: Option<u64>,
    /// The profiler's report.
    pub report: Option<Utf8PathBuf>,
    /// The raw page of it.
    pub page: Option<Utf8PathBuf>,
    /// Seconds that all of it took.
    pub seconds: f64,
    /// The seed of the inputs.
    pub seed: u64,
    /// The machine and its tools, as a study records them; null where nothing was run.
    pub ran_on: Value,
    /// The diagnosis; none where the candidate was refused before.
    pub found: Option<FoundLimit>,
    /// Why there is no diagnosis, or what is wrong with the answer of what was profiled.
    pub refusal: Option<Refusal>,
    /// What the change since the last profile gave, beside what that profile promised.
    pub fix: Option<AppliedFix>,
    /// Why a full profile is worth its time: it works in another way than at the last profile.
    pub promoted: Vec<Promotion>,
    /// What reviewers remarked on the kernel's causes that are named here.
    pub remarks: Vec<Remark>,
    /// What limits the diagnosis.
    pub notes: Vec<String>,
}

impl Ends for Profiled {
    fn ending(&self) -> Ending {
        if self.found.is_some() { Ending::Done } else { Ending::Refused }
    }
}

/// Profiles a configuration or a baseline.
pub fn profile(
    project: &Project,
    file: &KernelFile,
    request: &ProfileRequest,
    listener: Listener<'_>,
) -> Result<Profiled, Failure> {
    let teller = Teller::new(listener);
    let trying = Trying::new(project, "profile", SessionPhase::Profile, About::of(file, &request.selecting.path));
    trying.told(&teller, run(project, file, request, &teller))
}

fn run(
    project: &Project,
    file: &KernelFile,
    request: &ProfileRequest,
    teller: &Teller<'_>,
) -> Result<Profiled, Failure> {
    teller.warn(&file.warnings);
    let (began, limit) = (Instant::now(), limit(request)?);
    if request.selecting.workload.as_deref() == Some("all") {
        let report = Report::error("--workload all: one workload is profiled at a time");
        return Err(report
            .label("expected the name of a workload")
            .hint("omit it for the largest that is tuned for")
            .into());
    }
    let (mut opened, config) = opened(project, file, request, teller)?;
    let workload = chosen(&opened.kernel, &config);
    // The others are not set up.
    if let Some(workload) = workload {
        opened.kernel.selection.workloads = vec![workload];
    }
    let seed = seed(request.seed)?;
    let mut profiled = Profiled {
        kernel: opened.kernel.name().into(),
        target: opened.kernel.target().into(),
        baseline: request.baseline.clone(),
        config: config.clone(),
        workload: workload.map(|workload| workload.name.to_string()).unwrap_or_default(),
        hardware: String::new(),
        level: request.level,
        tool: None,
        passes: None,
        report: None,
        page: None,
        seconds: 0.0,
        seed,
        ran_on: Value::Null,
        found: None,
        refusal: None,
        fix: None,
        promoted: Vec::new(),
        remarks: Vec::new(),
        notes: Vec::new(),
    };
    if request.baseline.is_none()
        && let Some(refusal) = opened.kernel.unfit(&config, workload)
    {
        return Ok(Profiled { refusal: Some(refusal), seconds: began.elapsed().as_secs_f64(), ..profiled });
    }
    let settings = Settings { seed, ..Settings::default() };
    let said = |event: &kiln_study::Event<'_>| teller.pass_on(event);
    let _held = opened.lock(project, teller)?;
    let around = surroundings(project, &said, true, opened.card.as_ref())?;
    let mut bench = Bench::without_stages(&opened.kernel, &settings, around)?;
    bench.allow_calls(limit);
    profiled.hardware = bench.hardware().to_string();
    profiled.ran_on = environment(&bench);
    teller.tell(What::Phase { phase: PHASE.into(), planned: STEPS });
    let subject = match subject(&mut bench, request, &config)? {
        Outcome::Passed(subject) => subject,
        Outcome::Refused(refusal) => {
            return Ok(Profiled { refusal: Some(refusal), seconds: began.elapsed().as_secs_f64(), ..profiled });
        }
    };
    let step = |done: usize| teller.tell(What::Step { phase: PHASE.into(), done, planned: STEPS });
    step(1);
    let place = Place::new(project, &profiled);
    let wanted = Wanted { level: request.level, limit, place: &place, step: &step };
    let mut examined = examine(&mut bench, &subject, workload, &wanted)?;
    teller.tell(What::PhaseEnd);
    if let (None, Some(refusal), Some(name)) = (&examined.found, &examined.refusal, &request.baseline) {
        return Err(unusable(name, refusal.clone()));
    }
    if let Some(FoundLimit::Counters(found)) = &mut examined.found {
        weigh(project, found, Some(opened.kernel.name()), Some(bench.hardware()));
    }
    let (mut fix, mut promoted) = (None, Vec::new());
    if let (Some(found), None) = (&examined.found, &request.baseline) {
        let (study, path) = (None, request.selecting.path.as_path());
        let taken = Taken { study, path, subject: &subject, config: &config, workload, level: request.level };
        let own = record_of(&bench, &taken, found, examined.page.as_deref());
        match own.and_then(|own| record(project, &own)) {
            Ok(since) => (fix, promoted) = since,
            Err(fault) => examined.notes.push(format!("this profile is not recorded: {fault}")),
        }
    }
    if request.level == ProfileLevel::Full {
        promoted.clear();
    }
    let remarks = examined.found.as_ref().map(|found| remarked(project, opened.kernel.name(), found));
    let remarks = remarks.transpose()?.unwrap_or_default();
    Ok(examined.told(Profiled { seconds: began.elapsed().as_secs_f64(), fix, promoted, remarks, ..profiled }))
}

/// The remarks about the causes of a diagnosis.
fn remarked(project: &Project, kernel: &str, found: &FoundLimit) -> Result<Vec<Remark>, Failure> {
    let Some(store) = project.recorded()? else { return Ok(Vec::new()) };
    let named: Vec<&str> = match found {
        FoundLimit::Counters(found) => found.diagnosis.ranked.iter().map(|own| own.cause.id()).collect(),
        FoundLimit::Coarse(found) => found.ranked.iter().map(|own| own.cause.id()).collect(),
    };
    let about = |own: &Remark| match &own.about {
        RemarkSubject::Cause(of, cause) => of == kernel && named.contains(&cause.as_str()),
        _ => false,
    };
    Ok(store.remarks()?.into_iter().filter(about).collect())
}

/// How a subject is to be profiled.
pub(crate) struct Wanted<'w> {
    pub(crate) level: ProfileLevel,
    pub(crate) limit: Duration,
    pub(crate) place: &'w Place,
    pub(crate) step: &'w dyn Fn(usize),
}

/// Whether counters can be asked for here.
pub(crate) fn has_profiler() -> bool {
    counters::found().is_ok()
}

/// What came of it.
#[derive(Default)]
pub(crate) struct Examined {
    pub(crate) found: Option<FoundLimit>,
    pub(crate) tool: Option<String>,
    pub(crate) passes: Option<u64>,
    pub(crate) report: Option<Utf8PathBuf>,
    pub(crate) page: Option<Utf8PathBuf>,
    pub(crate) refusal: Option<Refusal>,
    pub(crate) notes: Vec<String>,
}

impl Examined {
    fn told(self, profiled: Profiled) -> Profiled {
        let Examined { found, tool, passes, report, page, refusal, notes } = self;
        Profiled { found, tool, passes, report, page, refusal, notes, ..profiled }
    }
}

/// Profiles something that is built: with counters on a GPU where they can be had, coarsely elsewhere.
pub(crate) fn examine<'a>(
    bench: &mut Bench<'a>,
    subject: &Subject,
    workload: Option<&'a Workload>,
    wanted: &Wanted<'_>,
) -> Result<Examined, Failure> {
    if !subject.on_device() {
        let examined = coarse::on_processor(bench, subject, workload)?;
        (wanted.step)(STEPS);
        return Ok(examined);
    }
    let why = match counters::found() {
        Ok(ncu) => match counters::profiled(bench, subject, workload, &ncu, wanted)? {
            Ok(examined) => return Ok(examined),
            Err(why) => why,
        },
        Err(why) => why,
    };
    let mut examined = coarse::on_gpu(bench, subject, workload)?;
    examined.notes.insert(0, why);
    (wanted.step)(STEPS);
    Ok(examined)
}

/// The kernel that is meant, and its configuration: none for a baseline.
fn opened<'a>(
    project: &Project,
    file: &'a KernelFile,
    request: &ProfileRequest,
    teller: &Teller<'_>,
) -> Result<(Opened<'a>, Config), Failure> {
    if request.baseline.is_some() {
        let opened = Opened::new(project, file, &request.selecting, teller)?;
        opened.baseline(request.baseline.as_deref())?;
        return Ok((opened, Config::default()));
    }
    let which = (request.config.as_str(), request.study.as_deref());
    let Chosen { opened, config, .. } = Chosen::new(project, file, &request.selecting, which, teller)?;
    Ok((opened, config))
}

/// The workload asked for, else the largest that is tuned for: small ones show little but their launch. None for a file without any.
fn chosen<'a>(kernel: &Kernel<'a>, config: &Config) -> Option<&'a Workload> {
    let selected = &kernel.selection.workloads;
    let fitting = every_workload(kernel, config);
    let largest = fitting.iter().rev().find(|workload| selected.iter().any(|own| own.name == workload.name));
    largest.copied().or_else(|| selected.last().copied())
}

/// What is called: the configuration, with lines for a full profile, or the baseline.
fn subject(bench: &mut Bench<'_>, request: &ProfileRequest, config: &Config) -> Result<Outcome<Subject>, Failure> {
    let Some(name) = &request.baseline else {
        return Ok(match request.level {
            ProfileLevel::Quick => bench.subject(config)?,
            ProfileLevel::Full => bench.instrumented(config, &Instrument::Lines)?,
        });
    };
    let found = Baselines::find(bench, Some(name))?;
    if let Some(skipped) = found.skipped.into_iter().next() {
        return Err(unusable(name, skipped.refusal));
    }
    let ready = found.ready.into_iter().next().map(|baseline| Outcome::Passed(baseline.subject));
    Ok(ready.ok_or_else(|| Fault::new(format!("using the baseline {name}"), "it is not there"))?)
}

/// A baseline that cannot be built, called or measured is no fault of a configuration.
fn unusable(name: &str, refusal: Refusal) -> Failure {
    let fault = Fault::new(format!("using the baseline {name}"), format!("{}: {}", refusal.gate, refusal.measured));
    Fault { hint: refusal.hint, ..fault }.into()
}

/// Seconds as they were given.
fn limit(request: &ProfileRequest) -> Result<Duration, Failure> {
    let seconds = request.limit.unwrap_or(request.level.limit());
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err(Report::error(format!("--limit {seconds} is out of range")).label("expected seconds above 0").into()),
    }
}
