//! From a path to a kernel that can be run: the file is read, what is meant is selected, the GPU is found and kept, the
//! environment is looked at.

mod below;
mod config;
mod devices;
pub(crate) mod environment;
mod load;
mod open;
mod runnable;
mod selecting;

pub(crate) use below::kernels_below;
pub(crate) use config::complete;
pub(crate) use devices::{lock, others, split};
pub use load::KernelFile;
pub(crate) use load::read_bounded;
pub(crate) use open::{Opened, folder, kernel, packages, surroundings};
pub(crate) use runnable::{for_this_gpu, runnable, this_arch, this_card};
pub(crate) use selecting::FEWEST_SAMPLES;
pub use selecting::{Measuring, Selecting};
