//! Processes that compile ahead, kept for the next compilation: Python workers, forked from the study's server, confined, with no
//! GPU to be seen. A process is taken by one compilation at a time and given back when it did well. One that ends in the
//! middle is replaced and the compilation made again; when that ends too, it is left to the worker that measures, which
//! says what is wrong better.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use camino::Utf8PathBuf;
use kiln_build::{ForeignBuilt, ForeignCompiler, Request};
use kiln_core::{Fault, Gate, Outcome, Refusal};
use kiln_run::{Answer, Ask, Compilation, Compiled, Confinement, ForkServer, Python, Worker, WorkerLimits};
use kiln_run::{python_command, worker_source};

use crate::building::compilers::{compile_alone, keep_in, without_devices};
use crate::building::triton::product::Product;

/// Importing PyTorch and Triton, where a process is not forked; from a slow disk that takes long.
const IMPORTS: Duration = Duration::from_secs(120);
/// Compilations by one process: every one loads the file anew, and nothing of it goes.
const MOST: u32 = 200;

/// Where builders run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// Processors; anywhere when empty.
    pub(crate) cpus: Vec<usize>,
    /// Whether everybody else goes first.
    pub(crate) step_back: bool,
}

/// Triton in processes of their own.
#[derive(Debug)]
pub struct Builders {
    interpreter: String,
    /// Versions of Triton, PyTorch and Python.
    versions: [String; 3],
    /// Where Triton keeps what it makes of this file.
    folder: Utf8PathBuf,
    server: Option<Arc<ForkServer>>,
    place: Place,
    idle: Mutex<Vec<Builder>>,
    told: Mutex<BTreeSet<String>>,
}

#[derive(Debug)]
struct Builder {
    worker: Worker,
    compilations: u32,
}

impl Builders {
    pub(crate) fn new(python: &Python, folder: Utf8PathBuf, server: Option<Arc<ForkServer>>, place: Place) -> Builders {
        let version = |version: &Option<String>| version.clone().unwrap_or_default();
        Builders {
            interpreter: python.interpreter.clone(),
            versions: [version(&python.triton), version(&python.torch), python.version.clone()],
            folder,
            server,
            place,
            idle: Mutex::default(),
            told: Mutex::default(),
        }
    }

    /// What to say of a build, once: that nothing could be compiled ahead, or that processes are slow to start.
    pub(crate) fn notes(&self, unable: Option<&str>) -> Vec<String> {
        let unable = unable.map(|why| format!("Triton kernels are compiled by the first call, not ahead: {why}"));
        let failure = self.server.as_ref().and_then(|server| server.failure());
        let slow = failure.map(|why| format!("processes that compile Triton import PyTorch each for itself: {why}"));
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        unable.into_iter().chain(slow).filter(|note| told.insert(note.clone())).collect()
    }

    fn command(&self) -> Command {
        let mut command = python_command(&self.interpreter);
        keep_in(&mut command, &self.folder);
        compile_alone(&mut command);
        without_devices(&mut command);
        command
    }

    /// A new process that has imported everything, before its time counts.
    fn start(&self, compilation: &Compilation, wanted: &dyn Fn() -> bool) -> Result<Builder, Fault> {
        let limits = WorkerLimits::default();
        let mut worker = match &self.server {
            Some(server) => server.worker(self.command(), limits)?,
            None => Worker::start(self.command(), limits)?,
        };
        worker.keep_in(self.folder.as_std_path());
        if self.place.step_back {
            worker.step_back();
        }
        let failed = |why: String| Fault::new("starting a process that compiles", why);
        if !self.place.cpus.is_empty() {
            worker.ask(Ask::Pin { cpus: self.place.cpus.clone() })?;
        }
        match worker.confine(Confinement::Builder, IMPORTS)? {
            Outcome::Passed(Answer::Confined(_)) => {}
            Outcome::Passed(other) => return Err(failed(format!("it answered {other:?}"))),
            Outcome::Refused(refusal) => return Err(failed(refusal.measured)),
        }
        let imports = Compilation { library: String::new(), workloads: Vec::new(), ..compilation.clone() };
        match worker.compile(imports, IMPORTS, wanted)? {
            Outcome::Passed(_) => Ok(Builder { worker, compilations: 0 }),
            Outcome::Refused(refusal) => Err(failed(refusal.measured)),
        }
    }

    /// Starts a process for an order that will come. Whether that succeeds is the order's to find out.
    pub(crate) fn prepare(&self, order: &str, wanted: &dyn Fn() -> bool) {
        let Ok(compilation) = serde_json::from_str::<Compilation>(order) else { return };
        if let Ok(builder) = self.start(&compilation, wanted)
            && let Ok(mut idle) = self.idle.lock()
        {
            idle.push(builder);
        }
    }

    /// What came of a compilation, of a second one in a new process where the first says nothing about the kernel.
    fn compile(
        &self,
        compilation: &Compilation,
        time: Duration,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Outcome<Compiled>, Fault> {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        if let Some(mut builder) = idle {
            let outcome = self.compile_with(&mut builder, compilation, time, wanted)?;
            if !matches!(&outcome, Outcome::Refused(refusal) if refusal.gate != Gate::Timeout) {
                self.give_back(builder, &outcome);
                return Ok(outcome);
            }
        }
        let mut builder = self.start(compilation, wanted)?;
        let outcome = self.compile_with(&mut builder, compilation, time, wanted)?;
        self.give_back(builder, &outcome);
        Ok(outcome)
    }

    fn compile_with(
        &self,
        builder: &mut Builder,
        compilation: &Compilation,
        time: Duration,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Outcome<Compiled>, Fault> {
        builder.compilations += 1;
        builder.worker.compile(compilation.clone(), time, wanted)
    }

    /// Keeps one that is still there and not too old.
    fn give_back(&self, builder: Builder, outcome: &Outcome<Compiled>) {
        if matches!(outcome, Outcome::Passed(_))
            && builder.compilations < MOST
            && let Ok(mut idle) = self.idle.lock()
        {
            idle.push(builder);
        }
    }
}

impl ForeignCompiler for Builders {
    fn title(&self) -> String {
        format!("Triton {}", self.version())
    }

    fn version(&self) -> &str {
        &self.versions[0]
    }

    fn identity(&self) -> Vec<String> {
        let mut words = vec!["triton".to_string(), self.folder.to_string()];
        words.extend(self.versions.iter().cloned());
        words.push(worker_source().into());
        // Triton is told much by variables; the one for its cache is set by kiln.
        let told = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            (name.starts_with("TRITON_") && name != "TRITON_CACHE_DIR").then(|| format!("{name}={}", value.display()))
        });
        let told: BTreeSet<String> = told.collect();
        words.extend(told);
        words
    }

    fn build(&self, request: &Request, time: Duration, wanted: &dyn Fn() -> bool) -> Result<ForeignBuilt, Fault> {
        let fault = |e: serde_json::Error| Fault::new("ordering a compilation", e);
        let compilation: Compilation = serde_json::from_str(&request.order).map_err(fault)?;
        let arch = request.arch.as_deref().unwrap_or_default();
        let product = match self.compile(&compilation, time, wanted) {
            Ok(Outcome::Passed(Compiled { refused: Some(refused), .. })) => {
                return Ok(ForeignBuilt::Refused(Refusal {
                    gate: Gate::BuildFailed,
                    rule: String::new(),
                    measured: refused.headline,
                    limit: "a compilation without errors".into(),
                    evidence: refused.words,
                    hint: None,
                }));
            }
            Ok(Outcome::Passed(compiled)) => Product::of(arch, compiled),
            Ok(Outcome::Refused(refusal)) if refusal.gate == Gate::Timeout => return Ok(ForeignBuilt::TooLong),
            Ok(Outcome::Refused(refusal)) => {
                let last = refusal.evidence.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
                Product::unable(arch, format!("the process that compiles {} {last}", refusal.measured).trim().into())
            }
            Err(fault) if !wanted() => return Err(fault),
            Err(fault) => Product::unable(arch, fault.to_string()),
        };
        Ok(ForeignBuilt::Passed(serde_json::to_vec(&product).map_err(fault)?, product.log()))
    }

    fn stands_by(&self, product: &[u8]) -> bool {
        Product::read(product).is_some_and(|product| product.stands())
    }
}
