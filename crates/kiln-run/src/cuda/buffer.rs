//! Memory on the device. In: a length, or what another process lends. Out: a [`Buffer`] that begins at a page, as shared
//! memory does, so that offsets keep their alignment; it is given back when dropped. Refuses when there is not that much,
//! and what was lent by nobody.

use std::hash::{BuildHasher, RandomState};

use cudarc::driver::sys::{self, CUdeviceptr, CUipcMem_flags, CUipcMemHandle, CUstream};

use super::driver::{Trouble, check};
use crate::memory::arena::MOST_ALIGNMENT;
use crate::protocol::Lent;

pub(super) struct Buffer {
    /// Where the driver's piece begins, and whether it is another process's.
    allocated: CUdeviceptr,
    borrowed: bool,
    begin: CUdeviceptr,
    length: usize,
}

/// What is lent is lent in whole blocks of the driver's: memory of this size shares its blocks with no other.
const BLOCK: usize = 2 << 20;

/// How far apart two places of the same memory may lie.
const SCATTER: usize = 2 << 20;

impl Buffer {
    pub(super) fn new(length: usize) -> Result<Buffer, Trouble> {
        Buffer::shifted(length, 0, 1)
    }

    /// Memory of exactly this length, with nothing before it: what lies outside is nobody's.
    pub(super) fn exact(length: usize) -> Result<Buffer, Trouble> {
        let mut allocated = 0;
        // SAFETY: fills in one address; the memory is freed once, when this is dropped.
        check("cuMemAlloc", unsafe { sys::cuMemAlloc_v2(&mut allocated, length.max(1)) })?;
        Ok(Buffer { allocated, borrowed: false, begin: allocated, length })
    }

    /// Memory that begins at another page each time. The driver gives the same place again and again, and where memory
    /// lies shifts the times of short kernels by some per cent: that shall be noise, not bias.
    pub(super) fn scattered(length: usize) -> Result<Buffer, Trouble> {
        let pages = (SCATTER / MOST_ALIGNMENT) as u64;
        let page = RandomState::new().hash_one(length) % pages;
        // Such memory may be lent.
        Buffer::shifted(length, page as usize * MOST_ALIGNMENT, BLOCK)
    }

    /// What another process lends, `length` bytes of it.
    pub(super) fn borrowed(lent: &Lent, length: usize) -> Result<Buffer, Trouble> {
        let mut handle = CUipcMemHandle { reserved: [0; 64] };
        if lent.handle.len() != 2 * handle.reserved.len() {
            return Err("cuIpcOpenMemHandle: this is no handle".into());
        }
        for (at, byte) in handle.reserved.iter_mut().enumerate() {
            let digits = lent.handle.get(2 * at..2 * at + 2);
            let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            *byte = value.ok_or("cuIpcOpenMemHandle: this is no handle")? as _;
        }
        let flags = CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
        let mut allocated = 0;
        // SAFETY: fills in one address; the memory is closed once, when this is dropped.
        check("cuIpcOpenMemHandle", unsafe { sys::cuIpcOpenMemHandle_v2(&mut allocated, handle, flags) })?;
        Ok(Buffer { allocated, borrowed: true, begin: allocated + lent.offset as u64, length })
    }

    /// What another process needs to map it: the driver's handle in hex, and where in it this begins.
    pub(super) fn lend(&self) -> Result<(String, usize), Trouble> {
        let mut handle = CUipcMemHandle { reserved: [0; 64] };
        // SAFETY: fills in one handle for memory that this owns.
        check("cuIpcGetMemHandle", unsafe { sys::cuIpcGetMemHandle(&mut handle, self.allocated) })?;
        let hex = handle.reserved.iter().map(|byte| format!("{:02x}", *byte as u8)).collect();
        Ok((hex, (self.begin - self.allocated) as usize))
    }

    /// Memory that begins so far behind the start of the driver's piece, which is made of whole blocks of that size.
    fn shifted(length: usize, shift: usize, block: usize) -> Result<Buffer, Trouble> {
        let words = |why: &str| format!("cuMemAlloc: {length} bytes: {why}");
        let room = shift.checked_add(MOST_ALIGNMENT).and_then(|room| length.checked_add(room));
        let room = room.and_then(|room| room.checked_next_multiple_of(block));
        let wanted = room.ok_or_else(|| words("more than there is"))?;
        let mut allocated = 0;
        // SAFETY: fills in one address; the memory is freed once, when this is dropped.
        check("cuMemAlloc", unsafe { sys::cuMemAlloc_v2(&mut allocated, wanted) }).map_err(|mut trouble| {
            trouble.failed.words = words(trouble.failed.words.trim_start_matches("cuMemAlloc: "));
            trouble
        })?;
        let begin = allocated.next_multiple_of(MOST_ALIGNMENT as u64) + shift as u64;
        Ok(Buffer { allocated, borrowed: false, begin, length })
    }

    /// Refuses a stretch that reaches beyond the memory it is said to lie in.
    pub(super) fn holds(&self) -> Result<(), Trouble> {
        let (mut begin, mut length) = (0, 0);
        // SAFETY: fills in two numbers about memory that is mapped.
        let code = unsafe { sys::cuMemGetAddressRange_v2(&mut begin, &mut length, self.allocated) };
        check("cuMemGetAddressRange", code)?;
        let from = self.begin.checked_sub(begin).map(|from| from as usize);
        match from.and_then(|from| from.checked_add(self.length)) {
            Some(end) if end <= length => Ok(()),
            _ => Err("cuMemGetAddressRange: it reaches beyond the memory it is said to lie in".into()),
        }
    }

    /// The address of a byte.
    pub(super) fn at(&self, offset: usize) -> CUdeviceptr {
        self.begin + offset as u64
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Overwrites all of it with a word.
    pub(super) fn fill(&self, word: u32, stream: CUstream) -> Result<(), Trouble> {
        // SAFETY: whole words within memory that this owns; the driver refuses what is not the device's.
        check("cuMemsetD32Async", unsafe { sys::cuMemsetD32Async(self.begin, word, self.length / 4, stream) })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // An error here is that of earlier work, and comes to light with the next call.
        let _ = match self.borrowed {
            // SAFETY: opened by `borrowed` and closed only here; its users have been waited for.
            true => unsafe { sys::cuIpcCloseMemHandle(self.allocated) },
            // SAFETY: allocated by `new` and freed only here; freeing waits for work that uses it.
            false => unsafe { sys::cuMemFree_v2(self.allocated) },
        };
    }
}

/// Overwrites bytes of the device with zeros.
pub(super) fn zero(to: CUdeviceptr, bytes: usize, stream: CUstream) -> Result<(), Trouble> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: no memory of this process; the driver refuses what is not the device's.
    check("cuMemsetD8Async", unsafe { sys::cuMemsetD8Async(to, 0, bytes, stream) })
}

/// Copies inside the device. The ranges must not overlap.
pub(super) fn copy(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream) -> Result<(), Trouble> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: no memory of this process; the driver refuses what is not the device's.
    check("cuMemcpyDtoDAsync", unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream) })
}

/// Copies from the device and waits for it.
pub(super) fn read(from: CUdeviceptr, bytes: usize) -> Result<Vec<u8>, Trouble> {
    let mut to = vec![0; bytes];
    if bytes > 0 {
        // SAFETY: the vector is that long and outlives the copy, which has ended when the call returns.
        check("cuMemcpyDtoH", unsafe { sys::cuMemcpyDtoH_v2(to.as_mut_ptr().cast(), from, bytes) })?;
    }
    Ok(to)
}

/// Copies to the device and waits for it.
pub(super) fn write(to: CUdeviceptr, bytes: &[u8]) -> Result<(), Trouble> {
    if bytes.is_empty() {
        return Ok(());
    }
    // SAFETY: the slice is that long; the driver has read it when the call returns.
    check("cuMemcpyHtoD", unsafe { sys::cuMemcpyHtoD_v2(to, bytes.as_ptr().cast(), bytes.len()) })
}
