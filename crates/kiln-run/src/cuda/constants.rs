//! Variables of a cubin that are set before calls: `__constant__` memory. In: the cubin, the slots. Out: where each lies.
//! Refuses a variable that is not there, and one that is smaller than what it shall hold.

use cudarc::driver::sys::CUdeviceptr;

use super::driver::Trouble;
use super::module::Cubin;
use crate::protocol::MappedSlot;

/// A variable, and where in a set lies what it shall hold.
pub(super) struct Constant {
    pub(super) address: CUdeviceptr,
    pub(super) offset: usize,
    pub(super) bytes: usize,
}

/// The constants among the slots.
pub(super) fn find(cubin: &Cubin, slots: &[MappedSlot]) -> Result<Vec<Constant>, Trouble> {
    let one = |slot: &MappedSlot| {
        let symbol = slot.symbol.as_deref().unwrap_or(&slot.name);
        let (address, held) = cubin.variable(symbol)?;
        holds(slot, symbol, held)?;
        Ok(Constant { address, offset: slot.offset, bytes: slot.bytes })
    };
    slots.iter().filter(|slot| slot.role == "constant" && !slot.omitted).map(one).collect()
}

/// A variable may be larger than what this workload needs of it.
fn holds(slot: &MappedSlot, symbol: &str, held: usize) -> Result<(), Trouble> {
    if slot.bytes > held {
        let (name, given) = (&slot.name, slot.bytes);
        return Err(format!("cuModuleGetGlobal: `{symbol}` holds {held} bytes, `{name}` has {given}").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_must_hold_all_of_it() {
        let slot = MappedSlot { name: "filter".into(), bytes: 36, ..MappedSlot::default() };
        assert!(holds(&slot, "d_filter", 36).is_ok() && holds(&slot, "d_filter", 4356).is_ok());
        let words = holds(&slot, "d_filter", 32).err().map(|trouble| trouble.failed.words);
        assert_eq!(words.as_deref(), Some("cuModuleGetGlobal: `d_filter` holds 32 bytes, `filter` has 36"));
    }
}
