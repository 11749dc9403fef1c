//! The parent's side: starts a worker, asks, waits, and knows when to stop waiting. In: questions. Out: answers, or a
//! refusal after which the worker is gone. A worker that cannot be started is a fault.

use std::hash::{BuildHasher, RandomState};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kiln_core::{Fault, Gate, Outcome, Refusal};

use crate::clock::impossible;
use crate::ledger::processor_time;
use crate::memory::{peak, resident};
use crate::pipes::{Heard, Pipes};
use crate::process::Process;
use crate::protocol::{Answer, Ask, PROTOCOL, Question, Reply};
use crate::signal::ending;

/// What a worker may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Wall-clock time for one question.
    pub time: Duration,
    /// Resident memory in bytes, shared memory it has touched included.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { time: Duration::from_secs(30), memory: 8 << 30 }
    }
}

/// How often the memory and the life of a busy worker are looked at.
const GLANCE: Duration = Duration::from_millis(10);
/// How long a started worker may take to say that it is there.
const GREETING: Duration = Duration::from_secs(10);
/// How long a worker that closed its output may take to end.
const ENDING: Duration = Duration::from_millis(500);

/// A process that runs candidates.
#[derive(Debug)]
pub struct Worker {
    process: Process,
    pipes: Pipes,
    limits: Limits,
    asked: u64,
    /// Numbers questions so that a candidate cannot know the next one and answer ahead of time.
    numbers: RandomState,
}

impl Worker {
    /// Starts `command` as a worker and waits for its greeting.
    pub fn start(mut command: Command, limits: Limits) -> Result<Worker, Fault> {
        let fault = |why: String| Fault::new("starting a worker process", why);
        let program = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Process::start(command).map_err(|e| fault(format!("{program}: {e}")))?;
        let pipes = Pipes::of(process.child()).map_err(|e| fault(e.to_string()))?;
        let mut worker = Worker { process, pipes, limits, asked: 0, numbers: RandomState::new() };
        match worker.wait(0, GREETING)? {
            Outcome::Passed(Answer::Ready(PROTOCOL)) => Ok(worker),
            Outcome::Passed(other) => Err(fault(format!("it greeted with {other:?}"))),
            Outcome::Refused(refusal) if refusal.evidence.is_empty() => Err(fault(refusal.measured)),
            Outcome::Refused(refusal) => Err(fault(format!("{}: {}", refusal.measured, refusal.evidence))),
        }
    }

    /// Asks, and waits for the answer as long as the limits allow. After a refusal the worker is gone.
    pub fn ask(&mut self, ask: Ask) -> Result<Outcome<Answer>, Fault> {
        self.ask_within(ask, self.limits.time)
    }

    /// Asks with another limit of time for this question.
    pub fn ask_within(&mut self, ask: Ask, time: Duration) -> Result<Outcome<Answer>, Fault> {
        let asked = match &ask {
            Ask::Time { batches, calls, .. } => Some((*batches, *calls)),
            _ => None,
        };
        let describes = ask == Ask::Describe;
        let started = Instant::now();
        let outcome = self.put(ask, time)?;
        let wrong = match (&outcome, asked) {
            (Outcome::Refused(_) | Outcome::Passed(Answer::Failed(_)), _) => None,
            (Outcome::Passed(Answer::Done), None) if !describes => None,
            (Outcome::Passed(Answer::Device(_)), None) if describes => None,
            (Outcome::Passed(Answer::Times(timing)), Some(asked)) => impossible(asked, timing, started.elapsed()),
            (Outcome::Passed(other), _) => Some(format!("the worker answered {other:?}")),
        };
        let Some(measured) = wrong else { return Ok(outcome) };
        let hint = "a kernel must not write to standard output or touch the clock";
        Ok(self.refuse(Gate::WorkerProtocol, measured, "what was asked", Some(hint)))
    }

    /// Processor time of the worker so far, all its threads together, as the system accounts it: exact while it waits for a
    /// question. None when it is gone or the system does not tell.
    pub fn processor_time(&self) -> Option<Duration> {
        if self.process.is_over() { None } else { processor_time(self.process.id()) }
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// The most memory the worker has held so far, in bytes; none when it is gone or the system does not tell.
    pub fn peak_memory(&self) -> Option<u64> {
        if self.process.is_over() { None } else { peak(self.process.id()) }
    }

    /// One question, one answer.
    fn put(&mut self, ask: Ask, time: Duration) -> Result<Outcome<Answer>, Fault> {
        if self.process.is_over() {
            return Ok(self.refuse(Gate::RuntimeFailed, "the worker is gone".into(), "an answer", None));
        }
        // Whatever came since the last answer was not asked for.
        if let Heard::Line(line) = self.pipes.listen(Duration::ZERO).map_err(|e| Fault::new("hearing a worker", e))? {
            return Ok(self.garbage(&line));
        }
        self.asked += 1;
        let id = self.numbers.hash_one(self.asked);
        let mut line = serde_json::to_vec(&Question { id, ask }).map_err(|e| Fault::new("asking a worker", e))?;
        line.push(b'\n');
        self.pipes.send(&line);
        self.wait(id, time)
    }

    fn wait(&mut self, id: u64, within: Duration) -> Result<Outcome<Answer>, Fault> {
        let started = Instant::now();
        let mut glanced = started;
        loop {
            // A millisecond more than is left, or the last one would be spent asking again and again.
            let left = within.saturating_sub(started.elapsed()).min(GLANCE);
            match self.pipes.listen(left + Duration::from_millis(1)).map_err(|e| Fault::new("hearing a worker", e))? {
                Heard::Line(line) => return Ok(self.judge(id, &line)),
                Heard::Closed => return Ok(self.gone()),
                Heard::Nothing => {}
            }
            if started.elapsed() > within {
                let limit = format!("{} s", within.as_secs_f64());
                return Ok(self.refuse(Gate::Timeout, format!("no answer after {limit}"), &limit, None));
            }
            if glanced.elapsed() < GLANCE {
                continue;
            }
            glanced = Instant::now();
            if let Some(bytes) = resident(self.process.id()).filter(|b| *b > self.limits.memory) {
                let (measured, limit) = (mebibytes(bytes), mebibytes(self.limits.memory));
                return Ok(self.refuse(Gate::HostOom, format!("{measured} resident"), &limit, None));
            }
            // A forked child may hold the output open after the worker's death.
            if self.process.ended().is_some() {
                return Ok(self.gone());
            }
        }
    }

    /// A line is the answer to the question, or the worker cannot be trusted any more.
    fn judge(&mut self, id: u64, line: &[u8]) -> Outcome<Answer> {
        match serde_json::from_slice::<Reply>(line) {
            Ok(reply) if reply.id == id => Outcome::Passed(reply.answer),
            _ => self.garbage(line),
        }
    }

    fn garbage(&mut self, line: &[u8]) -> Outcome<Answer> {
        let shown: String = String::from_utf8_lossy(line).trim_end().chars().take(80).collect();
        let hint = "a kernel must not write to standard output";
        self.refuse(Gate::WorkerProtocol, format!("the worker said {shown:?}"), "an answer", Some(hint))
    }

    /// The worker closed its output: tells how it ended.
    fn gone(&mut self) -> Outcome<Answer> {
        // It may have closed its output and live on.
        let deadline = Instant::now() + ENDING;
        let mut pause = Duration::from_micros(50);
        while Instant::now() < deadline {
            if let Some(status) = self.process.ended() {
                return self.refuse(Gate::RuntimeFailed, ending(status), "an answer", None);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
        let measured = "the worker closed its output and lived on".to_string();
        self.refuse(Gate::WorkerProtocol, measured, "an answer", None)
    }

    /// Ends the worker and everything it started, and says why, with its last words.
    fn refuse(&mut self, gate: Gate, measured: String, limit: &str, hint: Option<&str>) -> Outcome<Answer> {
        self.process.end();
        let (limit, evidence, hint) = (limit.into(), self.pipes.last_words(), hint.map(String::from));
        Outcome::Refused(Refusal { gate, rule: String::new(), measured, limit, evidence, hint })
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}
