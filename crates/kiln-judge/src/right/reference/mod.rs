//! What is right, in double precision, a row at a time. In: an operation kiln knows, the kernel's inputs and scalars. Out:
//! a [`Job`] that computes any row of the output, exactly or as a plain program in the kernel's own types would. Refuses
//! arguments that do not fit the operation, with what it expected.

mod attention;
mod fast;
mod matmul;
mod rows;
mod softmax;

use std::fmt;

use kiln_spec::Dtype;

use crate::right::tensor::Tensor;
pub use attention::Heads;
use attention::{Attention, Lse};
use matmul::Matmul;
pub(crate) use rows::{Job, Scores, dot};
use softmax::{Softmax, Sum};

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// `softmax(x)` along the last dimension: one input, one output of its shape.
    Softmax,
    /// `a b`: `[.., M, K]` times `[.., K, N]`.
    Matmul,
    /// `softmax(scale q k^T) v`: inputs `[.., H, S, D]` in the order q, k, v, of which k and v may have fewer heads; scale
    /// is 1 / sqrt(D) unless a scalar is given. A second output is the logarithm of each row's sum of exponentials.
    Attention,
    /// The sum along the last dimension.
    Reduction,
}

/// What scalars say about an operation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Scalars {
    /// What scores are multiplied with.
    pub scale: Option<f64>,
    /// Whether the last query sees all keys, and each one before it one fewer.
    pub causal: bool,
}

impl From<Option<f64>> for Scalars {
    fn from(scale: Option<f64>) -> Scalars {
        Scalars { scale, causal: false }
    }
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

    /// Its name, and what it takes.
    pub(crate) fn describe(self) -> (&'static str, &'static str) {
        match self {
            Builtin::Softmax => ("softmax", "one input with at least one dimension"),
            Builtin::Matmul => ("matmul", "two inputs [.., M, K] and [.., K, N]"),
            Builtin::Attention => {
                ("attention", "three inputs q, k, v of shape [.., H, S, D], the heads of k and v dividing those of q")
            }
            Builtin::Reduction => ("reduction", "one input with at least one dimension"),
        }
    }

    /// How many inputs it takes.
    pub(crate) fn arity(self) -> usize {
        match self {
            Builtin::Softmax | Builtin::Reduction => 1,
            Builtin::Matmul => 2,
            Builtin::Attention => 3,
        }
    }

    /// How many outputs it may give.
    pub(crate) fn outputs(self) -> usize {
        if self == Builtin::Attention { 2 } else { 1 }
    }

    /// The first output's operation on these inputs, in the order of the kernel's arguments; a plain program would keep
    /// intermediate results as `working`.
    pub(crate) fn job<'a>(
        self,
        inputs: &[&'a Tensor],
        scalars: impl Into<Scalars>,
        working: Dtype,
    ) -> Result<Job<'a>, Unfit> {
        let scalars = scalars.into();
        let job = match (self, inputs) {
            (Builtin::Softmax, [x]) if !x.shape.is_empty() => Some(Job::Softmax(Softmax { x })),
            (Builtin::Reduction, [x]) if !x.shape.is_empty() => Some(Job::Sum(Sum { x })),
            (Builtin::Matmul, [a, b]) => Matmul::new(a, b).map(Job::Matmul),
            (Builtin::Attention, [q, k, v]) => Attention::new(q, k, v, scalars, working).map(Job::Attention),
            _ => None,
        };
        job.ok_or_else(|| {
            let (operation, expected) = self.describe();
            let shapes: Vec<String> = inputs.iter().map(|t| format!("{:?}", t.shape)).collect();
            Unfit { operation, expected, found: format!("inputs {}", shapes.join(", ")) }
        })
    }

    /// One job for each of so many outputs.
    pub(crate) fn jobs<'a>(
        self,
        inputs: &[&'a Tensor],
        scalars: Scalars,
        working: Dtype,
        outputs: usize,
    ) -> Result<Vec<Job<'a>>, Unfit> {
        let mut jobs = vec![self.job(inputs, scalars, working)?];
        if outputs > 1
            && let Job::Attention(job) = self.job(inputs, scalars, working)?
        {
            jobs.push(Job::Lse(Lse(job)));
        }
        Ok(jobs)
    }

    /// The whole right output, the first where there are several.
    pub fn compute(self, inputs: &[&Tensor], scalars: impl Into<Scalars>) -> Result<Tensor, Unfit> {
        let job = self.job(inputs, scalars, Dtype::F64)?;
        let mut result = Tensor::zeros(&job.shape());
        let width = job.width();
        for row in 0..job.rows() {
            job.exact(row, &mut result.data[row * width..][..width]);
        }
        Ok(result)
    }
}

/// Splits a shape into the product of its outer dimensions and its last two.
fn split(shape: &[usize]) -> Option<(usize, usize, usize)> {
    match shape {
        [outer @ .., rows, columns] => Some((outer.iter().product(), *rows, *columns)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[usize], data: &[f64]) -> Tensor {
        Tensor::new(shape, data.to_vec())
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
    fn a_plain_program_in_wide_types_is_nearly_right() {
        let wave = |shape: &[usize], step: f64| {
            let count: usize = shape.iter().product();
            tensor(shape, &(0..count).map(|i| (step * i as f64).sin()).collect::<Vec<f64>>())
        };
        let (a, b, c) = (wave(&[2, 5, 7], 0.7), wave(&[2, 7, 5], 0.3), wave(&[2, 5, 7], 1.1));
        for (builtin, inputs) in [
            (Builtin::Softmax, vec![&a]),
            (Builtin::Reduction, vec![&a]),
            (Builtin::Matmul, vec![&a, &b]),
            (Builtin::Attention, vec![&a, &c, &c]),
        ] {
            for job in builtin.jobs(&inputs, Scalars::default(), Dtype::F32, builtin.outputs()).unwrap() {
                let (mut exact, mut plain) = (vec![0.0; job.width()], vec![0.0; job.width()]);
                for row in 0..job.rows() {
                    job.exact(row, &mut exact);
                    job.plain(row, Scores::Narrow, &mut plain);
                    let near = |(e, p): (&f64, &f32)| (e - f64::from(*p)).abs() < 1e-5;
                    assert!(exact.iter().zip(&plain).all(near), "{builtin:?} {row}");
                }
            }
        }
    }

    #[test]
    fn masks_are_aligned_at_the_last_key_and_heads_are_shared() {
        // Four queries in two heads that share one head of two keys; the first two of four see nothing.
        let q = tensor(&[1, 2, 4, 1], &[1.0; 8]);
        let k = tensor(&[1, 1, 2, 1], &[0.0, 3f64.ln()]);
        let v = tensor(&[1, 1, 2, 1], &[8.0, 4.0]);
        let causal = Scalars { scale: Some(1.0), causal: true };
        let jobs = Builtin::Attention.jobs(&[&q, &k, &v], causal, Dtype::F64, 2).unwrap();
        let all = |job: &Job<'_>| -> Vec<f64> {
            let mut out = vec![0.0; job.rows()];
            out.iter_mut().enumerate().for_each(|(row, out)| job.exact(row, std::slice::from_mut(out)));
            out
        };
        let (o, lse) = (all(&jobs[0]), all(&jobs[1]));
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a == b || (a - b).abs() < 1e-12);
        assert!(close(&o, &[0.0, 0.0, 8.0, 5.0, 0.0, 0.0, 8.0, 5.0]), "{o:?}");
        let none = f64::NEG_INFINITY;
        assert!(close(&lse, &[none, none, 0.0, 4f64.ln(), none, none, 0.0, 4f64.ln()]), "{lse:?}");
        assert_eq!((jobs[1].shape(), jobs[1].width()), (vec![1, 2, 4], 1));
        assert!(jobs.iter().all(|job| job.is_free(1) && !job.is_free(2)));
        let three = tensor(&[1, 3, 2, 1], &[0.0; 6]);
        assert!(Builtin::Attention.compute(&[&q, &three, &three], None).is_err());
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
