//! Fork servers of a study, by interpreter and by what they import. In: the command of a Python worker. Out: such a worker, within
//! milliseconds once its server has imported PyTorch, or NumPy. Servers with PyTorch are started as soon as a study is known to
//! need them, so that importing overlaps with other work.

use std::collections::HashMap;
use std::process::Command;
use std::sync::{Arc, Mutex};

use camino::Utf8Path;
use kiln_run::ForkServer;
use kiln_spec::TargetKind;

use crate::bench::Bench;
use crate::rivals::baseline::on_device;

/// For functions on a GPU.
pub(crate) const ON_DEVICE: &[&str] = &["torch", "triton"];
/// For functions that are asked and never timed: references, and those that make inputs.
pub(crate) const ASKED: &[&str] = &["numpy"];

/// Servers by their interpreters and what they import. They end when the last copy goes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Forks {
    servers: Arc<Mutex<Servers>>,
}

type Modules = &'static [&'static str];
type Servers = HashMap<(String, Modules), Arc<ForkServer>>;

impl Forks {
    /// The server of an interpreter, started by this command where there is none yet.
    pub(crate) fn server(
        &self,
        interpreter: &str,
        modules: Modules,
        command: impl FnOnce() -> Command,
    ) -> Option<Arc<ForkServer>> {
        let mut servers = self.servers.lock().ok()?;
        let start = || Arc::new(ForkServer::start(command(), modules));
        Some(Arc::clone(servers.entry((interpreter.into(), modules)).or_insert_with(start)))
    }
}

impl Bench<'_> {
    /// Starts the server that Python subjects on a GPU will come from, where the kernel file has such.
    pub(crate) fn expect_python(&self) {
        let target = self.kernel.selection.target;
        let (Ok(python), true) = (&self.python, self.kernel.on_gpu()) else { return };
        let chosen = self.settings.baseline.as_deref();
        let mut baselines = target.baselines.iter().filter(|b| chosen.is_none_or(|name| b.name == name));
        let is_python = |file: &str| {
            let source = || fs_err::read_to_string(self.kernel.folder.join(file)).unwrap_or_default();
            Utf8Path::new(file).extension() == Some("py") && on_device(&source())
        };
        if target.kind == TargetKind::Python || baselines.any(|b| is_python(&b.callable.file)) {
            self.seating.expect_python(&python.interpreter);
        }
    }
}
