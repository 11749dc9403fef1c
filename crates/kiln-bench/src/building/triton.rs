//! Triton kernels compiled ahead of their first call, in processes beside the one that measures, without a GPU. In: a Python
//! function that launches Triton kernels, and a configuration. Out: what each kernel takes of the GPU, with the kernels in
//! Triton's own cache, where the worker that measures finds them; or the compiler's refusal. A function that does what only
//! a GPU can (it reads elements, it measures) is compiled by its own first call, as everything else in Python is.

mod builders;
mod order;
mod product;

use std::sync::Arc;

use camino::Utf8PathBuf;
use kiln_build::{Cache, Foreign, Request, Toolchain};
use kiln_core::{Config, Fault, Outcome};
use kiln_device::Arch;
use kiln_run::{ForkServer, Python, find_python, python_command};
use kiln_spec::{Implementation, TargetKind};

use crate::bench::Bench;
use crate::building::builder::python_subject;
use crate::building::compilers::{compile_alone, without_devices};
use crate::kernel::Kernel;
use crate::rivals::baseline::imports;
use crate::workers::forks::ON_DEVICE;
use crate::workers::subject::Subject;
pub(crate) use builders::{Builders, Place};
pub(crate) use order::request;
pub use product::{Ahead, AheadUse};

/// Set to 0, nothing is compiled ahead.
const VARIABLE: &str = "KILN_TRITON_AHEAD";

/// The file of a kernel that may launch Triton kernels: that of the first implementation that may.
fn file(kernel: &Kernel<'_>) -> Option<Utf8PathBuf> {
    if kernel.selection.target.kind != TargetKind::Python || !kernel.on_gpu() {
        return None;
    }
    kernel.selection.implementations.iter().find_map(|one| launches_triton(kernel, one))
}

/// The file of an implementation, if it imports Triton.
fn launches_triton(kernel: &Kernel<'_>, implementation: &Implementation) -> Option<Utf8PathBuf> {
    let (file, _) = kernel.python_entry_of(implementation).ok()?;
    imports(&fs_err::read_to_string(&file).ok()?, "triton").then_some(file)
}

/// Triton as a compiler, for a machine without a GPU.
pub fn triton_toolchain(kernel: &Kernel<'_>, cache: &Cache) -> Result<Toolchain, Fault> {
    let fault = |why: &str| Fault::new("looking for a compiler", why);
    let Some(file) = file(kernel) else {
        let why = "a Python target is compiled only where its file imports triton and it has device = \"cuda\"";
        return Err(fault(why).hint("omit --until build"));
    };
    if kernel.selection.arch.is_none() {
        return Err(fault("Triton compiles for an architecture, and none is named").hint("add --arch sm_90a"));
    }
    let python = find_python()?;
    if python.triton.is_none() {
        let why = format!("Triton is not installed in {}", python.interpreter);
        return Err(fault(&why).hint(format!("{} -m pip install triton torch", python.interpreter)));
    }
    let mut server = python_command(&python.interpreter);
    compile_alone(&mut server);
    without_devices(&mut server);
    let server = Arc::new(ForkServer::start(server, ON_DEVICE));
    let builders = Builders::new(&python, cache.compilers(&file)?, Some(server), Place::default());
    Ok(Toolchain::Foreign(Foreign::of(Arc::new(builders))))
}

impl Bench<'_> {
    /// What compiles this kernel ahead; none where nothing is.
    fn builders(&self) -> Option<Arc<Builders>> {
        let found = || {
            let asked = std::env::var(VARIABLE).map_or(true, |value| value != "0");
            let python: &Python = self.python.as_ref().ok().filter(|python| asked && python.triton.is_some())?;
            let file = file(self.kernel)?;
            self.arch()?;
            let measuring = self.machine.beside_a_gpu();
            let cpus = if self.settings.pin { self.machine.building(measuring) } else { Vec::new() };
            let server = self.seating.fork_server(&python.interpreter);
            let folder = self.cache.compilers(&file).ok()?;
            // Whoever measures on a GPU has a processor to itself only if the compilers leave it one.
            Some(Arc::new(Builders::new(python, folder, server, Place { cpus, step_back: true })))
        };
        self.builders.get_or_init(found).clone()
    }

    /// The architecture that is compiled for.
    fn arch(&self) -> Option<Arch> {
        let own = || self.gpu.as_ref().and_then(|gpu| Arch::of_capability(gpu.capability.0, gpu.capability.1));
        self.kernel.selection.arch.or_else(own)
    }

    /// What compiles a configuration ahead, and what it is asked; none where nothing is compiled ahead.
    pub(crate) fn ahead(&self, config: &Config) -> Option<(Arc<Builders>, Request)> {
        let (builders, arch) = (self.builders()?, self.arch()?);
        launches_triton(self.kernel, self.kernel.selection.implementation(config))?;
        Some((builders, request(self.kernel, config, arch, self.gpu.as_ref()).ok()?))
    }

    /// A configuration compiled ahead at once, on this thread; as it is where nothing is compiled ahead.
    pub(crate) fn python_now(&self, config: &Config) -> Result<Outcome<Subject>, Fault> {
        let subject = python_subject(self, self.kernel, config)?;
        let Some((builders, request)) = self.ahead(config) else { return Ok(Outcome::Passed(subject)) };
        let toolchain = Toolchain::Foreign(Foreign::of(Arc::clone(&builders) as _));
        let built = self.cache.build_until(toolchain, &request, self.build_limits(), &|_| {}, self.stopped)?;
        Ok(built.map(|artifact| subject.built_ahead(&artifact)))
    }
}
