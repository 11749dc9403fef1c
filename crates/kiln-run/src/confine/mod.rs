//! Confinement: what a candidate has no business with is taken away from its process before its code is loaded. In: how
//! far, as [`Confinement`]. Out: how far the system could, as [`Confined`]; nothing here is a reason not to go on.
//!
//! Two means, both of Linux and open to every user. Landlock makes files read-only but for a scratch folder that is new
//! for each worker, and keeps other processes' memory, environment and signals away; root's privileges go with it.
//! Seccomp looks at system calls. Those that no kernel makes by accident (starting processes, replacing the program,
//! other processes' memory, signals to others, the network) hold the caller until its worker is ended: the gate
//! `forbidden_call`. Those that libraries try and can do without (affinity, priority, sockets of this machine, System V
//! memory) answer EPERM, and the candidate goes on.
//!
//! The parent compiles the filters and sends them, so that workers in Rust and in Python have the same. The first kind of
//! call is announced to the parent by the kernel itself (a seccomp listener): there is no handler in the worker that a
//! candidate could replace. Where no listener is to be had, such a call kills the worker by SIGSYS, without its name.
//!
//! Python on a GPU is confined twice. First it may start compilers: files are restricted, but of system calls only those that
//! nobody needs, by a filter without a listener. Once everything is compiled the worker is tightened: a second filter, with
//! the listener, brings it to what kernels on a GPU may do, and what it has started is ended. A process can have one
//! listener only, and the second filter is where the name of a call matters. (One filter for both, whose calls kiln lets
//! through at first, does not do: a held fork fails with EINTR when a child of the caller ends meanwhile, and shells give up
//! then.) The worker installs the second filter itself, with a candidate's code loaded: that it is there is counted from
//! outside, what it says is not seen.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod calls;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod filter;
#[cfg(target_os = "linux")]
mod folders;
#[cfg(target_os = "linux")]
mod install;
#[cfg(target_os = "linux")]
mod privileges;
mod watch;

use std::fs::File;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub(crate) use watch::{Held, Watch, name};

/// How a worker is used, which says what it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confinement {
    /// Everything is allowed: for workers under a profiler or a sanitizer, which need what is forbidden here.
    None,
    /// Calls on the processor, in C or Python.
    Processor,
    /// Kernels and host launchers on a GPU: as on the processor, but the driver's files can be written.
    Device,
    /// Python on a GPU. Triton and torch.compile start compilers, so processes may be started until the worker is
    /// tightened; then it has what `Device` has. Files are as with `Device`, and folders that the worker was given for
    /// compilers can be written too.
    Compiler,
    /// Python that compiles ahead: as `Compiler`, but it opens no device and is never tightened.
    Builder,
}

/// What the parent sends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// The seccomp program, in hex, whose calls end the worker: they wait for whoever listens. Empty where nobody shall yet.
    pub(crate) held: String,
    /// The same for a system without listeners: they kill.
    pub(crate) killed: String,
    /// Programs whose calls answer with an error.
    pub(crate) denied: Vec<String>,
    /// Files and folders that can be written; none when files are not restricted.
    pub(crate) writable: Option<Vec<String>>,
    /// Whether programs can be run.
    #[serde(default)]
    pub(crate) programs: bool,
    /// Whether a device must be opened before, in a worker that does not always have one.
    pub(crate) device: bool,
}

/// How far a worker is confined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confined {
    /// The version of Landlock that keeps files; 0 when nothing does.
    pub landlock: u32,
    /// Whether system calls are filtered.
    pub seccomp: bool,
}

impl Rules {
    /// The rules for a worker of this number, with folders to write to.
    pub(crate) fn of(confinement: Confinement, worker: u32, folders: &[&Path]) -> Rules {
        if confinement == Confinement::None {
            return Rules::default();
        }
        let builds = confinement == Confinement::Builder;
        let compilers = builds || confinement == Confinement::Compiler;
        let mut writable: Vec<String> = folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
        writable.push("/dev/null".into());
        if confinement != Confinement::Processor && !builds {
            writable.extend(driver_files());
        }
        let writable = Some(writable);
        let mut rules = Rules { writable, programs: compilers, device: compilers && !builds, ..Rules::default() };
        #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
        filter::fill(&mut rules, compilers, worker);
        let _ = worker;
        rules
    }

    /// The rules for such a worker that has compiled everything: files are restricted already.
    pub(crate) fn tighter(worker: u32) -> Rules {
        Rules { writable: None, ..Rules::of(Confinement::Device, worker, &[]) }
    }

    /// How many filters they are.
    pub(crate) fn filters(&self) -> u64 {
        if self.killed.is_empty() { 0 } else { 1 + self.denied.len() as u64 }
    }

    /// Whether a worker with these can be tightened.
    pub(crate) fn is_first(&self) -> bool {
        self.programs
    }
}

/// How many filters look at the system calls of every thread of a process; none where the system does not say.
pub(crate) fn filters(process: u32) -> Option<u64> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let statuses = threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok());
    let counts = statuses.map(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("Seccomp_filters:"))?;
        line.trim().parse().ok()
    });
    counts.collect::<Option<Vec<u64>>>()?.into_iter().min()
}

/// What CUDA writes to.
fn driver_files() -> Vec<String> {
    let devices = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let names = devices.filter_map(|device| device.file_name().into_string().ok());
    let names = names.filter(|name| name.starts_with("nvidia") || name == "dxg" || name == "shm");
    names.map(|name| format!("/dev/{name}")).collect()
}

/// Confines this process. With it comes what tells the parent of calls that are held.
pub(crate) fn confine(rules: &Rules) -> (Confined, Option<File>) {
    #[cfg(target_os = "linux")]
    {
        // Files first: the filter need not let through what that takes.
        let landlock = rules.writable.as_ref().map_or(0, |writable| {
            privileges::drop_privileges();
            folders::restrict(writable, rules.programs)
        });
        let (seccomp, listener) = install::install(rules);
        (Confined { landlock, seccomp }, listener)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = rules;
        (Confined::default(), None)
    }
}

#[cfg(test)]
mod tests;
