//! Waiting for a worker's answer. In: a question that was put, how long it may take, whether somebody still wants it. Out: the answer, or the
//! refusal after which the worker is gone. Time in which others had the processor is not its own.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use kiln_core::{Fault, Gate, Outcome, Refusal};

use super::Worker;
use crate::confine::{Held, name};
use crate::memory::resident::resident;
use crate::processes::pipes::Heard;
use crate::processes::place::place;
use crate::processes::signal::{ending, is_bad_call};
use crate::protocol::{Answer, Reply};

/// How often the memory and the life of a busy worker are looked at.
pub(super) const GLANCE: Duration = Duration::from_millis(10);
/// How many times as long a worker may take that waits for a processor: one with many threads makes itself wait.
const WHILE_OTHERS_RUN: u32 = 10;
/// The same of one that has not had the processor for as long as it was given: then the machine is to blame.
const WHILE_STARVED: u32 = 60;
/// How often a worker whose places are noted is stopped for it.
const BETWEEN_PLACES: Duration = Duration::from_millis(1);
/// How long a worker that closed its output may take to end.
const ENDING: Duration = Duration::from_millis(500);
/// How long a worker held at a forbidden call may take to say where in its code that was.
const WORDS: Duration = Duration::from_millis(200);

impl Worker {
    /// How long something may take, where everything must be over at some time.
    pub(super) fn left(&self, within: Duration) -> Duration {
        self.deadline.map_or(within, |end| within.min(end.saturating_duration_since(Instant::now())))
    }

    /// How long something that began then may take in all, where everything must be over at some time.
    pub(super) fn at_most(&self, began: Instant, in_all: Duration) -> Duration {
        self.deadline.map_or(in_all, |end| in_all.min(end.saturating_duration_since(began)))
    }

    /// Stops the worker for a moment and notes where it is.
    pub(super) fn look(&mut self) {
        let found = if self.process.pause() { place(self.process.id()) } else { None };
        self.process.resume();
        if let Some(places) = &mut self.places {
            places.extend(found);
        }
    }

    pub(super) fn wait(
        &mut self,
        id: u64,
        within: Duration,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Outcome<Answer>, Fault> {
        let started = Instant::now();
        let within = self.left(within);
        let (mut limit, mut glanced) = (within, started);
        // What it waited for a processor and had of one until the first glance: most answers come before, and looking takes time.
        let mut held_up = None;
        loop {
            // A millisecond more than is left, or the last one would be spent asking again and again.
            let pause = if self.places.is_some() { BETWEEN_PLACES } else { GLANCE };
            let left = limit.saturating_sub(started.elapsed()).min(pause);
            match self.pipes.listen(left + Duration::from_millis(1)).map_err(|e| Fault::new("hearing a worker", e))? {
                Heard::Line(line) => return Ok(self.judge(id, &line)),
                Heard::Closed => return Ok(self.gone()),
                Heard::Forbidden(held) => return self.forbidden(held),
                Heard::Nothing if self.places.is_some() => self.look(),
                Heard::Nothing => {}
            }
            if started.elapsed() > limit {
                // Others may have had the processor meanwhile, which is not its doing.
                let (waited, ran) = held_up.map_or_else(Default::default, |(waited, ran)| {
                    let now = self.process.cpu_time().unwrap_or(Duration::MAX);
                    (self.process.held_up().saturating_sub(waited), now.saturating_sub(ran))
                });
                let most = if ran < within { WHILE_STARVED } else { WHILE_OTHERS_RUN } * within;
                limit = self.at_most(started, (within + waited).min(most));
                if started.elapsed() > limit {
                    if ran < within && within + waited > most && limit == most {
                        self.process.end();
                        let why = format!(
                            "others had the processor for {:.0} of {:.0} s",
                            waited.as_secs_f64(),
                            limit.as_secs_f64()
                        );
                        return Err(Fault::new("waiting for a worker", why)
                            .hint("run kiln again when the machine has less to do"));
                    }
                    let others = if waited > within / 10 {
                        format!(", and {:.1} s in which others had the processor", waited.as_secs_f64())
                    } else {
                        String::new()
                    };
                    let measured = format!("no answer after {} s{others}", within.as_secs_f64());
                    return Ok(self.refuse(Gate::Timeout, measured, "", None));
                }
            }
            if glanced.elapsed() < GLANCE {
                continue;
            }
            glanced = Instant::now();
            held_up.get_or_insert_with(|| (self.process.held_up(), self.process.cpu_time().unwrap_or_default()));
            if !wanted() {
                self.process.end();
                return Err(Fault::new("waiting for a worker", "interrupted"));
            }
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
    pub(super) fn judge(&mut self, id: u64, line: &[u8]) -> Outcome<Answer> {
        match serde_json::from_slice::<Reply>(line) {
            Ok(reply) if reply.id == id => Outcome::Passed(reply.answer),
            _ => self.garbage(line),
        }
    }

    pub(super) fn garbage(&mut self, line: &[u8]) -> Outcome<Answer> {
        let shown: String = String::from_utf8_lossy(line).trim_end().chars().take(80).collect();
        let hint = "a kernel must not write to standard output";
        self.refuse(Gate::WorkerProtocol, format!("the worker said {shown:?}"), "an answer", Some(hint))
    }

    /// The worker closed its output: tells how it ended.
    pub(super) fn gone(&mut self) -> Outcome<Answer> {
        // It may have closed its output and live on.
        let deadline = Instant::now() + ENDING;
        let mut pause = Duration::from_micros(50);
        while Instant::now() < deadline {
            if let Some(status) = self.process.ended() {
                if self.confined.is_some() && is_bad_call(status) {
                    return self.refuse_call("made a forbidden system call".into());
                }
                let hint = matches!(status.signal(), Some(libc::SIGSEGV | libc::SIGBUS))
                    .then_some("a read or write beyond an argument ends so too: arguments lie between pages that cannot be touched");
                return self.refuse(Gate::RuntimeFailed, ending(status), "an answer", hint);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
        let measured = "the worker closed its output and lived on".to_string();
        self.refuse(Gate::WorkerProtocol, measured, "an answer", None)
    }

    /// The worker is held at a call that it must not make.
    pub(super) fn forbidden(&mut self, held: Held) -> Result<Outcome<Answer>, Fault> {
        // The same signal as on systems that cannot hold it: an interpreter then says which line it was at. Some block
        // signals around the call, so that it must come to an end first.
        self.process.signal(libc::SIGSYS);
        self.pipes.fail(held);
        let asked = Instant::now();
        while asked.elapsed() < WORDS && self.process.ended().is_none() {
            let heard = self.pipes.listen(Duration::from_millis(5)).map_err(|e| Fault::new("hearing a worker", e))?;
            // One that failed is often tried in another way.
            if let Heard::Forbidden(next) = heard {
                self.pipes.fail(next);
            }
        }
        Ok(self.refuse_call(format!("called {}", name(held.call))))
    }

    pub(super) fn refuse_call(&mut self, did: String) -> Outcome<Answer> {
        let hint = "a kernel computes: it starts no processes, reaches into none, and uses no network";
        self.refuse(Gate::ForbiddenCall, format!("the kernel {did}"), "calls that computing needs", Some(hint))
    }

    /// Ends the worker and everything it started, and says why, with its last words.
    pub(super) fn refuse(&mut self, gate: Gate, measured: String, limit: &str, hint: Option<&str>) -> Outcome<Answer> {
        self.process.end();
        let (limit, evidence, hint) = (limit.into(), self.pipes.last_words(), hint.map(String::from));
        Outcome::Refused(Refusal { gate, rule: String::new(), measured, limit, evidence, hint })
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}
