//! Every element of a product of matrices, without computing every element. In: the factors. Out: for each row and each block
//! of its columns, the sum of the right elements with random signs, `A (B r)` instead of `(A B) r`: a block of columns costs
//! as much as one. Held against the same sums of what a kernel left. Errors of many elements add up as their square root,
//! while one wrong tile stands out, wherever it is: short blocks keep the rest from drowning it. After Freivalds.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::described::signature::Slot;
use crate::drawn::element::decode_into;
use crate::marked::parallel::{compute_in_parallel, in_parallel};
use crate::right::allowed::Bound;
use crate::right::reference::{Builtin, Job};
use crate::right::tensor::Tensor;

/// Columns that are added up.
const BLOCK: usize = 64;
/// Choices of signs: what cancels under one of them does not under all.
const CHOICES: usize = 2;
/// Sums may be off by so many times what random signs make of the allowed error: an honest kernel stays far below.
const ROOM: f64 = 3.0;
/// Rows looked at by one processor at a time.
const ROWS: usize = 16;

/// The sums that are right.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Projection {
    /// Columns of the output.
    width: usize,
    /// For each choice, a sign for each column.
    signs: Vec<Vec<f64>>,
    /// For each row, for each choice, for each block.
    right: Vec<f64>,
}

/// A sum that is not right.
pub(crate) struct Miss {
    pub(crate) row: usize,
    pub(crate) columns: std::ops::Range<usize>,
    pub(crate) found: f64,
    pub(crate) right: f64,
    pub(crate) allowed: f64,
}

impl Projection {
    /// The right sums of a product; none for another operation, and none where doubles would not hold sums of integers.
    pub(crate) fn of(job: &Job<'_>, whole: bool, seed: u64) -> Option<Projection> {
        let Job::Matmul(product) = job else { return None };
        let size = |t: &Tensor| t.data.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        if whole && (job.terms() * BLOCK) as f64 * size(product.a) * size(product.b) >= 2f64.powi(53) {
            return None;
        }
        let width = job.width();
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5167_6e73);
        let mut sign = || if rng.next_u32() & 1 == 0 { -1.0 } else { 1.0 };
        let signs: Vec<Vec<f64>> = (0..CHOICES).map(|_| (0..width).map(|_| sign()).collect()).collect();
        let sums = CHOICES * width.div_ceil(BLOCK);
        let mut shape = product.b.shape.clone();
        *shape.last_mut()? = sums;
        let mut columns = Tensor::zeros(&shape);
        compute_in_parallel(&mut columns.data, sums.max(1), |first, out| {
            project(product.b.row(first / sums.max(1)), &signs, out);
        });
        let smaller = Builtin::Matmul.job(&[product.a, &columns], None, kiln_spec::Dtype::F64).ok()?;
        let mut right = vec![0.0; smaller.rows() * sums];
        compute_in_parallel(&mut right, ROWS * sums.max(1), |first, part| {
            part.chunks_mut(sums.max(1)).enumerate().for_each(|(i, out)| smaller.exact(first / sums.max(1) + i, out));
        });
        right.iter().all(|v| v.is_finite()).then_some(Projection { width, signs, right })
    }

    /// The first sum that is off, in the bytes of an output whose elements are all numbers.
    pub(crate) fn miss(&self, slot: &Slot, bytes: &[u8], bound: Bound, largest: f64) -> Option<Miss> {
        let size = slot.dtype.bytes() as usize;
        let sums = CHOICES * self.width.div_ceil(BLOCK);
        let allowed = ROOM * (self.width.min(BLOCK) as f64).sqrt() * bound.allowed.at(largest);
        let rows: Vec<usize> = (0..self.right.len() / sums.max(1)).step_by(ROWS).collect();
        let look = |first: &usize| {
            let (mut found, mut projected) = (vec![0.0; self.width], vec![0.0; sums]);
            let rows = *first..(first + ROWS).min(self.right.len() / sums.max(1));
            rows.into_iter().find_map(|row| {
                decode_into(slot.dtype, &bytes[row * self.width * size..][..self.width * size], &mut found);
                project(&found, &self.signs, &mut projected);
                let right = &self.right[row * sums..][..sums];
                let off = |i: &usize| (projected[*i] - right[*i]).abs() > allowed + 1e-13 * right[*i].abs();
                (0..sums).find(off).map(|i| {
                    let from = i % (sums / CHOICES) * BLOCK;
                    let columns = from..(from + BLOCK).min(self.width);
                    Miss { row, columns, found: projected[i], right: right[i], allowed }
                })
            })
        };
        in_parallel(&rows, look).into_iter().flatten().next()
    }
}

/// The sums of a row's blocks, for each choice of signs.
fn project(row: &[f64], signs: &[Vec<f64>], out: &mut [f64]) {
    let blocks = row.len().div_ceil(BLOCK);
    for (choice, signs) in signs.iter().enumerate() {
        for (block, (row, signs)) in row.chunks(BLOCK).zip(signs.chunks(BLOCK)).enumerate() {
            out[choice * blocks + block] = crate::right::reference::dot(row, signs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::element::encode;
    use crate::right::allowed::{Allowed, Source};
    use kiln_spec::{Dtype, Role};
    use proptest::prelude::*;

    fn drawn(shape: &[usize], seed: u64) -> Tensor {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Tensor::new(shape, crate::drawn::normal::normal(&mut rng, shape.iter().product(), 1.0))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn one_wrong_tile_is_found_and_roundings_are_not(row in 0usize..120, column in 0usize..312, seed: u64) {
            let (a, b) = (drawn(&[2, 64, 50], seed), drawn(&[2, 50, 320], seed ^ 1));
            let job = Builtin::Matmul.job(&[&a, &b], None, Dtype::F64).unwrap();
            let projection = Projection::of(&job, false, seed).unwrap();
            let right = Builtin::Matmul.compute(&[&a, &b], None).unwrap().data;
            let slot = Slot::packed("c", Role::Out, Dtype::BF16, &[2, 64, 320]);
            let allowed = Allowed { abs: 0.12, rel: 0.0 };
            let bound = Bound { allowed, rel_l2: None, source: Source::Derived };
            let miss = |values: &[f64]| projection.miss(&slot, &encode(Dtype::BF16, values), bound, 30.0);
            prop_assert!(miss(&right).is_none());
            let mut wrong = right.clone();
            for r in row..row + 8 {
                wrong[r * 320 + column..][..8].fill(0.0);
            }
            let found = miss(&wrong).unwrap();
            prop_assert!((row..row + 8).contains(&found.row));
            prop_assert!(found.columns.start < column + 8 && found.columns.end > column);
        }
    }
}
