//! Memory brought near before it is timed. The parent has just written it, so its lines lie in another processor's cache. In:
//! a stretch. Out: the same bytes, in this processor's caches as far as they fit: those that are written as its own, since
//! a first store to a line that is shared takes longer than the next.

/// Bytes of a cache line.
const LINE: usize = 64;

/// A stretch of memory.
pub(crate) struct Touched {
    pub(crate) start: *mut u8,
    pub(crate) bytes: usize,
    /// Whether it will be written.
    pub(crate) written: bool,
}

/// Reads a byte of every line, and writes it again where it will be written.
///
/// # Safety
/// The stretch is mapped, and nobody else writes to it meanwhile.
pub(crate) unsafe fn touch(part: &Touched) {
    for at in (0..part.bytes).step_by(LINE) {
        // SAFETY: within the stretch, as the caller promises.
        unsafe {
            let byte = part.start.add(at);
            let value = byte.read_volatile();
            if part.written {
                byte.write_volatile(value);
            }
        }
    }
    if part.bytes > 0 {
        // The last line, where the stretch does not begin with one. SAFETY: as above.
        let _ = unsafe { part.start.add(part.bytes - 1).read_volatile() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_as_they_are() {
        let mut memory: Vec<u8> = (0..1000).map(|i| i as u8).collect();
        let before = memory.clone();
        for (bytes, written) in [(1000, true), (1000, false), (0, true), (1, true), (65, true)] {
            // SAFETY: the stretch is this vector's.
            unsafe { touch(&Touched { start: memory.as_mut_ptr(), bytes, written }) };
            assert_eq!(memory, before);
        }
    }
}
