//! Which CUDA compiler a kernel is built with. In: what the file says. Out: NVRTC for device code where there is one, since
//! it takes a tenth of the time; nvcc for host code, where the file asks for it, and where there is nothing else.

use camino::Utf8Path;
use kiln_build::{Nvcc, Nvrtc, Toolchain};
use kiln_core::Fault;
use kiln_spec::{CudaCompiler, Target};

/// The compiler for a cuda target; `program` is the kiln binary, which runs NVRTC in a process of its own.
pub fn cuda_toolchain(target: &Target, program: &Utf8Path) -> Result<Toolchain, Fault> {
    let nvcc = || Nvcc::find().map(Toolchain::Nvcc);
    match target.compile.compiler {
        Some(CudaCompiler::Nvcc) => nvcc(),
        _ if target.host => nvcc(),
        Some(CudaCompiler::Nvrtc) => Nvrtc::find(program).map(Toolchain::Nvrtc),
        None => Nvrtc::find(program).map(Toolchain::Nvrtc).or_else(|missing| nvcc().map_err(|_| missing)),
    }
}
