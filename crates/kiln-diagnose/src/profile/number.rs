//! Numbers and units of ncu's pages. In: a field and its unit. Out: the value in base units (bytes, nanoseconds, hertz, percent);
//! none for text, `n/a`, `no data` and `nan`.

/// The value of a field, without commas between thousands.
pub(crate) fn number(field: &[u8]) -> Option<f64> {
    let mut digits = [0u8; 64];
    let mut length = 0;
    for byte in field.iter().copied().filter(|byte| *byte != b',' && !byte.is_ascii_whitespace()) {
        *digits.get_mut(length)? = byte;
        length += 1;
    }
    let text = std::str::from_utf8(&digits[..length]).ok()?;
    text.bytes().next().filter(|first| first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.'))?;
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// What a value in this unit is multiplied with.
pub(crate) fn scale(unit: &str) -> f64 {
    let unit = unit.split('/').next().unwrap_or_default();
    match unit {
        "us" | "usecond" => return 1e3,
        "ms" | "msecond" => return 1e6,
        "s" | "second" => return 1e9,
        _ => {}
    }
    let Some(first) = unit.chars().next() else { return 1.0 };
    let rest = &unit[first.len_utf8()..];
    if !matches!(rest, "byte" | "hz" | "Hz" | "sector" | "inst" | "cycle") {
        return 1.0;
    }
    match first {
        'K' | 'k' => 1e3,
        'M' => 1e6,
        'G' => 1e9,
        'T' => 1e12,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_of_every_kind() {
        assert_eq!(number(b"2,672,160"), Some(2_672_160.0));
        assert_eq!(number(b"0.06"), Some(0.06));
        assert_eq!(number(b"-1.5e3"), Some(-1500.0));
        for none in ["", "nan", "inf", "no data", "n/a", "(32, 1, 1)", "PolicySpread", "N/A", "\u{b5}"] {
            assert_eq!(number(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn units_that_are_not_base_units() {
        for (unit, times) in [
            ("ns", 1.0),
            ("nsecond", 1.0),
            ("us", 1e3),
            ("ms", 1e6),
            ("second", 1e9),
            ("byte", 1.0),
            ("Kbyte/block", 1e3),
            ("Mbyte", 1e6),
            ("Gbyte/s", 1e9),
            ("Tbyte/second", 1e12),
            ("Ghz", 1e9),
            ("%", 1.0),
            ("", 1.0),
            ("SM", 1.0),
            ("register/thread", 1.0),
            ("byte/sector", 1.0),
            ("inst", 1.0),
        ] {
            assert_eq!(scale(unit), times, "{unit}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(field in prop::collection::vec(any::<u8>(), 0..80), unit in ".{0,8}") {
            let _ = number(&field);
            let _ = scale(&unit);
        }
    }
}
