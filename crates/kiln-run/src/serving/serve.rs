//! What every worker of this binary does with its pipes. In: something that answers, and where answers go. It greets, then
//! reads a question a line from standard input and writes an answer a line, until its input is closed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use crate::confine::{Rules, confine};
use crate::processes::channel::{Questions, send};
use crate::processes::lifeline::tie;
use crate::protocol::{Answer, Ask, PROTOCOL, Question, Reply};

/// Answers questions on stdin until it is closed. A question to be confined is put to `answer` too, for whatever must
/// come before; when that is done, it happens here.
pub(crate) fn serve(mut out: impl Write, mut answer: impl FnMut(Ask) -> Answer) -> io::Result<()> {
    tie();
    let socket = UnixStream::from(OwnedFd::from(private_stdin()?));
    let mut questions = BufReader::new(Questions { socket, files: Vec::new() });
    say(&mut out, &Reply { id: 0, answer: Answer::Ready(PROTOCOL) })?;
    let mut line = String::new();
    while questions.read_line(&mut line)? > 0 {
        let file = std::mem::take(&mut questions.get_mut().files).pop();
        let reply = match serde_json::from_str::<Question>(&line) {
            Ok(Question { id, ask: Ask::Confine(rules) }) => match answer(Ask::Confine(rules.clone())) {
                Answer::Done => Reply { id, answer: confined(&rules, &questions.get_ref().socket)? },
                other => Reply { id, answer: other },
            },
            Ok(question) => Reply { id: question.id, answer: answer(question.ask.with(file)) },
            Err(e) => Reply { id: 0, answer: Answer::Failed(format!("not a question: {e}").into()) },
        };
        say(&mut out, &reply)?;
        line.clear();
    }
    Ok(())
}

/// Confines this process, and hands the parent the means to see which call it is held at.
fn confined(rules: &Rules, socket: &UnixStream) -> io::Result<Answer> {
    let (confined, watch) = confine(rules);
    if let Some(watch) = watch {
        send(socket, b"\n", Some(watch.as_fd()))?;
    }
    Ok(Answer::Confined(confined))
}

/// Standard input under another number, with nothing in its place: a function that reads it must not swallow questions.
pub(crate) fn private_stdin() -> io::Result<File> {
    let copy = private(0)?;
    replace(0, File::open("/dev/null")?.as_raw_fd())?;
    Ok(copy)
}

/// Standard output under another number, with standard error in its place: there the driver's prints for a kernel are heard
/// as its last words.
pub(crate) fn private_stdout() -> io::Result<File> {
    let copy = private(1)?;
    replace(1, 2)?;
    print_lines();
    Ok(copy)
}

/// Has C's standard output print line by line: what a function printed before it crashed is then heard.
fn print_lines() {
    unsafe extern "C" {
        static stdout: *mut libc::FILE;
    }
    // SAFETY: C's own stream, which nothing has been printed to yet; the library keeps the buffer itself.
    unsafe {
        libc::setvbuf(stdout, std::ptr::null_mut(), libc::_IOLBF, 0);
    }
}

/// The same open file under a number of our own.
fn private(number: RawFd) -> io::Result<File> {
    // SAFETY: duplicates a descriptor; the new one belongs to nobody else and is owned by the file from here on.
    unsafe {
        let copy = libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3);
        if copy < 0 { Err(io::Error::last_os_error()) } else { Ok(File::from_raw_fd(copy)) }
    }
}

pub(crate) fn replace(number: RawFd, by: RawFd) -> io::Result<()> {
    // SAFETY: both are descriptors of this process; nothing of ours uses the replaced one from here on.
    if unsafe { libc::dup2(by, number) } == number { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn say(out: &mut impl Write, reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

/// What the function printed comes out with its call, and whatever printing sets off happens on its clock.
pub(crate) fn flush_c_streams() {
    // SAFETY: fflush with a null stream flushes all of C's output streams; it takes no other memory of ours.
    unsafe {
        libc::fflush(std::ptr::null_mut());
    }
}
