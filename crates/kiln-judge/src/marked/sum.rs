//! Outputs of which only the sum is right or wrong: sums of blocks, whose number and shares are the configuration's choice. In:
//! the bytes of such an output. Out: one number in their place, in a type that holds it.

use kiln_spec::Dtype;

use crate::described::signature::Slot;
use crate::drawn::element::{decode, encode, is_float};
use crate::drawn::whole;

/// The sum of an output's elements, as an output of one.
pub(crate) fn summed(slot: &Slot, bytes: &[u8]) -> (Slot, Vec<u8>) {
    let (dtype, sum) = match is_float(slot.dtype) {
        true => (Dtype::F64, encode(Dtype::F64, &[decode(slot.dtype, bytes).iter().sum()])),
        false => {
            let sum: i128 = whole::read(slot.dtype, bytes).iter().sum();
            // What does not fit is wrong: the reference's has to.
            let sum = sum.clamp(i64::MIN.into(), i64::MAX.into());
            (Dtype::I64, whole::write(Dtype::I64, &[sum]))
        }
    };
    (Slot { summed: true, ..Slot::packed(&slot.name, slot.role, dtype, &[1]) }, sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_spec::Role;

    #[test]
    fn sums_are_of_a_type_that_holds_them() {
        let half = Slot::packed("y", Role::Out, Dtype::F16, &[3]);
        let (slot, bytes) = summed(&half, &encode(Dtype::F16, &[60000.0, 60000.0, 0.5]));
        assert_eq!(
            (slot.dtype, slot.shape.as_slice(), decode(slot.dtype, &bytes)),
            (Dtype::F64, &[1][..], vec![120000.5])
        );
        let byte = Slot::packed("y", Role::Out, Dtype::I8, &[3]);
        let (slot, bytes) = summed(&byte, &[127, 127, 0xff]);
        assert_eq!((slot.dtype, whole::read(slot.dtype, &bytes)), (Dtype::I64, vec![253]));
    }
}
