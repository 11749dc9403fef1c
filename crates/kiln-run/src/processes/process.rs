//! A child process and all it has started: one group, ended together, and only then forgotten.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::processes::orphans::{self, Known, children};
use crate::processes::spawn::spawn;

/// How long a process may take to stand still.
const STOPPING: Duration = Duration::from_millis(100);

/// The leader of a process group of its own, so that Ctrl-C at the terminal does not reach it.
#[derive(Debug)]
pub(crate) struct Process {
    pid: u32,
    /// None for one that another process started and left to this one.
    child: Option<Child>,
    over: bool,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> io::Result<Process> {
        command.process_group(0);
        let child = spawn(command)?;
        Ok(Process { pid: child.id(), child: Some(child), over: false })
    }

    /// Takes over a process that has become a child of this one by [`orphans::adopt`], and leads a group of its own.
    pub(crate) fn adopted(pid: u32) -> Process {
        Process { pid, child: None, over: false }
    }

    /// Its output and its standard error, once, where those are pipes.
    pub(crate) fn take_output(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        self.child.as_mut().map_or((None, None), |child| (child.stdout.take(), child.stderr.take()))
    }

    pub(crate) fn id(&self) -> u32 {
        self.pid
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

    /// How many threads it has now.
    pub(crate) fn threads(&self) -> usize {
        self.tasks().count()
    }

    /// Where the system tells about its threads.
    fn tasks(&self) -> impl Iterator<Item = std::fs::DirEntry> {
        std::fs::read_dir(format!("/proc/{}/task", self.id())).into_iter().flatten().flatten()
    }

    /// How long its threads could have run so far and had no processor, all of them together.
    pub(crate) fn queued(&self) -> Duration {
        self.waits().sum()
    }

    /// How long the thread that waited longest could have run so far and had no processor.
    pub(crate) fn held_up(&self) -> Duration {
        self.waits().max().unwrap_or_default()
    }

    /// How long each of its threads could have run so far and had no processor.
    fn waits(&self) -> impl Iterator<Item = Duration> {
        self.tasks().filter_map(|task| {
            let stat = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            stat.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
        })
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
        self.says(0).is_some_and(|state| matches!(state.as_str(), "T" | "Z" | "X"))
    }

    /// The processor that its first thread ran on last.
    pub(crate) fn processor(&self) -> Option<usize> {
        const AFTER_THE_NAME: usize = 36;
        self.says(AFTER_THE_NAME)?.parse().ok()
    }

    /// What the system says of it: the word of this number after the name, which may hold anything.
    fn says(&self, number: usize) -> Option<String> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id())).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(number).map(str::to_string)
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
        let below = self.below();
        self.signal_group(libc::SIGKILL);
        below.iter().for_each(Known::kill);
        match &mut self.child {
            Some(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
            None => {
                self.signal(libc::SIGKILL);
                orphans::wait(self.pid);
            }
        }
        self.over = true;
        orphans::bury(below);
    }

    /// Ends every process below this one; whether none is left. To be used once it can start no others: what those below
    /// it still start is looked for until there is nothing.
    pub(crate) fn end_below(&self, within: Duration) -> bool {
        let started = Instant::now();
        let mut pause = Duration::from_micros(50);
        loop {
            if self.over {
                return true;
            }
            // One that is over stays listed until its parent asks for it.
            let below: Vec<Known> = self.below().into_iter().filter(Known::runs).collect();
            if below.is_empty() {
                return true;
            }
            if started.elapsed() > within {
                return false;
            }
            below.iter().for_each(Known::kill);
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }

    fn below(&self) -> Vec<Known> {
        descendants(self.id()).into_iter().filter_map(Known::of).collect()
    }
}

/// Every process below this one, as far as the system tells. One made beside its maker (CLONE_PARENT) is not below it: a
/// confined worker cannot make any, and one that is not confined is trusted with that.
fn descendants(process: u32) -> Vec<i32> {
    let mut found = children(process);
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(children(parent.unsigned_abs()));
        next += 1;
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
        let looked = (0..600).find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            process.cpu_time().filter(|t| !t.is_zero()).filter(blocked)
        });
        let time = looked.unwrap();
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
        let processors = std::thread::available_parallelism().unwrap().get();
        assert!(process.processor().is_some_and(|number| number < processors.max(1024)));
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
