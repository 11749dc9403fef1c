//! The product of two matrices, or of as many pairs as the outer dimensions count.

use super::split;
use crate::right::tensor::Tensor;

/// `a b`.
pub(crate) struct Matmul<'a> {
    pub(crate) a: &'a Tensor,
    pub(crate) b: &'a Tensor,
    m: usize,
    k: usize,
    n: usize,
}

impl<'a> Matmul<'a> {
    pub(crate) fn new(a: &'a Tensor, b: &'a Tensor) -> Option<Matmul<'a>> {
        let ((batch, m, k), (b_batch, b_k, n)) = (split(&a.shape)?, split(&b.shape)?);
        ((batch, k) == (b_batch, b_k)).then_some(Matmul { a, b, m, k, n })
    }

    pub(crate) fn shape(&self) -> Vec<usize> {
        let mut shape = self.a.shape.clone();
        shape.pop();
        shape.push(self.n);
        shape
    }

    pub(crate) fn terms(&self) -> usize {
        self.k
    }

    pub(crate) fn cost(&self) -> usize {
        self.k * self.n
    }

    /// A row of a and the matrix it is multiplied with.
    fn operands(&self, row: usize) -> (&[f64], &[f64]) {
        let size = self.k * self.n;
        (&self.a.data[row * self.k..][..self.k], &self.b.data[row / self.m * size..][..size])
    }

    // Row by row of b, so that memory is walked in order.
    pub(crate) fn exact(&self, row: usize, out: &mut [f64]) {
        let (a, b) = self.operands(row);
        out.fill(0.0);
        for (scale, b) in a.iter().zip(b.chunks_exact(self.n.max(1))) {
            out.iter_mut().zip(b).for_each(|(o, b)| *o += scale * b);
        }
    }

    pub(crate) fn integers(&self, row: usize, out: &mut [i128]) {
        out.fill(0);
        let first = row / self.m * self.k * self.n;
        for k in 0..self.k {
            let scale = self.a.integer(row * self.k + k);
            for (n, out) in out.iter_mut().enumerate() {
                *out = out.saturating_add(scale.saturating_mul(self.b.integer(first + k * self.n + n)));
            }
        }
    }

    pub(crate) fn plain(&self, row: usize, out: &mut [f32]) {
        let (a, b) = self.operands(row);
        out.fill(0.0);
        for (scale, b) in a.iter().zip(b.chunks_exact(self.n.max(1))) {
            let scale = *scale as f32;
            out.iter_mut().zip(b).for_each(|(o, b)| *o += scale * *b as f32);
        }
    }

    pub(crate) fn magnitude(&self, row: usize) -> f64 {
        let (a, b) = self.operands(row);
        let mut sums = vec![0.0; self.n];
        for (scale, b) in a.iter().zip(b.chunks_exact(self.n.max(1))) {
            sums.iter_mut().zip(b).for_each(|(s, b)| *s += (scale * b).abs());
        }
        sums.into_iter().fold(0.0, f64::max)
    }
}
