//! A result, measured again. In: a run file, a recorded run or a study. Out: what differs in environment and code, and by the rules
//! of `kiln compare` whether the result is the same. The kernel is built anew from its files as they are now. Refuses a
//! result that kiln did not measure, and one whose kernel is not here.

mod differences;
mod past;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{CANDIDATE, Outcome, Refusal, Report};
use kiln_formats::RunFile;
use kiln_stats::Thresholds;

use crate::attempt::{About, Trying};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::kernel::{KernelFile, Measuring, Selecting};
use crate::operation::bench::{self, BenchRequest};
use crate::operation::compare::{self, CompareRequest, CompareVerdict, Compared};
use crate::project::Project;
use crate::record::run_file;
use crate::teller::{Listener, Teller};
pub use differences::Difference;
use kiln_session::SessionPhase;
use past::Past;

/// Samples on each side, at least and at most, whatever the result had.
const SAMPLES: (usize, usize) = (25, 500);

/// What is to be reproduced.
#[derive(Debug, Clone)]
pub struct ReproduceRequest {
    /// A run file, or the id or name of a study or run.
    pub what: String,
    /// Where the kernel is now; where it was, when none.
    pub path: Option<Utf8PathBuf>,
    /// The GPU.
    pub device: Option<String>,
    /// Samples on each side; as many as the result has, when none.
    pub samples: Option<usize>,
    /// The seed of everything random; a new one when none.
    pub seed: Option<u64>,
    /// What a verdict demands.
    pub thresholds: Thresholds,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Reproduced {
    /// What was reproduced, in words.
    pub what: String,
    /// The kernel.
    pub kernel: String,
    /// The configuration.
    pub config: String,
    /// Where the environment differs.
    pub environment: Vec<Difference>,
    /// Where the code differs.
    pub code: Vec<Difference>,
    /// Whether it ran on a device of the same name.
    pub same_device: bool,
    /// The comparison, or what refused the configuration now.
    pub result: Outcome<Box<Compared>>,
}

impl Reproduced {
    /// What refused the configuration now.
    pub fn refused(&self) -> Option<&Refusal> {
        match &self.result {
            Outcome::Passed(_) => None,
            Outcome::Refused(refusal) => Some(refusal),
        }
    }
}

impl Ends for Reproduced {
    fn ending(&self) -> Ending {
        match &self.result {
            Outcome::Refused(_) => Ending::Refused,
            // Another device has other times.
            Outcome::Passed(compared) if compared.verdict == CompareVerdict::Regression && self.same_device => {
                Ending::Regressed
            }
            Outcome::Passed(_) => Ending::Done,
        }
    }
}

/// Measures a result again.
pub fn reproduce(project: &Project, request: &ReproduceRequest, listener: Listener<'_>) -> Result<Reproduced, Failure> {
    let teller = Teller::new(listener);
    let trying = Trying::new(project, "reproduce", SessionPhase::Confirm, About::default());
    trying.told(&teller, run(project, request, &teller))
}

fn run(project: &Project, request: &ReproduceRequest, teller: &Teller<'_>) -> Result<Reproduced, Failure> {
    let Past { what, mut run, sources } = Past::find(project, &request.what)?;
    let Some(config) = run.config.clone() else {
        return Err(Report::error(format!("{what} is of baselines alone: there is no configuration to measure again"))
            .hint("measure them with kiln bench --baselines, and compare with kiln compare --side NAME")
            .into());
    };
    let path = place(&run, request.path.as_deref())?;
    let file = KernelFile::read(&path)?;
    if file.spec.name != run.kernel {
        return Err(Report::error(format!("{path} is kernel {}, {what} is of {}", file.spec.name, run.kernel))
            .hint("name the right folder with --path")
            .into());
    }
    if let Some(cache) = run.cache.as_deref().filter(|cache| !["", "cold", "warm"].contains(cache)) {
        return Err(Report::error(format!("{what} has cache `{cache}`")).label("expected cold or warm").into());
    }
    if run.threads == Some(0) {
        return Err(Report::error(format!("{what} has threads 0")).label("expected a whole number from 1").into());
    }
    for workload in &run.workloads {
        let now = file.spec.workloads.iter().find(|w| *w.name == *workload.name).map(|w| w.shape());
        if let (Some(then), Some(now)) = (&workload.shape, now)
            && *then != now
        {
            let words = format!("{what} measured {} with {then}; {path} has {now}", workload.name);
            return Err(Report::error(words).hint("check out the commit it was measured at").into());
        }
    }
    let asked = asked(request, &run, &file, path, &config);
    bench::sensible(&asked)?;
    let done = bench::run(project, &file, &asked, teller)?;
    if !done.left.is_empty() {
        return Err(Report::error("interrupted before everything was measured again").into());
    }
    let told = |result, environment, code, same_device| Reproduced {
        what: what.clone(),
        kernel: done.kernel.name().into(),
        config: config.clone(),
        environment,
        code,
        same_device,
        result,
    };
    let now = match (&done.outcome, &done.run) {
        (Outcome::Refused(refusal), _) => {
            return Ok(told(Outcome::Refused(refusal.clone()), Vec::new(), Vec::new(), true));
        }
        (_, Some(measured)) => run_file(&measured.run)?,
        (_, None) => return Err(Report::error("nothing was measured").into()),
    };
    let fingerprint = done.kernel.fingerprint().ok();
    let environment = differences::environment(&run, &now);
    let code = differences::code(&run, &now, (sources.clone(), fingerprint.clone()));
    let mut now = now;
    // A study kept no hashes of machine code: where the sources are the same, so is the baseline.
    let plain = sources.as_ref().is_some_and(|then| fingerprint.as_ref() != Some(then));
    for side in [&mut run, &mut now].into_iter().flat_map(|run| &mut run.workloads).flat_map(|w| &mut w.sides) {
        // Equal code is no equal result: that is what is asked here.
        if sources.is_some() || side.name == CANDIDATE {
            side.code = None;
        }
    }
    let same_device = run.device.is_none() || run.device == now.device;
    let compare = CompareRequest {
        base: request.what.clone(),
        candidate: String::new(),
        side: None,
        plain,
        anyway: true,
        thresholds: request.thresholds,
    };
    let compared = compare::runs((run, now), &compare)?;
    Ok(told(Outcome::Passed(Box::new(compared)), environment, code, same_device))
}

/// Where the kernel is.
fn place(run: &RunFile, given: Option<&Utf8Path>) -> Result<Utf8PathBuf, Failure> {
    if let Some(given) = given {
        return Ok(given.into());
    }
    let folder = run.environment.get("folder").and_then(|folder| folder.as_str()).map(Utf8PathBuf::from);
    let typed = run.path.clone().map(Utf8PathBuf::from);
    let places: Vec<Utf8PathBuf> = typed.into_iter().chain(folder).collect();
    match places.iter().find(|place| place.exists()) {
        Some(place) => Ok(place.clone()),
        None => {
            let were: Vec<&str> = places.iter().map(|place| place.as_str()).collect();
            Err(Report::error(format!("the kernel {} is not where it was", run.kernel))
                .label(format!("looked in {}", were.join(", ")))
                .hint("name its folder with --path FOLDER")
                .into())
        }
    }
}

/// The same benchmark again.
fn asked(
    request: &ReproduceRequest,
    run: &RunFile,
    file: &KernelFile,
    path: Utf8PathBuf,
    config: &str,
) -> BenchRequest {
    let text = |words: &Option<String>| words.clone().filter(|words| !words.is_empty());
    let names: Vec<&str> = run.workloads.iter().map(|w| w.name.as_str()).collect();
    let listed = file.spec.workloads.iter().filter(|w| names.contains(&&*w.name));
    let holdouts = listed.clone().any(|w| w.use_for != kiln_core::Use::Tune);
    let sides = run.workloads.first().map(|w| w.sides.as_slice()).unwrap_or_default();
    let count = sides.iter().find(|s| s.name == CANDIDATE).map_or(100, |s| s.rounds.iter().map(Vec::len).sum());
    let samples = request.samples.unwrap_or(count.clamp(SAMPLES.0, SAMPLES.1));
    let known = |name: &str| file.spec.targets.iter().any(|t| t.baselines.iter().any(|b| b.name == name));
    let mut baselines = sides.iter().filter(|s| s.name != CANDIDATE && known(&s.name)).map(|s| s.name.clone());
    let baseline = baselines.next().filter(|_| baselines.next().is_none());
    BenchRequest {
        selecting: Selecting {
            path,
            target: text(&run.target),
            arch: None,
            workload: names.first().filter(|name| names.len() == 1 && !name.is_empty()).map(ToString::to_string),
            variant: text(&run.variant),
            implementation: None,
            device: request.device.clone(),
        },
        measuring: Measuring {
            samples,
            cold: run.cache.as_deref() == Some("cold"),
            warm: run.cache.as_deref() == Some("warm"),
            threads: run.threads.unwrap_or(1).max(1) as usize,
            pin: true,
            seed: request.seed,
        },
        config: config.into(),
        study: None,
        against: None,
        baseline,
        width: 100.0,
        max_samples: samples,
        early: false,
        dead_zone: 0.0,
        all: holdouts,
        save: None,
    }
}
