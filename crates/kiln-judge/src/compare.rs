//! A kernel's output against the right one. In: both, and what is allowed. Out: pass, or the worst element with its place.

use kiln_core::{Gate, Outcome, Refusal};
use kiln_spec::{Dtype, Tolerance};

use crate::tensor::Tensor;

/// How far an element may be off: `abs + rel * |right|`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowed {
    /// Absolute part.
    pub abs: f64,
    /// Relative part.
    pub rel: f64,
}

impl From<Tolerance> for Allowed {
    fn from(tolerance: Tolerance) -> Self {
        Allowed { abs: tolerance.abs, rel: tolerance.rel }
    }
}

impl Allowed {
    /// What is allowed when the kernel file says nothing: a few roundings of the output's own type.
    pub fn by_default(dtype: Dtype) -> Allowed {
        let (abs, rel) = match dtype {
            Dtype::F64 => (1e-12, 1e-10),
            Dtype::F32 => (1e-5, 1e-4),
            Dtype::F16 => (1e-3, 1e-3),
            Dtype::BF16 => (1e-2, 1.6e-2),
            Dtype::F8E4M3 => (6e-2, 1.3e-1),
            Dtype::F8E5M2 => (1.3e-1, 2.5e-1),
            _ => (0.0, 0.0),
        };
        Allowed { abs, rel }
    }
}

/// Compares `output` (by name) with what is right. A NaN in either is never a match; an infinity only matches itself.
pub fn compare(name: &str, output: &[f64], right: &Tensor, allowed: Allowed) -> Outcome<f64> {
    let mut worst: (f64, usize) = (0.0, 0);
    for (i, (found, expected)) in output.iter().zip(&right.data).enumerate() {
        if expected.is_nan() {
            return Outcome::Refused(refuse(Gate::Nonfinite, name, right, i, "the reference itself is NaN", *found));
        }
        if !found.is_finite() && found != expected {
            return Outcome::Refused(refuse(Gate::Nonfinite, name, right, i, "a number", *found));
        }
        if found == expected {
            continue;
        }
        // How many times over what is allowed; anything over nothing allowed is infinitely over.
        let over = (found - expected).abs() / (allowed.abs + allowed.rel * expected.abs());
        if over > worst.0 || over.is_nan() {
            worst = (if over.is_nan() { f64::INFINITY } else { over }, i);
        }
    }
    if output.len() != right.data.len() {
        let i = output.len().min(right.data.len());
        return Outcome::Refused(refuse(Gate::Numerics, name, right, i, "as many elements as the reference", f64::NAN));
    }
    if worst.0 > 1.0 {
        let (expected, found) = (right.data[worst.1], output[worst.1]);
        let limit = format!("{expected:.6e} within {:e} + {:e} * |right|", allowed.abs, allowed.rel);
        let mut refusal = refuse(Gate::Numerics, name, right, worst.1, &limit, found);
        let wrong =
            output.iter().zip(&right.data).filter(|(a, b)| (**a - **b).abs() > allowed.abs + allowed.rel * b.abs());
        refusal.evidence = format!("{} of {} elements are off", wrong.count(), output.len());
        return Outcome::Refused(refusal);
    }
    Outcome::Passed(worst.0)
}

fn refuse(gate: Gate, name: &str, right: &Tensor, index: usize, limit: &str, found: f64) -> Refusal {
    Refusal {
        gate,
        rule: name.into(),
        measured: format!("{name}{:?} is {found:e}", place(&right.shape, index)),
        limit: limit.into(),
        evidence: String::new(),
        hint: None,
    }
}

/// The coordinates of an element.
fn place(shape: &[usize], mut index: usize) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (coordinate, size) in at.iter_mut().zip(shape).rev() {
        *coordinate = index % (*size).max(1);
        index /= (*size).max(1);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right() -> Tensor {
        Tensor { shape: vec![2, 3], data: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] }
    }

    fn refusal(output: &[f64]) -> Refusal {
        match compare("y", output, &right(), Allowed { abs: 0.0, rel: 1e-3 }) {
            Outcome::Refused(refusal) => refusal,
            Outcome::Passed(over) => panic!("{over}"),
        }
    }

    #[test]
    fn small_errors_pass_and_the_worst_element_is_named() {
        let near = [1.0005, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert!(
            matches!(compare("y", &near, &right(), Allowed { abs: 0.0, rel: 1e-3 }), Outcome::Passed(w) if w > 0.4 && w < 0.6)
        );
        let refusal = refusal(&[1.1, 2.0, 3.0, 4.0, 9.0, 6.0]);
        assert_eq!(refusal.gate, Gate::Numerics);
        assert!(refusal.measured.starts_with("y[1, 1] is 9"), "{}", refusal.measured);
        assert_eq!(refusal.evidence, "2 of 6 elements are off");
    }

    #[test]
    fn nan_never_passes_and_infinity_only_as_itself() {
        assert_eq!(refusal(&[f64::NAN, 2.0, 3.0, 4.0, 5.0, 6.0]).gate, Gate::Nonfinite);
        assert_eq!(refusal(&[1.0, 2.0, 3.0, 4.0, 5.0, f64::INFINITY]).gate, Gate::Nonfinite);
        let infinite = Tensor { shape: vec![1], data: vec![f64::NEG_INFINITY] };
        let allowed = Allowed { abs: 1.0, rel: 1.0 };
        assert!(matches!(compare("y", &[f64::NEG_INFINITY], &infinite, allowed), Outcome::Passed(_)));
        let unknown = Tensor { shape: vec![1], data: vec![f64::NAN] };
        assert!(matches!(compare("y", &[f64::NAN], &unknown, allowed), Outcome::Refused(_)));
        assert_eq!(refusal(&[1.0]).gate, Gate::Numerics);
    }

    #[test]
    fn integers_must_be_exact_by_default() {
        let right = Tensor { shape: vec![1], data: vec![7.0] };
        assert!(matches!(compare("n", &[7.0], &right, Allowed::by_default(Dtype::I32)), Outcome::Passed(_)));
        assert!(matches!(compare("n", &[8.0], &right, Allowed::by_default(Dtype::I32)), Outcome::Refused(_)));
    }
}
