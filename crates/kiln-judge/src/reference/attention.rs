//! Attention forward, head by head, without a mask.

use std::cell::RefCell;

use half::{bf16, f16};
use kiln_spec::Dtype;

use super::rows::{Scores, dot};
use super::softmax::{EXPONENTIAL, plain_softmax, softmax};
use super::split;
use crate::element::round_to;
use crate::tensor::Tensor;

/// `softmax(scale q k^T) v`.
pub(crate) struct Attention<'a> {
    q: &'a Tensor,
    k: &'a Tensor,
    v: &'a Tensor,
    queries: usize,
    keys: usize,
    width: usize,
    v_width: usize,
    scale: f64,
    working: Dtype,
    /// The keys of a head times the scale, as the plain program has them; kept, as rows come head by head.
    scaled: RefCell<(usize, Vec<f32>)>,
}

impl<'a> Attention<'a> {
    pub(crate) fn new(
        q: &'a Tensor,
        k: &'a Tensor,
        v: &'a Tensor,
        scale: Option<f64>,
        working: Dtype,
    ) -> Option<Attention<'a>> {
        let ((heads, queries, width), (k_heads, keys, k_width)) = (split(&q.shape)?, split(&k.shape)?);
        let (v_heads, v_keys, v_width) = split(&v.shape)?;
        let fits = heads == k_heads && heads == v_heads && width == k_width && keys == v_keys && width > 0 && keys > 0;
        let scale = scale.unwrap_or(1.0 / (width as f64).sqrt());
        let scaled = RefCell::new((usize::MAX, vec![]));
        fits.then_some(Attention { q, k, v, queries, keys, width, v_width, scale, working, scaled })
    }

    pub(crate) fn shape(&self) -> Vec<usize> {
        let mut shape = self.q.shape.clone();
        shape.pop();
        shape.push(self.v_width);
        shape
    }

    pub(crate) fn terms(&self) -> usize {
        self.keys
    }

    pub(crate) fn cost(&self) -> usize {
        self.keys * (self.width + self.v_width + EXPONENTIAL)
    }

    fn operands(&self, row: usize) -> (&[f64], &[f64], &[f64]) {
        let head = row / self.queries;
        (
            &self.q.data[row * self.width..][..self.width],
            &self.k.data[head * self.keys * self.width..][..self.keys * self.width],
            &self.v.data[head * self.keys * self.v_width..][..self.keys * self.v_width],
        )
    }

    fn weights(&self, row: usize) -> Vec<f64> {
        let (q, k, _) = self.operands(row);
        let mut scores: Vec<f64> = k.chunks_exact(self.width).map(|k| self.scale * dot(q, k)).collect();
        softmax(&mut scores);
        scores
    }

    pub(crate) fn exact(&self, row: usize, out: &mut [f64]) {
        out.fill(0.0);
        let (_, _, v) = self.operands(row);
        for (weight, v) in self.weights(row).iter().zip(v.chunks_exact(self.v_width.max(1))) {
            out.iter_mut().zip(v).for_each(|(o, v)| *o += weight * v);
        }
    }

    /// Unfused: keys times the scale, the scores and the weights are written out, as separate kernels would.
    pub(crate) fn plain(&self, row: usize, scores: Scores, out: &mut [f32]) {
        let (q, k, v) = self.operands(row);
        let round = rounding(self.working);
        let mut scaled = self.scaled.borrow_mut();
        if scaled.0 != row / self.queries {
            let scale = self.scale as f32;
            *scaled = (row / self.queries, k.iter().map(|k| round(*k as f32 * scale)).collect());
        }
        let q: Vec<f32> = q.iter().map(|q| *q as f32).collect();
        let mut weights: Vec<f32> = scaled.1.chunks_exact(self.width).map(|k| plain_dot(&q, k)).collect();
        if scores == Scores::Narrow {
            weights.iter_mut().for_each(|score| *score = round(*score));
        }
        plain_softmax(&mut weights);
        out.fill(0.0);
        for (weight, v) in weights.iter().zip(v.chunks_exact(self.v_width.max(1))) {
            let weight = round(*weight);
            out.iter_mut().zip(v).for_each(|(o, v)| *o += weight * *v as f32);
        }
    }

    pub(crate) fn magnitude(&self, row: usize) -> f64 {
        let mut sums = vec![0.0; self.v_width];
        let (_, _, v) = self.operands(row);
        for (weight, v) in self.weights(row).iter().zip(v.chunks_exact(self.v_width.max(1))) {
            sums.iter_mut().zip(v).for_each(|(s, v)| *s += weight * v.abs());
        }
        sums.into_iter().fold(0.0, f64::max)
    }
}

/// Rounding to a type, chosen once.
fn rounding(dtype: Dtype) -> fn(f32) -> f32 {
    match dtype {
        Dtype::F16 => |v| f16::from_f32(v).to_f32(),
        Dtype::BF16 => |v| bf16::from_f32(v).to_f32(),
        Dtype::F8E4M3 => |v| round_to(Dtype::F8E4M3, f64::from(v)) as f32,
        Dtype::F8E5M2 => |v| round_to(Dtype::F8E5M2, f64::from(v)) as f32,
        _ => |v| v,
    }
}

/// A dot product in single precision, in four sums.
fn plain_dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a4, a_rest), (b4, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0f32; 4];
    for (a, b) in a4.iter().zip(b4) {
        for i in 0..4 {
            sums[i] += a[i] * b[i];
        }
    }
    let rest = a_rest.iter().zip(b_rest).fold(0.0, |sum, (a, b)| sum + a * b);
    sums.iter().sum::<f32>() + rest
}
