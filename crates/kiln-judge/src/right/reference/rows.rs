//! One operation on given inputs, seen as independent rows of its output: any of them can be computed alone, so that a
//! large output can be checked by a sample.

use super::attention::{Attention, Lse};
use super::fast::all;
use super::matmul::Matmul;
use super::softmax::{Softmax, Sum};
use crate::right::tensor::Tensor;

/// An operation with its inputs.
pub(crate) enum Job<'a> {
    Softmax(Softmax<'a>),
    Sum(Sum<'a>),
    Matmul(Matmul<'a>),
    Attention(Attention<'a>),
    Lse(Lse<'a>),
}

/// How a plain program keeps the scores of attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scores {
    /// Written in the inputs' own type.
    Narrow,
    /// In f32.
    Wide,
}

macro_rules! each {
    ($self:ident, $job:ident => $value:expr) => {
        match $self {
            Job::Softmax($job) => $value,
            Job::Sum($job) => $value,
            Job::Matmul($job) => $value,
            Job::Attention($job) => $value,
            Job::Lse($job) => $value,
        }
    };
}

impl Job<'_> {
    /// The shape of the output.
    pub(crate) fn shape(&self) -> Vec<usize> {
        each!(self, job => job.shape())
    }

    /// The elements of one row of the output.
    pub(crate) fn width(&self) -> usize {
        match self {
            Job::Sum(_) | Job::Lse(_) => 1,
            _ => self.shape().last().copied().unwrap_or(1),
        }
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.shape().iter().product::<usize>().checked_div(self.width()).unwrap_or(0)
    }

    /// Whether a row is right without any work: one that a mask leaves nothing to see.
    pub(crate) fn is_free(&self, row: usize) -> bool {
        match self {
            Job::Attention(job) | Job::Lse(Lse(job)) => job.seen(row) == 0,
            _ => false,
        }
    }

    /// Whether it is attention: its output, or the logarithm of each row's sum.
    pub(crate) fn is_attention(&self) -> bool {
        matches!(self, Job::Attention(_) | Job::Lse(_))
    }

    /// How many numbers are added up for one element.
    pub(crate) fn terms(&self) -> usize {
        each!(self, job => job.terms())
    }

    /// What one row costs, in multiply-adds.
    pub(crate) fn cost(&self) -> usize {
        each!(self, job => job.cost())
    }

    /// One row in double precision.
    pub(crate) fn exact(&self, row: usize, out: &mut [f64]) {
        each!(self, job => job.exact(row, out))
    }

    /// All rows at once, where that is much faster than one by one; with `narrow`, as exactly as 16 bits can tell.
    pub(crate) fn all(&self, narrow: bool) -> Option<Vec<f64>> {
        let Job::Attention(job) = self else { return None };
        let mut out = vec![0.0; self.rows() * self.width()];
        match narrow {
            true => all::<f32, 8>(job, &mut out),
            false => all::<f64, 4>(job, &mut out),
        }
        Some(out)
    }

    /// Whether sums of integers may be more than a double holds.
    pub(crate) fn needs_integers(&self) -> bool {
        const HELD: f64 = 9_007_199_254_740_992.0;
        let whole = |t: &Tensor| t.exact.is_some() || t.data.iter().all(|v| v.fract() == 0.0);
        let size = |t: &Tensor| t.data.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        match self {
            Job::Sum(job) => self.terms() as f64 * size(job.x) >= HELD && whole(job.x),
            Job::Matmul(job) => self.terms() as f64 * size(job.a) * size(job.b) >= HELD && whole(job.a) && whole(job.b),
            _ => false,
        }
    }

    /// One row of a sum or a product of integers.
    pub(crate) fn integers(&self, row: usize, out: &mut [i128]) {
        match self {
            Job::Sum(job) => job.integers(row, out),
            Job::Matmul(job) => job.integers(row, out),
            _ => {}
        }
    }

    /// One row as a plain program has it: sums in f32, one number after another, and every intermediate result written in
    /// the inputs' own type. The result is not rounded.
    pub(crate) fn plain(&self, row: usize, scores: Scores, out: &mut [f32]) {
        match self {
            Job::Softmax(job) => job.plain(row, out),
            Job::Sum(job) => job.plain(row, out),
            Job::Matmul(job) => job.plain(row, out),
            Job::Attention(job) => job.plain(row, scores, out),
            Job::Lse(job) => job.plain(row, out),
        }
    }

    /// The largest magnitude among the inputs of an operation that has one.
    pub(crate) fn size(&self) -> f64 {
        let largest = |data: &[f64]| data.iter().fold(f64::MIN_POSITIVE, |most, v| most.max(v.abs()));
        match self {
            Job::Softmax(job) => largest(&job.x.data),
            Job::Sum(job) => largest(&job.x.data),
            _ => 1.0,
        }
    }

    /// The largest sum of magnitudes among the elements of a row: what the errors of a sum are relative to.
    pub(crate) fn magnitude(&self, row: usize) -> f64 {
        each!(self, job => job.magnitude(row))
    }
}

/// A dot product; four sums at once, which compilers do not dare by themselves.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a4, a_rest), (b4, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a4.iter().zip(b4) {
        for i in 0..4 {
            sums[i] += a[i] * b[i];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}
