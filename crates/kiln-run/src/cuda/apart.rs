//! Every argument in an allocation of its own, so that a tool around this process sees where each ends. In: the slots and the
//! shared memory that holds their bytes; mirrors and images have no part in it, so that nothing but the candidate's kernels
//! runs. Out: device memory of exactly their sizes, filled from there, and what a call left brought back. Refuses when the
//! device has no room, and memory that is lent.

use cudarc::driver::sys::CUdeviceptr;

use super::arguments::Arguments;
use super::buffer::{self, Buffer};
use super::driver::Trouble;
use super::memory::Shared;
use crate::protocol::MappedSlot;
use crate::serving::apart::place;

/// Arguments, copied; constants have a place of their own already.
pub(super) struct Apart<'a> {
    slots: &'a [MappedSlot],
    own: Vec<Option<Buffer>>,
}

impl<'a> Apart<'a> {
    /// Copies of the slots. With `blank`, memory that a call writes before it reads holds nothing.
    pub(super) fn new(slots: &'a [MappedSlot], shared: &Shared, blank: bool) -> Result<Apart<'a>, Trouble> {
        let mut own = Vec::with_capacity(slots.len());
        for slot in slots {
            if by_value(slot) {
                own.push(None);
                continue;
            }
            let memory = Buffer::exact(slot.bytes)?;
            place(&slot.name, memory.at(0), slot.bytes);
            if !(blank && is_blank(slot)) {
                buffer::write(memory.at(0), &shared.bytes(slot.offset, slot.bytes))?;
            }
            own.push(Some(memory));
        }
        Ok(Apart { slots, own })
    }

    /// Where what lies at an offset of the shared memory is; 0, which no memory is at, for what is not there.
    pub(super) fn at(&self, offset: usize) -> CUdeviceptr {
        let found = self.slots.iter().zip(&self.own).find(|(slot, own)| slot.offset == offset && own.is_some());
        found.and_then(|(_, own)| own.as_ref()).map_or(0, |memory| memory.at(0))
    }

    /// The arguments of a call on them.
    pub(super) fn arguments(&self, shared: &Shared) -> Result<Arguments, Trouble> {
        let scalar = |slot: &MappedSlot| shared.bytes(slot.offset, slot.bytes);
        Arguments::placed(self.slots, |slot| self.at(slot.offset), scalar)
    }

    /// Copies what a call left back. A tool that watches for memory that was never written looks at such copies.
    pub(super) fn bring_back(&self, shared: &Shared, blank: bool) -> Result<(), Trouble> {
        for (slot, own) in self.slots.iter().zip(&self.own) {
            let Some(memory) = own else { continue };
            if !(blank && slot.role == "scratch") {
                shared.put(slot.offset, &buffer::read(memory.at(0), slot.bytes)?);
            }
        }
        Ok(())
    }
}

fn by_value(slot: &MappedSlot) -> bool {
    matches!(slot.role.as_str(), "scalar" | "tensormap" | "constant")
}

/// Whether a call writes all of it before it reads any. Between rows that are padded there is what nobody writes.
fn is_blank(slot: &MappedSlot) -> bool {
    slot.role == "scratch" || (slot.role == "out" && slot.strides.is_none() && slot.part.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_written_whole_is_blank() {
        let slot = |role: &str, strides| MappedSlot { role: role.into(), strides, ..MappedSlot::default() };
        assert!(is_blank(&slot("out", None)) && is_blank(&slot("scratch", None)));
        assert!(
            !is_blank(&slot("out", Some(vec![8, 1])))
                && !is_blank(&slot("inout", None))
                && !is_blank(&slot("in", None))
        );
        assert!(by_value(&slot("scalar", None)) && !by_value(&slot("in", None)));
    }
}
