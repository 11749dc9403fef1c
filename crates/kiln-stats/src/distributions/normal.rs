//! The standard normal distribution, to about 1e-15. In: a value or a probability. Out: the other one. Written here
//! rather than taken from a crate because intervals and p-values of stored records must never change with a dependency.

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// Probability of a value of at most `z`.
pub fn cdf(z: f64) -> f64 {
    sf(-z)
}

/// Probability of a value above `z`: computed directly, so that small tails keep their digits.
pub fn sf(z: f64) -> f64 {
    let x = z * FRAC_1_SQRT_2;
    if x < 0.0 { 1.0 - 0.5 * erfc(-x) } else { 0.5 * erfc(x) }
}

/// Density at `z`.
pub fn pdf(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

/// The value that a fraction `p` of the distribution lies below; infinite at 0 and 1, NaN outside.
pub fn quantile(p: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.5 {
        return 0.0;
    }
    if p > 0.5 {
        return -lower_quantile(1.0 - p);
    }
    lower_quantile(p)
}

/// For p below one half: Acklam's rational guess (1e-9), then one step of Halley's method with the exact distribution.
fn lower_quantile(p: f64) -> f64 {
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    let guess = if p < 0.02425 {
        let q = (-2.0 * p.ln()).sqrt();
        let top =
            polynomial(&[-7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734], q);
        let top = (top * q + 4.374664141464968) * q + 2.938163982698783;
        let below = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1.0];
        top / polynomial(&below, q)
    } else {
        let q = p - 0.5;
        let r = q * q;
        let top = [
            -3.969683028665376e1,
            2.209460984245205e2,
            -2.759285104469687e2,
            1.38357751867269e2,
            -3.066479806614716e1,
            2.506628277459239,
        ];
        let below = [
            -5.447609879822406e1,
            1.615858368580409e2,
            -1.556989798598866e2,
            6.680131188771972e1,
            -1.328068155288572e1,
            1.0,
        ];
        polynomial(&top, r) * q / polynomial(&below, r)
    };
    let density = pdf(guess);
    // Beyond 1e-300 the density underflows; the guess is good to nine digits there, more than anyone asks.
    if density == 0.0 {
        return guess;
    }
    let step = (cdf(guess) - p) / density;
    guess - step / (1.0 + guess * step / 2.0)
}

fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

/// Complementary error function for x >= 0: a series of positive terms where it converges fast, a continued fraction in
/// the tail, so that no digits cancel in either.
fn erfc(x: f64) -> f64 {
    if x > 27.3 {
        return 0.0;
    }
    let scale = (-x * x).exp();
    if x < 2.0 {
        let (mut term, mut sum, mut k) = (x, x, 1.0);
        while term > sum * 1e-17 {
            term *= 2.0 * x * x / (2.0 * k + 1.0);
            sum += term;
            k += 1.0;
        }
        1.0 - 2.0 / PI.sqrt() * scale * sum
    } else {
        // x + (1/2)/(x + 1/(x + (3/2)/(x + ...))), from the far end; 80 levels settle everything from x = 2 on.
        let fraction = (1..=80).rev().fold(x, |below, k| x + f64::from(k) / 2.0 / below);
        scale / (PI.sqrt() * fraction)
    }
}

/// How much a median's standard error exceeds the mean's when noise is normal: sqrt(pi / 2).
pub(crate) fn median_penalty() -> f64 {
    PI.sqrt() / SQRT_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_and_distribution_undo_each_other() {
        for i in 1..2000 {
            let p = f64::from(i) / 2000.0;
            assert!((cdf(quantile(p)) - p).abs() < 1e-15, "{p}");
        }
        for exponent in 2..280 {
            let p = 10f64.powi(-exponent);
            assert!((cdf(quantile(p)) / p - 1.0).abs() < 1e-11, "{p}");
        }
    }

    #[test]
    fn ends_and_mistakes() {
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
        assert!(quantile(-0.1).is_nan() && quantile(f64::NAN).is_nan());
        assert_eq!(cdf(-60.0), 0.0);
        assert_eq!(cdf(60.0), 1.0);
        assert!((quantile(0.975) - 1.959963984540054).abs() < 1e-14);
    }
}
