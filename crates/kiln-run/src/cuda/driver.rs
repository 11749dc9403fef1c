//! What the CUDA driver says. In: the name of a call and the code it gave back. Out: nothing, or a [`Trouble`] that begins
//! with the call's name. Also asks whether there is a driver at all, and one that knows every call made here.

use std::ffi::CStr;

use cudarc::driver::sys::{self, CUresult};

use crate::protocol::{About, Failed};

/// Something could not be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The call and what the driver said of it, or what was wrong with the question.
    pub(super) failed: Failed,
    /// Whether every later call in this process fails too.
    pub(super) sticky: bool,
    /// Whether there was too little memory on the device.
    pub(super) full: bool,
}

impl From<String> for Trouble {
    fn from(words: String) -> Trouble {
        Failed::from(words).into()
    }
}

impl From<Failed> for Trouble {
    fn from(failed: Failed) -> Trouble {
        Trouble { failed, sticky: false, full: false }
    }
}

impl From<&str> for Trouble {
    fn from(words: &str) -> Trouble {
        words.to_string().into()
    }
}

/// Beginnings of the calls whose failure is about loading or launching a kernel, not about what runs.
const LAUNCHING: [&str; 5] = ["cuLaunch", "cuFunc", "cuModule", "cuTensorMap", "cuOccupancy"];

/// Calls that a driver may be too old to have. The bindings panic on a missing one, so they are asked for first.
const YOUNG: [&str; 9] = [
    "cuEventElapsedTime_v2",
    "cuFuncGetName",
    "cuFuncGetParamInfo",
    "cuGraphInstantiateWithFlags",
    "cuGraphKernelNodeGetParams_v2",
    "cuGraphUpload",
    "cuKernelGetName",
    "cuLaunchKernelEx",
    "cuTensorMapEncodeTiled",
];

/// Whether there is a driver that knows every call made here.
pub(super) fn present() -> Result<(), Trouble> {
    // SAFETY: loads the driver's library, whose initialisers may be run at any time, and closes it again.
    if !unsafe { sys::is_culib_present() } {
        return Err("no CUDA driver here: libcuda.so.1 was not found".into());
    }
    // SAFETY: the library was found a moment ago; it is loaded for good.
    let library = unsafe { sys::culib() };
    for name in YOUNG {
        // SAFETY: only the symbol's presence is asked; it is never called through this type.
        if unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_err() {
            return Err(format!("the CUDA driver here is too old: it has no {name}, which came with CUDA 12.8").into());
        }
    }
    Ok(())
}

/// Tells a profiler around this process to begin or to end. Without one nothing happens.
pub(super) fn watch(on: bool) -> Result<(), Trouble> {
    let call = if on { "cuProfilerStart" } else { "cuProfilerStop" };
    // SAFETY: both take no memory of ours, and a context is current.
    check(call, unsafe { if on { sys::cuProfilerStart() } else { sys::cuProfilerStop() } })
}

/// The outcome of a driver call.
pub(super) fn check(call: &str, code: CUresult) -> Result<(), Trouble> {
    if code == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let at_launch = LAUNCHING.iter().any(|prefix| call.starts_with(prefix));
    let about = if at_launch { About::Launch } else { About::Running };
    let failed = Failed { about, words: format!("{call}: {}", said(code)) };
    Err(Trouble { failed, sticky: is_sticky(code), full: code == CUresult::CUDA_ERROR_OUT_OF_MEMORY })
}

/// The outcome of a launch. What earlier work did wrong may come to light here, and is not the launch's fault.
pub(super) fn check_launch(call: &str, kernel: &str, code: CUresult) -> Result<(), Trouble> {
    check(if is_sticky(code) { "cuCtxSynchronize" } else { call }, code).map_err(|mut trouble| {
        trouble.failed.words = format!("{} in `{kernel}`", trouble.failed.words);
        trouble
    })
}

/// The code's name, and the driver's words for it where it has any.
fn said(code: CUresult) -> String {
    let mut text = std::ptr::null();
    // SAFETY: the driver points `text` at a constant string, or leaves it null for a code it does not know.
    let told = unsafe { sys::cuGetErrorString(code, &mut text) } == CUresult::CUDA_SUCCESS && !text.is_null();
    if !told {
        return format!("{code:?}");
    }
    // SAFETY: not null, and a constant that ends with a null byte.
    format!("{code:?} ({})", unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

/// Whether the context is lost with it.
fn is_sticky(code: CUresult) -> bool {
    matches!(
        code,
        CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
            | CUresult::CUDA_ERROR_CONTAINED
            | CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUresult::CUDA_ERROR_ASSERT
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_TENSOR_MEMORY_LEAK
            | CUresult::CUDA_ERROR_UNKNOWN
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_loses_the_context_is_told_from_what_can_be_tried_again() {
        for code in [CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, CUresult::CUDA_ERROR_ASSERT] {
            assert!(is_sticky(code), "{code:?}");
        }
        for code in [
            CUresult::CUDA_ERROR_INVALID_VALUE,
            CUresult::CUDA_ERROR_OUT_OF_MEMORY,
            CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
            CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
            CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
            CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
        ] {
            assert!(!is_sticky(code), "{code:?}");
        }
        assert_eq!(check("cuInit", CUresult::CUDA_SUCCESS), Ok(()));
    }

    #[test]
    fn a_missing_driver_is_said_and_not_panicked_about() {
        // Where there is one, it is either new enough or said to be too old.
        if let Err(trouble) = present() {
            assert!(trouble.failed.words.contains("CUDA driver here"), "{}", trouble.failed.words);
        }
    }
}
