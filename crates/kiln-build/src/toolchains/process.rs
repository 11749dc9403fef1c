//! One compiler process. In: a command and a file for its words. Out: how it ended; none when it took too long. It runs in
//! a process group of its own, which is ended whole when time is up or the build is not wanted any more.

use std::fs::File;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use kiln_core::Fault;
use process_wrap::std::{CommandWrap, ProcessGroup};

use crate::toolchains::compile::BuildLimits;

/// How often a running compiler is looked at.
const GLANCE: Duration = Duration::from_millis(2);

/// What bounds all processes of one build together.
pub(crate) struct Watch<'a> {
    pub(crate) limits: BuildLimits,
    pub(crate) on_silence: &'a dyn Fn(Duration),
    pub(crate) stopped: &'a AtomicBool,
    pub(crate) started: Instant,
}

impl Watch<'_> {
    /// Runs a command to its end, with both its outputs in `log`.
    pub(crate) fn run(&self, mut command: Command, log: &Utf8Path) -> Result<Option<ExitStatus>, Fault> {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |e: std::io::Error| Fault::new(format!("running the compiler {program}"), e);
        // Into a file, not a pipe: a compiler that says much never waits for a reader.
        let words = File::create(log).map_err(failed)?;
        command.stdin(Stdio::null()).stdout(words.try_clone().map_err(failed)?).stderr(words);
        let mut child = CommandWrap::from(command).wrap(ProcessGroup::leader()).spawn().map_err(failed)?;
        let mut alarm = self.alarm();
        loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                return Ok(Some(status));
            }
            // The group is killed and waited for, so that nothing is left behind.
            match self.look(&mut alarm) {
                Ok(true) => std::thread::sleep(GLANCE),
                Ok(false) => {
                    child.kill().map_err(failed)?;
                    return Ok(None);
                }
                Err(interrupted) => {
                    child.kill().map_err(failed)?;
                    return Err(interrupted);
                }
            }
        }
    }

    /// When silence is first to be told of, counted from the start of the build.
    pub(crate) fn alarm(&self) -> Duration {
        self.started.elapsed() + self.limits.silence
    }

    /// Time that is left to the build.
    pub(crate) fn left(&self) -> Duration {
        self.limits.timeout.saturating_sub(self.started.elapsed())
    }

    /// Whether a compiler that has not ended yet may go on; false when it took too long, a fault when nobody wants it any more.
    pub(crate) fn look(&self, alarm: &mut Duration) -> Result<bool, Fault> {
        let elapsed = self.started.elapsed();
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Fault::new("building", "interrupted"));
        }
        if elapsed > self.limits.timeout {
            return Ok(false);
        }
        if elapsed > *alarm {
            (self.on_silence)(elapsed);
            *alarm += self.limits.silence;
        }
        Ok(true)
    }
}
