//! What is right, in double precision. In: an operation kiln knows, the kernel's inputs and scalars. Out: its outputs.
//! Refuses arguments that do not fit the operation, with what it expected.

use std::fmt;

use crate::tensor::Tensor;

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// `softmax(x)` along the last dimension: one input, one output of its shape.
    Softmax,
    /// `a b`: `[.., M, K]` times `[.., K, N]`.
    Matmul,
    /// `softmax(scale q k^T) v`: inputs `[B, H, S, D]` in the order q, k, v; scale is 1 / sqrt(D) unless a scalar is given.
    Attention,
    /// The sum along the last dimension.
    Reduction,
}

/// Arguments that do not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// The operation's name.
    pub operation: &'static str,
    /// What it takes.
    pub expected: &'static str,
    /// What there is.
    pub found: String,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the reference {} takes {}, but the kernel has {}", self.operation, self.expected, self.found)
    }
}

impl std::error::Error for Unfit {}

impl Builtin {
    /// The operation a kernel file names.
    pub fn named(name: &str) -> Option<Builtin> {
        Some(match name {
            "softmax" => Builtin::Softmax,
            "matmul" => Builtin::Matmul,
            "attention" => Builtin::Attention,
            "reduction" => Builtin::Reduction,
            _ => return None,
        })
    }

    fn describe(self) -> (&'static str, &'static str) {
        match self {
            Builtin::Softmax => ("softmax", "one input with at least one dimension"),
            Builtin::Matmul => ("matmul", "two inputs [.., M, K] and [.., K, N]"),
            Builtin::Attention => ("attention", "three inputs q, k, v of shape [.., S, D]"),
            Builtin::Reduction => ("reduction", "one input with at least one dimension"),
        }
    }

    /// The right output for these inputs, in the order of the kernel's arguments.
    pub fn compute(self, inputs: &[&Tensor], scale: Option<f64>) -> Result<Tensor, Unfit> {
        let unfit = || {
            let (operation, expected) = self.describe();
            let shapes: Vec<String> = inputs.iter().map(|t| format!("{:?}", t.shape)).collect();
            Unfit { operation, expected, found: format!("inputs {}", shapes.join(", ")) }
        };
        match (self, inputs) {
            (Builtin::Softmax, [x]) if !x.shape.is_empty() => Ok(softmax(x)),
            (Builtin::Reduction, [x]) if !x.shape.is_empty() => Ok(sum(x)),
            (Builtin::Matmul, [a, b]) => matmul(a, b).ok_or_else(unfit),
            (Builtin::Attention, [q, k, v]) => attention(q, k, v, scale).ok_or_else(unfit),
            _ => Err(unfit()),
        }
    }
}

fn softmax(x: &Tensor) -> Tensor {
    let mut result = x.clone();
    result.data.chunks_mut(x.last().max(1)).for_each(softmax_row);
    result
}

fn softmax_row(row: &mut [f64]) {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    row.iter_mut().for_each(|v| *v = (*v - max).exp());
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|v| *v /= sum);
}

fn sum(x: &Tensor) -> Tensor {
    let shape = x.shape[..x.shape.len() - 1].to_vec();
    Tensor { data: x.data.chunks(x.last().max(1)).map(|row| row.iter().sum()).collect(), shape }
}

/// Splits a shape into the product of its outer dimensions and its last two.
fn split(shape: &[usize]) -> Option<(usize, usize, usize)> {
    match shape {
        [outer @ .., rows, columns] => Some((outer.iter().product(), *rows, *columns)),
        _ => None,
    }
}

fn matmul(a: &Tensor, b: &Tensor) -> Option<Tensor> {
    let ((batch, m, k), (b_batch, b_k, n)) = (split(&a.shape)?, split(&b.shape)?);
    if (batch, k) != (b_batch, b_k) {
        return None;
    }
    let mut shape = a.shape.clone();
    *shape.last_mut()? = n;
    let mut result = Tensor::zeros(&shape);
    for i in 0..batch {
        let (a, b) = (&a.data[i * m * k..][..m * k], &b.data[i * k * n..][..k * n]);
        for (row, out) in result.data[i * m * n..][..m * n].chunks_mut(n.max(1)).enumerate() {
            // Row by row of b, so that memory is walked in order.
            for (inner, scale) in a[row * k..][..k].iter().enumerate() {
                out.iter_mut().zip(&b[inner * n..][..n]).for_each(|(o, b)| *o += scale * b);
            }
        }
    }
    Some(result)
}

fn attention(q: &Tensor, k: &Tensor, v: &Tensor, scale: Option<f64>) -> Option<Tensor> {
    let ((heads, queries, width), (k_heads, keys, k_width)) = (split(&q.shape)?, split(&k.shape)?);
    let (v_heads, v_keys, v_width) = split(&v.shape)?;
    if heads != k_heads || heads != v_heads || width != k_width || keys != v_keys || width == 0 {
        return None;
    }
    let scale = scale.unwrap_or(1.0 / (width as f64).sqrt());
    let mut shape = q.shape.clone();
    *shape.last_mut()? = v_width;
    let mut result = Tensor::zeros(&shape);
    let mut scores = vec![0.0; keys];
    for head in 0..heads {
        let k = &k.data[head * keys * width..][..keys * width];
        let v = &v.data[head * keys * v_width..][..keys * v_width];
        for query in 0..queries {
            let q = &q.data[(head * queries + query) * width..][..width];
            for (score, key) in scores.iter_mut().zip(k.chunks(width)) {
                *score = scale * q.iter().zip(key).map(|(a, b)| a * b).sum::<f64>();
            }
            softmax_row(&mut scores);
            let out = &mut result.data[(head * queries + query) * v_width..][..v_width];
            for (weight, value) in scores.iter().zip(v.chunks(v_width.max(1))) {
                out.iter_mut().zip(value).for_each(|(o, v)| *o += weight * v);
            }
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[usize], data: &[f64]) -> Tensor {
        Tensor { shape: shape.to_vec(), data: data.to_vec() }
    }

    #[test]
    fn small_cases_by_hand() {
        let x = tensor(&[2, 2], &[0.0, 3f64.ln(), 5.0, 5.0]);
        let right = Builtin::Softmax.compute(&[&x], None).unwrap();
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12) && a.len() == b.len();
        assert!(close(&right.data, &[0.25, 0.75, 0.5, 0.5]));
        assert_eq!(Builtin::Reduction.compute(&[&x], None).unwrap().data, [3f64.ln(), 10.0]);

        let a = tensor(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let b = tensor(&[3, 2], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
        let product = Builtin::Matmul.compute(&[&a, &b], None).unwrap();
        assert_eq!((product.shape, product.data), (vec![2, 2], vec![4.0, 5.0, 10.0, 11.0]));

        // One query that looks at the second of two keys three times as much as at the first.
        let q = tensor(&[1, 1, 1, 1], &[1.0]);
        let k = tensor(&[1, 1, 2, 1], &[0.0, 3f64.ln()]);
        let v = tensor(&[1, 1, 2, 1], &[8.0, 4.0]);
        let out = Builtin::Attention.compute(&[&q, &k, &v], Some(1.0)).unwrap();
        assert!(close(&out.data, &[5.0]));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let x = tensor(&[2, 3], &[0.0; 6]);
        let error = Builtin::Matmul.compute(&[&x, &x], None).unwrap_err().to_string();
        assert_eq!(
            error,
            "the reference matmul takes two inputs [.., M, K] and [.., K, N], but the kernel has inputs [2, 3], [2, 3]"
        );
        assert!(Builtin::Softmax.compute(&[&x, &x], None).is_err());
        assert!(Builtin::Attention.compute(&[&x, &x], None).is_err());
        assert_eq!(Builtin::named("conv"), None);
    }
}
