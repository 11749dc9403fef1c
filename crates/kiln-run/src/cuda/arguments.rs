//! What is passed to kernels and host launchers. In: the slots, where the mirror begins, the scalars' bytes. Out: pointers
//! in the order of the slots: for a kernel to each argument's value, for a host launcher the device pointer of a tensor
//! itself and the address of anything passed by value. Refuses a tensor map of a tensor that is not there.

use std::ffi::c_void;

use cudarc::driver::sys::{CUdeviceptr, CUtensorMap};

use super::driver::Trouble;
use super::tensormap;
use crate::protocol::MappedSlot;

/// What a kernel gets where a shape has no descriptor.
const NO_MAP: CUtensorMap = CUtensorMap { opaque: [0; 16] };

/// One argument, where the driver can read it.
enum Argument {
    /// The address of a tensor.
    Tensor(CUdeviceptr),
    /// A number: its bytes, aligned for any type and with some to spare, and how many count.
    Scalar(Vec<u128>, usize),
    /// A TMA descriptor, which must lie at a multiple of 64.
    Map(Box<CUtensorMap>),
    /// A variable of the module: nothing is passed.
    Constant,
}

/// The arguments of a call.
pub(super) struct Arguments {
    list: Vec<Argument>,
}

impl Arguments {
    /// The arguments of these slots, with tensors in a mirror that begins at `base`.
    pub(super) fn of(
        slots: &[MappedSlot],
        base: CUdeviceptr,
        scalar: impl Fn(&MappedSlot) -> Vec<u8>,
    ) -> Result<Arguments, Trouble> {
        Arguments::placed(slots, |slot| base + slot.offset as u64, scalar)
    }

    /// The same with each tensor wherever it lies.
    pub(super) fn placed(
        slots: &[MappedSlot],
        place: impl Fn(&MappedSlot) -> CUdeviceptr,
        scalar: impl Fn(&MappedSlot) -> Vec<u8>,
    ) -> Result<Arguments, Trouble> {
        let mut list = Vec::with_capacity(slots.len());
        for slot in slots {
            list.push(match slot.role.as_str() {
                _ if slot.omitted => Argument::Constant,
                "scalar" => number(&scalar(slot)),
                "tensormap" => {
                    let (map, tensor) = described(slot, slots)?;
                    let none = map.tensormap.as_ref().is_some_and(|map| map.box_shape.is_empty());
                    let made = if none { NO_MAP } else { tensormap::encode(&map, place(tensor))? };
                    Argument::Map(Box::new(made))
                }
                "constant" => Argument::Constant,
                _ => Argument::Tensor(place(slot)),
            });
        }
        Ok(Arguments { list })
    }

    /// Other bytes for the scalars; whether any changed.
    pub(super) fn set_scalars(
        &mut self,
        slots: &[MappedSlot],
        scalar: impl Fn(&MappedSlot) -> Result<Vec<u8>, Trouble>,
    ) -> Result<bool, Trouble> {
        let mut changed = false;
        for (slot, argument) in slots.iter().zip(&mut self.list) {
            if let Argument::Scalar(held, _) = argument {
                let Argument::Scalar(words, bytes) = number(&scalar(slot)?) else { continue };
                changed |= *held != words;
                *argument = Argument::Scalar(words, bytes);
            }
        }
        Ok(changed)
    }

    /// The bytes of each argument that is passed to a kernel.
    pub(super) fn sizes(&self) -> impl Iterator<Item = usize> {
        self.list.iter().filter_map(|argument| match argument {
            Argument::Tensor(_) => Some(size_of::<CUdeviceptr>()),
            Argument::Scalar(_, bytes) => Some(*bytes),
            Argument::Map(_) => Some(size_of::<CUtensorMap>()),
            Argument::Constant => None,
        })
    }

    /// A pointer to the value of each, as kernels are given them. Good until the arguments change.
    pub(super) fn for_kernel(&mut self) -> Vec<*mut c_void> {
        let pointer = |argument: &mut Argument| match argument {
            Argument::Tensor(address) => Some(std::ptr::from_mut(address).cast()),
            Argument::Scalar(words, _) => Some(words.as_mut_ptr().cast()),
            Argument::Map(map) => Some(std::ptr::from_mut::<CUtensorMap>(map).cast()),
            Argument::Constant => None,
        };
        self.list.iter_mut().filter_map(pointer).collect()
    }

    /// Tensors' own addresses, and pointers to what is passed by value. Good until the arguments change.
    pub(super) fn for_launcher(&mut self) -> Vec<*mut c_void> {
        let pointer = |argument: &mut Argument| match argument {
            Argument::Tensor(address) => Some(*address as *mut c_void),
            Argument::Scalar(words, _) => Some(words.as_mut_ptr().cast()),
            Argument::Map(map) => Some(std::ptr::from_mut::<CUtensorMap>(map).cast()),
            Argument::Constant => None,
        };
        self.list.iter_mut().filter_map(pointer).collect()
    }
}

fn number(bytes: &[u8]) -> Argument {
    let word = |chunk: &[u8]| {
        let mut word = [0; 16];
        word[..chunk.len()].copy_from_slice(chunk);
        u128::from_ne_bytes(word)
    };
    let mut words: Vec<u128> = bytes.chunks(16).map(word).collect();
    words.push(0);
    Argument::Scalar(words, bytes.len())
}

/// A tensor map with type, shape and strides of what it describes, and the slot of that. Only the tensor itself says whether
/// its rows are padded.
fn described<'a>(slot: &MappedSlot, slots: &'a [MappedSlot]) -> Result<(MappedSlot, &'a MappedSlot), Trouble> {
    let name = slot.tensormap.as_ref().map_or("", |map| map.tensor.as_str());
    let passed_by_value = |role: &str| matches!(role, "scalar" | "tensormap");
    let found = slots.iter().find(|other| other.name == name && !passed_by_value(&other.role));
    let tensor =
        found.ok_or_else(|| format!("cuTensorMapEncodeTiled: `{}`: there is no tensor `{name}`", slot.name))?;
    let MappedSlot { dtype, shape, strides, .. } = tensor.clone();
    Ok((MappedSlot { dtype, shape, strides, ..slot.clone() }, tensor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::TensorMap;

    fn slot(name: &str, role: &str, offset: usize, bytes: usize) -> MappedSlot {
        MappedSlot { name: name.into(), role: role.into(), offset, bytes, ..MappedSlot::default() }
    }

    #[test]
    fn tensors_are_addresses_and_scalars_are_values() {
        let slots = [slot("x", "in", 0x40, 400), slot("n", "scalar", 0x400, 8), slot("y", "out", 0x1000, 400)];
        let bytes = |_: &MappedSlot| 1234_i64.to_ne_bytes().to_vec();
        let mut arguments = Arguments::of(&slots, 0x7000_0000, bytes).unwrap();
        assert_eq!(arguments.sizes().collect::<Vec<_>>(), [8, 8, 8]);
        let kernel = arguments.for_kernel();
        // SAFETY: each points to a value of eight bytes in the arguments, which live on.
        let values: Vec<u64> = kernel.iter().map(|p| unsafe { *p.cast::<u64>() }).collect();
        assert_eq!(values, [0x7000_0040, 1234, 0x7000_1000]);
        let launcher = arguments.for_launcher();
        assert_eq!((launcher[0] as usize, launcher[2] as usize), (0x7000_0040, 0x7000_1000));
        // SAFETY: points to the scalar's bytes in the arguments, which live on.
        assert_eq!(unsafe { *launcher[1].cast::<i64>() }, 1234);
    }

    #[test]
    fn constants_are_not_passed() {
        let slots = [slot("x", "in", 0, 4), slot("filter", "constant", 64, 36), slot("n", "scalar", 128, 4)];
        let mut arguments = Arguments::of(&slots, 0x7000_0000, |_| 9_i32.to_ne_bytes().to_vec()).unwrap();
        assert_eq!(arguments.sizes().collect::<Vec<_>>(), [8, 4]);
        assert_eq!((arguments.for_kernel().len(), arguments.for_launcher().len()), (2, 2));
        // SAFETY: points to the scalar's bytes in the arguments, which live on.
        assert_eq!(unsafe { *arguments.for_kernel()[1].cast::<i32>() }, 9);
        let ten = |_: &MappedSlot| Ok(10_i32.to_ne_bytes().to_vec());
        assert_eq!(arguments.set_scalars(&slots, ten), Ok(true));
    }

    #[test]
    fn scalars_follow_the_image() {
        let slots = [slot("x", "in", 0, 4), slot("s", "scalar", 64, 4)];
        let mut arguments = Arguments::of(&slots, 0, |_| 1.5_f32.to_ne_bytes().to_vec()).unwrap();
        assert_eq!(arguments.sizes().collect::<Vec<_>>(), [8, 4]);
        let to = |value: f32| move |_: &MappedSlot| Ok(value.to_ne_bytes().to_vec());
        assert_eq!(arguments.set_scalars(&slots, to(1.5)), Ok(false));
        assert_eq!(arguments.set_scalars(&slots, to(2.5)), Ok(true));
        // SAFETY: points to the scalar's bytes in the arguments, which live on.
        assert_eq!(unsafe { *arguments.for_kernel()[1].cast::<f32>() }, 2.5);
        assert_eq!(arguments.set_scalars(&slots, |_| Err("gone".into())), Err("gone".into()));
    }

    #[test]
    fn values_lie_where_any_type_may_lie() {
        let slots = [slot("a", "scalar", 0, 1), slot("b", "scalar", 1, 20)];
        let mut arguments = Arguments::of(&slots, 0, |slot| vec![7; slot.bytes]).unwrap();
        assert_eq!(arguments.sizes().collect::<Vec<_>>(), [1, 20]);
        assert!(arguments.for_kernel().iter().all(|p| (*p as usize).is_multiple_of(16)));
        assert!(size_of::<CUtensorMap>() == 128 && align_of::<CUtensorMap>().is_multiple_of(64));
    }

    #[test]
    fn a_map_has_the_strides_of_its_tensor() {
        let mut map = slot("m", "tensormap", 0, 0);
        map.tensormap = Some(TensorMap { tensor: "x".into(), box_shape: vec![8, 32], ..TensorMap::default() });
        map.shape = vec![77, 203];
        let padded = MappedSlot {
            dtype: "f32".into(),
            shape: vec![77, 203],
            strides: Some(vec![208, 1]),
            ..slot("x", "in", 4096, 64_060)
        };
        let slots = [map, padded];
        let (made, tensor) = described(&slots[0], &slots).unwrap();
        assert_eq!((tensor.offset, made.name.as_str(), made.dtype.as_str()), (4096, "m", "f32"));
        assert_eq!((made.shape, made.strides), (vec![77, 203], Some(vec![208, 1])));
        assert_eq!(made.tensormap, slots[0].tensormap);
    }

    #[test]
    fn without_a_box_a_kernel_gets_zeros_for_a_map() {
        let mut map = slot("m", "tensormap", 0, 0);
        map.tensormap = Some(TensorMap { tensor: "x".into(), ..TensorMap::default() });
        // Rows of 203 floats could not be described.
        let odd = MappedSlot { dtype: "f32".into(), shape: vec![77, 203], ..slot("x", "in", 4096, 62_524) };
        let mut arguments = Arguments::of(&[map, odd], 0, |_| vec![]).unwrap();
        assert_eq!(arguments.sizes().collect::<Vec<_>>(), [128, 8]);
        // SAFETY: points to the descriptor in the arguments, which live on.
        assert_eq!(unsafe { *arguments.for_kernel()[0].cast::<[u64; 16]>() }, [0; 16]);
    }

    #[test]
    fn a_map_of_nothing_is_said() {
        let mut map = slot("m", "tensormap", 0, 0);
        map.tensormap = Some(TensorMap { tensor: "gone".into(), ..TensorMap::default() });
        let words = Arguments::of(&[map], 0, |_| vec![]).err().map(|trouble| trouble.failed.words);
        assert_eq!(words.as_deref(), Some("cuTensorMapEncodeTiled: `m`: there is no tensor `gone`"));
    }
}
