//! Shared memory for buffers: one file without a name, mapped by parent and worker. It vanishes with the last process that
//! has it open, however that process ends. Its size is sealed where the system can: a candidate that cut it short would
//! kill every process that reads beyond.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Weak};

use kiln_core::Fault;
use memmap2::MmapMut;

use crate::memory::handle::Handle;

/// Every region begins at a multiple of this, as vector loads and cache lines like it.
pub const ALIGNMENT: usize = 64;
/// The most that can be asked for: mapped memory begins at a page.
pub const MOST_ALIGNMENT: usize = 4096;
/// Bytes around every region that nobody may write.
const GUARD: usize = 4096;

/// A part of an arena.
pub type Region = Range<usize>;

/// Bytes of a page of memory, as the system maps it.
pub fn page() -> usize {
    // SAFETY: asks for a number.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096).max(4096)
}

/// Shared memory with room for regions and guards between them.
#[derive(Debug)]
pub struct Arena {
    file: Arc<File>,
    map: MmapMut,
    number: u64,
    sealed: bool,
    life: Arc<()>,
}

impl Arena {
    /// An arena with a region of each of these sizes, zeroed; and where they lie.
    pub fn new(sizes: &[usize]) -> Result<(Arena, Vec<Region>), Fault> {
        let regions = Arena::plan(&sizes.iter().map(|size| (*size, ALIGNMENT)).collect::<Vec<_>>());
        Ok((Arena::over(&regions)?, regions))
    }

    /// Where regions of these sizes and alignments (powers of two, up to [`MOST_ALIGNMENT`]) lie.
    pub fn plan(wanted: &[(usize, usize)]) -> Vec<Region> {
        let mut regions = Vec::with_capacity(wanted.len());
        let mut end = GUARD;
        for (size, alignment) in wanted {
            let start = end.next_multiple_of(ALIGNMENT.max(*alignment));
            regions.push(start..start + size);
            end = start + size + GUARD;
        }
        regions
    }

    /// Bytes that planned regions take, guards included.
    pub fn end(regions: &[Region]) -> usize {
        regions.last().map_or(GUARD, |last| last.end + GUARD)
    }

    /// An arena for regions that were planned, zeroed.
    pub fn over(regions: &[Region]) -> Result<Arena, Fault> {
        let end = Arena::end(regions);
        let fault = |e: io::Error| Fault::new(format!("making {end} bytes of shared memory"), e);
        let (file, sealed) = shared_file(end as u64).map_err(fault)?;
        // SAFETY: the file has no name and this process made it; only a worker that is told to maps it too. Both treat
        // its contents as plain bytes, for which every value is valid, so a write by the other side cannot break a
        // guarantee of the language beyond the bytes being unexpected, which is what the judge looks for.
        let map = unsafe { MmapMut::map_mut(&file) }.map_err(fault)?;
        let number = file.metadata().map_err(fault)?.ino();
        Ok(Arena { file: Arc::new(file), map, number, sealed, life: Arc::new(()) })
    }

    /// The file's number: no other has it while anybody has this one mapped.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether nobody can change its size; then it also takes no room in a folder of shared memory.
    pub fn is_sealed(&self) -> bool {
        self.sealed
    }

    /// Something that lasts as long as this does. A worker that keeps it mapped keeps its memory, too.
    pub fn life(&self) -> Weak<()> {
        Arc::downgrade(&self.life)
    }

    /// What a worker is handed to map it.
    pub fn handle(&self) -> Handle {
        Handle::of(Arc::clone(&self.file))
    }

    /// All bytes, guards included.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// All bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.map
    }
}

/// A sealed file in memory where the system has such files, else a nameless one in memory or in the temporary folder; and
/// whether it is sealed.
fn shared_file(length: u64) -> io::Result<(File, bool)> {
    #[cfg(target_os = "linux")]
    if let Ok(file) = sealed_file(length) {
        return Ok((file, true));
    }
    let file = tempfile::tempfile_in("/dev/shm").or_else(|_| tempfile::tempfile())?;
    file.set_len(length)?;
    Ok((file, false))
}

/// A file in memory that stays as long as it is now.
#[cfg(target_os = "linux")]
fn sealed_file(length: u64) -> io::Result<File> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Systems that insist on the flag are new enough to know it.
    let file = memfd_create("kiln", flags | MemfdFlags::NOEXEC_SEAL).or_else(|_| memfd_create("kiln", flags))?;
    let file = File::from(file);
    file.set_len(length)?;
    // The last one: nobody may add a seal of their own, such as one against writing.
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn nobody_can_cut_an_arena_short() {
        let (arena, _) = Arena::new(&[1 << 16]).unwrap();
        assert!(arena.is_sealed());
        let length = arena.file.metadata().unwrap().len();
        for wrong in [0, length - 1, length + 1] {
            assert_eq!(arena.file.set_len(wrong).unwrap_err().raw_os_error(), Some(libc::EPERM));
        }
        assert_eq!(arena.bytes().len() as u64, length);
    }
}
