//! One number for several workloads: the weighted geometric mean of their times.

use crate::evaluation::Measured;

/// The weighted geometric mean.
pub fn geomean(pairs: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let (mut log, mut whole) = (0.0, 0.0);
    for (weight, value) in pairs {
        log += weight * value.ln();
        whole += weight;
    }
    (log / whole).exp()
}

/// The cost of times on some of the workloads. Those that were not reached are taken to be as much worse than the best
/// known as those that were: the search then ranks what was given up among the slow, not among the failed.
pub(crate) fn cost(weights: &[f64], measured: &[Measured], best: Option<&[Measured]>) -> f64 {
    let medians: Vec<f64> = measured.iter().map(Measured::median).collect();
    if medians.len() == weights.len() {
        return geomean(weights.iter().copied().zip(medians));
    }
    let Some(best) = best else { return geomean(weights.iter().copied().zip(medians)) };
    let ratio = geomean(weights.iter().copied().zip(medians.iter().zip(best).map(|(m, b)| m / b.median())));
    ratio * geomean(weights.iter().copied().zip(best.iter().map(Measured::median)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(seconds: f64) -> Measured {
        Measured { workload: String::new(), samples: vec![seconds], calls: 1 }
    }

    #[test]
    fn weights_count_and_missing_workloads_scale_with_the_known() {
        assert!((geomean([(2.0, 8.0), (1.0, 1.0)]) - 4.0).abs() < 1e-12);
        let best = [measured(1.0), measured(4.0)];
        // Three times slower on the first: taken to be three times slower on both.
        let given_up = cost(&[1.0, 1.0], &[measured(3.0)], Some(&best));
        assert!((given_up - 6.0).abs() < 1e-12);
        assert!((cost(&[1.0, 1.0], &best, None) - 2.0).abs() < 1e-12);
    }
}
