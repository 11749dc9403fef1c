//! Where compilers in a subject's own process keep what they made: Triton, torch.compile and their kin each name their folder
//! by a variable. All are below one that belongs to the subject's file, the only one beside its scratch folder that its worker
//! can write to.

use std::process::Command;

use camino::Utf8Path;

/// A variable, and the folder's name.
const KEPT: [(&str, &str); 10] = [
    ("TRITON_CACHE_DIR", "triton"),
    ("TORCHINDUCTOR_CACHE_DIR", "inductor"),
    ("TORCH_EXTENSIONS_DIR", "extensions"),
    ("PYTORCH_KERNEL_CACHE_PATH", "torch"),
    ("CUDA_CACHE_PATH", "cuda"),
    ("CUPY_CACHE_DIR", "cupy"),
    ("NUMBA_CACHE_DIR", "numba"),
    ("TILELANG_CACHE_DIR", "tilelang"),
    ("DG_JIT_CACHE_DIR", "deep_gemm"),
    ("FLASHINFER_WORKSPACE_BASE", "flashinfer"),
];

/// Has compilers keep everything below this folder.
pub(crate) fn keep_in(command: &mut Command, folder: &Utf8Path) {
    for (variable, name) in KEPT {
        command.env(variable, folder.join(name));
    }
}

/// Shows a process no device, so that it makes no context on one, and has NumPy start no threads, which nothing could be forked
/// beside. What torch.compile would make of a function is made by its first call.
pub(crate) fn without_devices(command: &mut Command) {
    command.env("CUDA_VISIBLE_DEVICES", "").env("TORCHDYNAMO_DISABLE", "1").env("OPENBLAS_NUM_THREADS", "1");
}

/// Has torch.compile compile in the subject's own process: others would end when the worker is tightened.
pub(crate) fn compile_alone(command: &mut Command) {
    command.env("TORCHINDUCTOR_COMPILE_THREADS", "1");
}
