//! Where values lie on a picture. In: the range of values, the range of places. Out: a place for each value, and lines across with
//! what stands beside them. A range without width gets some, so that no place is infinite.

/// A logarithmic axis, for times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogAxis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl LogAxis {
    /// From the smallest of some values at `from` to the largest at `to`; none where no value is a positive number.
    pub(crate) fn over(values: impl Iterator<Item = f64>, (from, to): (f64, f64)) -> Option<LogAxis> {
        let positive = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = positive.fold((f64::MAX, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        (high > 0.0).then(|| LogAxis { low: (low / 1.05).ln(), high: (high * 1.05).ln(), from, to })
    }

    /// Where a value lies. What is outside lies at the end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let share = (value.max(1e-300).ln() - self.low) / (self.high - self.low);
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    /// So many values as far apart as each other, both ends among them.
    pub(crate) fn lines(&self, count: u32) -> impl Iterator<Item = f64> + '_ {
        (0..=count).map(move |line| (self.low + (self.high - self.low) * f64::from(line) / f64::from(count)).exp())
    }
}

/// A plain axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlainAxis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl PlainAxis {
    /// From `low` at `from` to `high` at `to`.
    pub(crate) fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> PlainAxis {
        PlainAxis { low, high: if high > low { high } else { low + 1.0 }, from, to }
    }

    /// Where a value lies. What is outside lies at the end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.from + (self.to - self.from) * if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_finite_place_in_order() {
        let axis = LogAxis::over([1e-3, f64::NAN, 4e-3, 0.0].into_iter(), (100.0, 0.0)).unwrap();
        assert!(axis.place(1e-3) > axis.place(2e-3) && axis.place(2e-3) > axis.place(4e-3));
        assert!([0.0, 1e-3, 1e9].iter().all(|value| (0.0..=100.0).contains(&axis.place(*value))));
        assert_eq!(axis.lines(4).count(), 5);
        assert!(LogAxis::over([1.0, 1.0].into_iter(), (0.0, 10.0)).unwrap().place(1.0).is_finite());
        assert!(LogAxis::over([f64::NAN].into_iter(), (0.0, 1.0)).is_none());
        assert_eq!(PlainAxis::new((3.0, 3.0), (5.0, 9.0)).place(3.0), 5.0);
        assert_eq!(PlainAxis::new((0.0, 1.0), (0.0, 8.0)).place(f64::NAN), 0.0);
    }
}
