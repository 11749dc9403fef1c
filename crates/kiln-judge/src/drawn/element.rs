//! Bytes to numbers and back, by dtype. Rounding to a narrower type is to nearest, ties to even, as hardware does.

use kiln_spec::Dtype;

use crate::marked::parallel::fill_in_parallel;

/// Numbers converted at a time by one processor.
const PIECE: usize = 1 << 16;

/// Whether a type holds fractions.
pub(crate) fn is_float(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F64 | Dtype::F32 | Dtype::F16 | Dtype::BF16 | Dtype::F8E4M3 | Dtype::F8E5M2)
}

/// Half the distance from 1 to the next number: the largest relative error of one rounding. Integers have none.
pub(crate) fn roundoff(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::F64 => 2f64.powi(-53),
        Dtype::F32 => 2f64.powi(-24),
        Dtype::F16 => 2f64.powi(-11),
        Dtype::BF16 => 2f64.powi(-8),
        Dtype::F8E4M3 => 2f64.powi(-4),
        Dtype::F8E5M2 => 2f64.powi(-3),
        _ => 0.0,
    }
}

/// The nearest number a type holds.
pub(crate) fn round_to(dtype: Dtype, value: f64) -> f64 {
    match dtype {
        Dtype::F64 => value,
        Dtype::F32 => f64::from(value as f32),
        Dtype::F16 => narrow::<10, -14>(value, 65520.0),
        Dtype::BF16 => narrow::<7, -126>(value, HALF_WAY_BEYOND_BF16),
        Dtype::F8E4M3 => eighth(nearest_eighth(value, 4, 3), 4, 3),
        Dtype::F8E5M2 => eighth(nearest_eighth(value, 5, 2), 5, 2),
        Dtype::I64 => value as i64 as f64,
        Dtype::I32 => f64::from(value as i32),
        Dtype::I16 => f64::from(value as i16),
        Dtype::I8 => f64::from(value as i8),
        Dtype::U64 => value as u64 as f64,
        Dtype::U32 => f64::from(value as u32),
        Dtype::U16 => f64::from(value as u16),
        Dtype::U8 => f64::from(value as u8),
        Dtype::Bool => f64::from(u8::from(value != 0.0)),
    }
}

/// Numbers as a type holds them, in place.
pub(crate) fn round_all(dtype: Dtype, values: &mut [f64]) {
    fill_in_parallel(values, PIECE, |_, part| part.iter_mut().for_each(|v| *v = round_to(dtype, *v)));
}

/// The numbers a buffer holds. 64-bit integers lose what a double cannot hold; 8-bit floats are expanded.
pub fn decode(dtype: Dtype, bytes: &[u8]) -> Vec<f64> {
    let size = dtype.bytes() as usize;
    let mut values = vec![0.0; bytes.len() / size];
    fill_in_parallel(&mut values, PIECE, |first, part| decode_into(dtype, &bytes[first * size..], part));
    values
}

/// Whether all numbers of a buffer are finite, as far as that is seen from their bits at once; false says nothing.
pub(crate) fn surely_finite(dtype: Dtype, bytes: &[u8]) -> bool {
    // An exponent of ones is infinity or NaN. No early end, so that the loop becomes vector code.
    macro_rules! none_has {
        ($kind:ty, $ones:expr) => {{
            let full = |raw: &[u8; size_of::<$kind>()]| <$kind>::from_ne_bytes(*raw) & $ones == $ones;
            !bytes.as_chunks().0.iter().fold(false, |any, raw| any | full(raw))
        }};
    }
    match dtype {
        Dtype::F32 => none_has!(u32, 0x7f80_0000),
        Dtype::F16 => none_has!(u16, 0x7c00),
        Dtype::BF16 => none_has!(u16, 0x7f80),
        _ => false,
    }
}

/// The numbers of a buffer into one that is there, as many as fit.
pub(crate) fn decode_into(dtype: Dtype, bytes: &[u8], values: &mut [f64]) {
    macro_rules! each {
        ($kind:ty, $to:expr) => {
            for (raw, value) in bytes.as_chunks::<{ size_of::<$kind>() }>().0.iter().zip(values) {
                *value = $to(<$kind>::from_ne_bytes(*raw));
            }
        };
    }
    match dtype {
        Dtype::F64 => each!(f64, |v| v),
        Dtype::F32 => each!(f32, f64::from),
        Dtype::F16 => each!(u16, widen),
        Dtype::BF16 => each!(u16, |v| f64::from(f32::from_bits(u32::from(v) << 16))),
        Dtype::F8E4M3 => each!(u8, |v| eighth(v, 4, 3)),
        Dtype::F8E5M2 => each!(u8, |v| eighth(v, 5, 2)),
        Dtype::I64 => each!(i64, |v| v as f64),
        Dtype::I32 => each!(i32, f64::from),
        Dtype::I16 => each!(i16, f64::from),
        Dtype::I8 => each!(i8, f64::from),
        Dtype::U64 => each!(u64, |v| v as f64),
        Dtype::U32 => each!(u32, f64::from),
        Dtype::U16 => each!(u16, f64::from),
        Dtype::U8 => each!(u8, f64::from),
        Dtype::Bool => each!(u8, |v: u8| f64::from(u8::from(v != 0))),
    }
}

/// Half-way between the largest bf16 and the power of two beyond it.
const HALF_WAY_BEYOND_BF16: f64 = (2.0 - 1.0 / 256.0) * (1u128 << 127) as f64;

/// The nearest float of so many bits behind the point: adding a number whose last bit is the step, and taking it away
/// again, rounds as the processor does. Below the least exponent steps no longer shrink.
fn narrow<const BITS: i32, const LEAST: i32>(value: f64, beyond: f64) -> f64 {
    if value.abs() >= beyond || value.is_nan() {
        return value * f64::INFINITY;
    }
    let exponent = (value.to_bits() >> 52 & 0x7ff).max((LEAST + 1023) as u64);
    let large = 1.5 * f64::from_bits((exponent + 52 - BITS as u64) << 52);
    ((value.abs() + large) - large).copysign(value)
}

/// The bits of a number that a 16-bit float holds, by the reverse of [`widen`].
fn pack(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let size = match value.abs() {
        v if v.is_nan() => 0x7e00,
        v if v > 65504.0 => 0x7c00,
        v => (v as f32 * f32::from_bits((127 - 112) << 23)).to_bits() >> 13,
    };
    sign | size as u16
}

/// A 16-bit float without branches, so that a loop over it becomes vector code: its bits, moved into place as a single
/// float, are 2^112 times too small; infinities and NaN then still need their exponent filled.
fn widen(bits: u16) -> f64 {
    let bits = u32::from(bits);
    let size = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits((127 + 112) << 23);
    let full = if bits & 0x7c00 == 0x7c00 { 0xff << 23 } else { 0 };
    f64::from(f32::from_bits(size.to_bits() | full | (bits & 0x8000) << 16))
}

/// The bytes of numbers.
pub fn encode(dtype: Dtype, values: &[f64]) -> Vec<u8> {
    let mut bytes = vec![0; values.len() * dtype.bytes() as usize];
    encode_into(dtype, values, &mut bytes);
    bytes
}

/// The bytes of numbers into memory that has room for as many.
pub(crate) fn encode_into(dtype: Dtype, values: &[f64], bytes: &mut [u8]) {
    let size = dtype.bytes() as usize;
    fill_in_parallel(bytes, PIECE * size, |first, part| {
        encode_part(dtype, values.get(first / size..).unwrap_or(&[]), part)
    });
}

fn encode_part(dtype: Dtype, values: &[f64], bytes: &mut [u8]) {
    macro_rules! each {
        ($kind:ty, $from:expr) => {
            for (raw, value) in bytes.as_chunks_mut::<{ size_of::<$kind>() }>().0.iter_mut().zip(values) {
                let number: $kind = $from(*value);
                *raw = number.to_ne_bytes();
            }
        };
    }
    match dtype {
        Dtype::F64 => each!(f64, |v: f64| v),
        Dtype::F32 => each!(f32, |v: f64| v as f32),
        Dtype::F16 => each!(u16, |v: f64| pack(round_to(dtype, v))),
        Dtype::BF16 => each!(u16, |v: f64| ((round_to(dtype, v) as f32).to_bits() >> 16) as u16),
        Dtype::F8E4M3 => each!(u8, |v: f64| nearest_eighth(v, 4, 3)),
        Dtype::F8E5M2 => each!(u8, |v: f64| nearest_eighth(v, 5, 2)),
        Dtype::I64 => each!(i64, |v: f64| v as i64),
        Dtype::I32 => each!(i32, |v: f64| v as i32),
        Dtype::I16 => each!(i16, |v: f64| v as i16),
        Dtype::I8 => each!(i8, |v: f64| v as i8),
        Dtype::U64 => each!(u64, |v: f64| v as u64),
        Dtype::U32 => each!(u32, |v: f64| v as u32),
        Dtype::U16 => each!(u16, |v: f64| v as u16),
        Dtype::U8 => each!(u8, |v: f64| v as u8),
        Dtype::Bool => each!(u8, |v: f64| u8::from(v != 0.0)),
    }
}

/// An 8-bit float. E4M3 has no infinities and one NaN; E5M2 follows IEEE.
fn eighth(byte: u8, exponent_bits: i32, mantissa_bits: i32) -> f64 {
    let sign = if byte & 0x80 == 0 { 1.0 } else { -1.0 };
    let exponent = u32::from(byte & 0x7f) >> mantissa_bits;
    let mantissa = f64::from(u32::from(byte) & ((1 << mantissa_bits) - 1));
    let bias = (1 << (exponent_bits - 1)) - 1;
    let scale = f64::from(1 << mantissa_bits);
    let full = (1 << exponent_bits) - 1;
    let special = exponent == full && (exponent_bits == 5 || byte & 0x7f == 0x7f);
    match (special, exponent) {
        (true, _) if exponent_bits == 5 && mantissa == 0.0 => sign * f64::INFINITY,
        (true, _) => f64::NAN,
        (false, 0) => sign * mantissa / scale * 2f64.powi(1 - bias),
        (false, e) => sign * (1.0 + mantissa / scale) * 2f64.powi(e as i32 - bias),
    }
}

/// The nearest 8-bit float; what is beyond the largest becomes the largest.
fn nearest_eighth(value: f64, exponent_bits: i32, mantissa_bits: i32) -> u8 {
    let bias = (1 << (exponent_bits - 1)) - 1;
    let sign = if value.is_sign_negative() { 0x80 } else { 0 };
    let largest = if exponent_bits == 5 { 0x7b } else { 0x7e };
    if value.is_nan() {
        return 0x7f;
    }
    // The exponent of a double stands in its upper bits; below the smallest normal number steps no longer shrink.
    let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(1 - bias);
    if exponent > bias + 1 {
        return sign | largest;
    }
    let steps = (value.abs() * 2f64.powi(mantissa_bits - exponent)).round_ties_even() as i32;
    // A full step carries into the exponent by itself.
    let code = ((exponent + bias - 1) << mantissa_bits) + steps;
    sign | code.min(i32::from(largest)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_reads_back_what_it_can_hold() {
        for dtype in Dtype::ALL {
            let values = if *dtype == Dtype::Bool { vec![0.0, 1.0] } else { vec![0.0, 1.0, 2.0, 8.0, 12.0] };
            let bytes = encode(*dtype, &values);
            assert_eq!(bytes.len() as u64, dtype.bytes() * values.len() as u64);
            assert_eq!(decode(*dtype, &bytes), values, "{}", dtype.name());
        }
    }

    #[test]
    fn sixteen_bits_are_those_of_the_format() {
        use half::{bf16, f16};
        for bits in 0..=u16::MAX {
            let (a, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            let read = |dtype| decode(dtype, &bits.to_ne_bytes())[0];
            assert!(read(Dtype::F16) == a.to_f64() || a.is_nan() && read(Dtype::F16).is_nan());
            assert!(read(Dtype::BF16) == b.to_f64() || b.is_nan() && read(Dtype::BF16).is_nan());
            let among: Vec<u8> = [0, 0, bits, 0, 0, 0, 0, 0, 0].iter().flat_map(|v: &u16| v.to_ne_bytes()).collect();
            assert_eq!(surely_finite(Dtype::F16, &among), a.is_finite());
            assert_eq!(surely_finite(Dtype::BF16, &among), b.is_finite());
            let single = f32::from_bits(u32::from(bits) << 16 | 1);
            assert_eq!(surely_finite(Dtype::F32, &single.to_ne_bytes()), single.is_finite());
            // Written back, and rounded from half-way to the next number and from near it.
            for factor in [1.0, 1.0 + 2f64.powi(-11), 1.0 + 2f64.powi(-8), 1.0 + 2f64.powi(-9)] {
                let (x, y) = (a.to_f64() * factor, b.to_f64() * factor);
                assert!(a.is_nan() || encode(Dtype::F16, &[x]) == f16::from_f64(x).to_bits().to_ne_bytes(), "{x:e}");
                assert!(b.is_nan() || encode(Dtype::BF16, &[y]) == bf16::from_f64(y).to_bits().to_ne_bytes(), "{y:e}");
            }
        }
        // Just above half-way, by less than a single float shows.
        assert_eq!(round_to(Dtype::F16, 1.0 + 2f64.powi(-11) + 1e-12), 1.0 + 2f64.powi(-10));
        assert!(decode(Dtype::F16, &encode(Dtype::F16, &[f64::NAN]))[0].is_nan());
        assert!(decode(Dtype::BF16, &encode(Dtype::BF16, &[f64::NAN]))[0].is_nan());
    }

    #[test]
    fn narrow_floats_round_to_nearest() {
        assert_eq!(decode(Dtype::F16, &encode(Dtype::F16, &[0.1]))[0], 0.0999755859375);
        assert_eq!(decode(Dtype::BF16, &encode(Dtype::BF16, &[0.1]))[0], 0.10009765625);
        // Largest values of the two 8-bit formats.
        assert_eq!(eighth(0x7e, 4, 3), 448.0);
        assert_eq!(eighth(0x7b, 5, 2), 57344.0);
        assert!(eighth(0x7f, 4, 3).is_nan() && eighth(0x7c, 5, 2).is_infinite());
        assert_eq!(decode(Dtype::F8E4M3, &encode(Dtype::F8E4M3, &[0.3, -500.0])), [0.3125, -448.0]);
    }
}
