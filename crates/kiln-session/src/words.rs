//! Numbers as sentences have them. In: a speedup, seconds. Out: words with three digits, and a unit.

/// A speedup: `11.8x`, `0.0596x`.
pub fn times(speedup: f64) -> String {
    let digits = match speedup.abs() {
        v if v >= 100.0 || v == 0.0 || !v.is_finite() => 0,
        v => (2 - v.log10().floor() as i32).clamp(0, 9) as usize,
    };
    format!("{speedup:.digits$}x")
}

/// A stretch of time, in the unit in which a budget is thought of.
pub fn lasting(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 119.5 => format!("{s:.0} s"),
        s => format!("{:.0} min", s / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        assert_eq!([11.781, 1.2, 0.0596, 0.5, 123.4].map(times), ["11.8x", "1.20x", "0.0596x", "0.500x", "123x"]);
        assert_eq!([0.04, 12.0, 90.0, 180.0, 10_800.0].map(lasting), ["0.0 s", "12 s", "90 s", "3 min", "180 min"]);
    }
}
