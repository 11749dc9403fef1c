//! A worker with a subject loaded, and memory mapped. In: a subject. Out: calls and times, or a refusal after which the
//! worker is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kiln_build::SHIM_SYMBOL;
use kiln_core::{Fault, Gate, Outcome, Refusal};
use kiln_judge::Exam;
use kiln_run::{Answer, Arena, Ask, Confinement, Drawing, Launch, Slot, Timing};

use crate::account::Account;
use crate::idle::{Idle, Rested};
use crate::layout::Layout;
use crate::subject::Subject;
use crate::tray::Tray;

/// How often a disturbed sample is taken again.
const RETAKES: usize = 3;

/// A worker with a device may take this long to load and map: the first question makes its context, and PyTorch is large.
pub(crate) const FIRST: Duration = Duration::from_secs(120);

/// Where memory that a device has mapped before shall lie on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Where it does.
    Same,
    /// Elsewhere.
    Another,
}

/// A worker with a subject.
pub(crate) struct Seat {
    /// Always there until the seat is given up.
    rested: Option<Rested>,
    time: Duration,
    flush: u64,
    /// The memory that was mapped last.
    here: Option<u64>,
    /// On a device, how many sets of arguments there are.
    sets: u32,
    /// Claims about times, and what the system says.
    account: Account,
    /// Whether calls work in a device's memory.
    device: bool,
    /// Where the worker goes afterwards; none for one that is used once.
    home: Option<(String, Idle)>,
    retaken: Arc<AtomicU64>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        // A seat that had a refusal has no home any more, and its worker ends here.
        if let (Some((kind, idle)), Some(rested)) = (self.home.take(), self.rested.take()) {
            idle.put(kind, rested);
        }
    }
}

impl Seat {
    /// A worker that has no subject yet. `home` is where it goes afterwards.
    pub(crate) fn new(
        rested: Rested,
        time: Duration,
        device: bool,
        home: Option<(String, Idle)>,
        retaken: Arc<AtomicU64>,
    ) -> Seat {
        let (rested, account) = (Some(rested), Account::default());
        Seat { rested, time, flush: 0, here: None, sets: 1, account, device, home, retaken }
    }

    /// Has so many bytes walked before every batch, so that caches are cold.
    pub(crate) fn cool(&mut self, bytes: u64) {
        self.flush = bytes;
    }

    /// Keeps it to these processors. Where that is not allowed, times scatter more and the statistics say so.
    pub(crate) fn pin(&mut self, cpus: Vec<usize>) -> Result<(), Fault> {
        self.ask(Ask::Pin { cpus }).map(|_| ())
    }

    /// Takes from a worker what subjects have no business with; one that had a subject before is confined already. A
    /// system that cannot is no reason to stop: `kiln doctor` says so.
    pub(crate) fn confine(&mut self, confinement: Confinement) -> Result<Outcome<()>, Fault> {
        let within = if self.on_device() { self.time.max(FIRST) } else { self.time };
        let Some(rested) = &mut self.rested else { return Err(Fault::new("confining a worker", "it was given up")) };
        Ok(match rested.worker.confine(confinement, within)? {
            Outcome::Passed(Answer::Confined(_)) => Outcome::Passed(()),
            Outcome::Passed(answer) => Outcome::Refused(self.unexpected(answer)),
            Outcome::Refused(refusal) => {
                self.home = None;
                Outcome::Refused(refusal)
            }
        })
    }

    /// Takes from a worker that may compile what only compilers need, once everything is compiled, and ends the processes it
    /// has started. It gets no other subject afterwards, which might have something to compile.
    #[allow(dead_code, reason = "comparisons on a device will call it after the first call on every workload")]
    pub(crate) fn tighten(&mut self) -> Result<Outcome<()>, Fault> {
        self.home = None;
        let Some(rested) = &mut self.rested else { return Err(Fault::new("confining a worker", "it was given up")) };
        Ok(match rested.worker.tighten(self.time)? {
            Outcome::Passed(Answer::Confined(_)) => Outcome::Passed(()),
            Outcome::Passed(answer) => Outcome::Refused(self.unexpected(answer)),
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
        })
    }

    /// Loads a subject, or once more the one that is there: what it keeps is then as at first.
    pub(crate) fn load(&mut self, subject: &Subject) -> Result<Outcome<()>, Fault> {
        let load = match subject {
            Subject::Library { path, .. } | Subject::Launcher { path, .. } => {
                Ask::Load { library: path.to_string(), symbol: SHIM_SYMBOL.into(), config: None, device: false }
            }
            Subject::Cubin { path, .. } => {
                Ask::Load { library: path.to_string(), symbol: String::new(), config: None, device: true }
            }
            Subject::Python { file, function, config, device, .. } => {
                let config = (!config.is_empty()).then(|| serde_json::json!(config));
                Ask::Load { library: file.to_string(), symbol: function.clone(), config, device: *device }
            }
            Subject::Empty { .. } => {
                Ask::Load { library: String::new(), symbol: String::new(), config: None, device: false }
            }
        };
        self.first(load)
    }

    /// Gives the subject its arguments and, for kernels, the launches of a call.
    pub(crate) fn map(
        &mut self,
        layout: &Layout,
        slots: Vec<Slot>,
        arena: &Arena,
        launches: Vec<Launch>,
        (place, sets): (Place, u32),
    ) -> Result<Outcome<()>, Fault> {
        let sets = if self.device { sets } else { 1 };
        self.sets = sets;
        let gone = self.rested.as_mut().map(|rested| rested.maps(arena)).unwrap_or_default();
        let elsewhere = place == Place::Another;
        self.here = Some(arena.number());
        let holes = if self.device { Vec::new() } else { layout.holes.clone() };
        self.first(Ask::Map { arena: arena.handle(), slots, launches, sets, stride: 0, holes, elsewhere, gone })
    }

    /// Gives a subject that launches nothing by itself another place for its arguments, unless that is where they are.
    pub(crate) fn map_here(&mut self, layout: &Layout, arena: &Arena) -> Result<Outcome<()>, Fault> {
        if self.here == Some(arena.number()) {
            return Ok(Outcome::Passed(()));
        }
        self.map(layout, layout.slots.clone(), arena, Vec::new(), (Place::Same, 1))
    }

    /// Gives the subject sets of arguments, one for each call of a sample.
    pub(crate) fn map_sets(&mut self, tray: &Tray, slots: Vec<Slot>) -> Result<Outcome<()>, Fault> {
        let gone = self.rested.as_mut().map(|rested| rested.maps(tray.arena())).unwrap_or_default();
        self.here = Some(tray.arena().number());
        self.first(Ask::Map {
            arena: tray.arena().handle(),
            slots: tray.slots(slots),
            launches: Vec::new(),
            sets: u32::try_from(tray.sets()).unwrap_or(u32::MAX),
            stride: tray.stride(),
            holes: Vec::new(),
            elsewhere: false,
            gone,
        })
    }

    /// Whether calls work in a device's memory.
    pub(crate) fn on_device(&self) -> bool {
        self.device
    }

    /// Puts a question where calls will find it. On a device it is sent once and kept there under `image`.
    pub(crate) fn lay(
        &mut self,
        layout: &Layout,
        exam: &Exam,
        arena: &mut Arena,
        image: u64,
    ) -> Result<Outcome<()>, Fault> {
        if !self.on_device() {
            layout.lay(exam, arena);
            return Ok(Outcome::Passed(()));
        }
        match self.lay_sent(image)? {
            Outcome::Passed(true) => return Ok(Outcome::Passed(())),
            Outcome::Passed(false) => self.forget(image),
            Outcome::Refused(refusal) => return Ok(Outcome::Refused(refusal)),
        }
        passed!(self.send(layout, exam, arena, image)?);
        self.done(Ask::Lay { image })
    }

    /// Sends a question to the device ahead of its use, unless it was sent before.
    pub(crate) fn send(
        &mut self,
        layout: &Layout,
        exam: &Exam,
        arena: &mut Arena,
        image: u64,
    ) -> Result<Outcome<()>, Fault> {
        if self.was_sent(image) {
            return Ok(Outcome::Passed(()));
        }
        layout.lay(exam, arena);
        passed!(self.done(Ask::Upload { image })?);
        if let Some(rested) = &mut self.rested {
            rested.images.insert(image);
        }
        Ok(Outcome::Passed(()))
    }

    /// Puts a question that was sent where calls will find it; false when the device does not have it any more.
    pub(crate) fn lay_sent(&mut self, image: u64) -> Result<Outcome<bool>, Fault> {
        if !self.was_sent(image) {
            return Ok(Outcome::Passed(false));
        }
        match self.ask(Ask::Lay { image })? {
            // Memory on the device was needed for others.
            Outcome::Passed(Answer::Failed(why)) if why.starts_with("no image") => Ok(Outcome::Passed(false)),
            answer => Ok(self.is_done(answer).map(|()| true)),
        }
    }

    fn was_sent(&self, image: u64) -> bool {
        self.rested.as_ref().is_some_and(|r| r.images.contains(&image))
    }

    /// Takes a number for an image back, so that the next question under it is sent.
    pub(crate) fn forget(&mut self, image: u64) {
        if let Some(rested) = &mut self.rested {
            rested.images.remove(&image);
        }
    }

    /// Brings what calls left to where it can be seen.
    pub(crate) fn fetch(&mut self) -> Result<Outcome<()>, Fault> {
        if self.on_device() { self.done(Ask::Fetch { set: 0, parts: vec![] }) } else { Ok(Outcome::Passed(())) }
    }

    /// The same of another set than the first: those parts of it.
    pub(crate) fn fetch_set(&mut self, set: u32, parts: Vec<(usize, usize)>) -> Result<Outcome<()>, Fault> {
        self.done(Ask::Fetch { set, parts })
    }

    /// Fills all sets once more with what they held before a sample.
    pub(crate) fn draw(&mut self, drawing: Drawing) -> Result<Outcome<()>, Fault> {
        self.done(Ask::Draw(drawing))
    }

    /// The same for all but the tensors that are only read: of three questions, one look at those is enough.
    pub(crate) fn fetch_written(&mut self, layout: &Layout) -> Result<Outcome<()>, Fault> {
        self.done(Ask::Fetch { set: 0, parts: layout.written() })
    }

    /// One call.
    pub(crate) fn call(&mut self) -> Result<Outcome<()>, Fault> {
        self.done(Ask::Call)
    }

    /// Seconds of one call, `batches` times, each the mean of `calls` calls in a row.
    pub(crate) fn time(&mut self, batches: u32, calls: u32) -> Result<Outcome<Vec<f64>>, Fault> {
        self.time_drawn(batches, calls, None)
    }

    /// The same on a device, with fresh numbers before every batch.
    pub(crate) fn time_drawn(
        &mut self,
        batches: u32,
        calls: u32,
        draw: Option<Drawing>,
    ) -> Result<Outcome<Vec<f64>>, Fault> {
        Ok(self
            .timed(batches, calls, draw)?
            .map(|timing| timing.nanoseconds.iter().map(|ns| seconds(*ns, timing.calls)).collect()))
    }

    /// One sample on a device, and what its calls read. It is taken again a few times, on other numbers, while the GPU slows
    /// down to protect itself. Whether that happens does not depend on what is being timed, so that it favours neither
    /// side.
    pub(crate) fn sample(
        &mut self,
        calls: u32,
        mut draw: impl FnMut(usize) -> Option<Drawing>,
    ) -> Result<Outcome<(f64, Option<Drawing>)>, Fault> {
        let mut attempt = 0;
        loop {
            let drawing = draw(attempt);
            let timing = passed!(self.timed(1, calls, drawing.clone())?);
            let slowed = timing.gpu.as_ref().is_some_and(kiln_run::GpuState::is_slowed);
            if attempt == RETAKES || (timing.preemptions.iter().all(|times| *times == 0) && !slowed) {
                let time = timing.nanoseconds.first().map_or(f64::INFINITY, |ns| seconds(*ns, timing.calls));
                return Ok(Outcome::Passed((time, drawing)));
            }
            attempt += 1;
            self.retaken.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Times so many batches.
    pub(crate) fn timing(&mut self, batches: u32, calls: u32) -> Result<Outcome<Timing>, Fault> {
        self.timed(batches, calls, None)
    }

    fn timed(&mut self, batches: u32, calls: u32, draw: Option<Drawing>) -> Result<Outcome<Timing>, Fault> {
        // With cold caches every call of a sample is the first on its set.
        let calls = if self.is_cold() { calls.min(self.sets) } else { calls };
        let ask = Ask::Time { batches, calls, flush: self.flush, draw };
        self.settle();
        let open = self.processor_time();
        let answer = self.ask(ask)?;
        Ok(match answer {
            Outcome::Passed(Answer::Times(timing)) if timing.nanoseconds.len() == batches as usize => {
                self.account.open = open;
                self.account.questions += 1;
                self.account.claimed += timing.nanoseconds.iter().map(|ns| *ns as f64 * 1e-9).sum::<f64>();
                Outcome::Passed(timing)
            }
            Outcome::Passed(answer) => Outcome::Refused(self.unexpected(answer)),
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
        })
    }

    fn processor_time(&self) -> Option<Duration> {
        self.rested.as_ref()?.worker.cpu_time()
    }

    /// The worker waits for its next question, and whatever it did after its last answer is over or goes on.
    fn settle(&mut self) {
        if self.account.open.is_some() {
            self.account.settle(self.processor_time());
        }
    }

    /// Claims and processor time since this was asked last.
    pub(crate) fn account(&mut self) -> Account {
        self.settle();
        std::mem::take(&mut self.account)
    }

    /// Stops the worker and all its threads while others are timed.
    pub(crate) fn pause(&self) {
        if let Some(rested) = &self.rested {
            // Where that is not allowed it goes on waiting, as most do.
            let _ = rested.worker.pause();
        }
    }

    /// Lets it go on.
    pub(crate) fn resume(&self) {
        if let Some(rested) = &self.rested {
            rested.worker.resume();
        }
    }

    /// Whether a device's caches are cooled before every sample.
    pub(crate) fn is_cold(&self) -> bool {
        self.device && self.flush > 0
    }

    /// Bytes of the device's memory in use after a call: arguments, what the call keeps, and questions that wait there.
    pub(crate) fn device_memory(&mut self) -> Result<Outcome<Option<u64>>, Fault> {
        if !self.device {
            return Ok(Outcome::Passed(None));
        }
        Ok(self.timing(1, 1)?.map(|timing| timing.gpu.and_then(|state| state.memory_used)))
    }

    /// Bytes of memory the worker took at most.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        self.rested.as_ref()?.worker.peak_memory()
    }

    /// A question that may have to wait for a context or an interpreter.
    fn first(&mut self, ask: Ask) -> Result<Outcome<()>, Fault> {
        let within = if self.on_device() { self.time.max(FIRST) } else { self.time };
        let answer = self.ask_within(ask, within)?;
        Ok(self.is_done(answer))
    }

    fn done(&mut self, ask: Ask) -> Result<Outcome<()>, Fault> {
        let answer = self.ask(ask)?;
        Ok(self.is_done(answer))
    }

    fn ask(&mut self, ask: Ask) -> Result<Outcome<Answer>, Fault> {
        self.ask_within(ask, self.time)
    }

    fn ask_within(&mut self, ask: Ask, within: Duration) -> Result<Outcome<Answer>, Fault> {
        self.settle();
        let Some(rested) = &mut self.rested else { return Err(Fault::new("asking a worker", "it was given up")) };
        let answer = rested.worker.ask_within(ask, within)?;
        if matches!(answer, Outcome::Refused(_)) {
            self.home = None;
        }
        Ok(answer)
    }

    fn is_done(&mut self, answer: Outcome<Answer>) -> Outcome<()> {
        match answer {
            Outcome::Passed(Answer::Done) => Outcome::Passed(()),
            Outcome::Passed(answer) => Outcome::Refused(self.unexpected(answer)),
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
        }
    }

    /// What the worker said instead of doing it. Whatever it was, this worker gets no other subject.
    fn unexpected(&mut self, answer: Answer) -> Refusal {
        self.home = None;
        let (gate, measured) = match answer {
            Answer::Failed(why) => {
                (if self.device && faulted(&why) { Gate::RuntimeFailed } else { Gate::LaunchFailed }, why)
            }
            other => (Gate::WorkerProtocol, format!("the worker answered {other:?}")),
        };
        Refusal { gate, rule: String::new(), measured, limit: "done".into(), evidence: String::new(), hint: None }
    }
}

/// Whether a device's complaint is about something that was running, and not about its launch.
fn faulted(why: &str) -> bool {
    const AT_LAUNCH: [&str; 5] = ["cuLaunch", "cuFunc", "cuModule", "cuTensorMap", "cuOccupancy"];
    let at_launch = AT_LAUNCH.iter().any(|call| why.starts_with(call));
    (why.starts_with("cu") && !at_launch) || why.contains("CUDA error") || why.contains("illegal memory access")
}

/// A clock that did not move measured nothing: half a tick is the most that can be said.
fn seconds(nanoseconds: u64, calls: u32) -> f64 {
    (nanoseconds as f64).max(0.5) * 1e-9 / f64::from(calls.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_into_trouble_is_told_from_what_could_not_be_launched() {
        assert!(faulted("cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS"));
        assert!(faulted("k.py:3: RuntimeError: CUDA error: misaligned address"));
        assert!(!faulted("cuLaunchKernelEx: CUDA_ERROR_INVALID_VALUE"));
        assert!(!faulted("cuModuleLoadData: CUDA_ERROR_NO_BINARY_FOR_GPU"));
        assert!(!faulted("k.py:3: TypeError: softmax() got an unexpected keyword"));
    }
}
