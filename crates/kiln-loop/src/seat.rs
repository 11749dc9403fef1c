//! A worker with a subject loaded, and memory mapped. In: a subject. Out: calls and times, or a refusal after which the
//! worker is gone.

use std::process::Command;
use std::time::Instant;

use camino::Utf8PathBuf;
use kiln_build::SHIM_SYMBOL;
use kiln_core::{Config, Fault, Gate, Outcome, Refusal};
use kiln_run::{Answer, Arena, Ask, Limits, Timing, Worker, python_command};

use crate::layout::Layout;
use crate::settings::{CacheState, Settings};

/// Something that can be called with the kernel's arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// A built library.
    Library {
        /// Its path.
        path: Utf8PathBuf,
        /// The build's key.
        key: String,
        /// The configuration it was built with; empty for references and baselines.
        config: Config,
    },
    /// A Python function.
    Python {
        /// The interpreter's command.
        interpreter: String,
        /// The file.
        file: Utf8PathBuf,
        /// The function in it.
        function: String,
        /// Tunables, passed by name; empty for references and baselines.
        config: Config,
    },
}

impl Subject {
    /// Stands for a subject where nothing is run.
    pub(crate) fn nothing() -> Subject {
        Subject::Library { path: Utf8PathBuf::new(), key: String::new(), config: Config::default() }
    }

    /// Its tunables; empty for references and baselines.
    pub(crate) fn config(&self) -> &Config {
        match self {
            Subject::Library { config, .. } | Subject::Python { config, .. } => config,
        }
    }

    /// The hash of what was built; none where nothing is.
    pub(crate) fn key(&self) -> Option<&str> {
        match self {
            Subject::Library { key, .. } => Some(key),
            Subject::Python { .. } => None,
        }
    }
}

/// Bytes walked before a sample when the caches must be cold: more than any processor's last level holds.
const FLUSH: u64 = 256 << 20;

/// How often a disturbed sample is taken again.
const RETAKES: usize = 3;

/// What every worker of a study shares.
#[derive(Debug, Clone)]
pub(crate) struct Seating {
    /// The kiln binary.
    pub(crate) program: Utf8PathBuf,
    /// Where workers run; anywhere when empty.
    pub(crate) cpus: Vec<usize>,
    pub(crate) threads: usize,
    pub(crate) limits: Limits,
    pub(crate) cache: CacheState,
}

impl Seating {
    pub(crate) fn new(program: Utf8PathBuf, cpus: Vec<usize>, settings: &Settings, limits: Limits) -> Seating {
        Seating { program, cpus, threads: settings.threads, limits, cache: settings.cache }
    }

    fn command(&self, subject: &Subject) -> Command {
        let mut command = match subject {
            Subject::Library { .. } => {
                let mut command = Command::new(&self.program);
                command.args(["worker", "cpu"]);
                command
            }
            Subject::Python { interpreter, .. } => python_command(interpreter),
        };
        let threads = self.threads.to_string();
        for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"] {
            command.env(name, &threads);
        }
        command
    }

    /// Starts a worker and loads the subject there.
    pub(crate) fn take(&self, subject: &Subject) -> Result<Outcome<Seat>, Fault> {
        let worker = Worker::start(self.command(subject), self.limits)?;
        let mut seat = Seat {
            worker,
            flush: if self.cache == CacheState::Cold { FLUSH } else { 0 },
            restore: Vec::new(),
            waited: 0.0,
        };
        if !self.cpus.is_empty() {
            // Where pinning is not allowed, times scatter more and the statistics say so.
            let _ = seat.worker.ask(Ask::Pin { cpus: self.cpus.clone() })?;
        }
        let load = match subject {
            Subject::Library { path, .. } => {
                Ask::Load { library: path.to_string(), symbol: SHIM_SYMBOL.into(), config: None, device: false }
            }
            Subject::Python { file, function, config, .. } => {
                let config = (!config.is_empty()).then(|| serde_json::json!(config));
                Ask::Load { library: file.to_string(), symbol: function.clone(), config, device: false }
            }
        };
        Ok(seat.done(load)?.map(|()| seat))
    }
}

/// A worker with a subject.
pub(crate) struct Seat {
    worker: Worker,
    flush: u64,
    restore: Vec<kiln_run::Copy>,
    waited: f64,
}

impl Seat {
    /// Gives the subject its arguments.
    pub(crate) fn map(&mut self, layout: &Layout, arena: &Arena) -> Result<Outcome<()>, Fault> {
        self.restore = layout.restore.clone();
        self.done(Ask::Map { arena: arena.path(), slots: layout.slots.clone(), launches: Vec::new() })
    }

    /// One call.
    pub(crate) fn call(&mut self) -> Result<Outcome<()>, Fault> {
        self.done(Ask::Call)
    }

    /// Seconds of one call, `samples` times, each the mean of `calls` calls in a row.
    pub(crate) fn time(&mut self, samples: u32, calls: u32) -> Result<Outcome<Vec<f64>>, Fault> {
        Ok(self
            .timing(samples, calls)?
            .map(|timing| timing.nanoseconds.iter().map(|ns| seconds(*ns, timing.calls)).collect()))
    }

    /// One sample, taken again a few times while the system keeps giving the processor to somebody else meanwhile. Whether
    /// that happens does not depend on what is being timed, so that it favours neither side.
    pub(crate) fn sample(&mut self, calls: u32) -> Result<Outcome<f64>, Fault> {
        for attempt in 0..=RETAKES {
            let timing = passed!(self.timing(1, calls)?);
            if attempt == RETAKES || timing.preemptions.iter().all(|times| *times == 0) {
                let time = timing.nanoseconds.first().map_or(f64::INFINITY, |ns| seconds(*ns, timing.calls));
                return Ok(Outcome::Passed(time));
            }
        }
        Ok(Outcome::Passed(f64::INFINITY))
    }

    fn timing(&mut self, samples: u32, calls: u32) -> Result<Outcome<Timing>, Fault> {
        let calls = if self.single() { 1 } else { calls };
        self.timed(samples, calls, self.restore.clone())
    }

    /// Seconds of one call alone, after these bytes were copied.
    pub(crate) fn time_alone(&mut self, prepared: Option<kiln_run::Copy>) -> Result<Outcome<f64>, Fault> {
        let restore = prepared.map_or_else(|| self.restore.clone(), |copy| vec![copy]);
        let timing = passed!(self.timed(1, 1, restore)?);
        Ok(Outcome::Passed(timing.nanoseconds.first().map_or(f64::INFINITY, |ns| seconds(*ns, 1))))
    }

    fn timed(&mut self, samples: u32, calls: u32, restore: Vec<kiln_run::Copy>) -> Result<Outcome<Timing>, Fault> {
        let started = Instant::now();
        let answer = self.worker.ask(Ask::Time { samples, calls, restore, flush: self.flush })?;
        self.waited = started.elapsed().as_secs_f64();
        Ok(match answer {
            Outcome::Passed(Answer::Times(timing)) if timing.nanoseconds.len() == samples as usize => {
                Outcome::Passed(timing)
            }
            Outcome::Passed(answer) => Outcome::Refused(unexpected(answer)),
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
        })
    }

    /// Seconds the parent waited for the last times; none when memory was prepared before every sample.
    pub(crate) fn waited(&self) -> Option<f64> {
        (!self.single()).then_some(self.waited)
    }

    /// Whether a sample can only hold one call.
    pub(crate) fn single(&self) -> bool {
        self.flush > 0 || !self.restore.is_empty()
    }

    /// Bytes of memory the worker took at most.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        self.worker.peak_memory()
    }

    fn done(&mut self, ask: Ask) -> Result<Outcome<()>, Fault> {
        Ok(match self.worker.ask(ask)? {
            Outcome::Passed(Answer::Done) => Outcome::Passed(()),
            Outcome::Passed(answer) => Outcome::Refused(unexpected(answer)),
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
        })
    }
}

/// A clock that did not move measured nothing: half a tick is the most that can be said.
fn seconds(nanoseconds: u64, calls: u32) -> f64 {
    (nanoseconds as f64).max(0.5) * 1e-9 / f64::from(calls.max(1))
}

/// What the worker said instead of doing it.
fn unexpected(answer: Answer) -> Refusal {
    let (gate, measured) = match answer {
        Answer::Failed(why) => (Gate::LaunchFailed, why),
        other => (Gate::WorkerProtocol, format!("the worker answered {other:?}")),
    };
    Refusal { gate, rule: String::new(), measured, limit: "done".into(), evidence: String::new(), hint: None }
}
