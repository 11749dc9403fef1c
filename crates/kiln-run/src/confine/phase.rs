//! What is done with a call that the kernel holds. In: the call, and what the worker is at. Out: whether it is made, fails, or
//! ends the worker.
//!
//! A worker that may compile has one filter for its whole life, installed before any foreign code is loaded. It holds all that
//! kernels must not do, and kiln lets compilers do it until the worker is tightened. Nothing is asked of the worker for that:
//! by then its interpreter runs a candidate's code, and could pretend to install a second filter. The kernel allows one
//! listener for a process, so a second filter could not even say which call it stopped.

use super::watch::Held;

/// What a worker is at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Compilers may be started.
    Compiling,
    /// Kernels compute.
    #[default]
    Computing,
}

/// What is done with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is made.
    GoOn,
    /// It answers EPERM.
    Fail,
    /// The worker is ended.
    Forbid,
}

impl Phase {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(crate) fn judge(self, held: &Held) -> Verdict {
        use super::calls::{SIGNALLING, TRACING, is_of, name};
        use super::filter::LOCAL;

        // Where an argument is an `int` its upper half is of no meaning.
        let [first, ..] = held.arguments;
        let number = first as i32;
        let forbidden = match self {
            Phase::Compiling => {
                let beside = held.call == libc::SYS_clone && first & libc::CLONE_PARENT as u64 != 0;
                let signals_kiln = is_of(held.call, SIGNALLING) && is_kiln(number);
                return if is_of(held.call, TRACING) || beside || signals_kiln {
                    Verdict::Forbid
                } else {
                    Verdict::GoOn
                };
            }
            Phase::Computing if held.call == libc::SYS_socket => !LOCAL.contains(&number),
            Phase::Computing => name(held.call).is_some(),
        };
        if forbidden { Verdict::Forbid } else { Verdict::Fail }
    }

    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    pub(crate) fn judge(self, _held: &Held) -> Verdict {
        Verdict::Forbid
    }
}

/// Whether a signal to this number reaches kiln: it is kiln's, its group's, or everybody's.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn is_kiln(number: i32) -> bool {
    // SAFETY: takes no memory and cannot fail.
    let group = unsafe { libc::getpgrp() };
    number == -1 || number == -group || number.unsigned_abs() == std::process::id()
}
