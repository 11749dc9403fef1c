//! Attention forward, head by head: the output, and the logarithm of each row's sum of exponentials.

use std::sync::OnceLock;

use half::{bf16, f16};
use kiln_spec::Dtype;

use super::Scalars;
use super::rows::{Scores, dot};
use super::softmax::{EXPONENTIAL, plain_softmax, softmax};
use super::split;
use crate::drawn::element::round_to;
use crate::right::tensor::Tensor;

/// `softmax(scale q k^T) v`.
pub(crate) struct Attention<'a> {
    pub(super) q: &'a Tensor,
    pub(super) k: &'a Tensor,
    pub(super) v: &'a Tensor,
    pub(super) queries: usize,
    pub(super) keys: usize,
    pub(super) width: usize,
    pub(super) v_width: usize,
    /// Heads of q, and of k and v, of which as many of q share one as there are more.
    heads: usize,
    kv_heads: usize,
    scalars: Scalars,
    working: Dtype,
    /// The keys times the scale, as the plain program has them.
    scaled: OnceLock<Vec<f32>>,
}

/// The sizes of an attention, whose tensors lie in one piece each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heads {
    /// Heads of all batches together.
    pub all: usize,
    /// Heads of q in one batch, and of k and v, which groups of q's share.
    pub heads: usize,
    /// Heads of k and v in one batch.
    pub kv_heads: usize,
    /// Rows of q.
    pub queries: usize,
    /// Rows of k and v.
    pub keys: usize,
    /// Columns of q and k.
    pub width: usize,
    /// Columns of v and of the output.
    pub v_width: usize,
    /// Whether the last query sees all keys, and each one before it one fewer.
    pub causal: bool,
    /// What scores are multiplied with.
    pub scale: f64,
}

impl<'a> Attention<'a> {
    pub(crate) fn new(
        q: &'a Tensor,
        k: &'a Tensor,
        v: &'a Tensor,
        scalars: Scalars,
        working: Dtype,
    ) -> Option<Attention<'a>> {
        let ((_, queries, width), (_, keys, k_width)) = (split(&q.shape)?, split(&k.shape)?);
        let (_, v_keys, v_width) = split(&v.shape)?;
        let ((batches, heads), (k_batches, kv_heads)) = (head_counts(q), head_counts(k));
        let same = head_counts(k) == head_counts(v);
        let fits = batches == k_batches && same && width == k_width && keys == v_keys && width > 0;
        let shared = kv_heads > 0 && heads.is_multiple_of(kv_heads);
        let scaled = OnceLock::new();
        (fits && shared && keys > 0).then_some(Attention {
            q,
            k,
            v,
            queries,
            keys,
            width,
            v_width,
            heads,
            kv_heads,
            scalars,
            working,
            scaled,
        })
    }

    /// Its sizes, for who computes all of it.
    pub(crate) fn heads(&self) -> Heads {
        let all = self.q.data.len() / (self.queries * self.width).max(1);
        let Attention { heads, kv_heads, queries, keys, width, v_width, .. } = *self;
        let (causal, scale) = (self.scalars.causal, self.scale());
        Heads { all, heads, kv_heads, queries, keys, width, v_width, causal, scale }
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

    pub(super) fn scale(&self) -> f64 {
        self.scalars.scale.unwrap_or(1.0 / (self.width as f64).sqrt())
    }

    /// How many keys a row sees. The mask is aligned at the bottom right: the last query sees all of them.
    pub(crate) fn seen(&self, row: usize) -> usize {
        let unseen = if self.scalars.causal { self.queries - 1 - row % self.queries } else { 0 };
        self.keys.saturating_sub(unseen)
    }

    /// The head of k and v that a row looks at.
    pub(super) fn head(&self, row: usize) -> usize {
        let (batch, head) = (row / self.queries / self.heads, row / self.queries % self.heads);
        batch * self.kv_heads + head / (self.heads / self.kv_heads)
    }

    /// A row's query, and the keys and values that it sees.
    fn operands(&self, row: usize) -> (&[f64], &[f64], &[f64]) {
        let (first, seen) = (self.head(row) * self.keys, self.seen(row));
        (
            &self.q.data[row * self.width..][..self.width],
            &self.k.data[first * self.width..][..seen * self.width],
            &self.v.data[first * self.v_width..][..seen * self.v_width],
        )
    }

    fn scores(&self, row: usize) -> Vec<f64> {
        let ((q, k, _), scale) = (self.operands(row), self.scale());
        k.chunks_exact(self.width).map(|k| scale * dot(q, k)).collect()
    }

    /// The largest magnitude of a row's scores.
    pub(crate) fn largest_score(&self, row: usize) -> f64 {
        self.scores(row).iter().fold(0.0, |most, score| most.max(score.abs()))
    }

    fn weights(&self, row: usize) -> Vec<f64> {
        let mut scores = self.scores(row);
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
        let (q, _, v) = self.operands(row);
        let round = rounding(self.working);
        let (scale, size) = (self.scale() as f32, self.keys * self.width);
        let scaled = self.scaled.get_or_init(|| self.k.data.iter().map(|k| round(*k as f32 * scale)).collect());
        let q: Vec<f32> = q.iter().map(|q| *q as f32).collect();
        let keys = scaled[self.head(row) * size..].chunks_exact(self.width).take(self.seen(row));
        let mut weights: Vec<f32> = keys.map(|k| plain_dot(&q, k)).collect();
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

/// Batches and heads of a tensor `[.., heads, rows, columns]`.
fn head_counts(tensor: &Tensor) -> (&[usize], usize) {
    match tensor.shape.as_slice() {
        [batches @ .., heads, _, _] => (batches, *heads),
        _ => (&[], 1),
    }
}

/// The logarithm of the sum of a row's exponentials.
pub(crate) struct Lse<'a>(pub(crate) Attention<'a>);

impl Lse<'_> {
    pub(crate) fn shape(&self) -> Vec<usize> {
        let shape = &self.0.q.shape;
        shape[..shape.len() - 1].to_vec()
    }

    pub(crate) fn terms(&self) -> usize {
        self.0.keys + self.0.width
    }

    pub(crate) fn cost(&self) -> usize {
        self.0.keys * (self.0.width + EXPONENTIAL)
    }

    pub(crate) fn exact(&self, row: usize, out: &mut [f64]) {
        let scores = self.0.scores(row);
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
        out.fill(if scores.is_empty() { most } else { most + sum.ln() });
    }

    /// Scores in single precision, whatever the inputs' type: they never leave a kernel's registers.
    pub(crate) fn plain(&self, row: usize, out: &mut [f32]) {
        let ((q, k, _), scale) = (self.0.operands(row), self.0.scale() as f32);
        let score = |k: &[f64]| scale * q.iter().zip(k).fold(0.0, |sum: f32, (q, k)| sum + *q as f32 * *k as f32);
        let scores: Vec<f32> = k.chunks_exact(self.0.width).map(score).collect();
        let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum = scores.iter().fold(0.0, |sum: f32, score| sum + (score - most).exp());
        out.fill(if scores.is_empty() { most } else { most + sum.ln() });
    }

    /// The largest sum of magnitudes that makes a score.
    pub(crate) fn magnitude(&self, row: usize) -> f64 {
        let ((q, k, _), scale) = (self.0.operands(row), self.0.scale());
        let size = |k: &[f64]| scale * q.iter().zip(k).map(|(q, k)| (q * k).abs()).sum::<f64>();
        k.chunks_exact(self.0.width).map(size).fold(0.0, f64::max)
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
