//! Builds ahead of need, on several threads. In: requests as they come up. Out: a [`Ticket`] for each, which waits for its
//! outcome. Dropping the pool ends what is being compiled and forgets what waits.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kiln_core::{Fault, Outcome};

use crate::artifact::Artifact;
use crate::cache::Cache;
use crate::load::Load;
use crate::requests::request::Request;
use crate::toolchains::compile::BuildLimits;
use crate::toolchains::toolchain::Toolchain;

/// How a build ended.
pub type Built = Result<Outcome<Artifact>, Fault>;

struct Job {
    request: Request,
    answer: Sender<Built>,
}

/// Threads that build.
#[derive(Debug)]
pub struct Pool {
    jobs: Option<Sender<Job>>,
    workers: Vec<JoinHandle<()>>,
    stopped: Arc<AtomicBool>,
    load: Arc<Mutex<Load>>,
}

/// A build that was asked for.
#[derive(Debug)]
pub struct Ticket {
    answer: Receiver<Built>,
    /// What came while somebody only looked.
    seen: RefCell<Option<Built>>,
}

impl Ticket {
    /// Waits for the outcome.
    pub fn wait(self) -> Built {
        self.seen.take().unwrap_or_else(|| self.answer.recv().unwrap_or_else(|_| Err(gone())))
    }

    /// Whether waiting for it takes no time.
    pub fn is_ready(&self) -> bool {
        let mut seen = self.seen.borrow_mut();
        if seen.is_none() {
            *seen = match self.answer.try_recv() {
                Ok(built) => Some(built),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => Some(Err(gone())),
            };
        }
        seen.is_some()
    }

    /// Waits for the outcome so long; none when there is none yet.
    pub fn wait_for(&self, time: Duration) -> Option<Built> {
        if let Some(built) = self.seen.take() {
            return Some(built);
        }
        match self.answer.recv_timeout(time) {
            Ok(built) => Some(built),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(gone())),
        }
    }
}

fn gone() -> Fault {
    Fault::new("building", "the pool was stopped")
}

impl Pool {
    /// A pool of `threads` builders over one cache. Each builder calls `start` first, where it may say on which
    /// processors it wants to run, since compilers run where their builder does, and make ready what it needs; the flag says
    /// that nobody waits for that any more.
    pub fn new(
        threads: usize,
        toolchain: impl Into<Toolchain>,
        cache: Cache,
        limits: BuildLimits,
        start: impl Fn(&AtomicBool) + Clone + Send + 'static,
    ) -> Pool {
        let toolchain = toolchain.into();
        let (jobs, queue) = channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        let stopped = Arc::new(AtomicBool::new(false));
        let load = Arc::new(Mutex::new(Load::new(threads.max(1))));
        let workers = (0..threads.max(1))
            .map(|_| {
                let (queue, toolchain, cache) = (Arc::clone(&queue), toolchain.clone(), cache.clone());
                let load = Arc::clone(&load);
                let (start, stopped) = (start.clone(), Arc::clone(&stopped));
                std::thread::spawn(move || {
                    // Not idle, as far as anybody can tell.
                    tell(&load, Load::began);
                    start(&stopped);
                    tell(&load, Load::ended);
                    // The lock is held only while waiting for a job, never while building.
                    while let Some(job) = queue.lock().ok().and_then(|queue| queue.recv().ok()) {
                        if stopped.load(Ordering::Relaxed) {
                            break;
                        }
                        tell(&load, Load::began);
                        let built = cache.build_until(&toolchain, &job.request, limits, &|_| {}, &stopped);
                        tell(&load, Load::ended);
                        // Nobody may be waiting any more; the artifact is in the cache all the same.
                        let _ = job.answer.send(built);
                    }
                })
            })
            .collect();
        Pool { jobs: Some(jobs), workers, stopped, load }
    }

    /// Asks for a build.
    pub fn ask(&self, request: Request) -> Ticket {
        let (sender, answer) = channel();
        if let Some(jobs) = &self.jobs {
            tell(&self.load, Load::came);
            let _ = jobs.send(Job { request, answer: sender });
        }
        Ticket { answer, seen: RefCell::default() }
    }

    /// Threads that build.
    pub fn builders(&self) -> usize {
        self.workers.len()
    }

    /// The share of their time in which builders built while there was work for all of them; none when there never was.
    pub fn busy(&self) -> Option<f64> {
        self.load.lock().ok()?.busy()
    }
}

fn tell(load: &Mutex<Load>, what: fn(&mut Load, Instant)) {
    if let Ok(mut load) = load.lock() {
        what(&mut load, Instant::now());
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs = None;
        self.stopped.store(true, Ordering::Relaxed);
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}
