//! Keeps a process to some processors, or a thread to one of them for a while. In: their numbers. Out: nothing, or why the
//! system does not allow it.

use std::io;

/// Pins every thread this process has; those it starts later inherit it.
pub(crate) fn pin(cpus: &[usize]) -> Result<(), String> {
    for thread in std::fs::read_dir("/proc/self/task").map_err(|e| words(cpus, &e))?.flatten() {
        let Some(id) = thread.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        keep(id, cpus)?;
    }
    Ok(())
}

/// Pins the calling thread; threads and processes it starts later inherit it.
pub fn pin_thread(cpus: &[usize]) -> Result<(), String> {
    // To the system, 0 is whoever asks.
    keep(0, cpus)
}

/// Does some work on that processor, so that what it writes lies in the caches there. Where the system does not allow it, the
/// work is done where the thread is.
pub fn work_on<T>(cpu: usize, work: impl FnOnce() -> T) -> T {
    // SAFETY: a zeroed set is the empty one.
    let mut before: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is ours, valid for the size given, and filled in. 0 is the calling thread.
    let known = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut before) } == 0;
    let moved = known && keep(0, &[cpu]).is_ok();
    let done = work();
    if moved {
        // SAFETY: the set is valid for the size given and only read.
        unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &before) };
    }
    done
}

/// Lets everybody else go first: threads and processes the calling thread starts later inherit it.
pub fn step_back() {
    // To the system, 0 is whoever asks.
    step_back_process(0);
}

/// The same of another process, which has one thread.
pub(crate) fn step_back_process(process: u32) {
    const NICE: i32 = 19;
    // SAFETY: takes three numbers. Where it is not allowed, nothing changes.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, process, NICE) };
}

fn words(cpus: &[usize], why: &dyn std::fmt::Display) -> String {
    format!("keeping to processors {cpus:?}: {why}")
}

fn keep(thread: i32, cpus: &[usize]) -> Result<(), String> {
    let text = |why: &dyn std::fmt::Display| words(cpus, why);
    if cpus.is_empty() {
        return Err(text(&"none are named"));
    }
    if let Some(beyond) = cpus.iter().find(|cpu| **cpu >= libc::CPU_SETSIZE as usize) {
        return Err(text(&format!("there is no processor {beyond}")));
    }
    // SAFETY: a zeroed set is the empty one.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus {
        // SAFETY: the number was found to lie within the set.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    // SAFETY: the set is valid for the size given and only read.
    let failed = unsafe { libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), &set) } != 0;
    let why = io::Error::last_os_error();
    // A thread that ended in between need not be pinned.
    if failed && why.raw_os_error() != Some(libc::ESRCH) { Err(text(&why)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Vec<usize> {
        // SAFETY: a zeroed set is the empty one; the system fills it in.
        let set = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            assert_eq!(libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set), 0);
            set
        };
        // SAFETY: the numbers lie within the set.
        (0..libc::CPU_SETSIZE as usize).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) }).collect()
    }

    #[test]
    fn work_is_done_there_and_the_thread_is_free_again() {
        let before = allowed();
        for cpu in &before {
            assert_eq!(work_on(*cpu, allowed), [*cpu]);
            assert_eq!(allowed(), before);
        }
        // One that is not there.
        assert_eq!(work_on(libc::CPU_SETSIZE as usize, allowed), before);
        assert_eq!(allowed(), before);
    }
}
