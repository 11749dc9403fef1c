//! A Gaussian process on a few measurements. In: how alike they are, two by two. Out: what they say of anything else, and how
//! likely they are themselves. Refuses a table of likenesses that is none: one that has no square root.

/// The square root of a covariance: a lower triangle, row by row.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    rows: Vec<Vec<f64>>,
}

impl Process {
    /// `covariance` of two measurements by number, the greater first; of one with itself it includes its noise.
    pub(crate) fn new(count: usize, covariance: impl Fn(usize, usize) -> f64) -> Option<Process> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(count);
        for at in 0..count {
            let mut row: Vec<f64> = (0..at).map(|other| covariance(at, other)).collect();
            forward(&rows, &mut row);
            let left = covariance(at, at) - row.iter().map(|part| part * part).sum::<f64>();
            if left.is_nan() || left <= 0.0 {
                return None;
            }
            row.push(left.sqrt());
            rows.push(row);
        }
        Some(Process { rows })
    }

    /// Deviations, or somebody's covariances with the measurements, in terms of independent parts of variance 1.
    pub(crate) fn part(&self, values: &mut [f64]) {
        forward(&self.rows, values);
    }

    /// The logarithm of how likely deviations are that were [`part`](Process::part)ed, but for a constant.
    pub(crate) fn likelihood(&self, parted: &[f64]) -> f64 {
        let squares: f64 = parted.iter().map(|part| part * part).sum();
        let volume: f64 = self.rows.iter().filter_map(|row| row.last()).map(|side| side.ln()).sum();
        -0.5 * squares - volume
    }
}

/// Solves for a triangle's unknowns from the first on.
fn forward(rows: &[Vec<f64>], values: &mut [f64]) {
    for (at, row) in rows.iter().enumerate() {
        let known: f64 = row[..at].iter().zip(&values[..at]).map(|(a, b)| a * b).sum();
        values[at] = (values[at] - known) / row[at];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a process on these places expects at another one, and its variance there.
    fn forecast(places: &[f64], values: &[f64], at: f64) -> (f64, f64) {
        let like = |a: f64, b: f64| (-(a - b).abs()).exp();
        let process = Process::new(places.len(), |a, b| like(places[a], places[b])).unwrap();
        let (mut parted, mut with) = (values.to_vec(), places.iter().map(|place| like(*place, at)).collect::<Vec<_>>());
        process.part(&mut parted);
        process.part(&mut with);
        let mean = with.iter().zip(&parted).map(|(a, b)| a * b).sum::<f64>();
        (mean, 1.0 - with.iter().map(|part| part * part).sum::<f64>())
    }

    #[test]
    fn what_was_measured_is_known_and_what_is_far_is_not() {
        let (places, values) = ([0.0, 1.0, 5.0], [2.0, -1.0, 0.5]);
        for (place, value) in places.iter().zip(values) {
            let (mean, variance) = forecast(&places, &values, *place);
            assert!((mean - value).abs() < 1e-9 && variance.abs() < 1e-9, "{mean} {variance}");
        }
        let (mean, variance) = forecast(&places, &values, 30.0);
        assert!(mean.abs() < 1e-9 && variance > 0.999, "{mean} {variance}");
    }

    #[test]
    fn likelihoods_are_those_of_the_normal_distribution() {
        // Two measurements of variance 2 and covariance 1: determinant 3, inverse [2, -1; -1, 2] / 3.
        let process = Process::new(2, |a, b| if a == b { 2.0 } else { 1.0 }).unwrap();
        let mut parted = vec![3.0, 1.0];
        process.part(&mut parted);
        let square = (2.0 * 9.0 - 2.0 * 3.0 + 2.0) / 3.0;
        assert!((process.likelihood(&parted) - (-0.5 * square - 0.5 * 3.0f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn a_table_that_is_none_is_refused() {
        assert!(Process::new(2, |a, b| if a == b { 1.0 } else { 2.0 }).is_none());
        assert!(Process::new(1, |_, _| f64::NAN).is_none());
        assert_eq!(Process::new(0, |_, _| 1.0).unwrap().likelihood(&[]), 0.0);
    }

    proptest! {
        /// A variance is never negative nor above what nothing measured leaves.
        #[test]
        fn measurements_never_make_us_know_less(places in prop::collection::vec(0.0f64..9.0, 1..12), at in 0.0f64..9.0) {
            let mut apart = places.clone();
            apart.sort_by(f64::total_cmp);
            apart.dedup_by(|a, b| (*a - *b).abs() < 1e-3);
            let (_, variance) = forecast(&apart, &vec![0.0; apart.len()], at);
            prop_assert!((-1e-9..=1.0 + 1e-9).contains(&variance));
            let (_, fewer) = forecast(&apart[..apart.len() - 1], &vec![0.0; apart.len() - 1], at);
            prop_assert!(variance <= fewer + 1e-9);
        }
    }
}
