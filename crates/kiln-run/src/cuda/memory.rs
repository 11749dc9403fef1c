//! Shared memory and its mirrors on the device. In: a shared file, and how many sets of arguments are wanted; or mirrors that
//! another process lends. Out: its mapping and a mirror of the same length for each set, kept for the next time it comes.
//! Refuses when the device has no room.

use std::ffi::c_void;
use std::os::unix::fs::MetadataExt;

use cudarc::driver::sys::{self, CUdeviceptr, CUresult};
use memmap2::MmapRaw;

use super::buffer::{self, Buffer};
use super::context::Context;
use super::driver::{Trouble, check};
use super::recent::Recent;
use crate::memory::arena::MOST_ALIGNMENT;
use crate::memory::handle::Handle;
use crate::protocol::Lent;

/// Arenas kept mapped: a few however large they are, and more as long as all but the current one stay within so many bytes.
const FEW: usize = 8;
const MANY: usize = 64;
const BYTES: usize = 4 << 30;

/// Device, inode and length: as long as a file is mapped, no other has them.
type Key = (u64, u64, u64);

/// Sets begin at odd multiples of this from each other: arguments keep their alignment, and those of neighbouring sets do
/// not fall into the same lines of a cache.
const STEP: usize = MOST_ALIGNMENT;

/// A shared file, mapped, with its mirrors.
pub(super) struct Shared {
    /// None where another process has the file, and lends the mirrors.
    map: Option<MmapRaw>,
    length: usize,
    registered: bool,
    /// All sets, one behind the other.
    mirror: Buffer,
    pub(super) sets: u32,
}

impl Shared {
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// What another process needs to map the mirrors.
    pub(super) fn lend(&self) -> Result<Lent, Trouble> {
        let (handle, offset) = self.mirror.lend()?;
        Ok(Lent { handle, offset, bytes: self.length, stride: self.stride() })
    }

    /// Whether another process has the file.
    pub(super) fn is_lent(&self) -> bool {
        self.map.is_none()
    }

    fn host(&self) -> Result<&MmapRaw, Trouble> {
        self.map.as_ref().ok_or_else(|| "this memory is lent, and fetched by its keeper".into())
    }

    /// Bytes from one set to the next.
    pub(super) fn stride(&self) -> usize {
        stride(self.len())
    }

    /// The address of a byte of a set.
    pub(super) fn at(&self, set: u32, offset: usize) -> CUdeviceptr {
        self.mirror.at(set as usize * self.stride() + offset)
    }

    /// Bytes as they are now; the range was checked before. Zeros where the memory is lent.
    pub(super) fn bytes(&self, offset: usize, bytes: usize) -> Vec<u8> {
        let mut copy = vec![0; bytes];
        if let (Some(map), true) = (&self.map, offset.checked_add(bytes).is_some_and(|end| end <= self.len())) {
            // SAFETY: the range lies within the mapping, which others may write but only as plain bytes.
            unsafe { std::ptr::copy_nonoverlapping(map.as_ptr().add(offset), copy.as_mut_ptr(), bytes) };
        }
        copy
    }

    /// Overwrites bytes; the range was checked before. Nothing where the memory is lent.
    pub(super) fn put(&self, offset: usize, bytes: &[u8]) {
        if let (Some(map), true) = (&self.map, offset.checked_add(bytes.len()).is_some_and(|end| end <= self.len())) {
            // SAFETY: the range lies within the mapping, which others may write but only as plain bytes.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), map.as_mut_ptr().add(offset), bytes.len()) };
        }
    }

    /// Copies all of it to the device.
    pub(super) fn send(&self, to: &Buffer, context: &Context) -> Result<(), Trouble> {
        let from: *const c_void = self.host()?.as_ptr().cast();
        let bytes = self.len().min(to.len());
        // SAFETY: the mapping is that long and stays until the copy has ended, which is waited for.
        check("cuMemcpyHtoDAsync", unsafe { sys::cuMemcpyHtoDAsync_v2(to.at(0), from, bytes, context.stream) })?;
        context.synchronise()
    }

    /// Copies stretches of a set here; all of it when none are named.
    pub(super) fn fetch(&self, set: u32, parts: &[(usize, usize)], context: &Context) -> Result<(), Trouble> {
        if set >= self.sets {
            return Err(format!("set {set} is wanted, there are {}", self.sets).into());
        }
        let (whole, host) = ([(0, self.len())], self.host()?);
        for (start, end) in if parts.is_empty() { &whole } else { parts } {
            if start > end || *end > self.len() {
                return Err(format!("bytes {start} to {end} are wanted, there are {}", self.len()).into());
            }
            let from = self.at(set, *start);
            // SAFETY: mapping and mirror hold the stretch; the mapping stays until the copy has ended, which is waited for.
            let copied = unsafe {
                let to: *mut c_void = host.as_mut_ptr().add(*start).cast();
                sys::cuMemcpyDtoHAsync_v2(to, from, end - start, context.stream)
            };
            check("cuMemcpyDtoHAsync", copied)?;
        }
        context.synchronise()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let (Some(map), true) = (&self.map, self.registered) {
            // SAFETY: it was registered under this address and is still mapped.
            let _ = unsafe { sys::cuMemHostUnregister(map.as_mut_ptr().cast()) };
        }
    }
}

/// Every arena that is mapped.
#[derive(Default)]
pub(super) struct Arenas {
    kept: Recent<Key, Shared>,
    current: Option<Key>,
}

impl Arenas {
    /// Makes this file the current one, with so many sets; in another place than before where that is wanted.
    pub(super) fn open(
        &mut self,
        arena: &Handle,
        sets: u32,
        elsewhere: bool,
        context: &Context,
    ) -> Result<(), Trouble> {
        let words = |e: std::io::Error| format!("mapping shared memory: {e}");
        let file = arena.file()?;
        let about = file.metadata().map_err(words)?;
        let key = (about.dev(), about.ino(), about.len());
        self.current = None;
        if self.kept.touch(&key).is_none() {
            let map = MmapRaw::map_raw(file).map_err(words)?;
            let mirror = self.mirror(map.len(), sets, context)?;
            let address: *mut c_void = map.as_mut_ptr().cast();
            // Copies are faster from registered memory; where that is not allowed they work all the same.
            // SAFETY: the mapping is that long, and is unregistered before it goes.
            let registered = unsafe { sys::cuMemHostRegister_v2(address, map.len(), 0) } == CUresult::CUDA_SUCCESS;
            let most = BYTES.min(context.memory / 10).saturating_add(mirror.len());
            let length = map.len();
            self.kept.insert(key, Shared { map: Some(map), length, registered, mirror, sets });
            while exceeds(self.kept.values().map(|shared| shared.mirror.len()), most) {
                self.kept.drop_oldest();
            }
        } else if elsewhere || self.kept.latest().is_some_and(|shared| shared.mirror.len() < room(shared.len(), sets)) {
            // Before the old one is given back, so that it cannot be the same memory again.
            let mirror = self.mirror(key.2 as usize, sets, context)?;
            match self.kept.latest() {
                Some(shared) => (shared.mirror, shared.sets) = (mirror, sets),
                // It had to make room itself.
                None => {
                    drop(mirror);
                    return self.open(arena, sets, false, context);
                }
            }
        } else if let Some(shared) = self.kept.latest() {
            shared.sets = sets;
        }
        self.current = Some(key);
        Ok(())
    }

    /// Makes mirrors that another process lends the current ones. There are never any others beside them: their keeper may
    /// move what is not in use.
    pub(super) fn borrow(&mut self, lent: &Lent, sets: u32) -> Result<(), Trouble> {
        self.release();
        let mirror = Buffer::borrowed(lent, room(lent.bytes, sets))?;
        if lent.stride != stride(lent.bytes) {
            return Err("cuIpcOpenMemHandle: its sets lie otherwise".into());
        }
        let key = (0, 0, lent.bytes as u64);
        self.kept.insert(key, Shared { map: None, length: lent.bytes, registered: false, mirror, sets });
        self.current = Some(key);
        Ok(())
    }

    /// Lets go of mirrors that were lent.
    pub(super) fn release(&mut self) {
        self.current = None;
        self.kept.retain(|(_, number, _)| *number != 0);
    }

    /// Lets go of files that nobody uses any more.
    pub(super) fn close(&mut self, gone: &[u64]) {
        self.kept.retain(|(_, number, _)| !gone.contains(number));
    }

    /// Memory for mirrors, zeroed; other arenas make room where there is none.
    fn mirror(&mut self, length: usize, sets: u32, context: &Context) -> Result<Buffer, Trouble> {
        let mirror = loop {
            match Buffer::scattered(room(length, sets)) {
                Err(trouble) if trouble.full && self.kept.drop_oldest() => {}
                other => break other?,
            }
        };
        buffer::zero(mirror.at(0), mirror.len(), context.stream)?;
        context.synchronise()?;
        Ok(mirror)
    }

    /// The arena mapped last.
    pub(super) fn current(&self) -> Result<&Shared, Trouble> {
        let found = self.current.as_ref().and_then(|key| self.kept.peek(key));
        found.ok_or_else(|| "no memory is mapped".into())
    }
}

/// Bytes from one set of so many bytes to the next.
fn stride(length: usize) -> usize {
    (length.div_ceil(STEP) | 1).saturating_mul(STEP)
}

/// Bytes of so many sets.
fn room(length: usize, sets: u32) -> usize {
    stride(length).saturating_mul(sets.max(1) as usize)
}

/// Whether those that are kept are too many.
fn exceeds(kept: impl ExactSizeIterator<Item = usize>, most: usize) -> bool {
    let count = kept.len();
    count > MANY || (count > FEW && kept.sum::<usize>() > most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_keep_their_alignment_and_do_not_fall_together() {
        for length in [1, STEP, STEP + 1, 1 << 20, (1 << 20) + 64, 12_345_678] {
            let stride = stride(length);
            assert!(stride >= length && stride < length + 2 * STEP + 1, "{length}");
            assert!(stride.is_multiple_of(STEP) && (stride / STEP) % 2 == 1, "{length}");
            assert_eq!(room(length, 3), 3 * stride);
        }
        assert_eq!(room(usize::MAX / 2, 64), usize::MAX);
    }

    #[test]
    fn a_few_are_kept_however_large_and_many_small_ones() {
        assert!(!exceeds([100; FEW].into_iter(), 10));
        assert!(exceeds([100; FEW + 1].into_iter(), 10));
        assert!(!exceeds([1; FEW + 2].into_iter(), 10) && exceeds([1; FEW + 3].into_iter(), 10));
        assert!(exceeds([0; MANY + 1].into_iter(), 10));
    }
}
