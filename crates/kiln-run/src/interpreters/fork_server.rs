//! A fork server: one Python process that has imported what takes long, such as PyTorch, and forks a worker whenever it is
//! asked, which takes milliseconds. In: the command that would start a worker. Out: the same worker, forked; or
//! started by that command where there is no server, or no more. The server's side is `worker_forks.py`.
//!
//! The server loads no candidate and opens no device, so that a forked worker is as new as a started one, but for what is
//! drawn when an interpreter starts: where code lies in memory, and the key of its hashes. Workers end with kiln, and so
//! does the server.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{ChildStderr, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use kiln_core::Fault;
use serde::{Deserialize, Serialize};

use crate::processes::channel::send_files;
use crate::processes::orphans::adopt;
use crate::processes::pipes::Pipes;
use crate::processes::process::Process;
use crate::processes::scratch::scratch;
use crate::worker::{TEMPORARY, Worker, WorkerLimits};

/// The argument that makes a server of a worker's program.
const ARGUMENT: &str = "fork-server";
/// How long imports may take.
const IMPORTS: Duration = Duration::from_secs(120);
/// How long a fork may take.
const FORK: Duration = Duration::from_secs(10);

/// A process that forks workers.
#[derive(Debug)]
pub struct ForkServer {
    server: Mutex<Option<Server>>,
    failure: OnceLock<String>,
}

#[derive(Debug)]
struct Server {
    channel: BufReader<UnixStream>,
    ready: bool,
    /// Dropped last: it is ended.
    process: Process,
}

/// What a worker is to be like.
#[derive(Serialize)]
struct Request<'c> {
    parent: u32,
    folder: Option<&'c str>,
    /// Variables and their values; none for those that are removed.
    environment: Vec<(&'c str, Option<&'c str>)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    Ready,
    Pid(u32),
    Failed(String),
}

impl ForkServer {
    /// Starts a server by the command of a Python worker, and does not wait for it. Its environment is what workers begin
    /// with, and it imports these modules, where they are installed.
    pub fn start(command: Command, modules: &[&str]) -> ForkServer {
        let (server, failure) = match Server::start(command, modules) {
            Ok(server) => (Some(server), OnceLock::new()),
            Err(e) => (None, OnceLock::from(e.to_string())),
        };
        ForkServer { server: Mutex::new(server), failure }
    }

    /// A worker as `command` would start it, of the same interpreter as the server's.
    pub fn worker(&self, command: Command, limits: WorkerLimits) -> Result<Worker, Fault> {
        match self.fork(&command, limits) {
            Some(worker) => Ok(worker),
            None => Worker::start(command, limits),
        }
    }

    /// The server's process number, while there is one.
    pub fn pid(&self) -> Option<u32> {
        self.server.lock().ok()?.as_ref().map(|server| server.process.id())
    }

    /// Why the server is of no use, once that has shown: workers are then started one by one.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// None where the server is of no use; it is then gone.
    fn fork(&self, command: &Command, limits: WorkerLimits) -> Option<Worker> {
        let scratch = scratch().ok()?;
        let folder = scratch.path().to_str()?;
        let (questions, theirs) = UnixStream::pair().ok()?;
        let ((stdout, output), (stderr, errors)) = (io::pipe().ok()?, io::pipe().ok()?);
        let request = request(command, folder)?;
        let process = {
            let mut server = self.server.lock().ok()?;
            let forked = server.as_mut()?.fork(&request, [theirs.as_fd(), output.as_fd(), errors.as_fd()]);
            if let Err(e) = &forked {
                *server = None;
                self.failure.get_or_init(|| e.to_string());
            }
            Process::adopted(forked.ok()?)
        };
        // Only the worker holds these now.
        drop((theirs, output, errors));
        let (stdout, stderr) = (ChildStdout::from(OwnedFd::from(stdout)), ChildStderr::from(OwnedFd::from(stderr)));
        let pipes = Pipes::of(questions, stdout, Some(stderr)).ok()?;
        Worker::greeted(process, pipes, limits, scratch).ok()
    }
}

/// None for what is not text, which the server would not understand.
fn request<'c>(command: &'c Command, scratch: &'c str) -> Option<Request<'c>> {
    let folder = match command.get_current_dir() {
        Some(folder) => Some(folder.to_str()?),
        None => None,
    };
    let mut environment = vec![(TEMPORARY, Some(scratch))];
    for (name, value) in command.get_envs() {
        let value = match value {
            Some(value) => Some(value.to_str()?),
            None => None,
        };
        environment.push((name.to_str()?, value));
    }
    Some(Request { parent: std::process::id(), folder, environment })
}

impl Server {
    fn start(mut command: Command, modules: &[&str]) -> io::Result<Server> {
        if !adopt() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (channel, theirs) = UnixStream::pair()?;
        command.arg(ARGUMENT).args(modules).stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Server { channel: BufReader::new(channel), ready: false, process: Process::start(command)? })
    }

    /// The number of a new worker, which is a child of this process by now.
    fn fork(&mut self, request: &Request<'_>, files: [BorrowedFd<'_>; 3]) -> io::Result<u32> {
        if !self.ready {
            self.hear(IMPORTS)?;
            self.ready = true;
        }
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        let sent = send_files(self.channel.get_ref(), &line, &files)?;
        self.channel.get_mut().write_all(&line[sent..])?;
        match self.hear(FORK)? {
            Said::Pid(pid) => Ok(pid),
            Said::Ready | Said::Failed(_) => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn hear(&mut self, within: Duration) -> io::Result<Said> {
        self.channel.get_ref().set_read_timeout(Some(within))?;
        let mut line = String::new();
        self.channel.read_line(&mut line)?;
        match serde_json::from_str(&line)? {
            Said::Failed(why) => Err(io::Error::other(why)),
            said => Ok(said),
        }
    }
}

#[cfg(test)]
mod tests;
