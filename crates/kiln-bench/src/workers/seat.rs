//! A worker with a subject loaded, and memory mapped. In: a subject. Out: calls and times, or a refusal after which the
//! worker is gone.

mod failure;
mod images;
mod leave;
mod tighten;
mod times;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use kiln_build::SHIM_SYMBOL;
use kiln_core::{Fault, Gate, Outcome, Refusal};
use kiln_run::{Answer, Arena, Ask, Confinement, Drawing, Launch, Lies, Lying, MappedSlot};

use crate::duels::account::{Account, Wall};
use crate::questions::layout::Layout;
use crate::questions::tray::Tray;
use crate::workers::idle::{Idle, Rested};
use crate::workers::keeper::Keeper;
use crate::workers::ran::Ran;
use crate::workers::subject::Subject;
use failure::failure;

/// A worker with a device may take this long to load and map: the first question makes its context, and PyTorch is large.
pub(crate) const FIRST: Duration = Duration::from_secs(120);

/// Where memory that a device has mapped before shall lie on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spot {
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
    /// Every sample as the parent saw it. On a device that is kept of foreign code.
    pub(crate) walls: Vec<Wall>,
    /// Whether calls return their answers; of an empty function, whether to act so.
    pub(crate) returned: bool,
    /// Whether the worker's memory can be read, as was found before anybody's code was loaded.
    pub(crate) readable: bool,
    /// On a device, whether the last sample was replayed from a graph.
    pub(crate) replayed: bool,
    /// Whether calls may use several threads.
    pub(crate) threaded: bool,
    /// Whether calls work in a device's memory.
    device: bool,
    /// Whether the worker was stopped, and not let go on yet.
    paused: bool,
    /// Who keeps that memory, where that is not the subject's own process.
    keeper: Option<Keeper>,
    /// Where the worker goes afterwards; none for one that is used once.
    home: Option<(String, Idle)>,
    retaken: Arc<AtomicU64>,
    /// On a device, where the outputs of a set lie, and where recorded rows leave what they return.
    outputs: Vec<(usize, usize)>,
    lie: HashMap<u32, Lying>,
    /// The row that ran last.
    row: u32,
    /// Whether the process had another subject before.
    pub(crate) used: bool,
    /// Kernels that every sample must run, by parts of their names.
    pub(crate) required: Arc<[String]>,
    /// Kernels that samples ran, since this was last taken.
    pub(crate) ran: Ran,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.resume();
        // Memory that is not in use any more may be moved.
        if self.keeper.as_ref().is_some_and(|keeper| keeper.lent) && self.home.is_some() {
            let _ = self.release();
        }
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
        keeper: Option<Keeper>,
        home: Option<(String, Idle)>,
        retaken: Arc<AtomicU64>,
    ) -> Seat {
        let (rested, account) = (Some(rested), Account::default());
        Seat {
            rested,
            time,
            flush: 0,
            here: None,
            sets: 1,
            account,
            walls: Vec::new(),
            returned: false,
            replayed: false,
            threaded: false,
            readable: true,
            device,
            paused: false,
            keeper,
            home,
            retaken,
            outputs: Vec::new(),
            lie: HashMap::new(),
            row: 0,
            used: false,
            required: Arc::default(),
            ran: Ran::default(),
        }
    }

    /// Has calls find cold caches from now on.
    pub(crate) fn cool(&mut self) {
        self.flush = 1;
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
                let config = (!config.is_empty()).then(|| serde_json::json!(config.tunables()));
                Ask::Load { library: file.to_string(), symbol: function.clone(), config, device: *device }
            }
            Subject::Empty { device, .. } => {
                Ask::Load { library: String::new(), symbol: String::new(), config: None, device: *device }
            }
        };
        self.first(load)
    }

    /// Gives the subject its arguments and, for kernels, the launches of a call.
    pub(crate) fn map(
        &mut self,
        layout: &Layout,
        slots: Vec<MappedSlot>,
        arena: &Arena,
        launches: Vec<Launch>,
        (place, sets): (Spot, u32),
    ) -> Result<Outcome<()>, Fault> {
        let sets = if self.device { sets } else { 1 };
        self.sets = sets;
        let written = slots.iter().filter(|slot| matches!(slot.role.as_str(), "out" | "inout"));
        self.outputs = written.map(|slot| (slot.offset, slot.bytes)).collect();
        self.lie.clear();
        let elsewhere = place == Spot::Another;
        self.here = Some(arena.number());
        if self.keeper.is_some() {
            return self.map_lent(slots, arena, launches, (elsewhere, sets));
        }
        let gone = self.rested.as_mut().map(|rested| rested.maps(arena)).unwrap_or_default();
        let holes = if self.device { Vec::new() } else { layout.holes.clone() };
        let arena = arena.handle();
        self.first(Ask::Map { arena, lent: None, slots, launches, sets, stride: 0, holes, elsewhere, gone })
    }

    /// The same where another process keeps the memory, and lends it.
    fn map_lent(
        &mut self,
        slots: Vec<MappedSlot>,
        arena: &Arena,
        launches: Vec<Launch>,
        (elsewhere, sets): (bool, u32),
    ) -> Result<Outcome<()>, Fault> {
        passed!(self.release()?);
        let within = self.time.max(FIRST);
        let Some(keeper) = &mut self.keeper else { return Err(Fault::new("mapping memory", "nobody keeps it")) };
        let lent = match keeper.map(arena, (elsewhere, sets), within)? {
            Outcome::Passed(Answer::Lent(lent)) => Some(lent),
            Outcome::Passed(answer) => return Ok(Outcome::Refused(self.unexpected(answer))),
            Outcome::Refused(refusal) => return Ok(Outcome::Refused(refusal)),
        };
        keeper.lent = true;
        let (arena, holes, gone) = Default::default();
        self.first(Ask::Map { arena, lent, slots, launches, sets, stride: 0, holes, elsewhere: false, gone })
    }

    /// Has the subject's process let go of memory that another one keeps.
    fn release(&mut self) -> Result<Outcome<()>, Fault> {
        match &mut self.keeper {
            Some(keeper) if keeper.lent => keeper.lent = false,
            _ => return Ok(Outcome::Passed(())),
        }
        self.done(Ask::Release)
    }

    /// Gives a subject that launches nothing by itself another place for its arguments, unless that is where they are.
    pub(crate) fn map_here(&mut self, layout: &Layout, arena: &Arena) -> Result<Outcome<()>, Fault> {
        if self.here == Some(arena.number()) {
            return Ok(Outcome::Passed(()));
        }
        self.map(layout, layout.slots.clone(), arena, Vec::new(), (Spot::Same, 1))
    }

    /// Gives the subject sets of arguments, one for each call of a sample.
    pub(crate) fn map_sets(&mut self, tray: &Tray, slots: Vec<MappedSlot>) -> Result<Outcome<()>, Fault> {
        let gone = self.rested.as_mut().map(|rested| rested.maps(tray.arena())).unwrap_or_default();
        self.here = Some(tray.arena().number());
        self.first(Ask::Map {
            arena: tray.arena().handle(),
            lent: None,
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

    /// Whether another process keeps the memory that calls work in.
    pub(crate) fn is_kept(&self) -> bool {
        self.keeper.is_some()
    }

    /// Brings what calls left to where it can be seen.
    pub(crate) fn fetch(&mut self) -> Result<Outcome<()>, Fault> {
        if self.on_device() { self.kept(Ask::Fetch { set: 0, parts: vec![] }) } else { Ok(Outcome::Passed(())) }
    }

    /// Copies what a call of the last sample returned to where it would have written it. Its process stands still, so that it is
    /// read as it was when the clock had stopped.
    pub(crate) fn adopt(&mut self, call: u32) -> Result<Outcome<()>, Fault> {
        let Some((handles, calls)) = self.lie.get(&self.row) else { return Ok(Outcome::Passed(())) };
        let mut known = Vec::new();
        for (output, handle, offset) in calls.get(call as usize).into_iter().flatten() {
            known.push((self.outputs.get(*output as usize).copied(), handles.get(*handle).cloned(), *offset));
        }
        for place in known {
            let (Some((to, bytes)), Some(handle), offset) = place else {
                return Ok(Outcome::Refused(self.unexpected(Answer::Done)));
            };
            let lies = Lies { handle, offset };
            passed!(self.kept(Ask::Adopt { set: call % self.sets.max(1), offset: to, bytes, lies })?);
        }
        Ok(Outcome::Passed(()))
    }

    /// The same of another set than the first: those parts of it.
    pub(crate) fn fetch_set(&mut self, set: u32, parts: Vec<(usize, usize)>) -> Result<Outcome<()>, Fault> {
        self.kept(Ask::Fetch { set, parts })
    }

    /// Fills all sets once more with what they held before a sample.
    pub(crate) fn draw(&mut self, drawing: Drawing) -> Result<Outcome<()>, Fault> {
        let image = drawing.image;
        passed!(self.kept(Ask::Draw(drawing))?);
        self.tell_scalars(image)
    }

    /// The same for all but the tensors that are only read: of three questions, one look at those is enough.
    pub(crate) fn fetch_written(&mut self, layout: &Layout) -> Result<Outcome<()>, Fault> {
        self.kept(Ask::Fetch { set: 0, parts: layout.written() })
    }

    /// One call.
    pub(crate) fn call(&mut self) -> Result<Outcome<()>, Fault> {
        self.done(Ask::Call)
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
        let threads = self.rested.as_ref().map_or(1, |rested| rested.worker.threads());
        Account { others: threads.saturating_sub(1), ..std::mem::take(&mut self.account) }
    }

    /// Stops the worker and all its threads while others are timed.
    pub(crate) fn pause(&mut self) {
        if let Some(rested) = &self.rested {
            // Where that is not allowed it goes on waiting, as most do.
            let _ = rested.worker.pause();
            self.paused = true;
            self.settle();
        }
    }

    /// The same on a device, where foreign code is among those that take turns: kernels alone have no hold on a process.
    pub(crate) fn stand(&mut self) {
        if self.keeper.is_some() {
            self.pause();
        }
    }

    /// Lets it go on. Any question to it does, too.
    pub(crate) fn resume(&mut self) {
        if let (true, Some(rested)) = (self.paused, &self.rested) {
            rested.worker.resume();
        }
        self.paused = false;
    }

    /// Whether calls find cold caches.
    pub(crate) fn is_cold(&self) -> bool {
        self.flush > 0
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

    /// A question about memory, to whoever keeps it.
    fn kept(&mut self, ask: Ask) -> Result<Outcome<()>, Fault> {
        let answer = self.ask_keeper(ask)?;
        Ok(self.is_done(answer))
    }

    fn ask_keeper(&mut self, ask: Ask) -> Result<Outcome<Answer>, Fault> {
        match &mut self.keeper {
            Some(keeper) => keeper.ask(ask, self.time.max(FIRST)),
            None => self.ask(ask),
        }
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
        self.resume();
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
        match answer {
            Answer::Failed(failed) => failure(failed),
            other => Refusal {
                gate: Gate::WorkerProtocol,
                rule: String::new(),
                measured: format!("the worker answered {other:?}"),
                limit: "a call that ends without an error".into(),
                evidence: String::new(),
                hint: None,
            },
        }
    }
}
