//! Recorded spaces by name. In: a file, or a study of this folder. Out: what was measured of each configuration, as other
//! tuners' files hold it. Refuses what is neither, and a study in which nothing was tried.

use std::sync::Arc;

use camino::Utf8Path;
use jiff::Timestamp;
use kiln_core::{Config, Fault, Gate, Report, Value};
use kiln_formats::{Attempt, Invalidity, Recorded, Recording, Results};
use kiln_stats::median;
use kiln_store::{Measurement, Store, Study, Trial};

use crate::failure::Failure;
use crate::kernel::read_bounded;
use crate::project::Project;

/// Every recording meant by a name, with what to call it: a file has one, a study that tuned its workloads apart one for each.
pub(crate) fn find(project: &Project, name: &str) -> Result<Vec<(String, Recording)>, Failure> {
    let path = Utf8Path::new(name);
    if path.exists() {
        let recording = kiln_formats::read_recording(name, &read_bounded(path, kiln_formats::LARGEST_FILE)?)?;
        return Ok(vec![(name.to_string(), recording)]);
    }
    let missing = |why: &str| {
        let report = Report::error(format!("{name} is neither a file nor a study: {why}"));
        Failure::from(report.hint("give a Kernel Tuner cache, a T4 file, or a study as `kiln history` lists them"))
    };
    // With a folder or an ending it can only be meant as a file.
    if name.contains('/') || matches!(path.extension(), Some("json" | "gz")) {
        return Err(missing("there is no such file"));
    }
    let Some(store) = project.recorded()? else { return Err(missing("there are no studies here")) };
    let study = store.find(name).map_err(|fault| missing(&fault.why))?;
    let mut recordings = Vec::new();
    for (workload, results) in results(&store, &study)? {
        let label = if workload.is_empty() { name.to_string() } else { format!("{name}/{workload}") };
        let recording = results.recording(&format!("study {label}"))?;
        recordings.push((label, recording));
    }
    match recordings.is_empty() {
        true => Err(missing("the study tried nothing yet")),
        false => Ok(recordings),
    }
}

/// What a study tried while it searched, by workload where they were tuned apart (else under an empty name).
pub(crate) fn results(store: &Store, study: &Study) -> Result<Vec<(String, Results)>, Fault> {
    let trials = store.trials(&study.id)?;
    let measurements = store.measurements(&study.id)?;
    let mut found: Vec<(String, Results)> = Vec::new();
    for trial in &trials {
        let phase = trial.phase_id();
        if !phase.is_searching() {
            continue;
        }
        let workload = phase.workload.unwrap_or_default();
        let place = match found.iter().position(|(name, _)| name == workload) {
            Some(place) => place,
            None => {
                let device = study.device().unwrap_or("unknown");
                let results = Results { kernel: study.kernel.clone(), device: device.into(), attempts: vec![] };
                found.push((workload.into(), results));
                found.len() - 1
            }
        };
        found[place].1.attempts.push(attempt(trial, &measurements)?);
    }
    found.iter_mut().for_each(|(_, results)| level(&mut results.attempts));
    Ok(found)
}

/// What stands for a tunable that an implementation does not have, where every row has every tunable.
pub(crate) const ABSENT: &str = "-";

/// Gives every configuration the tunables of all implementations.
fn level(attempts: &mut [Attempt]) {
    let mut names: Vec<Arc<str>> = Vec::new();
    for (name, _) in attempts.iter().flat_map(|attempt| attempt.config.iter()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    for attempt in attempts.iter_mut().filter(|attempt| attempt.config.implementation().is_some()) {
        let value = |name: &Arc<str>| attempt.config.get(name).cloned().unwrap_or_else(|| ABSENT.into());
        attempt.config = Config::new(names.iter().map(|name| (name.clone(), value(name))).collect());
    }
}

/// A configuration without what its implementation does not have.
pub(crate) fn own(config: Config) -> Config {
    let absent = |value: &Value| matches!(value, Value::Str(text) if &**text == ABSENT);
    let named = config.implementation().is_some();
    let kept = config.iter().filter(|(_, value)| !named || !absent(value));
    Config::new(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

fn attempt(trial: &Trial, measurements: &[Measurement]) -> Result<Attempt, Fault> {
    let config = Config::parse(&trial.config)
        .map_err(|e| Fault::new(format!("reading trial {} {}", trial.phase, trial.number), e))?;
    let outcome = match (&trial.refusal, trial.cost) {
        (Some(refusal), _) => {
            Recorded::failed(invalidity(refusal.gate), format!("{}: {}", refusal.gate, refusal.measured))
        }
        (None, Some(seconds)) => Recorded::time(seconds, samples(trial, seconds, measurements)),
        (None, None) => Recorded::failed(Invalidity::Timeout, "given up early"),
    };
    Ok(Attempt {
        timestamp: Timestamp::from_millisecond(trial.started_ms).ok().map(|moment| moment.to_string()),
        config,
        outcome,
        compile_seconds: trial.build_s,
        check_seconds: trial.check_s,
    })
}

/// The samples of a trial around its cost. Those of several workloads are brought to one scale: each relative to the median
/// on its own workload, since the cost is a mean of medians and no single call ever took that long.
fn samples(trial: &Trial, seconds: f64, measurements: &[Measurement]) -> Vec<f64> {
    let own = |m: &&Measurement| m.phase == trial.phase && m.trial == trial.number && m.subject == "candidate";
    let relative = |m: &Measurement| {
        let middle = median(&m.samples).unwrap_or(f64::INFINITY);
        m.samples.iter().map(move |sample| sample / middle * seconds).collect::<Vec<f64>>()
    };
    measurements.iter().filter(own).flat_map(relative).collect()
}

/// A gate in T4's terms.
pub(crate) fn invalidity(gate: Gate) -> Invalidity {
    match gate {
        Gate::Constraint | Gate::SmemOverflow | Gate::LaunchLimits | Gate::OomRisk => Invalidity::Constraints,
        Gate::BuildFailed | Gate::BuildTimeout | Gate::Spills | Gate::Occupancy => Invalidity::Compile,
        Gate::LaunchFailed
        | Gate::RuntimeFailed
        | Gate::HostOom
        | Gate::WorkerProtocol
        | Gate::ForbiddenCall
        | Gate::WrongKernel => Invalidity::Runtime,
        Gate::Timeout => Invalidity::Timeout,
        Gate::UnwrittenOutput
        | Gate::OutOfBounds
        | Gate::InputModified
        | Gate::Nonfinite
        | Gate::Numerics
        | Gate::Nondeterministic
        | Gate::BelowRoofline => Invalidity::Correctness,
    }
}
