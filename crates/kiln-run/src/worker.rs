//! The parent's side: starts a worker, asks, waits, and knows when to stop waiting. In: questions. Out: answers, or a
//! refusal after which the worker is gone. A worker that cannot be started is a fault.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use kiln_core::{Fault, Gate, Outcome, Refusal};
use process_wrap::std::{ChildWrapper, CommandWrap, ProcessGroup};

use crate::memory::resident;
use crate::protocol::{Answer, Ask, PROTOCOL, Question, Reply};
use crate::signal::ending;

/// What a worker may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Wall-clock time for one question.
    pub time: Duration,
    /// Resident memory in bytes.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { time: Duration::from_secs(30), memory: 8 << 30 }
    }
}

/// How often the memory of a busy worker is looked at.
const GLANCE: Duration = Duration::from_millis(10);
/// A line longer than this is no answer.
const LONGEST_LINE: u64 = 16 << 20;
/// How long a started worker may take to say that it is there.
const GREETING: Duration = Duration::from_secs(10);

/// A process that runs candidates.
#[derive(Debug)]
pub struct Worker {
    child: Box<dyn ChildWrapper>,
    stdin: ChildStdin,
    lines: Receiver<Vec<u8>>,
    limits: Limits,
    next: u64,
}

impl Worker {
    /// Starts `command` as a worker and waits for its greeting.
    pub fn start(mut command: Command, limits: Limits) -> Result<Worker, Fault> {
        let what = "starting a worker process";
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child =
            CommandWrap::from(command).wrap(ProcessGroup::leader()).spawn().map_err(|e| Fault::new(what, e))?;
        let (Some(stdin), Some(stdout)) = (child.stdin().take(), child.stdout().take()) else {
            return Err(Fault::new(what, "it has no pipes"));
        };
        let (sender, lines) = channel();
        // Reading blocks, so it has a thread of its own, which ends with the worker's stdout.
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            loop {
                let mut line = Vec::new();
                match reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                    Ok(1..) if sender.send(line).is_ok() => {}
                    _ => return,
                }
            }
        });
        let mut worker = Worker { child, stdin, lines, limits, next: 1 };
        match worker.wait(0, GREETING)? {
            Outcome::Passed(Answer::Ready(PROTOCOL)) => Ok(worker),
            Outcome::Passed(other) => Err(Fault::new(what, format!("it greeted with {other:?}"))),
            Outcome::Refused(refusal) => Err(Fault::new(what, refusal.measured)),
        }
    }

    /// Asks, and waits for the answer as long as the limits allow. After a refusal the worker is gone.
    pub fn ask(&mut self, ask: Ask) -> Result<Outcome<Answer>, Fault> {
        let id = self.next;
        self.next += 1;
        let mut line = serde_json::to_vec(&Question { id, ask }).map_err(|e| Fault::new("asking a worker", e))?;
        line.push(b'\n');
        // A worker that is gone cannot be written to; waiting tells how it ended.
        let _ = self.stdin.write_all(&line).and_then(|()| self.stdin.flush());
        self.wait(id, self.limits.time)
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn wait(&mut self, id: u64, within: Duration) -> Result<Outcome<Answer>, Fault> {
        let started = Instant::now();
        loop {
            match self.lines.recv_timeout(GLANCE) {
                Ok(line) => return Ok(self.judge(id, &line)),
                Err(RecvTimeoutError::Disconnected) => return self.gone(),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(bytes) = resident(self.child.id()).filter(|b| *b > self.limits.memory) {
                self.kill();
                let (measured, limit) = (mebibytes(bytes), mebibytes(self.limits.memory));
                let refusal = refusal(Gate::HostOom, format!("{measured} resident"), limit);
                return Ok(Outcome::Refused(refusal));
            }
            if started.elapsed() > within {
                self.kill();
                let limit = format!("{} s", within.as_secs_f64());
                return Ok(Outcome::Refused(refusal(Gate::Timeout, format!("no answer after {limit}"), limit)));
            }
        }
    }

    /// A line is the answer to the question, or the worker cannot be trusted any more.
    fn judge(&mut self, id: u64, line: &[u8]) -> Outcome<Answer> {
        match serde_json::from_slice::<Reply>(line) {
            Ok(reply) if reply.id == id => Outcome::Passed(reply.answer),
            _ => {
                self.kill();
                let shown: String = String::from_utf8_lossy(line).trim_end().chars().take(80).collect();
                let mut refusal =
                    refusal(Gate::WorkerProtocol, format!("the worker said {shown:?}"), "an answer".into());
                refusal.hint = Some("a kernel must not write to standard output".into());
                Outcome::Refused(refusal)
            }
        }
    }

    /// The worker closed its output: tells how it ended.
    fn gone(&mut self) -> Result<Outcome<Answer>, Fault> {
        // It may have closed its output and live on.
        let deadline = Instant::now() + Duration::from_millis(500);
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().map_err(|e| Fault::new("waiting for a worker", e))? {
                let refusal = refusal(Gate::RuntimeFailed, ending(status), "an answer".into());
                return Ok(Outcome::Refused(refusal));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        self.kill();
        let measured = "the worker closed its output and lived on".to_string();
        Ok(Outcome::Refused(refusal(Gate::WorkerProtocol, measured, "an answer".into())))
    }

    /// Kills the worker and everything it started, and waits for it.
    fn kill(&mut self) {
        let _ = self.child.kill();
    }
}

/// Nothing is left behind, also when the caller gives up early.
impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

fn refusal(gate: Gate, measured: String, limit: String) -> Refusal {
    Refusal { gate, rule: String::new(), measured, limit, evidence: String::new(), hint: None }
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}
