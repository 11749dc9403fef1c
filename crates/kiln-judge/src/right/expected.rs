//! Right answers. In: an operation, or whole tensors from outside. Out: rows in double precision; of a large output only a
//! sample of rows, one from each of as many equal parts as the budget allows, the first and the last row among them, and all
//! that take no work: what is right there may be no number.

use std::ops::Range;

use kiln_spec::Dtype;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::marked::parallel::compute_in_parallel;
use crate::right::reference::Job;
use crate::right::tensor::Tensor;

/// Multiply-adds one processor does at a time.
const SHARE: usize = 1 << 20;
/// Rows of an answer from elsewhere that are looked at, and how near they must be, as a share of the row's largest number:
/// floats may have been in between.
const LOOKS: usize = 8;
const ALIKE: f64 = 1e-6;

/// Right answers, in double precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// Dimensions of the whole output.
    pub shape: Vec<usize>,
    width: usize,
    /// The rows that were computed, in order; all when none.
    rows: Option<Vec<usize>>,
    /// Those rows one after another.
    pub(crate) data: Vec<f64>,
    /// The same without rounding, of 64-bit integers.
    pub(crate) exact: Option<Vec<i128>>,
}

impl Expected {
    /// An answer that is there as a whole.
    pub(crate) fn whole(tensor: Tensor) -> Expected {
        let Tensor { shape, data, exact } = tensor;
        Expected { width: shape.last().copied().unwrap_or(1), shape, rows: None, data, exact }
    }

    /// As many rows of a job as `budget` multiply-adds allow.
    pub(crate) fn sample(job: &Job<'_>, budget: usize, seed: u64) -> Expected {
        let (width, all) = (job.width(), job.rows());
        let most = (budget / job.cost().max(1)).max(2);
        let rows = (all > most).then(|| {
            let mut rows = choose(all, most, seed);
            rows.extend((0..all).filter(|row| job.is_free(*row)));
            rows.sort_unstable();
            rows.dedup();
            rows
        });
        let count = width * rows.as_ref().map_or(all, Vec::len);
        if job.needs_integers() {
            let mut exact = vec![0; count];
            fill(&mut exact, job, rows.as_deref(), |row, out| job.integers(row, out));
            let data = exact.iter().map(|v| *v as f64).collect();
            return Expected { shape: job.shape(), width, rows, data, exact: Some(exact) };
        }
        let mut data = vec![0.0; count];
        fill(&mut data, job, rows.as_deref(), |row, out| job.exact(row, out));
        Expected { shape: job.shape(), width, rows, data, exact: None }
    }

    /// All rows, as exactly as a type can tell.
    pub(crate) fn every(job: &Job<'_>, dtype: Dtype, seed: u64) -> Expected {
        let narrow = matches!(dtype, Dtype::F16 | Dtype::BF16);
        match job.all(narrow) {
            Some(data) => Expected { shape: job.shape(), width: job.width(), rows: None, data, exact: None },
            None => Expected::sample(job, usize::MAX, seed),
        }
    }

    /// All rows as somebody faster computed them; none where there are not as many.
    pub(crate) fn fetched(job: &Job<'_>, tensor: Tensor) -> Option<Expected> {
        let (shape, width) = (job.shape(), job.width());
        let fits = tensor.shape == shape && tensor.data.len() == width * job.rows();
        fits.then_some(Expected { shape, width, rows: None, data: tensor.data, exact: None })
    }

    /// Whether it is what a job gives, as far as some rows tell.
    pub(crate) fn agrees(&self, job: &Job<'_>, seed: u64) -> bool {
        let mut right = vec![0.0; self.width];
        choose(job.rows(), LOOKS, seed).into_iter().all(|row| {
            job.exact(row, &mut right);
            let largest = right.iter().map(|v| v.abs()).filter(|v| v.is_finite()).fold(0.0, f64::max);
            let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= ALIKE * largest;
            self.row(row).is_some_and(|found| found.iter().zip(&right).all(near))
        })
    }

    /// The correct answer of one row; none when it was not computed.
    pub fn row(&self, row: usize) -> Option<&[f64]> {
        let at = match &self.rows {
            None => row,
            Some(rows) => rows.binary_search(&row).ok()?,
        };
        self.data.get(at * self.width..(at + 1) * self.width)
    }

    /// The part of it that another one knows too; none where there is none.
    pub(crate) fn common(&self, other: &Expected) -> Option<Expected> {
        if self.shape != other.shape || self.data.is_empty() {
            return None;
        }
        let width = self.width.max(1);
        let mut common = Expected { data: Vec::new(), exact: self.exact.as_ref().map(|_| Vec::new()), ..self.clone() };
        let mut rows = Vec::new();
        for (place, (row, data)) in self.known().enumerate().filter(|(_, (row, _))| other.row(*row).is_some()) {
            rows.push(row);
            common.data.extend_from_slice(data);
            if let (Some(to), Some(from)) = (&mut common.exact, &self.exact) {
                to.extend_from_slice(&from[place * width..][..data.len()]);
            }
        }
        common.rows = Some(rows);
        Some(common)
    }

    /// The elements of one row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The rows that were computed when not all were.
    pub fn sampled(&self) -> Option<&[usize]> {
        self.rows.as_deref()
    }

    /// How many elements the whole output has.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// The rows that were computed, with their answers.
    pub(crate) fn known(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let row = |i: usize| self.rows.as_ref().map_or(i, |rows| rows[i]);
        self.data.chunks(self.width.max(1)).enumerate().map(move |(i, data)| (row(i), data))
    }

    /// The whole output in order, as stretches of elements that are all known or all not.
    pub(crate) fn stretches(&self) -> Vec<(Range<usize>, Option<&[f64]>)> {
        let Some(rows) = &self.rows else { return vec![(0..self.data.len(), Some(&self.data))] };
        let mut stretches = Vec::with_capacity(2 * rows.len() + 1);
        let mut from = 0;
        for (row, data) in rows.iter().zip(self.data.chunks(self.width.max(1))) {
            let start = row * self.width;
            stretches.push((from..start, None));
            from = start + self.width;
            stretches.push((start..from, Some(data)));
        }
        stretches.push((from..self.elements(), None));
        stretches
    }

    /// The rows that were computed, one after another.
    pub fn computed(&self) -> &[f64] {
        &self.data
    }

    /// The largest magnitude; infinities do not count.
    pub fn largest(&self) -> f64 {
        self.data.iter().map(|v| v.abs()).filter(|v| v.is_finite()).fold(0.0, f64::max)
    }
}

/// Computes rows, several at a time: one alone may be too short to hand out.
fn fill<T: Send>(data: &mut [T], job: &Job<'_>, rows: Option<&[usize]>, compute: impl Fn(usize, &mut [T]) + Sync) {
    let width = job.width().max(1);
    let at_once = (SHARE / job.cost().max(1)).max(1);
    compute_in_parallel(data, at_once * width, |first, part| {
        for (i, out) in part.chunks_mut(width).enumerate() {
            let place = first / width + i;
            compute(rows.map_or(place, |rows| rows[place]), out);
        }
    });
}

/// `count` rows of `all`, in order: the first, the last, and one at random from each of equal parts between.
fn choose(all: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let parts = count.saturating_sub(2);
    let mut rows = vec![0, all - 1];
    for part in 0..parts {
        let (from, to) = (1 + (all - 2) * part / parts, 1 + (all - 2) * (part + 1) / parts);
        rows.push(from + (rng.next_u64() % (to - from).max(1) as u64) as usize);
    }
    rows.sort_unstable();
    rows.dedup();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::right::reference::Builtin;

    #[test]
    fn sampled_rows_are_those_of_the_whole() {
        let x = Tensor::new(&[40, 3], (0..120).map(f64::from).collect());
        let job = Builtin::Softmax.job(&[&x], None, Dtype::F64).unwrap();
        let (whole, part) = (Expected::sample(&job, usize::MAX, 1), Expected::sample(&job, 10 * job.cost(), 1));
        assert_eq!(whole.sampled(), None);
        let rows = part.sampled().unwrap();
        assert!(rows.len() == 10 && rows[0] == 0 && rows[9] == 39 && rows.windows(2).all(|w| w[0] < w[1]));
        for row in 0..40 {
            assert_eq!(part.row(row), rows.contains(&row).then(|| whole.row(row).unwrap()));
        }
        let stretches = part.stretches();
        assert_eq!(stretches.iter().map(|(range, _)| range.len()).sum::<usize>(), 120);
        assert!(stretches.windows(2).all(|w| w[0].0.end == w[1].0.start));
    }
}
