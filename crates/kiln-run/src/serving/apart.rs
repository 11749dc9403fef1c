//! Every argument in an allocation of its own. In: slots and the shared memory they lie in. Out: memory of the C allocator with
//! the same bytes, of exactly that size: an address sanitizer in this process then sees where each argument ends. Refuses when
//! there is no memory.

use std::ffi::c_void;

use crate::memory::arena::MOST_ALIGNMENT;
use crate::protocol::MappedSlot;

/// Arguments, copied.
pub(crate) struct Apart<'a> {
    slots: &'a [MappedSlot],
    /// The first byte of the shared memory.
    base: *mut u8,
    own: Vec<*mut c_void>,
}

impl<'a> Apart<'a> {
    /// Copies of these slots. They must lie within the memory that begins at `base`, which stays mapped.
    pub(crate) fn new(slots: &'a [MappedSlot], base: *mut u8) -> Result<Apart<'a>, String> {
        let mut apart = Apart { slots, base, own: Vec::with_capacity(slots.len()) };
        for slot in slots {
            let mut memory = std::ptr::null_mut();
            // SAFETY: fills in one pointer; the alignment is a power of two and a multiple of a pointer's size.
            let failed = unsafe { libc::posix_memalign(&mut memory, alignment(slot.offset), slot.bytes) };
            if failed != 0 {
                return Err(format!("`{}`: no memory for {} bytes", slot.name, slot.bytes));
            }
            apart.own.push(memory);
            place(&slot.name, memory as u64, slot.bytes);
            // SAFETY: both are that long, as was seen when memory was mapped, and do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(base.add(slot.offset), memory.cast(), slot.bytes) };
        }
        Ok(apart)
    }

    /// Where they lie, in order.
    pub(crate) fn pointers(&self) -> Vec<*mut c_void> {
        self.own.clone()
    }

    /// Copies all of them back.
    pub(crate) fn bring_back(&self) {
        for (slot, memory) in self.slots.iter().zip(&self.own) {
            // SAFETY: both are that long, as was seen when memory was mapped, and do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(memory.cast(), self.base.add(slot.offset), slot.bytes) };
        }
    }
}

impl Drop for Apart<'_> {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` and freed only here.
        self.own.iter().for_each(|memory| unsafe { libc::free(*memory) });
    }
}

/// The alignment that an argument at this offset has, in pages at most.
fn alignment(offset: usize) -> usize {
    let natural = 1 << offset.trailing_zeros().min(63);
    natural.clamp(size_of::<*mut c_void>(), MOST_ALIGNMENT)
}

/// Says where an argument lies, for whoever reads reports about addresses.
pub(crate) fn place(name: &str, address: u64, bytes: usize) {
    eprintln!("{} {name} {address:#x} {bytes}", crate::ARGUMENT_MARK);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_copied_there_and_back() {
        let slot = |offset, bytes| MappedSlot { name: "x".into(), offset, bytes, ..MappedSlot::default() };
        let slots = [slot(64, 3), slot(128, 0), slot(192, 8)];
        let mut memory: Vec<u8> = (0..200).collect();
        let apart = Apart::new(&slots, memory.as_mut_ptr()).unwrap();
        let pointers = apart.pointers();
        assert!(pointers.iter().zip(&slots).all(|(own, slot)| (*own as usize).is_multiple_of(alignment(slot.offset))));
        // SAFETY: the memory is that long.
        let own = unsafe { std::slice::from_raw_parts_mut(pointers[0].cast::<u8>(), 3) };
        assert_eq!(own, [64, 65, 66]);
        own[2] = 7;
        apart.bring_back();
        drop(apart);
        assert_eq!(memory[64..68], [64, 65, 7, 67]);
    }

    #[test]
    fn an_argument_keeps_the_alignment_it_had() {
        assert_eq!([0, 4, 64, 4096, 3 * 8192].map(alignment), [4096, 8, 64, 4096, 4096]);
    }
}
