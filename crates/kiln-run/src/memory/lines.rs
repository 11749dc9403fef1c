//! Cache lines pushed out of all caches. In: bytes that this process has mapped. Out: the same bytes in memory alone, in no
//! processor's cache, whoever else has them mapped. Whoever reads them next waits for memory. Where the processor has no
//! such instruction nothing happens.

/// Bytes of a cache line, at least.
const LINE: usize = 64;

/// Pushes them out.
pub fn flush_lines(bytes: &[u8]) {
    let before = bytes.as_ptr().addr() % LINE;
    // From the start of the first line on.
    for at in (0..bytes.len() + before).step_by(LINE) {
        let inside = at.saturating_sub(before).min(bytes.len().saturating_sub(1));
        if let Some(byte) = bytes.get(inside) {
            flush(std::ptr::from_ref(byte));
        }
    }
    fence();
}

#[cfg(target_arch = "x86_64")]
fn flush(byte: *const u8) {
    // SAFETY: every processor of this architecture has the instruction; it changes no byte, and the address is mapped.
    unsafe { std::arch::x86_64::_mm_clflush(byte) };
}

#[cfg(target_arch = "x86_64")]
fn fence() {
    // SAFETY: every processor of this architecture has the instruction, which touches no memory.
    unsafe { std::arch::x86_64::_mm_mfence() };
}

#[cfg(target_arch = "aarch64")]
fn flush(byte: *const u8) {
    // SAFETY: Linux lets programs clean and drop lines by address; it changes no byte, and the address is mapped.
    unsafe { std::arch::asm!("dc civac, {0}", in(reg) byte, options(nostack, preserves_flags)) };
}

#[cfg(target_arch = "aarch64")]
fn fence() {
    // SAFETY: a barrier, which touches no memory.
    unsafe { std::arch::asm!("dsb sy", options(nostack, preserves_flags)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn flush(_byte: *const u8) {}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn fence() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_as_they_are() {
        let memory: Vec<u8> = (0..1000).map(|i| i as u8).collect();
        for (from, to) in [(0, 1000), (1, 2), (63, 65), (500, 500), (999, 1000)] {
            flush_lines(&memory[from..to]);
        }
        assert!(memory.iter().enumerate().all(|(i, byte)| *byte == i as u8));
    }
}
