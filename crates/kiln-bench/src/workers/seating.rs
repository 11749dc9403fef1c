//! Where workers come from. In: a subject. Out: a [`Seat`] with the subject loaded, in a worker of its kind that is pinned and
//! confined, or a refusal.
//!
//! Workers for the processor are fresh for every subject. One with a device is used again after kernels that did no harm:
//! making a context takes longer than everything else, and a kernel on the device has no hold on its process. Python and
//! host launchers have, so theirs serves the same file again while searching, and otherwise nobody but the same subject.
//! Workers for Python on a device are forked from a server that has PyTorch imported, those for references and functions that make
//! inputs from one that has NumPy.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use camino::Utf8PathBuf;
use kiln_build::Cache;
use kiln_core::{Fault, Outcome};
use kiln_run::{Answer, Ask, Confinement, ForkServer, Gpu, Worker, WorkerLimits, python_command};

use crate::building::compilers::{compile_alone, keep_in};
use crate::settings::{CacheState, Settings};
use crate::surroundings::caches::Caches;
use crate::workers::forks::{ASKED, Forks, ON_DEVICE};
use crate::workers::idle::{Idle, KERNELS, Rested};
use crate::workers::keeper::{KEEPERS, Keeper};
use crate::workers::seat::{FIRST, Seat};
use crate::workers::subject::Subject;

/// An implementation's name, and the kernels that every sample of it must run, by parts of their names.
type Required = (Option<Arc<str>>, Arc<[String]>);

/// What every worker of a study shares.
#[derive(Debug, Clone)]
pub(crate) struct Seating {
    /// The kiln binary.
    pub(crate) program: Utf8PathBuf,
    /// Where workers run; anywhere when empty.
    pub(crate) cpus: Vec<usize>,
    pub(crate) threads: usize,
    pub(crate) limits: WorkerLimits,
    pub(crate) cache: CacheState,
    /// The UUID of the GPU, for workers with a device.
    pub(crate) gpu: Option<String>,
    /// The caches of a processor that measures.
    pub(crate) caches: Caches,
    /// What every sample of a candidate must run, for each implementation.
    pub(crate) required: Arc<[Required]>,
    /// Samples taken again because something disturbed them.
    pub(crate) retaken: Arc<AtomicU64>,
    /// Workers with a device that wait for their next subject.
    idle: Idle,
    /// Where those for Python come from, unless they are timed on the processor.
    forks: Forks,
    /// Where compilers in workers keep what they made.
    pub(super) builds: Cache,
}

impl Seating {
    pub(crate) fn new(
        program: Utf8PathBuf,
        cpus: Vec<usize>,
        settings: &Settings,
        limits: WorkerLimits,
        builds: Cache,
    ) -> Seating {
        let (threads, cache) = (settings.threads, settings.cache);
        let caches = Caches::of(cpus.last().copied().unwrap_or(0));
        let (required, retaken): (Arc<[_]>, _) = (Arc::new([]), Arc::default());
        let (gpu, idle, forks) = (None, Idle::default(), Forks::default());
        Seating { program, cpus, threads, limits, cache, gpu, caches, required, retaken, idle, forks, builds }
    }

    /// The same on another device, with workers of its own.
    pub(crate) fn elsewhere(&self, gpu: Option<String>) -> Seating {
        Seating { gpu, idle: Idle::default(), ..self.clone() }
    }

    pub(super) fn command(&self, subject: &Subject) -> Command {
        let mut command = match subject {
            Subject::Library { .. } | Subject::Empty { interpreter: None, device: false } => self.worker("cpu"),
            Subject::Cubin { .. } | Subject::Launcher { .. } | Subject::Empty { interpreter: None, device: true } => {
                self.worker("cuda")
            }
            Subject::Python { interpreter, .. } | Subject::Empty { interpreter: Some(interpreter), .. } => {
                python_command(interpreter)
            }
        };
        self.settle_threads(&mut command);
        if let (true, Some(uuid)) = (subject.on_device(), &self.gpu) {
            command.env("CUDA_VISIBLE_DEVICES", uuid);
        }
        command
    }

    fn settle_threads(&self, command: &mut Command) {
        let threads = self.threads.to_string();
        for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"] {
            command.env(name, &threads);
        }
        // Where threads run is settled before a subject is loaded, and cannot be changed by it: a library told to bind its
        // threads would fail to.
        for name in ["OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"] {
            command.env_remove(name);
        }
    }

    /// Starts a worker for a subject.
    fn start(&self, subject: &Subject) -> Result<Worker, Fault> {
        let mut command = self.command(subject);
        let (interpreter, file) = match subject {
            Subject::Python { interpreter, file, device: true, .. } => (interpreter, Some(file)),
            Subject::Empty { interpreter: Some(interpreter), device: true } => (interpreter, None),
            _ => return Worker::start(command, self.limits),
        };
        let folder = file.map(|file| self.builds.compilers(file)).transpose()?;
        if let Some(folder) = &folder {
            keep_in(&mut command, folder);
        }
        compile_alone(&mut command);
        let mut worker = match self.fork_server(interpreter) {
            Some(server) => server.worker(command, self.limits)?,
            None => Worker::start(command, self.limits)?,
        };
        if let Some(folder) = folder {
            worker.keep_in(folder);
        }
        Ok(worker)
    }

    /// Makes ready for Python on a device.
    pub(crate) fn expect_python(&self, interpreter: &str) {
        self.fork_server(interpreter);
    }

    /// Where workers of an interpreter are forked.
    pub(crate) fn fork_server(&self, interpreter: &str) -> Option<Arc<ForkServer>> {
        self.forks.server(interpreter, ON_DEVICE, || self.server(interpreter))
    }

    /// The command of a fork server: what libraries read while they are imported is as in its workers, but none of them may
    /// start threads then.
    fn server(&self, interpreter: &str) -> Command {
        let mut command = python_command(interpreter);
        self.settle_threads(&mut command);
        compile_alone(&mut command);
        command.env("OPENBLAS_NUM_THREADS", "1");
        command
    }

    fn worker(&self, kind: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["worker", kind]);
        command
    }

    /// What the GPU is, by its driver. The worker that said so waits for its first subject.
    pub(crate) fn describe(&self) -> Result<Gpu, Fault> {
        let fault = |why: String| Fault::new("asking the GPU what it is", why).hint("`kiln doctor` shows more");
        let mut worker = Worker::start(self.cuda_worker(), self.limits)?;
        match worker.ask_within(Ask::Describe, FIRST)? {
            Outcome::Passed(Answer::Device(gpu)) => {
                self.idle.put(KERNELS.into(), Rested::new(worker));
                Ok(*gpu)
            }
            Outcome::Passed(Answer::Failed(failed)) => Err(fault(failed.words)),
            Outcome::Passed(other) => Err(fault(format!("it answered {other:?}"))),
            Outcome::Refused(refusal) => Err(fault(format!("{} {}", refusal.measured, refusal.evidence))),
        }
    }

    /// Starts a worker, or takes one that waits, and loads the subject there.
    pub(crate) fn take(&self, subject: &Subject) -> Result<Outcome<Seat>, Fault> {
        self.seat(subject, home(subject, false), subject.is_foreign())
    }

    /// The same for functions that are asked and never timed, such as references: questions are many, and starting an
    /// interpreter with NumPy takes longer than most answers.
    pub(crate) fn take_to_ask(&self, subject: &Subject) -> Result<Outcome<Seat>, Fault> {
        let Subject::Python { interpreter, device: false, .. } = subject else { return self.take(subject) };
        let Some(server) = self.forks.server(interpreter, ASKED, || self.server(interpreter)) else {
            return self.take(subject);
        };
        let worker = server.worker(self.command(subject), self.limits)?;
        self.seated(subject, Rested::new(worker), (None, true), false)
    }

    /// The same beside others whose memory another process keeps, so that the same is done for all of them.
    pub(crate) fn take_kept(&self, subject: &Subject) -> Result<Outcome<Seat>, Fault> {
        self.seat(subject, home(subject, false), subject.on_device())
    }

    /// The same while searching, where one process tries many configurations of the same source.
    pub(crate) fn take_to_search(&self, subject: &Subject) -> Result<Outcome<Seat>, Fault> {
        self.seat(subject, home(subject, true), subject.is_foreign())
    }

    /// The same in a process that nobody used before.
    pub(crate) fn take_unused(&self, subject: &Subject) -> Result<Outcome<Seat>, Fault> {
        self.seat(subject, None, subject.is_foreign())
    }

    /// The same in a process that nobody else ever uses.
    pub(crate) fn take_alone(&self, subject: &Subject) -> Result<Outcome<Seat>, Fault> {
        self.seat(subject, None, false)
    }

    /// A process that keeps memory on the device, and loads nothing.
    pub(super) fn keeper(&self) -> Result<Keeper, Fault> {
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
            None => Rested::new(self.start(subject)?),
        };
        self.seated(subject, rested, (kind, fresh), kept)
    }

    /// The kernels that a subject's implementation must run.
    pub(crate) fn required_of(&self, subject: &Subject) -> Arc<[String]> {
        let name = subject.config().implementation();
        let named = self.required.iter().find(|(own, _)| own.is_none() || own.as_deref() == name);
        named.or(self.required.first()).map_or_else(Arc::default, |(_, kernels)| Arc::clone(kernels))
    }

    /// Loads the subject in a worker, which nobody used before when it is fresh.
    fn seated(
        &self,
        subject: &Subject,
        rested: Rested,
        (kind, fresh): (Option<String>, bool),
        kept: bool,
    ) -> Result<Outcome<Seat>, Fault> {
        let home = kind.map(|kind| (kind, self.idle.clone()));
        let keeper = if kept { Some(self.keeper()?) } else { None };
        let mut seat =
            Seat::new(rested, self.limits.time, subject.on_device(), keeper, home, Arc::clone(&self.retaken));
        seat.used = !fresh;
        // Baselines have no tunables, and run what they like.
        if subject.is_foreign() && !subject.config().is_empty() {
            seat.required = self.required_of(subject);
        }
        seat.threaded = self.threads > 1;
        if matches!(
            subject,
            Subject::Python { device: false, .. } | Subject::Empty { interpreter: Some(_), device: false }
        ) {
            seat.readable = seat.is_readable();
        }
        if self.cache == CacheState::Cold {
            seat.cool();
        }
        if !self.cpus.is_empty() && fresh && !subject.on_device() {
            seat.pin(self.cpus.clone())?;
        }
        passed!(seat.confine(confinement(subject))?);
        match seat.load(subject)? {
            Outcome::Passed(()) => Ok(Outcome::Passed(seat)),
            // Some files cannot be loaded twice by a process, and others find what somebody left there.
            Outcome::Refused(_) if !fresh && subject.is_foreign() => self.seat(subject, None, kept),
            Outcome::Refused(refusal) => Ok(Outcome::Refused(refusal)),
        }
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
        Subject::Python { interpreter, file, function, config, device: true, .. } => {
            Some(format!("{interpreter} {file}:{function} {config}"))
        }
        Subject::Empty { interpreter, device: true } => {
            Some(format!("nothing in {}", interpreter.as_deref().unwrap_or(KERNELS)))
        }
        Subject::Library { .. } | Subject::Empty { .. } | Subject::Python { .. } => None,
    }
}

/// What a worker for this subject may do.
pub(super) fn confinement(subject: &Subject) -> Confinement {
    match subject {
        Subject::Library { .. } | Subject::Python { device: false, .. } | Subject::Empty { device: false, .. } => {
            Confinement::Processor
        }
        Subject::Cubin { .. } | Subject::Launcher { .. } | Subject::Empty { interpreter: None, .. } => {
            Confinement::Device
        }
        Subject::Python { .. } | Subject::Empty { .. } => Confinement::Compiler,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tightened_worker_does_not_wait_for_another_subject() {
        let Ok(python) = kiln_run::find_python() else {
            println!("skipped: no Python");
            return;
        };
        let idle = Idle::default();
        for tight in [false, true] {
            let worker = Worker::start(python_command(&python.interpreter), WorkerLimits::default()).unwrap();
            let home = Some(("kind".to_string(), idle.clone()));
            let mut seat = Seat::new(Rested::new(worker), FIRST, true, None, home, Arc::default());
            assert!(matches!(seat.confine(Confinement::Compiler).unwrap(), Outcome::Passed(())));
            if tight {
                assert!(matches!(seat.tighten().unwrap(), Outcome::Passed(())));
            }
            drop(seat);
            assert_eq!(idle.get("kind").is_some(), !tight);
        }
    }

    #[test]
    fn workers_of_one_server_have_folders_for_compilers_by_their_files() {
        let Ok(python) = kiln_run::find_python() else {
            println!("skipped: no Python");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let folder = camino::Utf8Path::from_path(folder.path()).unwrap();
        let cache = Cache::at(folder.join("cache"));
        let limits = WorkerLimits::default();
        let seating = Seating::new("kiln".into(), vec![], &Settings::default(), limits, cache.clone());
        seating.expect_python(&python.interpreter);
        let (interpreter, config) = (python.interpreter.clone(), kiln_core::Config::default());
        let mut parents = Vec::new();
        for name in ["a.py", "b.py"] {
            let file = folder.join(name);
            let text = "import os\ndef f(inputs, scalars, outputs): raise ValueError(os.environ['TRITON_CACHE_DIR'])\n";
            std::fs::write(&file, text).unwrap();
            let (interpreter, config) = (interpreter.clone(), config.clone());
            let subject = Subject::Python {
                interpreter,
                file: file.clone(),
                function: "f".into(),
                config,
                device: true,
                ahead: None,
            };
            let mut worker = seating.start(&subject).unwrap();
            let load = Ask::Load { library: file.to_string(), symbol: "f".into(), config: None, device: false };
            let (arena, _) = kiln_run::Arena::new(&[8]).unwrap();
            for ask in [load, Ask::map(&arena, vec![])] {
                assert!(matches!(worker.ask(ask).unwrap(), Outcome::Passed(Answer::Done)));
            }
            let Outcome::Passed(Answer::Failed(failed)) = worker.ask(Ask::Call).unwrap() else { panic!() };
            assert!(failed.words.ends_with(cache.compilers(&file).unwrap().join("triton").as_str()), "{failed:?}");
            parents.push(
                seating.forks.server(&python.interpreter, ON_DEVICE, || panic!("one server is enough")).unwrap().pid(),
            );
        }
        assert!(parents[0].is_some() && parents[0] == parents[1]);
    }

    #[test]
    fn foreign_code_shares_its_process_with_nobody_but_its_own_file() {
        let python = |file: &str, config: &str| Subject::Python {
            interpreter: "python3".into(),
            file: file.into(),
            function: "f".into(),
            config: kiln_core::Config::parse(config).unwrap(),
            device: true,
            ahead: None,
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
