//! The worker's tie to its parent: when the parent dies, however suddenly, the worker and all it started die too, even in
//! the middle of an endless loop.

/// Asks the system to tell this process when its parent is gone, and to end the process group then.
pub(crate) fn tie() {
    #[cfg(target_os = "linux")]
    linux::tie();
}

/// The same for a process that cannot have children: it is killed, which works also while it is stopped, when no handler
/// would run.
#[cfg(target_os = "linux")]
pub(crate) fn tie_alone() {
    // SAFETY: sets a number of this process and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Ends this process and what it started, at once.
pub(crate) fn end_group() {
    // SAFETY: kill takes no memory, and may be called in a handler too. Were this process not the leader of its group, the
    // group would be somebody else's; then only this process ends.
    unsafe {
        let this = libc::getpid();
        let target = if libc::getpgid(0) == this { 0 } else { this };
        libc::kill(target, libc::SIGKILL);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::c_int;

    // A hang-up is what is meant, and what ends a process that has replaced its program: a handler does not survive that.
    const HANG_UP: c_int = libc::SIGHUP;

    pub(super) fn tie() {
        // SAFETY: a zeroed sigaction is a valid one without flags; the handler has the type the field stands for and does
        // nothing but one call that is allowed in handlers.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = hung_up as extern "C" fn(c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(HANG_UP, &action, std::ptr::null_mut());
        }
        // Processes that a candidate starts and leaves stay findable below the worker.
        // SAFETY: both set a number of this process and touch no memory.
        unsafe {
            libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
            libc::prctl(libc::PR_SET_PDEATHSIG, HANG_UP);
        }
    }

    /// The group is the worker and what its candidate started; the parent gave it one of its own.
    extern "C" fn hung_up(_signal: c_int) {
        super::end_group();
    }
}
