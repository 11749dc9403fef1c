//! A child process and all it has started: one group, ended together, and only then forgotten.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::spawn::spawn;

/// How long a process may take to stand still.
const STOPPING: Duration = Duration::from_millis(100);

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

    /// Processor time of all its threads so far.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        let pid = i32::try_from(self.id()).ok().filter(|_| !self.over)?;
        let (mut clock, mut time) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
        // SAFETY: both are ours and filled in. The process has not been waited for, so the number is still its own.
        let known =
            unsafe { libc::clock_getcpuclockid(pid, &mut clock) == 0 && libc::clock_gettime(clock, &mut time) == 0 };
        known.then(|| Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32))
    }

    /// Stops the whole group, and waits a little until its leader stands still; whether it does.
    pub(crate) fn pause(&self) -> bool {
        self.signal_group(libc::SIGSTOP);
        let asked = Instant::now();
        while !self.stands() {
            if asked.elapsed() > STOPPING || self.over {
                return false;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
        true
    }

    /// Lets the whole group go on.
    pub(crate) fn resume(&self) {
        self.signal_group(libc::SIGCONT);
    }

    /// Sends the leader a signal.
    pub(crate) fn signal(&self, signal: i32) {
        if let (false, Ok(pid)) = (self.over, i32::try_from(self.id())) {
            // SAFETY: takes no memory. The process has not been waited for, so the number is still its own.
            unsafe { libc::kill(pid, signal) };
        }
    }

    fn signal_group(&self, signal: i32) {
        if let (false, Ok(group)) = (self.over, i32::try_from(self.id())) {
            // SAFETY: takes no memory. The leader has not been waited for, so the number is still that of this group.
            unsafe { libc::kill(-group, signal) };
        }
    }

    /// Whether it is stopped, or over.
    fn stands(&self) -> bool {
        // The state comes after the name, which may hold anything.
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", self.id())) else { return false };
        let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
        matches!(state, Some('T' | 'Z' | 'X'))
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
        if self.over {
            return;
        }
        // Those below it that have left its group are found while it still stands above them.
        let below = descendants(self.id());
        self.signal_group(libc::SIGKILL);
        for process in below {
            // SAFETY: takes no memory. The process was there a moment ago, and numbers are not given out again that soon.
            unsafe { libc::kill(process, libc::SIGKILL) };
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.over = true;
    }
}

/// Every process below this one, as far as the system tells. One made beside its maker (CLONE_PARENT) is not below it: a
/// confined worker cannot make any, and one that is not confined is trusted with that.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_from_outside() {
        // Burns processor time until the shell has counted far enough, then blocks.
        let mut command = Command::new("sh");
        command.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 1000"]);
        let mut process = Process::start(command).unwrap();
        let blocked = |time: &Duration| {
            std::thread::sleep(Duration::from_millis(100));
            process.cpu_time().is_some_and(|later| later == *time)
        };
        let time = (0..200).find_map(|_| process.cpu_time().filter(|t| !t.is_zero()).filter(blocked)).unwrap();
        // The shell's own account, by another way: ticks of a hundredth of a second in all.
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_ascii_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        assert!(
            time.abs_diff(Duration::from_millis(10 * ticks)) < Duration::from_millis(40),
            "{time:?}, {ticks} ticks"
        );
        assert!(time > Duration::from_millis(20), "{time:?}");
        process.end();
        assert_eq!(process.cpu_time(), None);
    }

    #[test]
    fn a_paused_process_stands_still_and_can_be_ended() {
        let mut command = Command::new("sh");
        command.args(["-c", "while :; do :; done"]);
        let mut process = Process::start(command).unwrap();
        assert!(process.pause());
        let time = process.cpu_time().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(process.cpu_time(), Some(time));
        process.resume();
        let moves = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            process.cpu_time().unwrap() > time
        });
        assert!(moves && process.pause());
        let started = Instant::now();
        process.end();
        assert!(started.elapsed() < Duration::from_secs(5) && !process.pause());
    }
}
