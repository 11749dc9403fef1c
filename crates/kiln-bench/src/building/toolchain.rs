//! Which CUDA compiler a kernel is built with. In: what the file says. Out: NVRTC for device code where there is one, since
//! it takes a tenth of the time; nvcc for host code, where the file asks for it, and where there is nothing else.

use camino::Utf8Path;
use kiln_build::{Nvcc, Nvrtc, Toolchain};
use kiln_core::Fault;
use kiln_spec::{CudaCompiler, Selection};

/// The compiler for a cuda target, the same for all implementations that compete: nvcc where one of them needs it. `program` is the kiln binary, which runs NVRTC in a process of its own.
pub fn cuda_toolchain(selection: &Selection<'_>, program: &Utf8Path) -> Result<Toolchain, Fault> {
    let nvcc = || Nvcc::find().map(Toolchain::Nvcc);
    let nvrtc = || Nvrtc::find(program).map(Toolchain::Nvrtc);
    let any = |compiler| selection.implementations.iter().any(|one| one.compile.compiler == Some(compiler));
    if selection.implementations.iter().any(|one| one.host) || any(CudaCompiler::Nvcc) {
        return nvcc();
    }
    if any(CudaCompiler::Nvrtc) { nvrtc() } else { nvrtc().or_else(|missing| nvcc().map_err(|_| missing)) }
}
