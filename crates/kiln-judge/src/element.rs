//! Bytes to numbers and back, by dtype. Rounding to a narrower type is to nearest, ties to even, as hardware does.

use half::{bf16, f16};
use kiln_spec::Dtype;

/// The numbers a buffer holds. Types wider than a double lose what a double cannot hold; 8-bit floats are expanded.
pub fn decode(dtype: Dtype, bytes: &[u8]) -> Vec<f64> {
    macro_rules! each {
        ($kind:ty, $to:expr) => {
            bytes
                .chunks_exact(size_of::<$kind>())
                .map(|c| {
                    let mut raw = [0u8; size_of::<$kind>()];
                    raw.copy_from_slice(c);
                    $to(<$kind>::from_ne_bytes(raw))
                })
                .collect()
        };
    }
    match dtype {
        Dtype::F64 => each!(f64, |v| v),
        Dtype::F32 => each!(f32, f64::from),
        Dtype::F16 => each!(u16, |v| f16::from_bits(v).to_f64()),
        Dtype::BF16 => each!(u16, |v| bf16::from_bits(v).to_f64()),
        Dtype::F8E4M3 => bytes.iter().map(|b| eighth(*b, 4, 3)).collect(),
        Dtype::F8E5M2 => bytes.iter().map(|b| eighth(*b, 5, 2)).collect(),
        Dtype::I64 => each!(i64, |v| v as f64),
        Dtype::I32 => each!(i32, f64::from),
        Dtype::I16 => each!(i16, f64::from),
        Dtype::I8 => each!(i8, f64::from),
        Dtype::U64 => each!(u64, |v| v as f64),
        Dtype::U32 => each!(u32, f64::from),
        Dtype::U16 => each!(u16, f64::from),
        Dtype::U8 => bytes.iter().map(|b| f64::from(*b)).collect(),
        Dtype::Bool => bytes.iter().map(|b| f64::from(u8::from(*b != 0))).collect(),
    }
}

/// The bytes of numbers.
pub fn encode(dtype: Dtype, values: &[f64]) -> Vec<u8> {
    macro_rules! each {
        ($from:expr) => {
            values.iter().flat_map(|v| $from(*v).to_ne_bytes()).collect()
        };
    }
    match dtype {
        Dtype::F64 => each!(|v: f64| v),
        Dtype::F32 => each!(|v: f64| v as f32),
        Dtype::F16 => each!(|v: f64| f16::from_f64(v).to_bits()),
        Dtype::BF16 => each!(|v: f64| bf16::from_f64(v).to_bits()),
        Dtype::F8E4M3 => values.iter().map(|v| nearest_eighth(*v, 4, 3)).collect(),
        Dtype::F8E5M2 => values.iter().map(|v| nearest_eighth(*v, 5, 2)).collect(),
        Dtype::I64 => each!(|v: f64| v as i64),
        Dtype::I32 => each!(|v: f64| v as i32),
        Dtype::I16 => each!(|v: f64| v as i16),
        Dtype::I8 => each!(|v: f64| v as i8),
        Dtype::U64 => each!(|v: f64| v as u64),
        Dtype::U32 => each!(|v: f64| v as u32),
        Dtype::U16 => each!(|v: f64| v as u16),
        Dtype::U8 => values.iter().map(|v| *v as u8).collect(),
        Dtype::Bool => values.iter().map(|v| u8::from(*v != 0.0)).collect(),
    }
}

/// An 8-bit float. E4M3 has no infinities and one NaN; E5M2 follows IEEE.
fn eighth(byte: u8, exponent_bits: u32, mantissa_bits: u32) -> f64 {
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

/// The nearest 8-bit float, found among all 256: inputs are filled once, so speed does not matter.
fn nearest_eighth(value: f64, exponent_bits: u32, mantissa_bits: u32) -> u8 {
    if value.is_nan() {
        return 0x7f;
    }
    let distance = |byte: u8| (eighth(byte, exponent_bits, mantissa_bits) - value).abs();
    // An even mantissa wins a tie.
    (0..=u8::MAX)
        .filter(|b| eighth(*b, exponent_bits, mantissa_bits).is_finite())
        .min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then_with(|| (a & 1).cmp(&(b & 1))))
        .unwrap_or(0)
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
