//! Numbers in messages.

/// With a comma between thousands: `1,166,400`.
pub fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the unit that reads best, in powers of ten as disks are sold.
pub fn size(bytes: u64) -> String {
    match bytes as f64 {
        b if b < 1e3 => format!("{bytes} bytes"),
        b if b < 1e6 => format!("{:.0} kB", b / 1e3),
        b if b < 1e9 => format!("{:.0} MB", b / 1e6),
        b => format!("{:.1} GB", b / 1e9),
    }
}

/// A count with what is counted: `1 configuration`, `1,200 configurations`.
pub fn counted(count: u128, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(2_415_919_104), "2,415,919,104");
    }

    #[test]
    fn sizes_have_the_unit_that_reads_best() {
        assert_eq!([999, 1_500, 2_500_000, 149_000_000_000].map(size), ["999 bytes", "2 kB", "2 MB", "149.0 GB"]);
    }
}
