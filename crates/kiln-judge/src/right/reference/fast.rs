//! All rows of attention at once, as fast as a processor without special instructions does it: keys and values laid out so
//! that loops become vector code, four queries at a time against blocks of keys, on every processor. In double precision, or
//! in single with sums of blocks added up in double, which is a thousandth of what 16 bits show.

use std::ops::{Add, Mul, Sub};

use super::attention::Attention;
use crate::marked::parallel::compute_in_parallel;

/// Queries that share what is read of the keys.
const QUERIES: usize = 4;
/// Keys whose products are added up before the sum goes to a wider one.
const KEYS: usize = 128;

/// A floating-point type to compute with.
pub(crate) trait Real:
    Copy + Default + Send + Sync + PartialOrd + Add<Output = Self> + Mul<Output = Self> + Sub<Output = Self>
{
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
    /// The exponential of a number that is not positive, to the type's own precision.
    fn exponential(self) -> Self;
}

impl Real for f64 {
    fn of(value: f64) -> f64 {
        value
    }
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn exponential(self) -> f64 {
        const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
        const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
        const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
        let value = if self > -700.0 { self } else { -700.0 };
        let sum = value * std::f64::consts::LOG2_E + WHOLE;
        let n = sum - WHOLE;
        let rest = value - n * LN_2_HIGH - n * LN_2_LOW;
        let mut power = 1.0 / 6_227_020_800.0;
        for factor in [
            479_001_600.0,
            39_916_800.0,
            3_628_800.0,
            362_880.0,
            40_320.0,
            5040.0,
            720.0,
            120.0,
            24.0,
            6.0,
            2.0,
            1.0,
            1.0,
        ] {
            power = power * rest + 1.0 / factor;
        }
        let result = power * f64::from_bits(sum.to_bits().wrapping_add(1023) << 52);
        if self > -700.0 { result } else { 0.0 }
    }
}

impl Real for f32 {
    fn of(value: f64) -> f32 {
        value as f32
    }
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn exponential(self) -> f32 {
        const WHOLE: f32 = 1.5 * (1u32 << 23) as f32;
        const LN_2_HIGH: f32 = 0.693_359_4;
        const LN_2_LOW: f32 = -2.121_944_4e-4;
        let value = if self > -87.0 { self } else { -87.0 };
        let sum = value * std::f32::consts::LOG2_E + WHOLE;
        let n = sum - WHOLE;
        let rest = value - n * LN_2_HIGH - n * LN_2_LOW;
        let mut power = 1.0 / 5040.0;
        for factor in [720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
            power = power * rest + 1.0 / factor;
        }
        let result = power * f32::from_bits(sum.to_bits().wrapping_add(127) << 23);
        if self > -87.0 { result } else { 0.0 }
    }
}

/// Rows in blocks of so many columns: one block after another, each row's part of it in one piece.
struct Panels<T, const L: usize> {
    data: Vec<[T; L]>,
    /// Pieces of one head.
    head: usize,
}

impl<T: Real, const L: usize> Panels<T, L> {
    /// Of each head's keys, the columns of a block are keys, and its rows the dimensions they have.
    fn of_keys(data: &[f64], keys: usize, width: usize) -> Panels<T, L> {
        Panels::new(data, keys, width, keys.div_ceil(L), width, |block, t, l| (block * L + l, t))
    }

    fn of_values(data: &[f64], keys: usize, width: usize) -> Panels<T, L> {
        Panels::new(data, keys, width, width.div_ceil(L), keys, |block, key, l| (key, block * L + l))
    }

    fn new(
        data: &[f64],
        keys: usize,
        width: usize,
        blocks: usize,
        rows: usize,
        from: impl Fn(usize, usize, usize) -> (usize, usize) + Sync,
    ) -> Panels<T, L> {
        let head = blocks * rows;
        let heads = data.len().checked_div(keys * width).unwrap_or(0);
        let mut panels = vec![[T::default(); L]; heads * head];
        compute_in_parallel(&mut panels, rows.max(1), |first, part| {
            let (of, block) = (first / head, first % head / rows.max(1));
            for (row, piece) in part.iter_mut().enumerate() {
                for (l, value) in piece.iter_mut().enumerate() {
                    let (key, column) = from(block, row, l);
                    if key < keys && column < width {
                        *value = T::of(data[(of * keys + key) * width + column]);
                    }
                }
            }
        });
        Panels { data: panels, head }
    }

    fn of_head(&self, head: usize) -> &[[T; L]] {
        &self.data[head * self.head..][..self.head]
    }
}

/// All rows of the output, computed in `T`, in vectors of `L`.
pub(crate) fn all<T: Real, const L: usize>(job: &Attention<'_>, out: &mut [f64]) {
    let (keys, width, columns) = (job.keys, job.width, job.v_width);
    let k: Panels<T, L> = Panels::of_keys(&job.k.data, keys, width);
    let v: Panels<T, L> = Panels::of_values(&job.v.data, keys, columns);
    let pieces = 8 * QUERIES * columns.max(1);
    compute_in_parallel(out, pieces, |first, part| {
        let rows = first / columns.max(1)..(first + part.len()) / columns.max(1);
        let mut row = rows.start;
        while row < rows.end {
            // Those of one head only: they see the same keys.
            let count = QUERIES.min(rows.end - row).min(job.queries - row % job.queries);
            let at = (row - rows.start) * columns;
            group(job, &k, &v, row, count, &mut part[at..at + count * columns]);
            row += count;
        }
    });
}

/// Up to four rows of one head.
fn group<T: Real, const L: usize>(
    job: &Attention<'_>,
    k: &Panels<T, L>,
    v: &Panels<T, L>,
    row: usize,
    count: usize,
    out: &mut [f64],
) {
    let (width, columns, head) = (job.width, job.v_width, job.head(row));
    // Rows that are too few are filled up with the last one.
    let rows: [usize; QUERIES] = std::array::from_fn(|i| row + i.min(count - 1));
    let seen = rows.map(|row| job.seen(row));
    let most = seen.iter().copied().max().unwrap_or(0);
    let scale = job.scale();
    let q: Vec<[T; QUERIES]> = (0..width).map(|t| rows.map(|row| T::of(scale * job.q.data[row * width + t]))).collect();
    let blocks = most.div_ceil(L);
    let mut scores: [Vec<[T; L]>; QUERIES] = std::array::from_fn(|_| vec![[T::default(); L]; blocks]);
    for (block, keys) in k.of_head(head).chunks_exact(width).take(blocks).enumerate() {
        let mut sums = [[T::default(); L]; QUERIES];
        for (q, keys) in q.iter().zip(keys) {
            for (sums, q) in sums.iter_mut().zip(q) {
                for (sum, key) in sums.iter_mut().zip(keys) {
                    *sum = *sum + *q * *key;
                }
            }
        }
        scores.iter_mut().zip(sums).for_each(|(scores, sums)| scores[block] = sums);
    }
    let mut totals = [0.0; QUERIES];
    for ((scores, seen), total) in scores.iter_mut().zip(seen).zip(&mut totals) {
        let scores = scores.as_flattened_mut();
        let (within, beyond) = scores.split_at_mut(seen);
        beyond.fill(T::default());
        let largest =
            within.iter().copied().fold(None, |most: Option<T>, s| Some(most.filter(|m| *m > s).unwrap_or(s)));
        let largest = largest.unwrap_or_default();
        within.iter_mut().for_each(|score| *score = (*score - largest).exponential());
        *total = within.iter().map(|weight| weight.wide()).sum();
    }
    for (block, values) in v.of_head(head).chunks_exact(job.keys).enumerate() {
        let mut sums = [[0.0; L]; QUERIES];
        for (from, values) in values[..most].chunks(KEYS).enumerate() {
            let mut parts = [[T::default(); L]; QUERIES];
            for (key, values) in values.iter().enumerate() {
                let at = from * KEYS + key;
                for (parts, scores) in parts.iter_mut().zip(&scores) {
                    let weight = scores[at / L][at % L];
                    for (part, value) in parts.iter_mut().zip(values) {
                        *part = *part + weight * *value;
                    }
                }
            }
            for (sum, part) in sums.as_flattened_mut().iter_mut().zip(parts.as_flattened()) {
                *sum += part.wide();
            }
        }
        for (i, sums) in sums.iter().enumerate().take(count) {
            for (l, sum) in sums.iter().enumerate().take(columns - (block * L).min(columns)) {
                out[i * columns + block * L + l] = if totals[i] > 0.0 { sum / totals[i] } else { 0.0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::right::reference::{Builtin, Job, Scalars};
    use crate::right::tensor::Tensor;
    use kiln_spec::Dtype;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn exponentials_are_exponentials() {
        for i in 0..20_000 {
            let x = -f64::from(i) * 0.0347;
            assert!((x.exponential() - x.exp()).abs() <= 4e-16 * x.exp() || x < -690.0, "{x}");
            let y = -(i as f32) * 0.0041;
            assert!((y.exponential() - y.exp()).abs() <= 4e-7 * y.exp(), "{y}");
        }
        assert_eq!((0f64.exponential(), (-1e9f64).exponential(), (-1e9f32).exponential()), (1.0, 0.0, 0.0));
    }

    #[test]
    fn all_rows_are_those_computed_one_by_one() {
        let drawn = |shape: &[usize], seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            Tensor::new(shape, crate::drawn::normal::normal(&mut rng, shape.iter().product(), 1.5))
        };
        for (queries, keys, width, columns, causal) in
            [(9, 9, 8, 8, false), (37, 21, 5, 11, true), (21, 150, 16, 24, true), (1, 300, 7, 3, false)]
        {
            let q = drawn(&[2, 4, queries, width], 1);
            let (k, v) = (drawn(&[2, 2, keys, width], 2), drawn(&[2, 2, keys, columns], 3));
            let scalars = Scalars { scale: None, causal };
            let Job::Attention(job) = Builtin::Attention.job(&[&q, &k, &v], scalars, Dtype::F64).unwrap() else {
                panic!()
            };
            let mut right = vec![0.0; 8 * queries * columns];
            right.chunks_mut(columns).enumerate().for_each(|(row, out)| job.exact(row, out));
            let (mut wide, mut narrow) = (vec![9.0; right.len()], vec![9.0; right.len()]);
            all::<f64, 4>(&job, &mut wide);
            all::<f32, 8>(&job, &mut narrow);
            let off = |found: &[f64]| found.iter().zip(&right).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
            assert!(off(&wide) < 1e-14 && off(&narrow) < 1e-5, "{} {}", off(&wide), off(&narrow));
        }
    }
}
