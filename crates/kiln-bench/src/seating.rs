//! Where workers come from. In: a subject. Out: a [`Seat`] with the subject loaded, in a worker of its kind that is pinned and
//! confined, or a refusal.
//!
//! Workers for the processor are fresh for every subject. One with a device is used again after kernels that did no harm:
//! making a context takes longer than everything else, and a kernel on the device has no hold on its process. Python and
//! host launchers have, so theirs serves the same file again while searching, and otherwise nobody but the same subject.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use camino::Utf8PathBuf;
use kiln_core::{Fault, Outcome};
use kiln_run::{Answer, Ask, Confinement, Gpu, Limits, Worker, python_command};

use crate::caches::Caches;
use crate::idle::{Idle, KERNELS, Rested};
use crate::keeper::{KEEPERS, Keeper};
use crate::seat::{FIRST, Seat};
use crate::settings::{CacheState, Settings};
use crate::subject::Subject;

/// What every worker of a study shares.
#[derive(Debug, Clone)]
pub(crate) struct Seating {
    /// The kiln binary.
    pub(crate) program: Utf8PathBuf,
    /// Where workers run; anywhere when empty.
    pub(crate) cpus: Vec<usize>,
    pub(crate) threads: usize,
    pub(crate) limits: Limits,
    pub(crate) cache: CacheState,
    /// The UUID of the GPU, for workers with a device.
    pub(crate) gpu: Option<String>,
    /// The caches of a processor that measures.
    pub(crate) caches: Caches,
    /// Kernels that every sample of a candidate must run, by parts of their names.
    pub(crate) required: Arc<[String]>,
    /// Samples taken again because something disturbed them.
    pub(crate) retaken: Arc<AtomicU64>,
    /// Workers with a device that wait for their next subject.
    idle: Idle,
}

impl Seating {
    pub(crate) fn new(program: Utf8PathBuf, cpus: Vec<usize>, settings: &Settings, limits: Limits) -> Seating {
        let (threads, cache) = (settings.threads, settings.cache);
        let caches = Caches::of(cpus.last().copied().unwrap_or(0));
        let (required, retaken, idle) = (Arc::default(), Arc::default(), Idle::default());
        Seating { program, cpus, threads, limits, cache, gpu: None, caches, required, retaken, idle }
    }

    /// The same on another device, with workers of its own.
    pub(crate) fn elsewhere(&self, gpu: Option<String>) -> Seating {
        Seating { gpu, idle: Idle::default(), ..self.clone() }
    }

    fn command(&self, subject: &Subject) -> Command {
        let mut command = match subject {
            Subject::Library { .. } | Subject::Empty { interpreter: None } => self.worker("cpu"),
            Subject::Cubin { .. } | Subject::Launcher { .. } => self.worker("cuda"),
            Subject::Python { interpreter, .. } | Subject::Empty { interpreter: Some(interpreter) } => {
                python_command(interpreter)
            }
        };
        let threads = self.threads.to_string();
        for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"] {
            command.env(name, &threads);
        }
        // Where threads run is settled before a subject is loaded, and cannot be changed by it: a library told to bind its
        // threads would fail to.
        for name in ["OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"] {
            command.env_remove(name);
        }
        if confinement(subject) == Confinement::Compiler {
            // Compilers keep what they made there for the next time.
            command.env("TMPDIR", std::env::temp_dir());
        }
        if let (true, Some(uuid)) = (subject.on_device(), &self.gpu) {
            command.env("CUDA_VISIBLE_DEVICES", uuid);
        }
        command
    }

    fn worker(&self, kind: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["worker", kind]);
        command
    }

    /// What the GPU is, by its driver. The worker that said so waits for its first subject.
    pub(crate) fn describe(&self) -> Result<Gpu, Fault> {
        let fault = |why: String| Fault::new("asking the GPU what it is", why).hint("`kiln doctor` tells more");
        let mut worker = Worker::start(self.cuda_worker(), self.limits)?;
        match worker.ask_within(Ask::Describe, FIRST)? {
            Outcome::Passed(Answer::Device(gpu)) => {
                self.idle.put(KERNELS.into(), Rested::new(worker));
                Ok(*gpu)
            }
            Outcome::Passed(Answer::Failed(why)) => Err(fault(why)),
            Outcome::Passed(other) => Err(fault(format!("it answered {other:?}"))),
            Outcome::Refused(refusal) => Err(fault(format!("{} {}", refusal.measured, refusal.evidence))),
        }
    }

    /// Starts a worker, or takes one that waits, and loads the subject there.
    pub(crate) fn take(&self, subject: &Subject) -> Result<Outcome<Seat>, Fault> {
        self.seat(subject, home(subject, false), subject.is_foreign())
    }

    /// The same beside others whose memory another process keeps, so that the same is done for all of them.
    pub(crate) fn take_kept(&self, subject: &Subject) -> Result<Outcome<Seat>, Fault> {
        self.seat(subject, home(subject, false), subject.on_device())
    }

    /// The same while searching, where one process tries many configurations of the same source.
    pub(crate) fn take_to_search(&self, subject: &Subject) -> Result<Outcome<Seat>, Fault> {
        self.seat(subject, home(subject, true), subject.is_foreign())
    }

    /// A process that keeps memory on the device, and loads nothing.
    fn keeper(&self) -> Result<Keeper, Fault> {
        let rested = match self.idle.get(KEEPERS) {
            Some(rested) => rested,
            None => Rested::new(Worker::start(self.cuda_worker(), self.limits)?),
        };
        Ok(Keeper::new(rested, self.idle.clone()))
    }

    fn cuda_worker(&self) -> Command {
        let mut command = self.worker("cuda");
        if let Some(uuid) = &self.gpu {
            command.env("CUDA_VISIBLE_DEVICES", uuid);
        }
        command
    }

    fn seat(&self, subject: &Subject, kind: Option<String>, kept: bool) -> Result<Outcome<Seat>, Fault> {
        let rested = kind.as_ref().and_then(|kind| self.idle.get(kind));
        let fresh = rested.is_none();
        let rested = match rested {
            Some(rested) => rested,
            None => Rested::new(Worker::start(self.command(subject), self.limits)?),
        };
        let home = kind.map(|kind| (kind, self.idle.clone()));
        let keeper = if kept { Some(self.keeper()?) } else { None };
        let mut seat =
            Seat::new(rested, self.limits.time, subject.on_device(), keeper, home, Arc::clone(&self.retaken));
        // Baselines have no tunables, and run what they like.
        if subject.is_foreign() && !subject.config().is_empty() {
            seat.required = Arc::clone(&self.required);
        }
        if self.cache == CacheState::Cold {
            // A little more than the last level holds, so that nothing of a set is left in it.
            seat.cool(self.caches.last as u64 / 4 * 5);
        }
        if !self.cpus.is_empty() && fresh && !subject.on_device() {
            seat.pin(self.cpus.clone())?;
        }
        passed!(seat.confine(confinement(subject))?);
        Ok(seat.load(subject)?.map(|()| seat))
    }
}

/// Under which name a worker waits for its next subject; none for one that gets no other. Foreign code meets other
/// configurations of its file while they are searched among, and otherwise nobody but itself.
fn home(subject: &Subject, searching: bool) -> Option<String> {
    match subject {
        Subject::Cubin { .. } => Some(KERNELS.into()),
        Subject::Launcher { .. } if searching => Some("launcher".into()),
        Subject::Launcher { path, .. } => Some(format!("launcher {path}")),
        Subject::Python { interpreter, file, device: true, .. } if searching => Some(format!("{interpreter} {file}")),
        Subject::Python { interpreter, file, function, config, device: true } => {
            Some(format!("{interpreter} {file}:{function} {config}"))
        }
        Subject::Library { .. } | Subject::Empty { .. } | Subject::Python { .. } => None,
    }
}

/// What a worker for this subject may do.
fn confinement(subject: &Subject) -> Confinement {
    match subject {
        Subject::Library { .. } | Subject::Python { device: false, .. } | Subject::Empty { .. } => {
            Confinement::Processor
        }
        Subject::Cubin { .. } | Subject::Launcher { .. } => Confinement::Device,
        Subject::Python { device: true, .. } => Confinement::Compiler,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_code_shares_its_process_with_nobody_but_its_own_file() {
        let python = |file: &str, config: &str| Subject::Python {
            interpreter: "python3".into(),
            file: file.into(),
            function: "f".into(),
            config: kiln_core::Config::parse(config).unwrap(),
            device: true,
        };
        assert_ne!(home(&python("a.py", "B=1"), false), home(&python("a.py", "B=2"), false));
        assert_ne!(home(&python("a.py", "B=1"), false), home(&python("a.py", "B=1"), true));
        assert_eq!(home(&python("a.py", "B=1"), true), home(&python("a.py", "B=2"), true));
        assert_ne!(home(&python("a.py", "B=1"), true), home(&python("b.py", "B=1"), true));
        let launcher = |path: &str| Subject::Launcher { path: path.into(), key: "".into(), config: Default::default() };
        assert_ne!(home(&launcher("a.so"), false), home(&launcher("b.so"), false));
        assert_ne!(home(&launcher("a.so"), true), Some(KERNELS.into()));
    }
}
