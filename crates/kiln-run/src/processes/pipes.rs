//! The pipes to a worker, none of which may ever block the parent: questions go in, lines come out, and the end of what the
//! worker writes to standard error is kept, for it often says why a worker died. Once a worker is confined, the system
//! says here too which forbidden call it is held at.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::{ChildStderr, ChildStdout};
use std::time::Duration;

use crate::confine::{Held, Watch};
use crate::memory::handle::Handle;
use crate::processes::channel::{receive, send};
use crate::processes::words::Words;

/// A line longer than this is no answer.
const LONGEST_LINE: usize = 64 << 20;

/// What came through the pipes.
#[derive(Debug)]
pub(crate) enum Heard {
    /// A line, with its end when it had one.
    Line(Vec<u8>),
    /// The worker's output is closed.
    Closed,
    /// The worker is held at a call that it must not make.
    Forbidden(Held),
    /// Nothing, for as long as was waited.
    Nothing,
}

#[derive(Debug)]
pub(crate) struct Pipes {
    questions: UnixStream,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    /// Of questions, what the channel has not yet taken.
    unsent: VecDeque<u8>,
    /// What goes with the next byte.
    beside: Option<Handle>,
    watch: Option<Watch>,
    /// Of output, what is not yet a line.
    unread: Vec<u8>,
    /// How much of it is known to hold no end of line.
    searched: usize,
    pub(crate) words: Words,
}

impl Pipes {
    /// The other ends of what a worker has for standard input, output and error.
    pub(crate) fn of(questions: UnixStream, stdout: ChildStdout, stderr: Option<ChildStderr>) -> io::Result<Pipes> {
        for fd in [Some(questions.as_raw_fd()), Some(stdout.as_raw_fd()), stderr.as_ref().map(|s| s.as_raw_fd())] {
            fd.map_or(Ok(()), never_block)?;
        }
        let (unsent, words, unread) = (VecDeque::new(), Words::default(), Vec::new());
        Ok(Pipes { questions, stdout, stderr, unsent, beside: None, watch: None, unread, searched: 0, words })
    }

    /// Sends as much as the channel takes now; the rest goes out while listening. A file goes with the line's first byte.
    pub(crate) fn send(&mut self, line: &[u8], beside: Option<Handle>) {
        // A file must not go with what is left of an earlier line: the worker that did not take that is of no use.
        if beside.is_some() {
            self.unsent.clear();
        }
        self.beside = beside;
        self.unsent.extend(line);
        self.push();
    }

    /// Takes what the worker has sent with its promise to behave, and nothing after that.
    pub(crate) fn watch(&mut self) {
        let mut files = Vec::new();
        if receive(&self.questions, &mut [0; 1], &mut files).is_ok() {
            self.watch = files.pop().map(Watch::over);
        }
        let _ = self.questions.shutdown(Shutdown::Read);
    }

    /// Drops what came where only a promise is expected. To be used before that is asked for.
    pub(crate) fn clear(&mut self) {
        let mut files = Vec::new();
        while receive(&self.questions, &mut [0; 1 << 10], &mut files).is_ok_and(|bytes| bytes > 0) {
            files.clear();
        }
    }

    /// Lets a forbidden call fail.
    pub(crate) fn fail(&self, held: Held) {
        if let Some(watch) = &self.watch {
            watch.fail(held);
        }
    }

    /// Waits for a line, at most this long.
    pub(crate) fn listen(&mut self, at_most: Duration) -> io::Result<Heard> {
        if let Some(line) = self.line() {
            return Ok(Heard::Line(line));
        }
        let watched = |fd: Option<RawFd>, events| libc::pollfd { fd: fd.unwrap_or(-1), events, revents: 0 };
        let waiting = (!self.unsent.is_empty()).then(|| self.questions.as_raw_fd());
        let mut fds = [
            watched(Some(self.stdout.as_raw_fd()), libc::POLLIN),
            watched(self.stderr.as_ref().map(|s| s.as_raw_fd()), libc::POLLIN),
            watched(waiting, libc::POLLOUT),
            watched(self.watch.as_ref().map(|watch| watch.number()), libc::POLLIN),
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
        if fds[3].revents != 0 {
            match self.watch.as_ref().and_then(Watch::held) {
                Some(held) => return Ok(Heard::Forbidden(held)),
                // Nobody is left to be watched, or it went on.
                None if fds[3].revents & libc::POLLIN == 0 => self.watch = None,
                None => {}
            }
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
        self.words.last()
    }

    /// All that is kept of it, and how many bytes are not.
    pub(crate) fn all_words(&mut self) -> (String, u64) {
        self.drain_stderr();
        self.words.all()
    }

    /// Says that no more questions come.
    pub(crate) fn hang_up(&self) {
        let _ = self.questions.shutdown(Shutdown::Both);
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
            let file = self.beside.as_ref().and_then(|handle| handle.file().ok());
            match send(&self.questions, self.unsent.as_slices().0, file.map(AsFd::as_fd)) {
                Ok(n) if n > 0 => {
                    self.beside = None;
                    drop(self.unsent.drain(..n));
                }
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
                Ok(n) => self.words.add(&chunk[..n]),
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
