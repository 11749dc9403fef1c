//! The parent's side: starts a worker, asks, waits, and knows when to stop waiting. In: questions. Out: answers, or a
//! refusal after which the worker is gone. A worker that cannot be started is a fault.

mod building;
mod waiting;

use std::hash::{BuildHasher, RandomState};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kiln_core::{Fault, Gate, Outcome};
use tempfile::TempDir;

use crate::confine::{Confined, Confinement, Rules, filters};
use crate::memory::reading::read_memory;
use crate::memory::resident::peak;
use crate::processes::pipes::{Heard, Pipes};
use crate::processes::place::base;
use crate::processes::process::Process;
use crate::processes::scratch::scratch;
use crate::protocol::{Answer, Ask, PROTOCOL, Question};
use crate::serving::clock::impossible;
use waiting::GLANCE;

/// What a worker may take.
#[derive(Debug, Clone, Copy)]
pub struct WorkerLimits {
    /// Wall-clock time for one question.
    pub time: Duration,
    /// Resident memory in bytes, shared memory it has touched included.
    pub memory: u64,
}

impl Default for WorkerLimits {
    fn default() -> Self {
        WorkerLimits { time: Duration::from_secs(30), memory: 8 << 30 }
    }
}

/// How long a started worker may take to say that it is there.
const GREETING: Duration = Duration::from_secs(10);
/// Names the folder for temporary files.
pub(crate) const TEMPORARY: &str = "TMPDIR";

/// A process that runs candidates.
#[derive(Debug)]
pub struct Worker {
    process: Process,
    pipes: Pipes,
    limits: WorkerLimits,
    asked: u64,
    /// Where the worker may write, gone with it. Dropped after the process.
    scratch: TempDir,
    /// Where compilers keep what they made, and it may write too.
    folder: Option<PathBuf>,
    /// Calls that were made ready last.
    prepared: u32,
    confined: Option<Confined>,
    /// Whether nothing is left to be tightened.
    tight: bool,
    /// When whatever it does must be over.
    deadline: Option<Instant>,
    /// Where it was in its code, while that is noted.
    places: Option<Vec<u64>>,
    /// Numbers questions so that a candidate cannot know the next one and answer ahead of time.
    numbers: RandomState,
}

impl Worker {
    /// Starts `command` as a worker and waits for its greeting. The worker has a folder of its own for temporary files,
    /// unless the command names one.
    pub fn start(command: Command, limits: WorkerLimits) -> Result<Worker, Fault> {
        Worker::start_within(command, limits, GREETING)
    }

    /// The same for one that takes longer to greet: tools around a worker have work to do before.
    pub fn start_within(mut command: Command, limits: WorkerLimits, greeting: Duration) -> Result<Worker, Fault> {
        let fault = |why: String| Fault::new("starting a worker process", why);
        let program = command.get_program().to_string_lossy().into_owned();
        let scratch = scratch().map_err(|e| fault(e.to_string()))?;
        if !command.get_envs().any(|(name, _)| name == TEMPORARY) {
            command.env(TEMPORARY, scratch.path());
        }
        let (questions, theirs) = UnixStream::pair().map_err(|e| fault(e.to_string()))?;
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Process::start(command).map_err(|e| fault(format!("{program}: {e}")))?;
        let (Some(stdout), stderr) = process.take_output() else { return Err(fault("it has no pipes".into())) };
        let pipes = Pipes::of(questions, stdout, stderr).map_err(|e| fault(e.to_string()))?;
        Worker::greeting(process, pipes, limits, scratch, greeting)
    }

    /// A worker of a process that was just started, once it has greeted.
    pub(crate) fn greeted(
        process: Process,
        pipes: Pipes,
        limits: WorkerLimits,
        scratch: TempDir,
    ) -> Result<Worker, Fault> {
        Worker::greeting(process, pipes, limits, scratch, GREETING)
    }

    fn greeting(
        process: Process,
        pipes: Pipes,
        limits: WorkerLimits,
        scratch: TempDir,
        within: Duration,
    ) -> Result<Worker, Fault> {
        let fault = |why: String| Fault::new("starting a worker process", why);
        let (numbers, folder, confined) = (RandomState::new(), None, None);
        let (asked, prepared, tight) = (0, 0, false);
        let (deadline, places) = (None, None);
        let mut worker = Worker {
            process,
            pipes,
            limits,
            asked,
            scratch,
            folder,
            prepared,
            confined,
            tight,
            deadline,
            places,
            numbers,
        };
        match worker.wait(0, within, &|| true)? {
            Outcome::Passed(Answer::Ready(PROTOCOL)) => Ok(worker),
            Outcome::Passed(other) => Err(fault(format!("it greeted with {other:?}"))),
            Outcome::Refused(refusal) if refusal.evidence.is_empty() => Err(fault(refusal.measured)),
            Outcome::Refused(refusal) => Err(fault(format!("{}: {}", refusal.measured, refusal.evidence))),
        }
    }

    /// From here on nothing is waited for longer than until then.
    pub fn end_by(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
    }

    /// Asks, and notes while it waits where in its code the worker is, a thousand times a second at most. It is stopped for each
    /// look, so nothing it says about times counts. None is noted where the system does not tell.
    pub fn ask_and_look(&mut self, ask: Ask, time: Duration) -> Result<(Outcome<Answer>, Vec<u64>), Fault> {
        self.places = Some(Vec::new());
        let answer = self.ask_within(ask, time);
        let places = self.places.take().unwrap_or_default();
        Ok((answer?, places))
    }

    /// The address at which a file that it has loaded begins.
    pub fn base_of(&self, file: &str) -> Option<u64> {
        base(self.pid(), file)
    }

    /// Asks, and waits for the answer as long as the limits allow. After a refusal the worker is gone.
    pub fn ask(&mut self, ask: Ask) -> Result<Outcome<Answer>, Fault> {
        self.ask_within(ask, self.limits.time)
    }

    /// Asks with another limit of time for this question.
    pub fn ask_within(&mut self, ask: Ask, time: Duration) -> Result<Outcome<Answer>, Fault> {
        let asked = match &ask {
            Ask::Time { batches, calls, .. } => Some((*batches, *calls)),
            Ask::Go { .. } => Some((1, self.prepared)),
            _ => None,
        };
        if let Ask::Prepare { order } = &ask {
            self.prepared = u32::try_from(order.len()).unwrap_or(u32::MAX);
        }
        let (describes, lends) = (ask == Ask::Describe, ask == Ask::Lend);
        let confines = if let Ask::Confine(rules) = &ask { Some(rules.is_first()) } else { None };
        let started = Instant::now();
        let outcome = self.put(ask, time, &|| true)?;
        let wrong = match (&outcome, asked) {
            (Outcome::Refused(_) | Outcome::Passed(Answer::Failed(_)), _) => None,
            (Outcome::Passed(Answer::Done), None) if !describes && confines.is_none() && !lends => None,
            (Outcome::Passed(Answer::Lent(_)), None) if lends => None,
            (Outcome::Passed(Answer::Device(_)), None) if describes => None,
            (Outcome::Passed(Answer::Confined(confined)), None) if let Some(first) = confines => {
                self.confined = Some(*confined);
                if !first {
                    self.pipes.watch();
                }
                None
            }
            (Outcome::Passed(Answer::Times(timing)), Some(asked)) => impossible(asked, timing, started.elapsed()),
            (Outcome::Passed(other), _) => Some(format!("the worker answered {other:?}")),
        };
        let Some(measured) = wrong else { return Ok(outcome) };
        let hint = "a kernel must not write to standard output or touch the clock";
        Ok(self.refuse(Gate::WorkerProtocol, measured, "what was asked", Some(hint)))
    }

    /// Takes from the worker what a candidate has no business with; once, and before any of a candidate's code is loaded.
    /// The answer is [`Answer::Confined`], or why a device that must be opened before cannot be.
    pub fn confine(&mut self, confinement: Confinement, time: Duration) -> Result<Outcome<Answer>, Fault> {
        if let Some(confined) = self.confined {
            return Ok(Outcome::Passed(Answer::Confined(confined)));
        }
        if confinement == Confinement::None {
            return Ok(Outcome::Passed(Answer::Confined(Confined::default())));
        }
        self.tight = confinement != Confinement::Compiler;
        let mut folders = vec![self.scratch.path()];
        folders.extend(self.folder.as_deref());
        let rules = Rules::of(confinement, self.process.id(), &folders);
        self.ask_within(Ask::Confine(rules), time)
    }

    /// Names a folder that the worker may write to beside its own, where compilers keep what they made. To be said before
    /// it is confined.
    pub fn keep_in(&mut self, folder: impl Into<PathBuf>) {
        self.folder = Some(folder.into());
    }

    /// Takes from a worker that may compile what only compilers need, and ends every process it has started. From now on it
    /// may do what kernels on a GPU may. The answer is [`Answer::Confined`], or what the worker said instead; one that is
    /// not confined, or need not be tightened, stays as it is.
    pub fn tighten(&mut self, time: Duration) -> Result<Outcome<Answer>, Fault> {
        let confined = self.confined.unwrap_or_default();
        if self.tight || !confined.seccomp {
            return Ok(Outcome::Passed(Answer::Confined(confined)));
        }
        let rules = Rules::tighter(self.process.id());
        let (before, more) = (filters(self.process.id()), rules.filters());
        self.pipes.clear();
        match self.ask_within(Ask::Confine(rules), time)? {
            Outcome::Passed(Answer::Confined(now)) => {
                let counted = before.zip(filters(self.process.id())).is_none_or(|(before, now)| now >= before + more);
                if !now.seccomp || !counted {
                    let measured = "the worker could not be kept from starting processes".to_string();
                    return Ok(self.refuse(Gate::WorkerProtocol, measured, "a second filter on its calls", None));
                }
            }
            other => return Ok(other),
        }
        self.confined = Some(confined);
        self.tight = true;
        // Nothing can be started any more: now what was started is ended.
        if !self.process.end_below(time) {
            let measured = "processes that the kernel started do not end".to_string();
            return Ok(self.refuse(Gate::Timeout, measured, &format!("{} s", time.as_secs_f64()), None));
        }
        Ok(Outcome::Passed(Answer::Confined(confined)))
    }

    /// How far the worker is confined; none when it is not.
    pub fn confined(&self) -> Option<Confined> {
        self.confined
    }

    /// Processor time the worker has taken so far, all its threads together, by the system's books and not its own. Exact
    /// while it is blocked or stopped; of a running one it may be some milliseconds behind. None when it is gone.
    pub fn cpu_time(&self) -> Option<Duration> {
        self.process.cpu_time()
    }

    /// How long the worker's threads could have run so far and had no processor, all of them together.
    pub fn queued(&self) -> Duration {
        self.process.queued()
    }

    /// How many threads the worker has now.
    pub fn threads(&self) -> usize {
        self.process.threads()
    }

    /// The processor that the worker ran on last, and runs on next if it is pinned or stays where it is.
    pub fn processor(&self) -> Option<usize> {
        self.process.processor()
    }

    /// Whether the system lets this process read the worker's memory. To be asked before a candidate's code is loaded, which
    /// could forbid it.
    pub fn is_readable(&self) -> bool {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.pid())).unwrap_or_default();
        let start = maps.split('-').next().and_then(|start| u64::from_str_radix(start, 16).ok());
        start.is_some_and(|start| self.read(start, &mut [0]).is_ok())
    }

    /// What lies in the worker's memory; to be asked while it stands still. An error where the system does not allow it.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> std::io::Result<()> {
        let pid = i32::try_from(self.pid()).map_err(std::io::Error::other)?;
        read_memory(pid, address, bytes)
    }

    /// Keeps this many bytes of the beginning of what it writes to standard error, beside the end that is always kept.
    pub fn keep_words(&mut self, bytes: usize) {
        self.pipes.words.keep(bytes);
    }

    /// What is kept of what it wrote to standard error, and how many bytes are not.
    pub fn words(&mut self) -> (String, u64) {
        self.pipes.all_words()
    }

    /// Asks for nothing more and waits until the worker, and a tool around it, have ended by themselves; whether they did in
    /// time. What is left is ended.
    pub fn leave(&mut self, within: Duration) -> bool {
        self.pipes.hang_up();
        let started = Instant::now();
        let within = self.left(within);
        let mut ended = self.process.ended().is_some() || self.process.is_over();
        while !ended && started.elapsed() < within {
            // What it writes meanwhile must not keep it waiting.
            if matches!(self.pipes.listen(GLANCE), Ok(Heard::Closed) | Err(_)) {
                std::thread::sleep(Duration::from_millis(1));
            }
            ended = self.process.ended().is_some();
        }
        self.process.end();
        ended
    }

    /// Stops the worker and all it has started until [`Worker::resume`]; whether it stands still now. To be used between
    /// questions: the time for an answer goes on.
    pub fn pause(&self) -> bool {
        self.process.pause()
    }

    /// Lets the worker go on.
    pub fn resume(&self) {
        self.process.resume();
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// The most memory the worker has held so far, in bytes; none when it is gone or the system does not tell.
    pub fn peak_memory(&self) -> Option<u64> {
        if self.process.is_over() { None } else { peak(self.process.id()) }
    }

    /// One question, one answer, as long as somebody wants it.
    fn put(&mut self, ask: Ask, time: Duration, wanted: &dyn Fn() -> bool) -> Result<Outcome<Answer>, Fault> {
        if self.process.is_over() {
            return Ok(self.refuse(Gate::RuntimeFailed, "the worker is gone".into(), "an answer", None));
        }
        // Whatever came since the last answer was not asked for.
        match self.pipes.listen(Duration::ZERO).map_err(|e| Fault::new("hearing a worker", e))? {
            Heard::Line(line) => return Ok(self.garbage(&line)),
            Heard::Forbidden(held) => return self.forbidden(held),
            Heard::Closed | Heard::Nothing => {}
        }
        self.asked += 1;
        let id = self.numbers.hash_one(self.asked);
        let beside = ask.handle();
        let mut line = serde_json::to_vec(&Question { id, ask }).map_err(|e| Fault::new("asking a worker", e))?;
        line.push(b'\n');
        self.pipes.send(&line, beside);
        self.wait(id, time, wanted)
    }
}
