//! Processes whose parents have ended. A fork server's workers are made to be such: kiln adopts them, and waits for them like
//! for children of its own. So come to it all others that a worker's end leaves without a parent, and those that have ended
//! are buried here. One that kiln started itself is never touched: whoever started it waits for it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static ADOPTS: AtomicBool = AtomicBool::new(false);
/// Ended, but perhaps not over yet.
static DYING: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// Makes this process the parent of every process below it whose own parent ends; whether it is.
pub(crate) fn adopt() -> bool {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: sets a flag of this process and touches no memory.
        let adopts = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } == 0;
        ADOPTS.store(adopts, Ordering::Relaxed);
        adopts
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// A process that cannot be taken for a later one of the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pid: i32,
    /// When it was started, in the system's ticks.
    started: u64,
}

impl Known {
    pub(crate) fn of(pid: i32) -> Option<Known> {
        Some(Known { pid, started: Status::of(pid)?.started })
    }

    /// Whether it is still there and not over.
    pub(crate) fn runs(&self) -> bool {
        Status::of(self.pid).is_some_and(|status| status.started == self.started && !status.over)
    }

    /// Ends it, if it still is what it was.
    pub(crate) fn kill(&self) {
        if self.runs() {
            // SAFETY: takes no memory. The process was there a moment ago, and numbers are not given out again that soon.
            unsafe { libc::kill(self.pid, libc::SIGKILL) };
        }
    }
}

/// What the system says of a process.
struct Status {
    over: bool,
    group: i32,
    started: u64,
}

impl Status {
    fn of(pid: i32) -> Option<Status> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // Fields come after the name, which may hold anything.
        let fields: Vec<&str> = stat.rsplit(')').next()?.split_ascii_whitespace().collect();
        let over = matches!(*fields.first()?, "Z" | "X");
        Some(Status { over, group: fields.get(2)?.parse().ok()?, started: fields.get(19)?.parse().ok()? })
    }
}

/// The children of a process, whichever of its threads they belong to.
pub(crate) fn children(process: u32) -> Vec<i32> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = threads.map(|thread| std::fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    let lists: Vec<String> = lists.collect();
    let numbers = lists.iter().flat_map(|list| list.split_ascii_whitespace()).filter_map(|id| id.parse().ok());
    numbers.filter(|id| *id > 1).collect()
}

/// Buries those that are over, and as soon as they are also these, which were just ended.
pub(crate) fn bury(ended: Vec<Known>) {
    if !ADOPTS.load(Ordering::Relaxed) {
        return;
    }
    let Ok(mut dying) = DYING.lock() else { return };
    dying.extend(ended);
    // SAFETY: takes no memory and cannot fail.
    let own = unsafe { libc::getpgrp() };
    for pid in children(std::process::id()) {
        let Some(status) = Status::of(pid).filter(|status| status.over) else { continue };
        // What kiln starts is in kiln's group or leads one of its own; so does a worker. Anybody else is an orphan.
        let stranger = status.group != own && status.group != pid;
        if stranger || dying.contains(&Known { pid, started: status.started }) {
            // SAFETY: nothing is filled in. Nobody else waits for it.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) };
        }
    }
    dying.retain(|known| Status::of(known.pid).is_some_and(|status| status.started == known.started));
}

/// Waits until a child of this process is over, and forgets it.
pub(crate) fn wait(pid: u32) {
    let Ok(pid) = i32::try_from(pid) else { return };
    let interrupted = || std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted;
    // SAFETY: nothing is filled in. Whoever calls this owns the child, so that nobody else waits for it.
    while unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) } < 0 && interrupted() {}
}
