//! Elements that do not lie one after another. In: a slot and its bytes. Out: the elements in row-major order, and back.
//! A slot without padding is passed through as it is.

use std::borrow::Cow;

use crate::described::signature::Slot;
use crate::right::tensor::Tensor;

/// The offset of each element, in elements, in row-major order.
pub(crate) fn offsets(slot: &Slot) -> impl Iterator<Item = usize> + '_ {
    let mut at = vec![0; slot.shape.len()];
    let mut offset = 0;
    (0..slot.elements()).map(move |_| {
        let here = offset;
        for i in (0..at.len()).rev() {
            at[i] += 1;
            offset += slot.strides[i];
            if at[i] < slot.shape[i] {
                break;
            }
            offset -= at[i] * slot.strides[i];
            at[i] = 0;
        }
        here
    })
}

/// The elements, one after another.
pub fn gather<'a>(slot: &Slot, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    if slot.is_packed() {
        return Cow::Borrowed(bytes);
    }
    let size = slot.dtype.bytes() as usize;
    let mut packed = Vec::with_capacity(slot.elements() * size);
    offsets(slot).for_each(|at| packed.extend_from_slice(&bytes[at * size..][..size]));
    Cow::Owned(packed)
}

/// Puts elements where they belong; padding is left as it is.
pub fn scatter(slot: &Slot, packed: &[u8], bytes: &mut [u8]) {
    if slot.is_packed() {
        return bytes.copy_from_slice(packed);
    }
    let size = slot.dtype.bytes() as usize;
    for (at, element) in offsets(slot).zip(packed.chunks_exact(size)) {
        bytes[at * size..][..size].copy_from_slice(element);
    }
}

/// The numbers that memory holds once they are there: elements that share a place have one value, the last one put there.
pub(crate) fn settle(slot: &Slot, tensor: &mut Tensor) {
    if slot.is_packed() || !overlap(slot) {
        return;
    }
    let mut bytes = vec![0; slot.bytes()];
    scatter(slot, &tensor.bytes(slot.dtype), &mut bytes);
    *tensor = Tensor::read(slot.dtype, &slot.shape, &gather(slot, &bytes));
}

/// Whether two elements lie in the same place: no stride may fit inside the reach of the smaller ones.
pub(crate) fn overlap(slot: &Slot) -> bool {
    let mut dims: Vec<(usize, usize)> =
        slot.strides.iter().copied().zip(slot.shape.iter().copied()).filter(|(_, size)| *size > 1).collect();
    dims.sort_unstable();
    let mut reach = 0;
    for (stride, size) in dims {
        if stride <= reach {
            return true;
        }
        reach += stride * (size - 1);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_spec::{Dtype, Init, Role};
    use proptest::prelude::*;

    fn slot(shape: Vec<usize>, strides: Vec<usize>) -> Slot {
        let (name, layout) = (String::new(), None);
        let (role, dtype, init, scalar, alignment) = (Role::Out, Dtype::U16, Init::Normal, None, 2);
        Slot { shape, strides, init, scalar, alignment, layout, ..Slot::packed(&name, role, dtype, &[]) }
    }

    proptest! {
        #[test]
        fn what_is_scattered_is_gathered_again(a in 1usize..5, b in 1usize..5, pad in 0usize..4, turned: bool) {
            let strides = if turned { vec![1, a + pad] } else { vec![b + pad, 1] };
            let slot = slot(vec![a, b], strides);
            prop_assert!(!overlap(&slot));
            let packed: Vec<u8> = (0..2 * slot.elements()).map(|i| i as u8).collect();
            let mut bytes = vec![0xEE; slot.bytes()];
            scatter(&slot, &packed, &mut bytes);
            prop_assert_eq!(&*gather(&slot, &bytes), &packed[..]);
            let padding = bytes.len() - packed.len();
            prop_assert!(bytes.iter().filter(|b| **b == 0xEE).count() >= padding);
        }
    }

    #[test]
    fn elements_that_share_a_place_have_one_value() {
        let numbers = |shape: &[usize]| {
            let count: usize = shape.iter().product();
            Tensor::new(shape, (0..count).map(|i| i as f64).collect())
        };
        let mut one = numbers(&[4]);
        settle(&slot(vec![4], vec![0]), &mut one);
        assert_eq!(one.data, [3.0; 4]);
        // A sliding window: each row begins one element after the one before.
        let mut window = numbers(&[3, 3]);
        settle(&slot(vec![3, 3], vec![1, 1]), &mut window);
        assert_eq!(window.data, [0.0, 3.0, 6.0, 3.0, 6.0, 7.0, 6.0, 7.0, 8.0]);
        let mut apart = numbers(&[2, 2]);
        settle(&slot(vec![2, 2], vec![3, 1]), &mut apart);
        assert_eq!(apart, numbers(&[2, 2]));
    }

    #[test]
    fn overlap_is_seen() {
        assert!(overlap(&slot(vec![4, 4], vec![3, 1])));
        assert!(overlap(&slot(vec![2, 2], vec![0, 1])));
        assert!(!overlap(&slot(vec![1, 4], vec![0, 1])));
    }
}
