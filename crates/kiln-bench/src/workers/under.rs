//! Workers under a tool. In: a subject and how it is to be called. Out: a seat in a process of its own that nobody uses again.
//! One with something around it is not confined: tools start processes, open files and read memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kiln_core::{Fault, Outcome};
use kiln_run::{Worker, WorkerLimits};

use crate::building::compilers::{compile_alone, keep_in};
use crate::tools::probe::Probe;
use crate::workers::idle::Rested;
use crate::workers::seat::Seat;
use crate::workers::seating::{Seating, confinement};
use crate::workers::subject::Subject;

/// Has PyTorch ask the driver for every tensor: in memory that it has divided up itself, no tool sees where one ends.
const TENSORS_APART: (&str, &str) = ("PYTORCH_NO_CUDA_MEMORY_CACHING", "1");

/// How long a worker under a tool may take to greet.
const GREETING: Duration = Duration::from_secs(60);

impl Seating {
    /// Starts a worker under a tool, and loads the subject there.
    pub(crate) fn take_under(&self, subject: &Subject, probe: &Probe) -> Result<Outcome<Seat>, Fault> {
        let mut command = self.command(subject);
        let python_on_device = matches!(subject, Subject::Python { device: true, .. });
        if let Subject::Python { file, device: true, .. } = subject {
            keep_in(&mut command, &self.builds.compilers(file)?);
            compile_alone(&mut command);
            if probe.apart {
                command.env(TENSORS_APART.0, TENSORS_APART.1);
            }
        }
        let command = match &probe.wrapper {
            Some(wrapper) => wrapper.around(command),
            None => command,
        };
        // What a tool keeps beside every byte of a candidate's is not the candidate's.
        let memory = if probe.wrapper.is_some() { u64::MAX } else { self.limits.memory };
        let limits = WorkerLimits { time: probe.limit, memory };
        let left = probe.until.map_or(GREETING, |until| until.saturating_duration_since(Instant::now()));
        let mut worker = match &probe.wrapper {
            Some(_) => Worker::start_within(command, limits, left.min(GREETING))?,
            None => Worker::start(command, limits)?,
        };
        if let Some(until) = probe.until {
            worker.end_by(until);
        }
        worker.keep_words(probe.words);
        if let Subject::Python { file, device: true, .. } = subject {
            worker.keep_in(self.builds.compilers(file)?);
        }
        // Python works with what another process lends; everything else keeps its memory itself, where the tool sees it.
        let keeper = if python_on_device { Some(self.keeper()?) } else { None };
        let on_device = subject.on_device();
        let mut seat = Seat::new(Rested::new(worker), probe.limit, on_device, keeper, None, Arc::clone(&self.retaken));
        seat.threaded = self.threads > 1;
        if probe.wrapper.is_none() {
            passed!(seat.confine(confinement(subject))?);
        }
        Ok(match seat.load(subject)? {
            Outcome::Passed(()) => Outcome::Passed(seat),
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
        })
    }
}
