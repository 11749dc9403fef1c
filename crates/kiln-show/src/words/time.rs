//! Moments for people, in the time of the place, and for machines.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `2026-03-01 14:05` where the reader is.
pub(crate) fn moment(ms: i64, zone: &TimeZone) -> String {
    shown(ms, zone, "%Y-%m-%d %H:%M")
}

/// `14:05:09` where the reader is.
pub(crate) fn clock(ms: i64, zone: &TimeZone) -> String {
    shown(ms, zone, "%H:%M:%S")
}

fn shown(ms: i64, zone: &TimeZone, format: &str) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(at) => at.to_zoned(zone.clone()).strftime(format).to_string(),
        // A record from beyond what a calendar holds is shown as it is.
        Err(_) => format!("{ms} ms"),
    }
}

/// RFC 3339, in UTC.
pub(crate) fn stamp(ms: i64) -> Option<String> {
    Timestamp::from_millisecond(ms).ok().map(|at| at.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_of_the_readers_place() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(moment(1_772_373_909_000, &zone), "2026-03-01 16:05");
        assert_eq!(clock(1_772_373_909_000, &zone), "16:05:09");
        assert_eq!(moment(i64::MAX, &zone), "9223372036854775807 ms");
        assert_eq!(stamp(1_772_373_909_000).as_deref(), Some("2026-03-01T14:05:09Z"));
    }
}
