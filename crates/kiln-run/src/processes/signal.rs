//! How a process ended, in words.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

pub(crate) fn ending(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("killed by signal {signal} ({})", name(signal)),
        (None, Some(code)) => format!("exited with code {code} before it answered"),
        (None, None) => "ended before it answered".into(),
    }
}

/// Whether the system ended it for a call that its filter forbids.
pub(crate) fn is_bad_call(status: ExitStatus) -> bool {
    status.signal() == Some(libc::SIGSYS)
}

fn name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "SIGSEGV, a bad address",
        libc::SIGBUS => "SIGBUS, a misaligned or missing address",
        libc::SIGABRT => "SIGABRT, abort",
        libc::SIGFPE => "SIGFPE, an arithmetic error such as integer division by zero",
        libc::SIGILL => "SIGILL, an illegal instruction",
        libc::SIGKILL => "SIGKILL",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSYS => "SIGSYS, a bad system call",
        libc::SIGTRAP => "SIGTRAP, a trap",
        _ => "a signal",
    }
}
