//! What was done before. In: a store, a study. Out: every finished trial and duel, taken from the record instead of being
//! done again. A study that goes on and one that is replayed walk the same path as the first time: the record answers as
//! far as it goes, and only a replay may not go further.

use std::collections::HashMap;

use kiln_bench::{CacheState, Ended, Evaluation, Fought, Measured, Rounds, Turns};
use kiln_core::{Config, Fault, Refusal};
use kiln_store::{ByWorkload, Details, Kept, Measurement, Trial, TrialState};

use crate::recording::archive::Archive;
use crate::recording::recorded::{call_checks, scrutiny};

/// The kind of note that says where a phase ran out of time.
pub(crate) const ENDED: &str = "ended";

/// A study's record, old and new.
pub struct Record<'a> {
    archive: Option<&'a dyn Archive>,
    study: String,
    cache: CacheState,
    replay: bool,
    trials: HashMap<(String, u64), Trial>,
    /// The highest number of each phase.
    furthest: HashMap<String, u64>,
    measurements: HashMap<(String, u64), Vec<Measurement>>,
    baseline: Option<String>,
    /// Phases that ran out of time, and after how many trials.
    ends: HashMap<String, u64>,
}

impl<'a> Record<'a> {
    /// A record that is kept in a store, with what is there already.
    pub fn in_store(archive: &'a dyn Archive, study: &str, cache: CacheState) -> Result<Record<'a>, Fault> {
        let mut record = Record::nowhere(study, cache);
        record.archive = Some(archive);
        for trial in archive.trials(study)? {
            let furthest = record.furthest.entry(trial.phase.clone()).or_default();
            *furthest = trial.number.max(*furthest);
            record.trials.insert((trial.phase.clone(), trial.number), trial);
        }
        for measurement in archive.measurements(study)? {
            record.measurements.entry((measurement.phase.clone(), measurement.trial)).or_default().push(measurement);
        }
        for note in archive.notes(study)? {
            match (&*note.kind, note.text.rsplit_once(' ')) {
                ("baseline", _) => record.baseline = Some(note.text),
                (ENDED, Some((phase, trials))) => {
                    record.ends.extend(trials.parse().ok().map(|trials| (phase.to_string(), trials)));
                }
                _ => {}
            }
        }
        Ok(record)
    }

    /// A record of the past only: nothing is done that is not in it, and nothing is written.
    pub fn replay(archive: &'a dyn Archive, study: &str, cache: CacheState) -> Result<Record<'a>, Fault> {
        let mut record = Record::in_store(archive, study, cache)?;
        (record.replay, record.archive) = (true, None);
        Ok(record)
    }

    /// A record that is not kept.
    pub fn nowhere(study: &str, cache: CacheState) -> Record<'static> {
        let (trials, measurements) = (HashMap::new(), HashMap::new());
        Record {
            archive: None,
            study: study.into(),
            cache,
            replay: false,
            trials,
            furthest: HashMap::new(),
            measurements,
            baseline: None,
            ends: HashMap::new(),
        }
    }

    /// How many trials are in it.
    pub fn len(&self) -> usize {
        self.trials.len()
    }

    /// True when nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.trials.is_empty()
    }

    /// True when nothing may be done that is not in it.
    pub fn is_replay(&self) -> bool {
        self.replay
    }

    /// After how many trials a phase ran out of time. What came later depends on it.
    pub(crate) fn end(&self, phase: &str) -> Option<u64> {
        self.ends.get(phase).copied()
    }

    /// Whether a phase was begun.
    pub(crate) fn has(&self, phase: &str) -> bool {
        self.config(phase).is_some()
    }

    /// The baseline that was measured against.
    pub(crate) fn baseline_name(&self) -> Option<&String> {
        self.baseline.as_ref()
    }

    /// The configuration a phase began with, as it is written down.
    pub(crate) fn config(&self, phase: &str) -> Option<&str> {
        self.config_at(phase, 0)
    }

    /// The configuration of a phase's trial of this number, as it is written down.
    pub(crate) fn config_at(&self, phase: &str, number: u64) -> Option<&str> {
        self.trials.get(&(phase.to_string(), number)).map(|trial| &*trial.config)
    }

    /// Whether a phase's trial of this number is part of it: a later one that is in it says so too, since what was passed over is
    /// made before a phase ends.
    pub(crate) fn reached(&self, phase: &str, number: u64) -> bool {
        self.furthest.get(phase).is_some_and(|furthest| number <= *furthest)
    }

    /// Whether a phase's trial or duel of this number is in it.
    pub(crate) fn holds(&self, phase: &str, number: u64) -> bool {
        self.trials.contains_key(&(phase.to_string(), number))
    }

    fn trial(&self, phase: &str, number: u64, config: &str) -> Result<Option<&Trial>, Fault> {
        match self.trials.get(&(phase.to_string(), number)) {
            Some(trial) if trial.config == config => Ok(Some(trial)),
            Some(trial) => Err(Fault::new(
                format!("going on with study {}", self.study),
                format!("{phase} {number} was {} then and would be {config} now", trial.config),
            )
            .hint("the kernel file or kiln has changed since; begin a new study")),
            None if self.replay => Err(Fault::new(
                format!("replaying study {}", self.study),
                format!("{phase} {number} ({config}) is not in the record"),
            )
            .hint("a study that did not end can be ended with --resume")),
            None => Ok(None),
        }
    }

    /// A recorded evaluation of this configuration.
    pub(crate) fn evaluation(&self, phase: &str, number: u64, config: &Config) -> Result<Option<Evaluation>, Fault> {
        let Some(trial) = self.trial(phase, number, &config.to_string())? else { return Ok(None) };
        let found = self.measurements.get(&(phase.to_string(), number)).map_or(&[][..], Vec::as_slice);
        let measured =
            |m: &Measurement| Measured { workload: m.workload.clone(), samples: m.samples.clone(), calls: m.calls };
        let outcome = match &trial.refusal {
            Some(refusal) => Ended::Refused(refusal.clone(), trial.workload.clone()),
            None => Ended::Measured {
                workloads: found.iter().map(measured).collect(),
                hopeless: trial.state == TrialState::Stopped,
                cost: trial.cost.unwrap_or(f64::INFINITY),
            },
        };
        Ok(Some(Evaluation {
            outcome,
            artifact: trial.artifact.clone(),
            resources: Vec::new(),
            build_s: trial.build_s,
            check_s: trial.check_s,
            measure_s: trial.measure_s,
            wall_s: trial.wall_s,
            started_ms: trial.started_ms,
            station: trial.details.read().ok().and_then(|details| details.station),
        }))
    }

    /// Keeps an evaluation.
    pub(crate) fn keep(&self, phase: &str, number: u64, config: &Config, way: &Evaluation) -> Result<(), Fault> {
        let (state, workload) = match &way.outcome {
            Ended::Refused(_, workload) => (TrialState::Refused, workload.clone()),
            Ended::Measured { hopeless: true, .. } => (TrialState::Stopped, None),
            Ended::Measured { .. } => (TrialState::Passed, None),
        };
        let trial = Trial {
            number,
            phase: phase.into(),
            config: config.to_string(),
            state,
            cost: way.cost().filter(|c| c.is_finite()),
            refusal: way.refusal().cloned(),
            workload,
            artifact: way.artifact.clone(),
            started_ms: way.started_ms,
            build_s: way.build_s,
            check_s: way.check_s,
            measure_s: way.measure_s,
            wall_s: way.wall_s,
            details: Kept::new(Details { station: way.station, ..Details::default() }),
        };
        let row = |m: &Measured| Measurement {
            phase: phase.into(),
            trial: number,
            workload: m.workload.clone(),
            subject: "candidate".into(),
            block: 0,
            samples: m.samples.clone(),
            calls: m.calls,
            cache: self.cache.name().into(),
        };
        self.write(&trial, &way.measured().iter().map(row).collect::<Vec<_>>())
    }

    /// Recorded rounds of a duel: by workload, by round, by subject.
    pub(crate) fn rounds(
        &self,
        phase: &str,
        number: u64,
        config: &Config,
        workloads: &[&str],
        subjects: &[&str],
    ) -> Result<Option<Result<Fought, Defeat>>, Fault> {
        let Some(trial) = self.trial(phase, number, &config.to_string())? else { return Ok(None) };
        let details = trial.details.read().cloned().unwrap_or_default();
        if let Some(refusal) = &trial.refusal {
            let (subject, workload) = (details.subject.unwrap_or(0), trial.workload.clone());
            return Ok(Some(Err(Defeat { subject, refusal: refusal.clone(), workload })));
        }
        let found = self.measurements.get(&(phase.to_string(), number)).map_or(&[][..], Vec::as_slice);
        let blocks = found.iter().map(|m| m.block as usize + 1).max().unwrap_or(0);
        let empty = Turns { samples: Vec::new(), calls: 1, order: Vec::new() };
        let mut rounds: Rounds = vec![vec![vec![empty; subjects.len()]; blocks]; workloads.len()];
        for m in found {
            let places =
                (workloads.iter().position(|w| *w == m.workload), subjects.iter().position(|s| *s == m.subject));
            if let (Some(workload), Some(subject)) = places {
                let turns = Turns { samples: m.samples.clone(), calls: m.calls, order: Vec::new() };
                rounds[workload][m.block as usize][subject] = turns;
            }
        }
        // A record of before they were kept has none.
        let checks = |workload: &&str| Some(scrutiny(details.scrutiny.as_ref()?.get(workload)?));
        let scrutiny = workloads.iter().map(checks).collect::<Option<_>>().unwrap_or_default();
        let ran = |workload: &&str| details.kernels.as_ref()?.get(workload).cloned();
        let kernels = workloads.iter().map(|workload| ran(workload).unwrap_or_default()).collect();
        Ok(Some(Ok(Fought { rounds, scrutiny, kernels, states: Vec::new() })))
    }

    /// Keeps the rounds of a duel, or why there are none.
    pub(crate) fn keep_rounds(
        &self,
        entry: Entry<'_>,
        workloads: &[&str],
        subjects: &[&str],
        fought: Result<&Fought, &Defeat>,
    ) -> Result<(), Fault> {
        let (defeat, rounds) = (fought.err(), fought.map_or(&[][..], |fought| &fought.rounds));
        let scrutiny = fought.map_or(&[][..], |fought| &fought.scrutiny);
        let checks = workloads.iter().zip(scrutiny).map(|(workload, found)| (workload.to_string(), call_checks(found)));
        let kernels = fought.map_or(&[][..], |fought| &fought.kernels);
        let kernels: ByWorkload<_> = workloads
            .iter()
            .zip(kernels)
            .filter(|(_, found)| found.iter().any(|names| !names.is_empty()))
            .map(|(workload, found)| (workload.to_string(), found.clone()))
            .collect();
        let details = Details {
            subject: defeat.map(|d| d.subject),
            scrutiny: defeat.is_none().then(|| checks.collect()),
            kernels: Some(kernels).filter(|kernels| !kernels.is_empty()),
            station: None,
        };
        let (refusal, workload) = (defeat.map(|d| d.refusal.clone()), defeat.and_then(|d| d.workload.clone()));
        let trial = Trial {
            number: entry.number,
            phase: entry.phase.into(),
            config: entry.config.to_string(),
            state: if refusal.is_some() { TrialState::Refused } else { TrialState::Passed },
            cost: None,
            refusal,
            workload,
            artifact: entry.artifact.map(String::from),
            started_ms: entry.started_ms,
            build_s: 0.0,
            check_s: 0.0,
            measure_s: entry.wall_s,
            wall_s: entry.wall_s,
            details: Kept::new(details),
        };
        let mut rows = Vec::new();
        for (workload, rounds) in workloads.iter().zip(rounds) {
            for (block, turns) in rounds.iter().enumerate() {
                rows.extend(subjects.iter().zip(turns).map(|(subject, turns)| Measurement {
                    phase: entry.phase.into(),
                    trial: entry.number,
                    workload: (*workload).into(),
                    subject: (*subject).into(),
                    block: block as u64,
                    samples: turns.samples.clone(),
                    calls: turns.calls,
                    cache: self.cache.name().into(),
                }));
            }
        }
        self.write(&trial, &rows)
    }

    /// Keeps a remark.
    pub(crate) fn note(&self, kind: &str, text: &str) -> Result<(), Fault> {
        match self.archive {
            Some(archive) => archive.note(&self.study, kiln_bench::now_ms(), kind, text),
            None => Ok(()),
        }
    }

    fn write(&self, trial: &Trial, measurements: &[Measurement]) -> Result<(), Fault> {
        match self.archive {
            Some(archive) => archive.record(&self.study, trial, measurements),
            None => Ok(()),
        }
    }
}

/// A duel that ended with a refusal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Defeat {
    /// The place of who was refused.
    pub(crate) subject: usize,
    pub(crate) refusal: Refusal,
    pub(crate) workload: Option<String>,
}

/// What a duel is recorded under.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) phase: &'a str,
    pub(crate) number: u64,
    pub(crate) config: &'a Config,
    pub(crate) artifact: Option<&'a str>,
    pub(crate) started_ms: i64,
    pub(crate) wall_s: f64,
}
