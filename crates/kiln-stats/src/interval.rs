//! An interval and an estimate with one: plain data every result shares.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A closed interval; written in JSON as `[low, high]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies in it.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether all of `other` lies in it.
    pub fn encloses(self, other: Interval) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// Whether the two share a point.
    pub fn overlaps(self, other: Interval) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Half the width on the log scale: 0.02 means about plus or minus 2 %. Only for positive quantities.
    pub fn relative_half_width(self) -> f64 {
        (self.high / self.low).ln() / 2.0
    }

    /// Widened on both ends by so much on the log scale.
    pub(crate) fn spread(self, slack: f64) -> Interval {
        Interval { low: self.low * (-slack).exp(), high: self.high * slack.exp() }
    }

    /// Widened, if need be, to hold `value`.
    pub(crate) fn holding(self, value: f64) -> Interval {
        Interval { low: self.low.min(value), high: self.high.max(value) }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Five digits whatever the unit: times may come in seconds or nanoseconds.
        let decimals = |v: f64| if v == 0.0 { 0 } else { (4.0 - v.abs().log10().floor()).clamp(0.0, 15.0) as usize };
        write!(f, "[{:.*}, {:.*}]", decimals(self.low), self.low, decimals(self.high), self.high)
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.low, self.high].serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let [low, high] = Deserialize::deserialize(deserializer)?;
        Ok(Interval { low, high })
    }
}

/// A figure computed from samples, and the interval that says how well it is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Where it may as well lie.
    pub interval: Interval,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_to_five_digits_in_any_unit() {
        assert_eq!(Interval { low: 0.98765432, high: 1.02 }.to_string(), "[0.98765, 1.0200]");
        assert_eq!(Interval { low: 1.234567e-6, high: 123456.7 }.to_string(), "[0.0000012346, 123457]");
    }

    #[test]
    fn touching_intervals_overlap() {
        let [a, b, c] = [(1.0, 2.0), (2.0, 3.0), (2.5, 2.75)].map(|(low, high)| Interval { low, high });
        assert!(a.overlaps(b) && b.overlaps(a) && !a.overlaps(c) && b.encloses(c) && !c.encloses(b));
    }
}
