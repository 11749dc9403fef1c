//! Calls of what is loaded. In: the module, the arguments of every set, its launches. Out: a [`Call`] that can be put on the
//! stream again and again, on any set, as it is or into a graph. Refuses when there is nothing to call.

use std::ffi::c_void;

use cudarc::driver::sys::{CUdeviceptr, CUstream};

use super::arguments::Arguments;
use super::buffer;
use super::constants::Constant;
use super::driver::Trouble;
use super::launch::Ready;
use super::module::Module;
use crate::protocol::MappedSlot;

/// Nodes a host launcher is taken to make: it does not say.
const LAUNCHERS_STEPS: usize = 8;

/// Arguments and launches, as they were mapped.
pub(super) struct Bound {
    pub(super) slots: Vec<MappedSlot>,
    /// Where each set begins, and its arguments.
    pub(super) sets: Vec<(CUdeviceptr, Arguments)>,
    pub(super) launches: Vec<Ready>,
    pub(super) constants: Vec<Constant>,
    /// The image whose scalars the arguments have.
    pub(super) laid: Option<u64>,
}

impl Bound {
    pub(super) fn call<'a>(&'a mut self, module: &'a Module, stream: CUstream) -> Result<Call<'a>, Trouble> {
        let launcher = match module {
            Module::Cubin(_) if self.launches.is_empty() => return Err("no launch says which kernel is called".into()),
            Module::Cubin(_) | Module::Nothing => false,
            Module::Launcher(_) => true,
        };
        let pointers = |(base, arguments): &mut (CUdeviceptr, Arguments)| {
            (*base, if launcher { arguments.for_launcher() } else { arguments.for_kernel() })
        };
        let sets = self.sets.iter_mut().map(pointers).collect();
        Ok(Call { module, launches: &self.launches, sets, stream })
    }
}

/// A call that can be made.
pub(super) struct Call<'a> {
    module: &'a Module,
    launches: &'a [Ready],
    /// Where each set begins, and pointers into its arguments, which cannot change meanwhile.
    sets: Vec<(CUdeviceptr, Vec<*mut c_void>)>,
    stream: CUstream,
}

impl Call<'_> {
    /// Puts the call of this number on the stream and does not wait. With fewer sets than calls they begin anew.
    pub(super) fn enqueue(&mut self, number: u32) -> Result<(), Trouble> {
        let set = number as usize % self.sets.len().max(1);
        let (base, pointers) = self.sets.get_mut(set).ok_or("no memory is mapped")?;
        match self.module {
            Module::Launcher(launcher) => launcher.call(pointers.clone(), self.stream),
            // A byte before all arguments.
            Module::Nothing => buffer::zero(*base, 1, self.stream),
            Module::Cubin(_) => {
                let place = |offset: usize| *base + offset as u64;
                self.launches.iter().try_for_each(|launch| launch.enqueue(pointers, place, self.stream))
            }
        }
    }

    /// How many sets there are.
    pub(super) fn sets(&self) -> u32 {
        self.sets.len() as u32
    }

    /// Nodes it has in a graph, or about that.
    pub(super) fn steps(&self) -> usize {
        match self.module {
            Module::Launcher(_) => LAUNCHERS_STEPS,
            Module::Nothing => 1,
            Module::Cubin(_) => self.launches.iter().map(Ready::steps).sum(),
        }
    }

    /// Whether foreign code does the launching.
    pub(super) fn is_foreign(&self) -> bool {
        matches!(self.module, Module::Launcher(_))
    }
}
