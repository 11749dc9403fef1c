//! Student's t with whole degrees of freedom: what an interval from few blocks must be stretched by. In: probability and
//! degrees of freedom. Out: the quantile. For whole degrees the distribution is a finite sum (Abramowitz and Stegun
//! 26.7.3 and 26.7.4), so no beta function is needed.

use crate::distributions::normal;

/// Beyond this many degrees of freedom the normal quantile differs by less than 1e-4 of itself.
const NORMAL_FROM: usize = 10_000;

/// The value that a fraction `p` of the distribution lies below; NaN for no degrees of freedom or `p` outside 0..=1.
pub fn quantile(p: f64, freedom: usize) -> f64 {
    if freedom == 0 || freedom > NORMAL_FROM || !(p > 0.0 && p < 1.0) {
        return if freedom == 0 { f64::NAN } else { normal::quantile(p) };
    }
    let wanted = (2.0 * p - 1.0).abs();
    // Bisection on the angle: bounded from both sides, and sixty halvings exhaust the digits.
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if within(middle, freedom) < wanted { low = middle } else { high = middle }
    }
    let t = ((low + high) / 2.0).tan() * (freedom as f64).sqrt();
    if p < 0.5 { -t } else { t }
}

/// Probability of |t| below `tan(angle) * sqrt(freedom)`.
fn within(angle: f64, freedom: usize) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = if freedom == 1 { 0.0 } else { term };
    let mut k = if odd { 3 } else { 2 };
    while k < freedom {
        term *= cosine * cosine * (k - 1) as f64 / k as f64;
        sum += term;
        k += 2;
    }
    if odd { std::f64::consts::FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_values() {
        for (freedom, expected) in
            [(1, 12.706204736174694), (2, 4.302652729749462), (4, 2.776445105197793), (9, 2.262157162798205)]
        {
            assert!((quantile(0.975, freedom) - expected).abs() < 1e-9, "{freedom}");
            assert!((quantile(0.025, freedom) + expected).abs() < 1e-9, "{freedom}");
        }
        assert!((quantile(0.975, 9_999) / quantile(0.975, 10_001) - 1.0).abs() < 2e-4);
        assert!(quantile(0.5, 0).is_nan());
    }
}
