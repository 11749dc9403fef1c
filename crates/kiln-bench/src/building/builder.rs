//! Builds: candidates ahead of need, on processors that do not measure; everything else at once. In: a configuration. Out: a
//! [`Subject`], or the compiler's refusal. Ctrl-C ends compilers too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kiln_build::{Artifact, BuildLimits, Foreign, Pool, Request, Ticket, Toolchain};
use kiln_core::{Config, Fault, Outcome};
use kiln_spec::TargetKind;

use crate::bench::{Bench, interrupted};
use crate::building::compile::request;
use crate::building::triton::Builders;
use crate::event::{Event, Listener};
use crate::kernel::Kernel;
use crate::workers::subject::Subject;

/// How often somebody who waits for a build looks up.
const GLANCE: Duration = Duration::from_millis(50);
/// How often somebody who waits for any of several builds looks up. Nothing is measured meanwhile.
const PEEK: Duration = Duration::from_millis(2);

/// A build that was asked for, or what needs none.
pub enum Build {
    /// On its way, with its configuration.
    Asked(Ticket, Config),
    /// A Python function whose kernels are compiled ahead.
    Ahead(Ticket, Subject, Arc<Builders>),
    /// Nothing to wait for.
    Ready(Subject),
}

/// A configuration of a kernel in Python as it is, with nothing compiled ahead.
pub(crate) fn python_subject(bench: &Bench<'_>, kernel: &Kernel<'_>, config: &Config) -> Result<Subject, Fault> {
    let python = bench.python.as_ref().map_err(Clone::clone)?;
    let (file, function) = kernel.python_entry(config)?;
    let device = kernel.on_gpu();
    Ok(Subject::Python {
        interpreter: python.interpreter.clone(),
        file,
        function,
        config: config.clone(),
        device,
        ahead: None,
    })
}

/// What was built, as something to call.
pub(crate) fn subject_of(kernel: &Kernel<'_>, request_host: bool, artifact: Artifact, config: Config) -> Subject {
    let Artifact { library: path, key, symbols, usage, .. } = artifact;
    match (kernel.selection.target.kind, request_host) {
        (TargetKind::Cuda, true) => Subject::Launcher { path, key, config },
        (TargetKind::Cuda, false) => Subject::Cubin { path, key, config, symbols, usage, laid: None },
        _ => Subject::Library { path, key, config },
    }
}

/// What is worth saying of builders: several, idle most of the time although there was work for all of them.
fn held_up(builders: usize, busy: f64) -> Option<String> {
    let share = 100.0 * busy;
    (builders > 1 && busy < 0.5).then(|| {
        format!("{builders} builders were busy only {share:.0} % of the time: disk or memory may hold compilers up")
    })
}

impl Build {
    /// Whether waiting for it takes no time.
    fn is_ready(&self) -> bool {
        match self {
            Build::Asked(ticket, _) | Build::Ahead(ticket, ..) => ticket.is_ready(),
            Build::Ready(_) => true,
        }
    }
}

/// What it takes to wait for builds, on whichever thread.
pub(crate) struct Awaiting<'w> {
    kernel: &'w Kernel<'w>,
    silence: Duration,
    listener: Listener<'w>,
    stopped: &'w AtomicBool,
}

impl Awaiting<'_> {
    /// Waits for a build, and says so when that takes long.
    pub(crate) fn built(&self, build: Build) -> Result<Outcome<Subject>, Fault> {
        match build {
            Build::Ready(subject) => Ok(Outcome::Passed(subject)),
            Build::Asked(ticket, config) => {
                let host = self.kernel.host(&config);
                let built = self.awaited(&ticket, &config)?;
                Ok(built.map(|artifact| subject_of(self.kernel, host, artifact, config)))
            }
            Build::Ahead(ticket, subject, builders) => {
                let built = self.awaited(&ticket, subject.config())?.map(|artifact| subject.built_ahead(&artifact));
                let unable = match &built {
                    Outcome::Passed(subject) => subject.unable(),
                    Outcome::Refused(_) => None,
                };
                for text in builders.notes(unable) {
                    (self.listener)(&Event::Note { text });
                }
                Ok(built)
            }
        }
    }

    fn awaited(&self, ticket: &Ticket, config: &Config) -> Result<Outcome<Artifact>, Fault> {
        let (started, mut alarm) = (Instant::now(), self.silence);
        loop {
            if let Some(built) = ticket.wait_for(GLANCE) {
                return built;
            }
            if self.stopped.load(Ordering::Relaxed) {
                return Err(interrupted());
            }
            if started.elapsed() > alarm {
                let (doing, seconds) = (&format!("compiling {config}"), started.elapsed().as_secs_f64());
                (self.listener)(&Event::Silence { doing, seconds });
                alarm += self.silence;
            }
        }
    }
}

impl<'a> Bench<'a> {
    /// What others need to wait for this bench's builds.
    pub(crate) fn awaiting(&self) -> Awaiting<'a> {
        let silence = self.build_limits().silence;
        Awaiting { kernel: self.kernel, silence, listener: self.listener, stopped: self.stopped }
    }

    pub(crate) fn build_limits(&self) -> BuildLimits {
        let usual = || Duration::from_secs_f64(self.settings.build_timeout);
        BuildLimits { timeout: self.build_limit.unwrap_or_else(usual), ..BuildLimits::default() }
    }

    /// Which of some builds is tried next: a compilation that takes long does not keep the device from what is ready. With
    /// several devices the first of all is as good as any, since another of them waits for the next.
    pub(crate) fn soonest(&self, builds: &[&Build]) -> usize {
        let (started, patience) = (Instant::now(), self.build_limits().silence);
        loop {
            if let Some(place) = builds.iter().position(|build| build.is_ready()) {
                return place;
            }
            if self.devices() > 1 || self.stopped.load(Ordering::Relaxed) || started.elapsed() > patience {
                return 0;
            }
            std::thread::sleep(PEEK);
        }
    }

    /// Asks for a candidate's build.
    pub fn build(&mut self, config: &Config) -> Result<Build, Fault> {
        let target = self.kernel.selection.target;
        if target.kind == TargetKind::Python {
            let subject = python_subject(self, self.kernel, config)?;
            let Some((builders, request)) = self.ahead(config) else { return Ok(Build::Ready(subject)) };
            return Ok(Build::Ahead(self.triton_pool(&builders, &request)?.ask(request), subject, builders));
        }
        let request = request(self.kernel, config)?;
        let pool = self.pool(Bench::toolchain, |_| {})?;
        Ok(Build::Asked(pool.ask(request), config.clone()))
    }

    /// Starts processes that compile while something else is done, where starting them takes long: Triton's import PyTorch.
    pub(crate) fn begin_to_build(&mut self) -> Result<(), Fault> {
        if self.kernel.selection.target.kind == TargetKind::Python
            && let Some((builders, request)) = self.ahead(&self.kernel.some_config())
        {
            self.triton_pool(&builders, &request)?;
        }
        Ok(())
    }

    fn triton_pool(&mut self, builders: &Arc<Builders>, request: &Request) -> Result<&Pool, Fault> {
        let (own, order) = (Arc::clone(builders), request.order.clone());
        let ready = move |over: &AtomicBool| own.prepare(&order, &|| !over.load(Ordering::Relaxed));
        self.pool(|_| Ok(Toolchain::Foreign(Foreign::of(Arc::clone(builders) as _))), ready)
    }

    /// The pool of builders, started where there is none yet; each makes itself ready first.
    fn pool(
        &mut self,
        toolchain: impl FnOnce(&Self) -> Result<Toolchain, Fault>,
        ready: impl Fn(&AtomicBool) + Clone + Send + 'static,
    ) -> Result<&Pool, Fault> {
        if self.pool.is_none() {
            let toolchain = toolchain(self)?;
            let on_gpu = self.kernel.on_gpu();
            let measuring = if on_gpu { self.machine.beside_a_gpu() } else { self.settings.threads };
            let cpus = if self.settings.pin { self.machine.building(measuring) } else { Vec::new() };
            let threads = if cpus.is_empty() { self.machine.cpus.len().saturating_sub(1).max(1) } else { cpus.len() };
            // A builder's processes run where the builder does, away from what is being measured.
            let start = move |over: &AtomicBool| {
                let _ = kiln_run::pin_thread(&cpus);
                // Whoever measures on a GPU has a processor to itself only if the compilers leave it one.
                if on_gpu {
                    kiln_run::step_back();
                }
                ready(over);
            };
            self.pool = Some(Pool::new(threads, toolchain, self.cache.clone(), self.build_limits(), start));
        }
        self.pool.as_ref().ok_or_else(|| Fault::new("building", "there is no builder"))
    }

    /// Keeps the build cache within its bound.
    pub fn trim_cache(&self) -> Result<(), Fault> {
        self.cache.trim().map(|_| ())
    }

    /// Waits until no build is running, so that nothing disturbs what is measured next.
    pub fn quiet(&mut self) {
        let busy = self.pool.as_ref().and_then(|pool| Some((pool.builders(), pool.busy()?)));
        let busy = busy.filter(|_| self.kernel.on_gpu());
        if let Some(words) = busy.and_then(|(builders, busy)| held_up(builders, busy)) {
            self.note(words);
        }
        self.pool = None;
    }

    /// Waits for a build, and says so when that takes long.
    pub fn built(&self, build: Build) -> Result<Outcome<Subject>, Fault> {
        self.awaiting().built(build)
    }

    /// Builds something that is no candidate, at once.
    pub(crate) fn build_now(&self, toolchain: &Toolchain, request: &Request) -> Result<Outcome<Subject>, Fault> {
        let doing = &format!("compiling {}", request.entries.join(", "));
        let silent = |time: Duration| (self.listener)(&Event::Silence { doing, seconds: time.as_secs_f64() });
        let built = self.cache.build_until(toolchain, request, self.build_limits(), &silent, self.stopped)?;
        Ok(built.map(|artifact| match toolchain {
            Toolchain::C(_) => {
                Subject::Library { path: artifact.library, key: artifact.key, config: Config::default() }
            }
            _ => subject_of(self.kernel, request.host, artifact, Config::default()),
        }))
    }

    /// Builds a configuration at once, on this thread.
    pub(crate) fn subject_now(&self, config: &Config) -> Result<Outcome<Subject>, Fault> {
        if self.kernel.selection.target.kind == TargetKind::Python {
            return self.python_now(config);
        }
        let (toolchain, request) = (self.toolchain()?, request(self.kernel, config)?);
        let doing = &format!("compiling {config}");
        let silent = |time: Duration| (self.listener)(&Event::Silence { doing, seconds: time.as_secs_f64() });
        let built = self.cache.build_until(&toolchain, &request, self.build_limits(), &silent, self.stopped)?;
        let host = self.kernel.host(config);
        Ok(built.map(|artifact| subject_of(self.kernel, host, artifact, config.clone())))
    }

    /// What candidates are compiled with.
    pub(crate) fn toolchain(&self) -> Result<Toolchain, Fault> {
        match self.kernel.selection.target.kind {
            TargetKind::Cuda => self.cuda.clone(),
            _ => self.compiler.clone().map(Toolchain::C),
        }
    }

    /// Builds a configuration and waits for it.
    pub fn subject(&mut self, config: &Config) -> Result<Outcome<Subject>, Fault> {
        let build = self.build(config)?;
        self.built(build)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builders_are_mentioned_when_something_holds_them_up() {
        assert_eq!(held_up(15, 0.59), None);
        assert_eq!(held_up(1, 0.1), None);
        assert!(held_up(15, 0.3).is_some_and(|words| words.starts_with("15 builders were busy only 30 %")));
    }
}
