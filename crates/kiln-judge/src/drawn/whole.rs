//! Integers without a detour through doubles, which do not hold all of 64 bits. In: a type and bytes. Out: exact numbers,
//! and back. Narrower integers are exact as doubles, and mostly kept so.

use kiln_spec::Dtype;

use crate::drawn::element::is_float;

/// The smallest and the largest integer of a type; none for types with fractions.
pub(crate) fn extremes(dtype: Dtype) -> Option<(i128, i128)> {
    if is_float(dtype) {
        return None;
    }
    let bits = if dtype == Dtype::Bool { 1 } else { 8 * dtype.bytes() as u32 };
    let signed = matches!(dtype, Dtype::I64 | Dtype::I32 | Dtype::I16 | Dtype::I8);
    Some(if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) })
}

/// Whether doubles do not hold every number of a type.
pub(crate) fn is_wide(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::I64 | Dtype::U64)
}

/// The numbers of a buffer of integers.
pub(crate) fn read(dtype: Dtype, bytes: &[u8]) -> Vec<i128> {
    macro_rules! each {
        ($kind:ty) => {
            bytes.as_chunks().0.iter().map(|raw| i128::from(<$kind>::from_ne_bytes(*raw))).collect()
        };
    }
    match dtype {
        Dtype::I64 => each!(i64),
        Dtype::U64 => each!(u64),
        Dtype::I32 => each!(i32),
        Dtype::U32 => each!(u32),
        Dtype::I16 => each!(i16),
        Dtype::U16 => each!(u16),
        Dtype::I8 => each!(i8),
        Dtype::Bool => bytes.iter().map(|raw| i128::from(*raw != 0)).collect(),
        _ => bytes.iter().map(|raw| i128::from(*raw)).collect(),
    }
}

/// The bytes of integers, the lowest of each: integers are little endian wherever kiln runs.
pub(crate) fn write(dtype: Dtype, values: &[i128]) -> Vec<u8> {
    let size = dtype.bytes() as usize;
    let mut bytes = Vec::with_capacity(values.len() * size);
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()[..size]));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_read_back() {
        for dtype in Dtype::ALL.iter().filter(|d| !is_float(**d)) {
            let (low, high) = extremes(*dtype).unwrap();
            let values = [low, high, 0, 1, high - 1, low + 1];
            let values = if *dtype == Dtype::Bool { &values[..4] } else { &values[..] };
            assert_eq!(read(*dtype, &write(*dtype, values)), values, "{}", dtype.name());
        }
        assert_eq!(extremes(Dtype::I64), Some((i128::from(i64::MIN), i128::from(i64::MAX))));
        assert_eq!(extremes(Dtype::U8), Some((0, 255)));
        assert_eq!(extremes(Dtype::F16), None);
    }
}
