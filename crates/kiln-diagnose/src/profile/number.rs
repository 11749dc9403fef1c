//! Numbers and units of ncu's pages. In: a field and its unit. Out: the value in base units (bytes, nanoseconds, hertz, percent);
//! none for text, `n/a`, `no data` and `nan`.

/// The value of a field, without commas between thousands.
pub(crate) fn number(field: &[u8]) -> Option<f64> {
    let field = field.trim_ascii();
    if !grouped(field) {
        return None;
    }
    let mut digits = [0u8; 64];
    let mut length = 0;
    for byte in field.iter().copied().filter(|byte| *byte != b',') {
        *digits.get_mut(length)? = byte;
        length += 1;
    }
    let text = std::str::from_utf8(&digits[..length]).ok()?;
    text.bytes().next().filter(|first| first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.'))?;
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// Whether commas stand between groups of three digits only, before the point.
fn grouped(field: &[u8]) -> bool {
    let end = field.iter().position(|byte| matches!(byte, b'.' | b'e' | b'E')).unwrap_or(field.len());
    let (whole, rest) = field.split_at(end);
    let whole = whole.strip_prefix(b"-").unwrap_or(whole);
    let mut groups = whole.split(|byte| *byte == b',');
    let first = groups.next().unwrap_or_default();
    let mut others = groups.peekable();
    if rest.contains(&b',') {
        return false;
    }
    others.peek().is_none()
        || ((1..=3).contains(&first.len())
            && first.first() != Some(&b'0')
            && others.all(|group| group.len() == 3 && group.iter().all(u8::is_ascii_digit)))
}

/// Whether a field is a number in a form that ncu does not write: in another locale, or too large.
pub(crate) fn foreign(field: &[u8]) -> bool {
    let text = String::from_utf8_lossy(field);
    let of_number =
        |letter: char| letter.is_ascii_digit() || ",.'+-eE \u{a0}\u{202f}\u{2009}\u{2019}\u{fffd}".contains(letter);
    number(field).is_none()
        && text.trim_start_matches(['-', '+']).starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(of_number)
}

/// What a time in this unit is multiplied with to be in nanoseconds; none for a unit that is not known. Without a unit it is in them.
pub(crate) fn time_scale(unit: &str) -> Option<f64> {
    match unit.trim() {
        "" | "ns" | "nsecond" => Some(1.0),
        "us" | "usecond" | "\u{b5}s" | "\u{3bc}s" => Some(1e3),
        "ms" | "msecond" => Some(1e6),
        "s" | "second" => Some(1e9),
        _ => None,
    }
}

/// What a value in this unit is multiplied with.
pub(crate) fn scale(unit: &str) -> f64 {
    let unit = unit.split('/').next().unwrap_or_default();
    if let Some(times) = time_scale(unit) {
        return times;
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
    fn numbers_of_other_locales_are_none() {
        for text in [
            "84,70",
            "0,06",
            "0,125",
            "1.394.528",
            "1.394,5",
            "1 394 528",
            "1\u{202f}394,5",
            "1'394'528",
            "1e999",
            "12,34,567",
        ] {
            assert!(number(text.as_bytes()).is_none() && foreign(text.as_bytes()), "{text}");
        }
        for text in ["1,394,528", "1,394.5", "0.06", "", "n/a", "nan", "PolicySpread", "(32, 1, 1)", "-1"] {
            assert!(!foreign(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn units_that_are_not_base_units() {
        for (unit, times) in [
            ("ns", 1.0),
            ("nsecond", 1.0),
            ("us", 1e3),
            ("\u{b5}s", 1e3),
            ("\u{3bc}s", 1e3),
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
            let _ = (number(&field), foreign(&field));
            let _ = scale(&unit);
        }
    }
}
