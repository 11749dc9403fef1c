//! A stop sign on the stream. A sample's events and calls are put behind it, and the device begins with them when the last
//! one is there: otherwise a device that is faster than the host that feeds it would be timed waiting. In: a stream. Out:
//! whatever is enqueued waits until the sign is taken away. Where the device has no such sign, nothing waits.

use std::ffi::c_void;
use std::ptr;

use cudarc::driver::sys::{self, CUdeviceptr, CUstream, CUstreamWaitValue_flags};

use super::driver::{Trouble, check};

/// A word of pinned memory that both sides see.
pub(super) struct Hold {
    word: *mut u32,
    address: CUdeviceptr,
}

impl Hold {
    /// Makes the word; none where the device cannot wait for one.
    pub(super) fn new(stream: CUstream) -> Option<Hold> {
        let mut word: *mut c_void = ptr::null_mut();
        // SAFETY: fills in one pointer to memory that is kept until the process ends.
        check("cuMemHostAlloc", unsafe {
            sys::cuMemHostAlloc(&mut word, size_of::<u32>(), sys::CU_MEMHOSTALLOC_DEVICEMAP)
        })
        .ok()?;
        let mut address = 0;
        // SAFETY: the memory was just made for both sides; fills in one number.
        check("cuMemHostGetDevicePointer", unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, word, 0) }).ok()?;
        let hold = Hold { word: word.cast(), address };
        // Tried once, with the sign already away.
        hold.set(1);
        hold.wait(stream).ok()?;
        Some(hold)
    }

    /// What is enqueued from here on waits for [`Hold::release`].
    pub(super) fn begin(&self, stream: CUstream) -> Result<(), Trouble> {
        self.set(0);
        self.wait(stream)
    }

    /// Lets the device go on.
    pub(super) fn release(&self) {
        self.set(1);
    }

    fn set(&self, value: u32) {
        // SAFETY: the word is ours, aligned and never freed; the device only reads it.
        unsafe { self.word.write_volatile(value) };
    }

    fn wait(&self, stream: CUstream) -> Result<(), Trouble> {
        let flags = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ as u32;
        // SAFETY: the address is the word's on the device, which is never freed.
        check("cuStreamWaitValue32", unsafe { sys::cuStreamWaitValue32_v2(stream, self.address, 1, flags) })
    }
}
