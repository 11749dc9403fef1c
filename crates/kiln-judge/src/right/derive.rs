//! The bound of an output for which the file states none. In: an operation, its right answer, the output's type. Out: how
//! far a good kernel may be off on exactly these inputs, from how far a plain program in the kernel's own types is off.
//!
//! - 16-bit outputs of standard normal inputs follow FlashAttention's rule: twice the error of the plain program (which
//!   writes every intermediate result in 16 bits), and twice the rounding noise of the answer itself, what adding 0.3 and
//!   taking it away again leaves. Rounding scores, or sums now and then, stays below that, so the length of the whole error
//!   is bounded too.
//! - 16-bit outputs of other inputs: four times the error of a plain program that keeps scores in f32. Large scores rounded
//!   to 16 bits would make almost any answer pass.
//! - Neither is ever less than one step of the type at the largest answer: on some inputs the plain program is exact.
//! - f32 outputs: eight times the error of sums taken one number after another, which covers any other order, and 32 times
//!   on inputs as large or as small as can be; two roundings of the sum of magnitudes, where numbers may cancel; sixteen of
//!   the largest answer, for the polynomials that stand in for exponentials and divisions. TF32 or 16-bit products are off
//!   by thousands of roundings.
//! - f64 outputs: as the references are doubles too, a statistical bound of a sum's error, `8 sqrt(n)` roundings.
//! - 8-bit outputs and integers: by type.

use kiln_spec::Dtype;

use crate::drawn::element::{round_to, roundoff};
use crate::marked::parallel::in_parallel;
use crate::right::allowed::{Allowed, Bound, Source};
use crate::right::answer::BUDGET;
use crate::right::expected::Expected;
use crate::right::reference::{Job, Scores};
use crate::right::tensor::Tensor;

/// Outputs of fewer elements may by luck show no error at all; the statistical bound then stands in.
const FEW: usize = 64;
/// Rows looked at for the size of sums.
const MAGNITUDES: usize = 4;

pub(crate) fn derive(job: &Job<'_>, expected: &Expected, dtype: Dtype, ordinary: bool, scaled: bool) -> Bound {
    let abs = match dtype {
        Dtype::F16 | Dtype::BF16 => {
            let keep = if ordinary { Scores::Narrow } else { Scores::Wide };
            let times = if ordinary { 2.0 } else { 4.0 };
            // The noise is that of answers near one; others have only their own rounding.
            let noise = if scaled { 0.0 } else { 2.0 * rounding_noise(expected, dtype) };
            let error = times * plain_error(job, expected, dtype, keep) + noise;
            error.max(2.0 * roundoff(dtype) * expected.largest())
        }
        Dtype::F32 => {
            let unit = roundoff(dtype);
            let few = if expected.data.len() < FEW { (job.terms() as f64).sqrt() / 2.0 } else { 0.0 };
            // Where single large scores decide, errors are far apart from row to row.
            let times = if scaled { 32.0 } else { 8.0 };
            times * plain_error(job, expected, dtype, Scores::Narrow)
                + unit * (16.0 * expected.largest() + (2.0 + few) * magnitude(job, expected))
        }
        Dtype::F64 => {
            let sums = 8.0 * (job.terms() as f64).sqrt() * magnitude(job, expected).max(expected.largest());
            roundoff(dtype) * (16.0 * expected.largest() + sums)
        }
        _ => return Bound { allowed: Allowed::by_default(dtype), rel_l2: None, source: Source::Assumed },
    };
    let rel_l2 = (ordinary && roundoff(dtype) > 1e-4).then(|| rel_l2(expected, dtype));
    Bound { allowed: Allowed { abs, rel: 0.0 }, rel_l2, source: Source::Derived }
}

/// The bound of an output whose reference was also computed in the kernel's own types: four times the error of that, and some
/// roundings of the largest answer for sums taken in another order. None where it shows no error of its own, as when the
/// reference widens its inputs by itself.
pub(crate) fn from_plain(dtype: Dtype, expected: &Expected, plain: &Tensor, terms: usize) -> Option<Bound> {
    let unit = roundoff(dtype);
    if plain.data.len() != expected.data.len() || !(1e-12..0.01).contains(&unit) {
        return None;
    }
    let (mut worst, mut beyond) = (0.0f64, false);
    for (plain, right) in plain.data.iter().zip(&expected.data).filter(|(_, right)| right.is_finite()) {
        let error = (plain - right).abs();
        beyond |= error > 1.01 * unit * right.abs();
        worst = worst.max(if error.is_finite() { error } else { 0.0 });
    }
    let allowed = Allowed { abs: 4.0 * worst + roundings(dtype, terms) * expected.largest(), rel: 0.0 };
    beyond.then_some(Bound { allowed, rel_l2: None, source: Source::Derived })
}

/// What a sum of so many terms may be off, taken in any order, as a share of the largest one. Narrow types are rounded to once,
/// whatever the order.
pub(crate) fn roundings(dtype: Dtype, terms: usize) -> f64 {
    let unit = roundoff(dtype);
    unit * if unit > 1e-5 { 2.0 } else { (16.0 + (terms as f64).sqrt()).min(512.0) }
}

/// The largest error of the plain program.
fn plain_error(job: &Job<'_>, expected: &Expected, dtype: Dtype, scores: Scores) -> f64 {
    // As many rows as a sampled answer has: where all are known, every so many.
    let rows: Vec<(usize, &[f64])> = expected.known().collect();
    let most = (BUDGET / job.cost().max(1)).max(2);
    let rows: Vec<_> = rows.iter().step_by(rows.len().div_ceil(most).max(1)).collect();
    let errors = in_parallel(&rows, |(row, right)| {
        let mut plain = vec![0.0; job.width()];
        job.plain(*row, scores, &mut plain);
        let error = |(plain, right): (&f32, &f64)| (round_to(dtype, f64::from(*plain)) - right).abs();
        // An overflow is no measure of what is allowed.
        plain.iter().zip(*right).map(error).filter(|error| error.is_finite()).fold(0.0, f64::max)
    });
    errors.into_iter().fold(0.0, f64::max)
}

/// The rounding of the answer at its own size.
fn rounding_noise(expected: &Expected, dtype: Dtype) -> f64 {
    let noise = |right: f64| {
        let right = round_to(dtype, right);
        (round_to(dtype, round_to(dtype, right + 0.3) - 0.3) - right).abs()
    };
    expected.data.iter().map(|v| noise(*v)).filter(|v| v.is_finite()).fold(0.0, f64::max)
}

fn magnitude(job: &Job<'_>, expected: &Expected) -> f64 {
    expected.known().take(MAGNITUDES).map(|(row, _)| job.magnitude(row)).fold(0.0, f64::max)
}

/// 1.4 times what a good kernel shows, or 1.9 times what rounding the correct answer does where numbers are too small for a
/// type's full precision.
fn rel_l2(expected: &Expected, dtype: Dtype) -> f64 {
    let level = if dtype == Dtype::F16 { 4.0e-4 } else { 3.2e-3 };
    let (mut error, mut right) = (0.0, 0.0);
    for v in expected.data.iter().filter(|v| v.is_finite()) {
        error += (round_to(dtype, *v) - v).powi(2);
        right += v * v;
    }
    if right > 0.0 { (1.9 * (error / right).sqrt()).max(level) } else { level }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::right::reference::Builtin;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    /// Sums of twelve uniform numbers are normal enough.
    fn normal(shape: &[usize], dtype: Dtype, seed: u64) -> Tensor {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut tensor = Tensor::zeros(shape);
        let mut draw = || (0..12).map(|_| f64::from(rng.next_u32()) / 2f64.powi(32)).sum::<f64>() - 6.0;
        tensor.data.iter_mut().for_each(|v| *v = round_to(dtype, draw()));
        tensor
    }

    #[test]
    fn the_plain_program_errs_as_unfused_attention_is_known_to() {
        for (dtype, from, to) in [(Dtype::F16, 2.6e-4, 1.3e-3), (Dtype::BF16, 2.7e-3, 6.0e-3)] {
            let [q, k, v] = [1, 2, 3].map(|seed| normal(&[1, 512, 64], dtype, seed));
            let job = Builtin::Attention.job(&[&q, &k, &v], None, dtype).unwrap();
            let expected = Expected::sample(&job, usize::MAX, 1);
            let error = plain_error(&job, &expected, dtype, Scores::Narrow);
            assert!(error > from && error < to, "{dtype:?}: {error:e}");
        }
    }

    #[test]
    fn more_terms_and_larger_numbers_allow_more() {
        let bound = |k: usize, dtype| {
            let [a, b] = [1, 2].map(|seed| normal(&[1, 16 * k], dtype, seed).data);
            let (a, b) = (Tensor::new(&[16, k], a), Tensor::new(&[k, 16], b));
            let job = Builtin::Matmul.job(&[&a, &b], None, dtype).unwrap();
            derive(&job, &Expected::sample(&job, usize::MAX, 1), dtype, true, false).allowed.abs
        };
        for dtype in [Dtype::F64, Dtype::F32] {
            assert!(bound(256, dtype) > 2.0 * bound(16, dtype), "{dtype:?}");
        }
        // A few hundred roundings of a sum of 256 products; with factors of eleven bits it would be off by thousands.
        assert!(bound(256, Dtype::F32) < 500.0 * 2f64.powi(-24) * 16.0, "{}", bound(256, Dtype::F32));
    }
}
