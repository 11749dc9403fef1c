//! Numbers for people and for machines.

pub(crate) use kiln_core::counted;
pub use kiln_core::{grouped, size};
use serde_json::Value;

/// A count as a JSON number while every reader can hold it exactly (below 2^53), else as a string.
pub fn json_count(count: u128) -> Value {
    match u64::try_from(count) {
        Ok(small) if small < 1 << 53 => Value::from(small),
        _ => Value::from(count.to_string()),
    }
}

/// A share of a whole, as a percentage.
pub(crate) fn percent(part: u128, whole: u128) -> String {
    if whole == 0 {
        return "-".into();
    }
    let share = 100.0 * part as f64 / whole as f64;
    match share {
        s if part > 0 && s < 0.1 => "< 0.1 %".into(),
        s if part < whole && s > 99.9 => "> 99.9 %".into(),
        s => format!("{s:.1} %"),
    }
}

/// Seconds in the unit that reads best, with three digits: enough to tell two fast kernels apart.
pub(crate) fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds.abs() {
        s if s < 1e-6 => (seconds * 1e9, "ns"),
        s if s < 1e-3 => (seconds * 1e6, "us"),
        s if s < 1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    let decimals = match value.abs() {
        v if v < 0.01 => 5,
        v if v < 0.1 => 4,
        v if v < 1.0 => 3,
        v if v < 10.0 => 2,
        v if v < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// What the time of several workloads together is; nothing where it is of one.
pub(crate) fn mean_of(workloads: usize) -> Option<String> {
    (workloads > 1).then(|| format!("geometric mean over {workloads} workloads"))
}

/// How long something went on: seconds, minutes or hours, as one would say it.
pub(crate) fn stretch(seconds: f64) -> String {
    // A clock may be set back while something runs; `max` may keep the sign of a zero.
    let seconds = if seconds > 0.0 { seconds } else { 0.0 };
    // Rounded before it is split: 119.6 s are 2 minutes, not 1 minute and 60 s.
    let (whole, minutes) = (seconds.round(), (seconds / 60.0).round());
    match seconds {
        s if s < 59.95 => format!("{s:.1} s"),
        _ if whole < 3600.0 => format!("{:.0} min {:02.0} s", (whole / 60.0).floor(), whole % 60.0),
        _ => format!("{:.0} h {:02.0} min", (minutes / 60.0).floor(), minutes % 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        let shown = [1.234e-6, 224.4e-6, 0.001, 0.01234, 0.1234, 1.5, 63.32].map(duration);
        assert_eq!(shown, ["1.23 us", "224 us", "1.00 ms", "12.3 ms", "123 ms", "1.50 s", "63.3 s"]);
        let short = [4.56e-7, 2.5e-8, 3.21e-9, 4.567e-10, 1.234e-11].map(duration);
        assert_eq!(short, ["456 ns", "25.0 ns", "3.21 ns", "0.457 ns", "0.0123 ns"]);
    }

    #[test]
    fn stretches_read_as_one_says_them() {
        assert_eq!(stretch(0.04), "0.0 s");
        assert_eq!([-0.0, -3.0].map(stretch), ["0.0 s", "0.0 s"]);
        assert_eq!(stretch(59.9), "59.9 s");
        assert_eq!([59.97, 60.6, 119.6].map(stretch), ["1 min 00 s", "1 min 01 s", "2 min 00 s"]);
        assert_eq!(stretch(83.7), "1 min 24 s");
        assert_eq!([3599.2, 3599.9].map(stretch), ["59 min 59 s", "1 h 00 min"]);
        assert_eq!(stretch(7380.0), "2 h 03 min");
    }

    #[test]
    fn counts_beyond_what_a_double_holds_become_strings() {
        assert_eq!(json_count((1 << 53) - 1), Value::from((1u64 << 53) - 1));
        assert_eq!(json_count(1 << 53), Value::from("9007199254740992"));
        assert_eq!(json_count(u128::MAX), Value::from(u128::MAX.to_string()));
    }

    #[test]
    fn shares_never_round_to_all_or_nothing() {
        assert_eq!(percent(1, 1_000_000), "< 0.1 %");
        assert_eq!(percent(999_999, 1_000_000), "> 99.9 %");
        assert_eq!(percent(0, 10), "0.0 %");
        assert_eq!(percent(10, 10), "100.0 %");
    }
}
