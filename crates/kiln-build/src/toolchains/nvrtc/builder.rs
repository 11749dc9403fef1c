//! One process that compiles with NVRTC (`kiln worker nvrtc`). In: an order, JSON in a line. Out: its answer, that it took too
//! long, or how the process ended. It has a process group of its own, which is ended whole with the builder; the process
//! also ends by itself when this one is gone, for then its input is closed.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use kiln_core::Fault;
use process_wrap::std::{ChildWrapper, CommandWrap, ProcessGroup};
use serde_json::{Value, json};

use crate::toolchains::nvrtc::place::{Place, resident};
use crate::toolchains::process::Watch;

/// The form of orders and answers; the worker's greeting says which one it speaks.
const PROTOCOL: u64 = 1;

/// An answer is heard at once; this often somebody looks whether it is still wanted.
const GLANCE: Duration = Duration::from_millis(20);

/// A process that has closed its output is on its way out. One that is not gone by then is killed.
const LEAVING: Duration = Duration::from_secs(2);

/// A process that holds more than this is not asked again.
const MOST_RESIDENT: u64 = 1 << 30;

/// What came of an order.
#[derive(Debug)]
pub(super) enum Heard {
    /// The symbols of the entries.
    Passed(BTreeMap<String, String>),
    /// Whether the compiler refused in good order, and did not give up in the middle.
    Refused {
        orderly: bool,
    },
    Version(String),
    /// What no source is to blame for.
    Failed(String),
    TooLong,
    /// The process ended before it answered.
    Ended(ExitStatus),
}

/// A process, and the channel to it.
#[derive(Debug)]
pub(super) struct Builder {
    child: Box<dyn ChildWrapper>,
    channel: BufReader<UnixStream>,
    /// Orders so far.
    orders: u64,
    /// Those of them that were compilations.
    compilations: u64,
    place: Place,
    /// Reaped: there is nothing to kill.
    ended: bool,
}

impl Builder {
    /// Starts one where the calling thread runs. `words` takes what it says before its first order.
    pub(super) fn start(program: &Utf8Path, words: Stdio) -> io::Result<Builder> {
        let (here, there) = UnixStream::pair()?;
        let there = OwnedFd::from(there);
        let mut command = Command::new(program);
        command.args(["worker", "nvrtc"]).stdin(there.try_clone()?).stdout(there).stderr(words);
        let child = CommandWrap::from(command).wrap(ProcessGroup::leader()).spawn()?;
        let place = Place::of_thread();
        Ok(Builder { child, channel: BufReader::new(here), orders: 0, compilations: 0, place, ended: false })
    }

    /// Where it runs.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Whether nothing was asked of it yet: whatever becomes of the first order is that order's doing.
    pub(super) fn is_new(&self) -> bool {
        self.orders == 0
    }

    /// Whether it may be asked again, after so many compilations at most.
    pub(super) fn is_fit(&self, most: u64) -> bool {
        !self.ended && self.compilations < most && resident(self.child.id()).is_none_or(|bytes| bytes <= MOST_RESIDENT)
    }

    pub(super) fn compile(&mut self, compilation: &Value, watch: &Watch<'_>) -> Result<Heard, Fault> {
        self.compilations += 1;
        self.ask(&json!({ "compile": compilation }), watch)
    }

    /// Has it load the library and say its version.
    pub(super) fn version(&mut self, library: &Utf8Path, watch: &Watch<'_>) -> Result<Heard, Fault> {
        self.ask(&json!({ "version": { "library": library.as_str() } }), watch)
    }

    /// After a fault, time running out, or its end it is of no more use.
    fn ask(&mut self, order: &Value, watch: &Watch<'_>) -> Result<Heard, Fault> {
        let greeting = self.orders == 0;
        self.orders += 1;
        let line = format!("{}\n", json!({ "id": self.orders, "order": order }));
        // One that is gone is found to be so by its silence.
        let _ = self.channel.get_mut().write_all(line.as_bytes());
        let mut alarm = watch.alarm();
        if greeting {
            match self.hear(watch, &mut alarm)? {
                Line::Read(line) if answer_to(0, &line).is_some_and(|ready| ready["ready"] == PROTOCOL) => {}
                Line::Read(line) => {
                    return Ok(Heard::Failed(format!("it greeted with `{line}`, another kiln's words")));
                }
                Line::TooLong => return Ok(Heard::TooLong),
                Line::Ended(status) => return Ok(Heard::Ended(status)),
            }
        }
        Ok(match self.hear(watch, &mut alarm)? {
            Line::Read(line) => answer_to(self.orders, &line)
                .and_then(meaning)
                .unwrap_or_else(|| Heard::Failed(format!("`{line}` is no answer"))),
            Line::TooLong => Heard::TooLong,
            Line::Ended(status) => Heard::Ended(status),
        })
    }

    fn hear(&mut self, watch: &Watch<'_>, alarm: &mut Duration) -> Result<Line, Fault> {
        let failed = |e: io::Error| Fault::new("hearing the NVRTC process", e);
        let mut line = Vec::new();
        loop {
            // No time at all would mean to wait for ever.
            let time = watch.left().clamp(Duration::from_millis(1), GLANCE);
            self.channel.get_ref().set_read_timeout(Some(time)).map_err(failed)?;
            match self.channel.read_until(b'\n', &mut line) {
                Ok(_) if line.ends_with(b"\n") => {
                    line.pop();
                    return Ok(Line::Read(String::from_utf8_lossy(&line).into_owned()));
                }
                Err(e) if is_nothing_yet(&e) => {}
                // Closed, in the middle of a line or before it.
                Ok(_) | Err(_) => return self.left().map(Line::Ended).map_err(failed),
            }
            if !watch.look(alarm)? {
                return Ok(Line::TooLong);
            }
        }
    }

    /// How the process ended.
    fn left(&mut self) -> io::Result<ExitStatus> {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if begun.elapsed() > LEAVING {
                self.child.start_kill()?;
                break self.child.wait()?;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        self.ended = true;
        Ok(status)
    }

    /// Kills it without waiting for its end.
    pub(super) fn dismiss(&mut self) {
        if !self.ended {
            let _ = self.child.start_kill();
        }
    }
}

/// The group is killed and waited for, so that nothing is left behind.
impl Drop for Builder {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.child.kill();
        }
    }
}

enum Line {
    Read(String),
    TooLong,
    Ended(ExitStatus),
}

fn is_nothing_yet(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// What a line answers, if it answers that order.
fn answer_to(order: u64, line: &str) -> Option<Value> {
    let mut reply: Value = serde_json::from_str(line).ok()?;
    (reply["id"] == order).then(|| reply["answer"].take())
}

fn meaning(answer: Value) -> Option<Heard> {
    let Value::Object(answer) = answer else { return None };
    let (kind, content) = answer.into_iter().next()?;
    Some(match kind.as_str() {
        "passed" => Heard::Passed(serde_json::from_value(content).ok()?),
        "refused" => Heard::Refused { orderly: content["orderly"].as_bool()? },
        "version" => Heard::Version(content.as_str()?.to_string()),
        "failed" => Heard::Failed(content.as_str()?.to_string()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_what_is_none_is_not() {
        let heard = |line: &str| answer_to(7, line).and_then(meaning);
        let passed = heard(r#"{"id":7,"answer":{"passed":{"f":"_Z1fv"}}}"#);
        assert!(matches!(passed, Some(Heard::Passed(symbols)) if symbols["f"] == "_Z1fv"));
        let refused = heard(r#"{"id":7,"answer":{"refused":{"orderly":false}}}"#);
        assert!(matches!(refused, Some(Heard::Refused { orderly: false })));
        for wrong in [
            "",
            "7",
            r#"{"id":6,"answer":{"version":"13.0"}}"#,
            r#"{"id":7,"answer":{"refused":3}}"#,
            r#"{"id":7,"answer":"passed"}"#,
            r#"{"id":7,"answer":{"done":1}}"#,
        ] {
            assert!(heard(wrong).is_none(), "{wrong}");
        }
    }
}
