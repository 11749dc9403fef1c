//! Keeps a process to some processors. In: their numbers. Out: nothing, or why the system does not allow it.

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

/// Lets everybody else go first: threads and processes the calling thread starts later inherit it.
pub fn step_back() {
    const NICE: i32 = 19;
    // SAFETY: takes three numbers; 0 is the calling thread. Where it is not allowed, nothing changes.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
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
