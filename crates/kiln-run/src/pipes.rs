//! The three pipes to a worker, none of which may ever block the parent: questions go in, lines come out, and the end of
//! what the worker writes to standard error is kept, for it often says why a worker died.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

/// How much of standard error is kept.
const KEPT: usize = 2048;
/// A line longer than this is no answer.
const LONGEST_LINE: usize = 64 << 20;

/// What came through the pipes.
#[derive(Debug)]
pub(crate) enum Heard {
    /// A line, with its end when it had one.
    Line(Vec<u8>),
    /// The worker's output is closed.
    Closed,
    /// Nothing, for as long as was waited.
    Nothing,
}

#[derive(Debug)]
pub(crate) struct Pipes {
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    /// Of questions, what the pipe has not yet taken.
    unsent: VecDeque<u8>,
    /// Of output, what is not yet a line.
    unread: Vec<u8>,
    /// How much of it is known to hold no end of line.
    searched: usize,
    tail: VecDeque<u8>,
}

impl Pipes {
    pub(crate) fn of(child: &mut Child) -> io::Result<Pipes> {
        let (Some(stdin), Some(stdout), stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("it has no pipes"));
        };
        for fd in [Some(stdin.as_raw_fd()), Some(stdout.as_raw_fd()), stderr.as_ref().map(|s| s.as_raw_fd())] {
            fd.map_or(Ok(()), never_block)?;
        }
        let (unsent, tail) = (VecDeque::new(), VecDeque::new());
        Ok(Pipes { stdin, stdout, stderr, unsent, unread: Vec::new(), searched: 0, tail })
    }

    /// Sends as much as the pipe takes now; the rest goes out while listening.
    pub(crate) fn send(&mut self, line: &[u8]) {
        self.unsent.extend(line);
        self.push();
    }

    /// Waits for a line, at most this long.
    pub(crate) fn listen(&mut self, at_most: Duration) -> io::Result<Heard> {
        if let Some(line) = self.line() {
            return Ok(Heard::Line(line));
        }
        let watched = |fd: Option<RawFd>, events| libc::pollfd { fd: fd.unwrap_or(-1), events, revents: 0 };
        let waiting = (!self.unsent.is_empty()).then(|| self.stdin.as_raw_fd());
        let mut fds = [
            watched(Some(self.stdout.as_raw_fd()), libc::POLLIN),
            watched(self.stderr.as_ref().map(|s| s.as_raw_fd()), libc::POLLIN),
            watched(waiting, libc::POLLOUT),
        ];
        let milliseconds = i32::try_from(at_most.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: the array is valid for its length and outlives the call; negative descriptors are skipped.
        let ready = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, milliseconds) };
        if ready < 0 {
            let why = io::Error::last_os_error();
            return if why.kind() == ErrorKind::Interrupted { Ok(Heard::Nothing) } else { Err(why) };
        }
        if fds[1].revents != 0 {
            self.drain_stderr();
        }
        if fds[2].revents != 0 {
            self.push();
        }
        if fds[0].revents == 0 {
            return Ok(Heard::Nothing);
        }
        let mut chunk = [0; 1 << 16];
        match self.stdout.read(&mut chunk) {
            Ok(0) if self.unread.is_empty() => Ok(Heard::Closed),
            Ok(0) => Ok(Heard::Line(std::mem::take(&mut self.unread))),
            Ok(n) => {
                self.unread.extend_from_slice(&chunk[..n]);
                Ok(self.line().map_or(Heard::Nothing, Heard::Line))
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(Heard::Nothing),
            Err(_) => Ok(Heard::Closed),
        }
    }

    /// The end of what the worker wrote to standard error so far.
    pub(crate) fn last_words(&mut self) -> String {
        self.drain_stderr();
        let bytes: Vec<u8> = self.tail.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_string()
    }

    /// The first whole line of what was read, or all of it when it is too long for one.
    fn line(&mut self) -> Option<Vec<u8>> {
        let Some(at) = self.unread[self.searched..].iter().position(|b| *b == b'\n') else {
            self.searched = self.unread.len();
            return (self.unread.len() > LONGEST_LINE).then(|| self.take(self.unread.len()));
        };
        Some(self.take(self.searched + at + 1))
    }

    fn take(&mut self, bytes: usize) -> Vec<u8> {
        let rest = self.unread.split_off(bytes);
        self.searched = 0;
        std::mem::replace(&mut self.unread, rest)
    }

    fn push(&mut self) {
        while !self.unsent.is_empty() {
            match self.stdin.write(self.unsent.as_slices().0) {
                Ok(n) if n > 0 => drop(self.unsent.drain(..n)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // A worker that is gone takes no questions; listening tells how it ended.
                _ => self.unsent.clear(),
            }
        }
    }

    /// Takes what is there. A worker that writes without end is stopped by its time, not listened to for ever.
    fn drain_stderr(&mut self) {
        let Some(stderr) = &mut self.stderr else { return };
        let mut chunk = [0; 1 << 16];
        for _ in 0..16 {
            match stderr.read(&mut chunk) {
                Ok(0) => {
                    self.stderr = None;
                    return;
                }
                Ok(n) => {
                    self.tail.extend(&chunk[n.saturating_sub(KEPT)..n]);
                    let excess = self.tail.len().saturating_sub(KEPT);
                    self.tail.drain(..excess);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

fn never_block(fd: RawFd) -> io::Result<()> {
    // SAFETY: sets a flag of a descriptor that the caller holds open; touches no memory.
    let failed = unsafe { libc::fcntl(fd, libc::F_SETFL, libc::fcntl(fd, libc::F_GETFL) | libc::O_NONBLOCK) } < 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}
