//! Memory between two compilations. The compiler takes some tens of megabytes and gives them back; the system then clears every
//! page again for the next compilation, which takes a tenth of its time. So the process keeps what it was given, up to a bound.

/// Bytes that are kept.
#[cfg(target_env = "gnu")]
const KEPT: libc::c_int = 256 << 20;
/// Pieces from this size on are given back at once all the same; the most the C library takes.
#[cfg(target_env = "gnu")]
const LARGE: libc::c_int = 32 << 20;

/// Has the C library keep freed memory. Where it has no such setting, compiling only takes longer.
pub(super) fn keep() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets two numbers of the allocator's, before any other thread is there.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}
