//! One call of what is loaded. In: the module, its arguments, its launches. Out: a [`Call`] that can be put on the stream
//! again and again, as it is or into a graph. Refuses when there is nothing to call.

use std::ffi::c_void;

use cudarc::driver::sys::CUstream;

use super::arguments::Arguments;
use super::driver::Trouble;
use super::launch::Ready;
use super::module::Module;
use crate::protocol::Slot;

/// Nodes a host launcher is taken to make: it does not say.
const LAUNCHERS_STEPS: usize = 8;

/// Arguments and launches, as they were mapped.
pub(super) struct Bound {
    pub(super) slots: Vec<Slot>,
    pub(super) arguments: Arguments,
    pub(super) launches: Vec<Ready>,
}

impl Bound {
    pub(super) fn call<'a>(&'a mut self, module: &'a Module, stream: CUstream) -> Result<Call<'a>, Trouble> {
        let pointers = match module {
            Module::Cubin(_) if self.launches.is_empty() => return Err("no launch says which kernel is called".into()),
            Module::Cubin(_) => self.arguments.for_kernel(),
            Module::Launcher(_) => self.arguments.for_launcher(),
        };
        Ok(Call { module, launches: &self.launches, pointers, stream })
    }
}

/// A call that can be made.
pub(super) struct Call<'a> {
    module: &'a Module,
    launches: &'a [Ready],
    /// Into the arguments, which cannot change meanwhile.
    pointers: Vec<*mut c_void>,
    stream: CUstream,
}

impl Call<'_> {
    /// Puts it on the stream and does not wait.
    pub(super) fn enqueue(&mut self) -> Result<(), Trouble> {
        match self.module {
            Module::Launcher(launcher) => launcher.call(self.pointers.clone(), self.stream),
            Module::Cubin(_) => {
                self.launches.iter().try_for_each(|launch| launch.enqueue(&mut self.pointers, self.stream))
            }
        }
    }

    /// Nodes it has in a graph, or about that.
    pub(super) fn steps(&self) -> usize {
        match self.module {
            Module::Launcher(_) => LAUNCHERS_STEPS,
            Module::Cubin(_) => self.launches.iter().map(Ready::steps).sum(),
        }
    }

    /// Whether foreign code does the launching.
    pub(super) fn is_foreign(&self) -> bool {
        matches!(self.module, Module::Launcher(_))
    }
}
