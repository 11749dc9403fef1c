//! Samples that lie far out. In: samples. Out: the fences and which samples lie beyond them. Nothing is ever dropped here:
//! a slow sample is part of what users will see, and removing the ones one does not like is how benchmarks lie. Medians do
//! not mind them; a reader should know of them. Refuses an empty set, NaN and infinity.

use serde::Serialize;

use crate::error::{StatsError, finite};
use crate::series::order;
use crate::summary::mad;

/// Where the fences stand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fence {
    /// This many scaled MADs from the median; 3.5 is usual (Iglewicz and Hoaglin).
    Mad(f64),
    /// This many interquartile ranges beyond the quartiles; 1.5 is usual (Tukey), 3 for far out.
    Quartiles(f64),
}

impl Default for Fence {
    fn default() -> Fence {
        Fence::Mad(3.5)
    }
}

/// Samples beyond the fences.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outliers {
    /// Lower fence.
    pub low: f64,
    /// Upper fence.
    pub high: f64,
    /// Places, from 0, of the samples below the lower fence.
    pub below: Vec<usize>,
    /// Places of the samples above the upper fence.
    pub above: Vec<usize>,
}

impl Outliers {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.below.len() + self.above.len()
    }
}

/// Find the samples beyond the fences. Samples that are equal by half or more have no scatter to measure by; every sample
/// that differs from them then lies beyond.
pub fn outliers(samples: &[f64], fence: Fence) -> Result<Outliers, StatsError> {
    finite(samples)?;
    let sorted = order::sorted(samples);
    let at = |q: f64| order::quantile(&sorted, q);
    let reach = match fence {
        Fence::Mad(reach) | Fence::Quartiles(reach) => reach,
    };
    if !(reach.is_finite() && reach >= 0.0) {
        return Err(StatsError::Setting { name: "fence", value: reach, expected: "a number of at least 0" });
    }
    let (low, high) = match fence {
        Fence::Mad(reach) => {
            let distance = reach * 1.482_602_218_505_602 * mad(samples, at(0.5));
            (at(0.5) - distance, at(0.5) + distance)
        }
        Fence::Quartiles(reach) => {
            let distance = reach * (at(0.75) - at(0.25));
            (at(0.25) - distance, at(0.75) + distance)
        }
    };
    let places = |beyond: &dyn Fn(f64) -> bool| (0..samples.len()).filter(|i| beyond(samples[*i])).collect();
    Ok(Outliers { low, high, below: places(&|v| v < low), above: places(&|v| v > high) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_is_named_and_kept() {
        let samples = [10.0, 10.2, 9.9, 30.0, 10.1, 9.8, 10.0, 1.0];
        for fence in [Fence::default(), Fence::Quartiles(1.5)] {
            let found = outliers(&samples, fence).unwrap();
            assert_eq!((found.above.as_slice(), found.below.as_slice(), found.count()), (&[3][..], &[7][..], 2));
        }
        assert_eq!(outliers(&[5.0, 5.0, 5.0, 6.0], Fence::default()).unwrap().above, [3]);
        assert_eq!(outliers(&[5.0], Fence::default()).unwrap().count(), 0);
        assert!(outliers(&[1.0], Fence::Mad(-1.0)).is_err());
    }
}
