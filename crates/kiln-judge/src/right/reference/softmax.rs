//! Operations along the last dimension of one input: softmax, and the sum.

use crate::right::tensor::Tensor;

/// `softmax(x)`.
pub(crate) struct Softmax<'a> {
    pub(crate) x: &'a Tensor,
}

/// The sum of each row.
pub(crate) struct Sum<'a> {
    pub(crate) x: &'a Tensor,
}

/// Multiply-adds that take as long as one exponential.
pub(crate) const EXPONENTIAL: usize = 16;

impl Softmax<'_> {
    pub(crate) fn shape(&self) -> Vec<usize> {
        self.x.shape.clone()
    }

    pub(crate) fn terms(&self) -> usize {
        self.x.last()
    }

    pub(crate) fn cost(&self) -> usize {
        EXPONENTIAL * self.x.last()
    }

    pub(crate) fn exact(&self, row: usize, out: &mut [f64]) {
        out.copy_from_slice(self.x.row(row));
        softmax(out);
    }

    pub(crate) fn plain(&self, row: usize, out: &mut [f32]) {
        out.iter_mut().zip(self.x.row(row)).for_each(|(o, x)| *o = *x as f32);
        plain_softmax(out);
    }

    /// Its terms are positive: their magnitudes are the result's.
    pub(crate) fn magnitude(&self, _: usize) -> f64 {
        0.0
    }
}

impl Sum<'_> {
    pub(crate) fn shape(&self) -> Vec<usize> {
        self.x.shape[..self.x.shape.len() - 1].to_vec()
    }

    pub(crate) fn terms(&self) -> usize {
        self.x.last()
    }

    pub(crate) fn cost(&self) -> usize {
        self.x.last()
    }

    pub(crate) fn exact(&self, row: usize, out: &mut [f64]) {
        out.fill(self.x.row(row).iter().sum());
    }

    pub(crate) fn integers(&self, row: usize, out: &mut [i128]) {
        let width = self.x.last();
        out.fill((row * width..(row + 1) * width).map(|at| self.x.integer(at)).fold(0, i128::saturating_add));
    }

    pub(crate) fn plain(&self, row: usize, out: &mut [f32]) {
        out.fill(self.x.row(row).iter().fold(0.0, |sum, x| sum + *x as f32));
    }

    pub(crate) fn magnitude(&self, row: usize) -> f64 {
        self.x.row(row).iter().map(|v| v.abs()).sum()
    }
}

/// Softmax in place.
pub(crate) fn softmax(row: &mut [f64]) {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    row.iter_mut().for_each(|v| *v = (*v - max).exp());
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|v| *v /= sum);
}

/// The same in single precision, in the form every fast kernel has it: exp(x) is 2 to the x log2(e), rounded between.
pub(crate) fn plain_softmax(row: &mut [f32]) {
    let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|v| *v = ((*v - max) * std::f32::consts::LOG2_E).exp2());
    let sum = row.iter().fold(0.0, |sum: f32, v| sum + v);
    row.iter_mut().for_each(|v| *v /= sum);
}
