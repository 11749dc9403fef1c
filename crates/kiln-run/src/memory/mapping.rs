//! Shared memory in a worker's address space, with holes. In: an open file and stretches that must not be touched. Out: one
//! range of addresses in which every byte of the file has its place, but for those stretches: reading or writing there ends
//! the process at once, and says with which buffer it was too far. Refuses stretches that are not whole pages.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

/// Pages are there from the start where the system can do that: the first touch of each would take longer than a short call.
#[cfg(target_os = "linux")]
const POPULATE: i32 = libc::MAP_POPULATE;
#[cfg(not(target_os = "linux"))]
const POPULATE: i32 = 0;

/// A mapped file.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: *mut u8,
    length: usize,
}

impl Mapping {
    /// Maps all of a file but its holes, which are sorted.
    pub(crate) fn new(file: &File, holes: &[(usize, usize)]) -> io::Result<Mapping> {
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        // SAFETY: asks for addresses nobody has, and for no memory.
        let start = unsafe {
            libc::mmap(ptr::null_mut(), length.max(1), libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapping = Mapping { start: start.cast(), length };
        let mut from = 0;
        for (hole, end) in holes.iter().copied().chain([(length, length)]) {
            if hole < from || end < hole || end > length {
                return Err(io::Error::other(format!("a hole from {hole} to {end} in {length} bytes")));
            }
            mapping.map(file, from, hole)?;
            from = end;
        }
        Ok(mapping)
    }

    /// Puts a stretch of the file in its place.
    fn map(&self, file: &File, from: usize, to: usize) -> io::Result<()> {
        if from == to {
            return Ok(());
        }
        let offset = libc::off_t::try_from(from).map_err(io::Error::other)?;
        // SAFETY: the addresses are within the range reserved above, which is ours alone; the system refuses a stretch that
        // does not begin at a page.
        let mapped = unsafe {
            libc::mmap(
                self.start.add(from).cast(),
                to - from,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_FIXED | POPULATE,
                file.as_raw_fd(),
                offset,
            )
        };
        if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Where its first byte is.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the whole range was reserved by `new` and is given back only here.
        unsafe { libc::munmap(self.start.cast(), self.length.max(1)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_around_a_hole_are_those_of_the_file() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(3 * 4096).unwrap();
        let mapping = Mapping::new(&file, &[(4096, 8192)]).unwrap();
        assert_eq!(mapping.len(), 3 * 4096);
        // SAFETY: both bytes lie outside the hole.
        unsafe {
            mapping.start().add(4095).write(7);
            mapping.start().add(8192).write(9);
        }
        let mut read = [0; 3 * 4096];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut read, 0).unwrap();
        assert_eq!((read[4095], read[8192]), (7, 9));
        assert!(Mapping::new(&file, &[(8192, 4096)]).is_err());
        assert!(Mapping::new(&file, &[(4096, 4 * 4096)]).is_err());
        assert!(Mapping::new(&file, &[(0, 100)]).is_err(), "not whole pages");
    }
}
