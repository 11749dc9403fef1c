//! What became of one configuration. In: a measured time, or the news that there is none. Out: the cost to rank by. Refuses
//! nothing: a time that cannot rank counts as a failure.

/// A cost, or the lack of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Observation {
    /// Seconds, or any cost above 0 where smaller is better. A cost that is not a finite number above 0 can rank nothing
    /// and counts as [`Observation::Failed`].
    Time(f64),
    /// Refused by a gate: there is no time, and its like should be avoided.
    Failed,
}

impl Observation {
    /// The cost to rank by; none for a failure.
    pub fn cost(self) -> Option<f64> {
        match self {
            Observation::Time(cost) if cost.is_finite() && cost > 0.0 => Some(cost),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_time_above_zero_ranks() {
        assert_eq!(Observation::Time(0.25).cost(), Some(0.25));
        assert_eq!(Observation::Failed.cost(), None);
        for none in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Observation::Time(none).cost(), None, "{none}");
        }
    }
}
