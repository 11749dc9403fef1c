//! TMA descriptors. In: a `tensormap` slot, outermost dimension first as everything in kiln, and the tensor's address. Out:
//! the 128 bytes the hardware reads, made by the driver, which counts dimensions from the innermost. Refuses what cannot be
//! described: more than five dimensions, an innermost one with gaps, a box of other rank than the tensor.

use cudarc::driver::sys::{
    self, CUdeviceptr, CUtensorMap, CUtensorMapDataType, CUtensorMapFloatOOBfill, CUtensorMapInterleave,
    CUtensorMapL2promotion, CUtensorMapSwizzle,
};

use super::driver::{Trouble, check};
use crate::protocol::MappedSlot;

/// The driver's name for making one, with which every complaint begins.
const CALL: &str = "cuTensorMapEncodeTiled";
/// Dimensions a descriptor has at most.
const MOST_DIMENSIONS: usize = 5;

/// A descriptor in the driver's terms: innermost dimension first.
#[derive(Debug, PartialEq)]
struct Tiling {
    dtype: CUtensorMapDataType,
    shape: Vec<u64>,
    /// Bytes from one index to the next, for every dimension but the innermost.
    strides: Vec<u64>,
    box_shape: Vec<u32>,
    swizzle: CUtensorMapSwizzle,
    promotion: CUtensorMapL2promotion,
}

/// The descriptor that `slot` asks for, of a tensor at `address`.
pub(super) fn encode(slot: &MappedSlot, address: CUdeviceptr) -> Result<CUtensorMap, Trouble> {
    let named = |why: String| format!("{CALL}: `{}`: {why}", slot.name);
    let tiling = tiling(slot).map_err(named)?;
    let ones = [1; MOST_DIMENSIONS];
    let mut map = CUtensorMap { opaque: [0; 16] };
    // SAFETY: every list is as long as the rank says (strides one shorter, as the driver wants them) and outlives the
    // call, which fills in the descriptor. The address is only written into it.
    let code = unsafe {
        sys::cuTensorMapEncodeTiled(
            &mut map,
            tiling.dtype,
            tiling.shape.len() as u32,
            address as *mut _,
            tiling.shape.as_ptr(),
            tiling.strides.as_ptr(),
            tiling.box_shape.as_ptr(),
            ones.as_ptr(),
            CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            tiling.swizzle,
            tiling.promotion,
            CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    };
    check(CALL, code).map_err(|mut trouble| {
        trouble.failed.words = format!("{} for `{}`: {tiling:?}", trouble.failed.words, slot.name);
        trouble
    })?;
    Ok(map)
}

fn tiling(slot: &MappedSlot) -> Result<Tiling, String> {
    let map = slot.tensormap.as_ref().ok_or("nothing says what it describes")?;
    let rank = slot.shape.len();
    if rank == 0 || rank > MOST_DIMENSIONS {
        return Err(format!("{rank} dimensions, not 1 to {MOST_DIMENSIONS}"));
    }
    if map.box_shape.len() != rank {
        return Err(format!("a box of {} dimensions for a tensor of {rank}", map.box_shape.len()));
    }
    let (dtype, bytes) = element(&slot.dtype)?;
    let strides = slot.strides.clone().unwrap_or_else(|| packed(&slot.shape));
    if strides.len() != rank {
        return Err(format!("{} strides for a tensor of {rank} dimensions", strides.len()));
    }
    if strides.last() != Some(&1) {
        return Err(format!("the innermost stride is {:?}, not 1", strides.last()));
    }
    Ok(Tiling {
        dtype,
        shape: slot.shape.iter().rev().map(|n| *n as u64).collect(),
        strides: strides.iter().rev().skip(1).map(|n| (*n as u64).saturating_mul(bytes)).collect(),
        box_shape: map.box_shape.iter().rev().copied().collect(),
        swizzle: swizzle(&map.swizzle)?,
        promotion: promotion(&map.promotion)?,
    })
}

/// Elements from one index to the next where they lie one after another.
fn packed(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i].saturating_mul(shape[i]);
    }
    strides
}

/// The driver's name of a dtype, and its bytes. Eight bits are eight bits to a copy.
fn element(dtype: &str) -> Result<(CUtensorMapDataType, u64), String> {
    Ok(match dtype {
        "f64" => (CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8),
        "f32" => (CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4),
        "f16" => (CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2),
        "bf16" => (CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2),
        "i64" => (CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_INT64, 8),
        "i32" => (CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_INT32, 4),
        "u64" => (CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT64, 8),
        "u32" => (CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT32, 4),
        "u16" | "i16" => (CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT16, 2),
        "u8" | "i8" | "bool" | "f8e4m3" | "f8e5m2" => (CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT8, 1),
        other => return Err(format!("elements of `{other}` cannot be described")),
    })
}

fn swizzle(name: &str) -> Result<CUtensorMapSwizzle, String> {
    Ok(match name {
        "none" => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
        "32B" => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_32B,
        "64B" => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_64B,
        "128B" => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
        other => return Err(format!("swizzle `{other}`, not none, 32B, 64B or 128B")),
    })
}

fn promotion(name: &str) -> Result<CUtensorMapL2promotion, String> {
    Ok(match name {
        "none" => CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
        "64B" => CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
        "128B" => CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        "256B" => CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        other => return Err(format!("promotion `{other}`, not none, 64B, 128B or 256B")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::TensorMap;

    fn slot(dtype: &str, shape: &[usize], strides: Option<&[usize]>, box_shape: &[u32]) -> MappedSlot {
        let (swizzle, promotion) = ("128B".into(), "256B".into());
        let tensormap = TensorMap { tensor: "a".into(), box_shape: box_shape.to_vec(), swizzle, promotion };
        MappedSlot {
            name: "a_map".into(),
            dtype: dtype.into(),
            shape: shape.to_vec(),
            strides: strides.map(<[usize]>::to_vec),
            role: "tensormap".into(),
            tensormap: Some(tensormap),
            ..MappedSlot::default()
        }
    }

    #[test]
    fn the_innermost_dimension_comes_first_for_the_driver() {
        let made = tiling(&slot("bf16", &[3, 128, 64], None, &[1, 16, 32])).unwrap();
        assert_eq!(made.shape, [64, 128, 3]);
        // Bytes to the next row, then to the next matrix.
        assert_eq!(made.strides, [64 * 2, 128 * 64 * 2]);
        assert_eq!(made.box_shape, [32, 16, 1]);
        assert_eq!(made.dtype, CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
        assert_eq!(made.swizzle, CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B);
        assert_eq!(made.promotion, CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    }

    #[test]
    fn strides_of_padded_rows_are_taken_as_given() {
        let made = tiling(&slot("f32", &[8, 100], Some(&[128, 1]), &[8, 32])).unwrap();
        assert_eq!((made.shape, made.strides), (vec![100, 8], vec![512]));
        let row = tiling(&slot("u8", &[4096], None, &[256])).unwrap();
        assert_eq!((row.shape, row.strides, row.box_shape), (vec![4096], vec![], vec![256]));
    }

    #[test]
    fn what_cannot_be_described_is_said() {
        let why = |slot: MappedSlot| tiling(&slot).unwrap_err();
        assert!(why(slot("f32", &[2; 6], None, &[1; 6])).contains("6 dimensions"));
        assert!(why(slot("f32", &[], None, &[])).contains("0 dimensions"));
        assert!(why(slot("f32", &[4, 4], None, &[4])).contains("box of 1"));
        assert!(why(slot("f32", &[4, 4], Some(&[1, 4]), &[4, 4])).contains("innermost"));
        assert!(why(slot("f32", &[4, 4], Some(&[1]), &[4, 4])).contains("1 strides"));
        assert!(why(slot("c64", &[4, 4], None, &[4, 4])).contains("`c64`"));
        let mut odd = slot("f32", &[4, 4], None, &[4, 4]);
        if let Some(map) = &mut odd.tensormap {
            map.swizzle = "16B".into();
        }
        assert!(why(odd).contains("swizzle `16B`"));
        assert!(why(MappedSlot::default()).contains("nothing says"));
    }
}
