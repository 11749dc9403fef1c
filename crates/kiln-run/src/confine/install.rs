//! The worker's side of seccomp: hands programs to the kernel, for every thread. In: the parent's rules. Out: whether
//! calls are filtered, and the listener that the parent is to have.

use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;

use libc::{c_int, c_long, c_ulong};

use super::Rules;
use crate::processes::lifeline;

/// Filters would otherwise switch on a mitigation that slows stores down, on systems before Linux 5.16.
const PLAIN_SPEED: c_ulong = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
const ALL_THREADS: c_ulong = libc::SECCOMP_FILTER_FLAG_TSYNC;
/// A listener, which with all threads at once needs the error in place of a thread's number.
const LISTENER: c_ulong = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | TSYNC_ESRCH;
const TSYNC_ESRCH: c_ulong = 1 << 4;

/// Installs all programs.
pub(super) fn install(rules: &Rules) -> (bool, Option<File>) {
    if rules.killed.is_empty() {
        return (false, None);
    }
    // Without processes of its own there is nobody but this one to end with the parent. Later it could not be said.
    lifeline::tie_alone();
    // SAFETY: sets a flag of this process, and takes no memory.
    unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    let listener = add(&rules.held, LISTENER).ok().and_then(|number| c_int::try_from(number).ok());
    // SAFETY: the kernel has just made this descriptor for us; nobody else has it.
    let listener = listener.map(|number| unsafe { File::from_raw_fd(number) });
    let mut done = listener.is_some() || add(&rules.killed, 0).is_ok();
    for program in &rules.denied {
        done &= add(program, 0).is_ok();
    }
    if !done {
        lifeline::tie();
    }
    (done, listener)
}

fn add(program: &str, flags: c_ulong) -> io::Result<c_long> {
    let mut instructions = decode(program).ok_or(io::ErrorKind::InvalidData)?;
    let length = u16::try_from(instructions.len()).map_err(|_| io::ErrorKind::InvalidData)?;
    let program = libc::sock_fprog { len: length, filter: instructions.as_mut_ptr() };
    let flags = flags | ALL_THREADS | PLAIN_SPEED;
    // SAFETY: the program is as long as it says and outlives the call, which copies it.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &program) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

fn decode(program: &str) -> Option<Vec<libc::sock_filter>> {
    let bytes: Option<Vec<u8>> =
        (0..program.len()).step_by(2).map(|i| u8::from_str_radix(program.get(i..i + 2)?, 16).ok()).collect();
    let instructions = bytes?;
    let instructions = instructions.chunks_exact(8).map(|b| libc::sock_filter {
        code: u16::from_ne_bytes([b[0], b[1]]),
        jt: b[2],
        jf: b[3],
        k: u32::from_ne_bytes([b[4], b[5], b[6], b[7]]),
    });
    Some(instructions.collect())
}
