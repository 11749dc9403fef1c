//! Small blocks torn off one piece of memory. In: the program's requests for memory, once [`Pad::open`] was called. Out:
//! small blocks from the piece, one behind the other, until it is used up; all others, and all before, from the system.
//! A command that works for a tenth of a millisecond asks for hundreds of small blocks, and finding each a place costs
//! more than filling it; it ends before taking any back would pay. What is torn off stays so: at most [`SIZE`] bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::memory::prefault::populate;

/// The whole piece.
const SIZE: usize = 128 << 10;
/// Larger blocks are the system's, which can use them again.
const LARGEST: usize = 1 << 10;
/// Where a pad stands that was never opened. All of a closed pad is zero, so that the program's file need not hold it.
const CLOSED: usize = 0;
/// Every block begins at a multiple of this, as the system's do.
const ALIGN: usize = 16;

/// The program's allocator.
#[repr(align(4096))]
pub struct Pad {
    piece: UnsafeCell<[u8; SIZE]>,
    /// Where the next block begins, the first at [`ALIGN`].
    next: AtomicUsize,
}

// SAFETY: no two threads get the same block, since `next` only grows, in one atomic step for each.
unsafe impl Sync for Pad {}

impl Pad {
    /// A pad that leaves everything to the system.
    pub const fn closed() -> Pad {
        Pad { piece: UnsafeCell::new([0; SIZE]), next: AtomicUsize::new(CLOSED) }
    }

    /// Serves small blocks from now on; opening it again changes nothing.
    pub fn open(&self) {
        populate(self.start().addr(), SIZE);
        // Never back to the start: those blocks are in use.
        let _ = self.next.compare_exchange(CLOSED, ALIGN, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn start(&self) -> *mut u8 {
        self.piece.get().cast()
    }

    /// The next block; none when the request is not small, or the pad is closed or used up.
    #[inline]
    fn tear(&self, layout: Layout) -> Option<*mut u8> {
        let is_open = (ALIGN..SIZE).contains(&self.next.load(Ordering::Relaxed));
        if layout.size() > LARGEST || layout.align() > ALIGN || !is_open {
            return None;
        }
        let size = layout.size().next_multiple_of(ALIGN);
        let at = self.next.fetch_add(size, Ordering::Relaxed);
        // SAFETY: the block lies within the piece.
        (at + size <= SIZE).then(|| unsafe { self.start().add(at) })
    }

    fn is_own(&self, block: *mut u8) -> bool {
        block.addr().wrapping_sub(self.start().addr()) < SIZE
    }
}

// SAFETY: blocks are as large and as aligned as asked for, never handed out twice, and go back to where they came from.
unsafe impl GlobalAlloc for Pad {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise about the layout is passed on.
        self.tear(layout).unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // What the pad has not handed out is still zero.
        // SAFETY: the caller's promise about the layout is passed on.
        self.tear(layout).unwrap_or_else(|| unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !self.is_own(block) {
            // SAFETY: a block that is not the pad's is the system's, and of this layout.
            unsafe { System.dealloc(block, layout) }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.is_own(block) {
            // SAFETY: a block that is not the pad's is the system's, and of this layout.
            return unsafe { System.realloc(block, layout, size) };
        }
        // SAFETY: the caller promises a size that fits this alignment.
        let resized = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: as promised by the caller.
        let moved = unsafe { self.alloc(resized) };
        if !moved.is_null() {
            // SAFETY: two different blocks, each at least as long as what is copied.
            unsafe { ptr::copy_nonoverlapping(block, moved, layout.size().min(size)) };
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of so many bytes, each set to `fill`, with its layout.
    fn block(pad: &Pad, size: usize, fill: u8) -> (*mut u8, Layout) {
        let layout = Layout::from_size_align(size, 8).unwrap();
        // SAFETY: the size is not zero, and the block is written within its length.
        unsafe {
            let block = pad.alloc(layout);
            assert!(!block.is_null() && block.addr().is_multiple_of(ALIGN));
            block.write_bytes(fill, size);
            (block, layout)
        }
    }

    fn bytes(block: *mut u8, len: usize) -> Vec<u8> {
        // SAFETY: every block here was written as far as it is read.
        unsafe { std::slice::from_raw_parts(block, len) }.to_vec()
    }

    #[test]
    fn small_blocks_come_from_an_open_pad_until_it_is_used_up() {
        static PAD: Pad = Pad::closed();
        let (before, layout) = block(&PAD, 24, 1);
        assert!(!PAD.is_own(before));
        PAD.open();
        // SAFETY: the block came from the same allocator with this layout.
        unsafe { PAD.dealloc(before, layout) };
        let (large, layout) = block(&PAD, LARGEST + 1, 2);
        assert!(!PAD.is_own(large));
        // SAFETY: as above.
        unsafe { PAD.dealloc(large, layout) };

        let blocks: Vec<_> = (0..SIZE / 1000).map(|i| block(&PAD, 1000, i as u8).0).collect();
        let own = blocks.iter().filter(|b| PAD.is_own(**b)).count();
        assert_eq!(own, (SIZE - ALIGN) / 1008, "as many as fit, in steps of 16 bytes");
        PAD.open();
        assert!(!PAD.is_own(block(&PAD, 1000, 0xff).0), "an opened pad does not begin anew");
        for (i, block) in blocks.iter().enumerate() {
            assert!(bytes(*block, 1000).iter().all(|b| *b == i as u8), "block {i} was handed out twice");
        }
    }

    #[test]
    fn a_block_keeps_its_bytes_when_it_grows_out_of_the_pad() {
        static PAD: Pad = Pad::closed();
        PAD.open();
        let (small, layout) = block(&PAD, 100, 7);
        // SAFETY: the block and its layout are the pad's; the new one is given back with its own layout.
        unsafe {
            let grown = PAD.realloc(small, layout, 2 * LARGEST);
            assert!(PAD.is_own(small) && !PAD.is_own(grown));
            assert_eq!(bytes(grown, 100), vec![7; 100]);
            PAD.dealloc(grown, Layout::from_size_align(2 * LARGEST, 8).unwrap());
            let zeroed = PAD.alloc_zeroed(layout);
            assert!(PAD.is_own(zeroed));
            assert_eq!(bytes(zeroed, 100), vec![0; 100]);
        }
    }
}
