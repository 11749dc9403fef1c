//! A child process and all it has started: one group, ended together, and only then forgotten.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

use crate::spawn::spawn;

/// The leader of a process group of its own, so that Ctrl-C at the terminal does not reach it.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    over: bool,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> io::Result<Process> {
        command.process_group(0);
        Ok(Process { child: spawn(command)?, over: false })
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it was ended and waited for: its number may be another's by now.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// How the process ended, if it has. It stays a zombie, whose number nobody else can get: the group of that number
    /// can still be ended safely.
    pub(crate) fn ended(&self) -> Option<ExitStatus> {
        if self.over {
            return None;
        }
        // SAFETY: a zeroed siginfo is a valid one to be filled in.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: the process is a child that has not been waited for; the system fills in `info`, which outlives the call.
        if unsafe { libc::waitid(libc::P_PID, self.id(), &mut info, flags) } != 0 {
            return None;
        }
        // SAFETY: waitid has filled it in, or left zeros when the process still runs.
        let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
        let exited = info.si_code == libc::CLD_EXITED;
        // As the system encodes it: the exit code in the second byte, the signal in the first.
        (pid != 0).then(|| ExitStatus::from_raw(if exited { status << 8 } else { status }))
    }

    /// Ends the whole group and waits for its leader.
    pub(crate) fn end(&mut self) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        // Those below it that have left its group are found while it still stands above them.
        let below = descendants(self.id());
        if let Ok(group) = i32::try_from(self.id()) {
            // SAFETY: takes no memory. The leader has not been waited for, so the number is still that of this group.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
        for process in below {
            // SAFETY: takes no memory. The process was there a moment ago, and numbers are not given out again that soon.
            unsafe { libc::kill(process, libc::SIGKILL) };
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every process below this one, as far as the system tells.
fn descendants(process: u32) -> Vec<i32> {
    let mut found: Vec<i32> = Vec::new();
    let mut next = vec![process.to_string()];
    while let Some(parent) = next.pop() {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{parent}/task")) else { continue };
        for thread in threads.flatten() {
            let children = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            for child in children.split_ascii_whitespace() {
                if let Some(id) = child.parse().ok().filter(|id| *id > 1) {
                    found.push(id);
                    next.push(child.to_string());
                }
            }
        }
    }
    found
}

/// Nothing is left behind, also when the caller gives up early.
impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
