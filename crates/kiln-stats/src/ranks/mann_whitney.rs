//! Mann and Whitney's U: do values of one sample tend to be larger? In: two samples and the alternative. Out: U and a
//! p-value, exact for small samples without equal values, else normal with corrections for ties and continuity, as SciPy
//! computes both. Refuses empty samples, NaN and infinity. The test takes samples as independent; for series in time order
//! it is one of several signs, and [`crate::compare`] asks for more.

use serde::Serialize;

use crate::distributions::normal;
use crate::distributions::u_distribution::probabilities;
use crate::error::{StatsError, finite};

/// What the test looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Alternative {
    /// Any difference.
    TwoSided,
    /// The first sample tends to be smaller.
    Less,
    /// The first sample tends to be larger.
    Greater,
}

/// How the p-value is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// By counting all orders.
    Exact,
    /// By the normal approximation.
    Asymptotic,
}

/// Result of the test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MannWhitney {
    /// Pairs in which the first sample's value is larger; equal ones count half.
    pub u: f64,
    /// Probability of a U at least as extreme were there no difference.
    pub p_value: f64,
    /// How it was found.
    pub method: Method,
}

/// Exact up to this size of the larger sample: beyond it the normal approximation is good to three digits.
const EXACT_UP_TO: usize = 25;

/// The test, exact where that is possible and worth it.
pub fn mann_whitney(x: &[f64], y: &[f64], alternative: Alternative) -> Result<MannWhitney, StatsError> {
    let ranks = Ranks::new(x, y)?;
    let exact = ranks.ties == 0.0 && x.len().max(y.len()) <= EXACT_UP_TO;
    Ok(ranks.test(alternative, if exact { Method::Exact } else { Method::Asymptotic }))
}

/// The test by a chosen method. Exact probabilities know nothing of ties; with ties they are an approximation too.
pub fn mann_whitney_by(
    x: &[f64],
    y: &[f64],
    alternative: Alternative,
    method: Method,
) -> Result<MannWhitney, StatsError> {
    Ok(Ranks::new(x, y)?.test(alternative, method))
}

/// What both the test and the effect size need from the joint order of two samples.
pub(crate) struct Ranks {
    n: usize,
    m: usize,
    /// U of the first sample.
    pub(crate) u: f64,
    /// Sum of t^3 - t over groups of t equal values.
    pub(crate) ties: f64,
}

impl Ranks {
    pub(crate) fn new(x: &[f64], y: &[f64]) -> Result<Ranks, StatsError> {
        finite(x)?;
        finite(y)?;
        let (n, m) = (x.len(), y.len());
        let mut all: Vec<(f64, bool)> = x.iter().map(|v| (*v, true)).chain(y.iter().map(|v| (*v, false))).collect();
        all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut rank_sum, mut ties, mut start) = (0.0, 0.0, 0);
        // `==` and not the total order: 0 and -0 are the same time.
        for group in all.chunk_by(|a, b| a.0 == b.0) {
            let size = group.len() as f64;
            let rank = start as f64 + (size + 1.0) / 2.0;
            rank_sum += rank * group.iter().filter(|(_, first)| *first).count() as f64;
            ties += size * (size * size - 1.0);
            start += group.len();
        }
        Ok(Ranks { n, m, u: rank_sum - (n * (n + 1)) as f64 / 2.0, ties })
    }

    fn test(&self, alternative: Alternative, method: Method) -> MannWhitney {
        let other = (self.n * self.m) as f64 - self.u;
        // The p-value is the upper tail of the U that the alternative makes large.
        let (u, sides) = match alternative {
            Alternative::Greater => (self.u, 1.0),
            Alternative::Less => (other, 1.0),
            Alternative::TwoSided => (self.u.max(other), 2.0),
        };
        let tail = match method {
            Method::Exact => self.exact_tail(u),
            Method::Asymptotic => self.normal_tail(u),
        };
        MannWhitney { u: self.u, p_value: (sides * tail).clamp(0.0, 1.0), method }
    }

    fn exact_tail(&self, u: f64) -> f64 {
        let from = u.ceil() as usize;
        probabilities(self.n, self.m)[from..].iter().rev().sum()
    }

    fn normal_tail(&self, u: f64) -> f64 {
        let (n, m, all) = (self.n as f64, self.m as f64, (self.n + self.m) as f64);
        let variance = n * m / 12.0 * (all + 1.0 - self.ties / (all * (all - 1.0)));
        // All values equal: nothing speaks for a difference.
        if variance <= 0.0 { 1.0 } else { normal::sf((u - n * m / 2.0 - 0.5) / variance.sqrt()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes() {
        let apart = mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], Alternative::TwoSided).unwrap();
        assert_eq!((apart.u, apart.method), (0.0, Method::Exact));
        assert!((apart.p_value - 0.1).abs() < 1e-15);
        let equal = mann_whitney(&[1.0; 30], &[1.0; 40], Alternative::TwoSided).unwrap();
        assert_eq!((equal.u, equal.p_value, equal.method), (600.0, 1.0, Method::Asymptotic));
        assert!(mann_whitney(&[], &[1.0], Alternative::Less).is_err());
    }
}
