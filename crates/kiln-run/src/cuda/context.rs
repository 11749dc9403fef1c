//! The device and this process's work queue on it: device 0 of those that are visible, in its primary context, which the
//! CUDA runtime inside host launchers uses too. In: nothing. Out: a [`Context`]; refuses without a driver or a device.

use std::ffi::c_int;

use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute, CUevent, CUevent_flags, CUstream, CUstream_flags,
    CUstreamCaptureStatus,
};

use super::driver::{Trouble, check, present};
use super::hold::Hold;

/// A device that is ready. It stays so until the process ends.
pub(super) struct Context {
    pub(super) device: CUdevice,
    context: CUcontext,
    /// What is launched and copied goes here. It waits for the legacy default stream and that waits for it, so that work
    /// a host launcher puts there by mistake is within the time that is taken here.
    pub(super) stream: CUstream,
    pub(super) start: CUevent,
    pub(super) stop: CUevent,
    /// Keeps a sample together, where the device can wait.
    pub(super) hold: Option<Hold>,
    /// Bytes of memory.
    pub(super) memory: usize,
    /// Bytes of the second-level cache.
    pub(super) l2: usize,
    /// Bytes of shared memory a block may ask for.
    pub(super) shared: u32,
}

impl Context {
    pub(super) fn open() -> Result<Context, Trouble> {
        present()?;
        // SAFETY: takes no memory.
        check("cuInit", unsafe { sys::cuInit(0) })?;
        let mut device = 0;
        // SAFETY: fills in one number.
        check("cuDeviceGet", unsafe { sys::cuDeviceGet(&mut device, 0) })?;
        let mut context = std::ptr::null_mut();
        // SAFETY: fills in one handle; the context is kept until the process ends.
        check("cuDevicePrimaryCtxRetain", unsafe { sys::cuDevicePrimaryCtxRetain(&mut context, device) })?;
        // SAFETY: the handle was just given out.
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(context) })?;
        let mut memory = 0;
        // SAFETY: fills in one number.
        check("cuDeviceTotalMem", unsafe { sys::cuDeviceTotalMem_v2(&mut memory, device) })?;
        let l2 = attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as usize;
        let shared = attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let stream = stream()?;
        let hold = Hold::new(stream);
        Ok(Context { device, context, stream, start: event()?, stop: event()?, hold, memory, l2, shared })
    }

    /// Makes it this thread's, whatever foreign code has made of that meanwhile.
    pub(super) fn enter(&self) -> Result<(), Trouble> {
        // SAFETY: the context was retained and is never released.
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.context) })
    }

    /// Waits for everything that was begun, on all streams.
    pub(super) fn synchronise(&self) -> Result<(), Trouble> {
        // SAFETY: takes no memory.
        check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() })
    }

    /// Another stream where a capture that went wrong has left this one unusable.
    pub(super) fn renew_stream(&mut self) -> Result<(), Trouble> {
        let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: the stream is ours; fills in one number.
        check("cuStreamIsCapturing", unsafe { sys::cuStreamIsCapturing(self.stream, &mut status) })?;
        if status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE {
            self.stream = stream()?;
        }
        Ok(())
    }
}

fn stream() -> Result<CUstream, Trouble> {
    let mut stream = std::ptr::null_mut();
    let flags = CUstream_flags::CU_STREAM_DEFAULT as u32;
    // SAFETY: fills in one handle, kept until the process ends.
    check("cuStreamCreate", unsafe { sys::cuStreamCreate(&mut stream, flags) })?;
    Ok(stream)
}

fn event() -> Result<CUevent, Trouble> {
    let mut event = std::ptr::null_mut();
    let flags = CUevent_flags::CU_EVENT_DEFAULT as u32;
    // SAFETY: fills in one handle, kept until the process ends.
    check("cuEventCreate", unsafe { sys::cuEventCreate(&mut event, flags) })?;
    Ok(event)
}

/// A number about the device.
pub(super) fn attribute(device: CUdevice, attribute: CUdevice_attribute) -> Result<u32, Trouble> {
    let mut value: c_int = 0;
    // SAFETY: fills in one number.
    check("cuDeviceGetAttribute", unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, device) })?;
    u32::try_from(value).map_err(|e| format!("cuDeviceGetAttribute: {attribute:?} is {value}: {e}").into())
}
