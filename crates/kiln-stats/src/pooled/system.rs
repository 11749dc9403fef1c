//! The linear system behind a pool. In: values and spreads. Out: mean and effects with their covariance. The precision matrix of the last grouping is
//! diagonal, so its levels are eliminated first: what is inverted has a row for the mean and for each level of the other groupings.

use std::collections::BTreeMap;

use super::{PooledValue, Spreads, square};

/// Effects and how well they are known.
#[derive(Debug, Clone)]
pub(super) struct System {
    /// Where the levels of each grouping but the last begin; the end of all at last. The mean is at 0.
    begins: Vec<usize>,
    /// The mean and the effects that were not eliminated, and their covariance, row by row.
    effects: Vec<f64>,
    covariance: Vec<f64>,
    /// The levels that were: by level.
    eliminated: BTreeMap<usize, Eliminated>,
}

/// A level of the last grouping.
#[derive(Debug, Clone, Default)]
struct Eliminated {
    precision: f64,
    sum: f64,
    /// What ties it to the others, by their place.
    ties: BTreeMap<usize, f64>,
    effect: f64,
    variance: f64,
    /// Its covariance with the others.
    with_others: Vec<f64>,
}

impl System {
    pub(super) fn solve(values: &[PooledValue], spreads: &Spreads) -> System {
        let kept = spreads.groupings.len().saturating_sub(1);
        let most = |grouping: usize| values.iter().filter_map(|own| own.levels[grouping]).max().map_or(0, |l| l + 1);
        let mut begins = vec![1];
        (0..kept).for_each(|grouping| begins.push(begins[grouping] + most(grouping)));
        let size = begins[kept];
        let mut system = System { begins, effects: Vec::new(), covariance: Vec::new(), eliminated: BTreeMap::new() };
        let (mut matrix, mut right) = (vec![0.0; size * size], vec![0.0; size]);
        matrix[0] = 1.0 / square(spreads.mean);
        for grouping in 0..kept {
            let precision = 1.0 / square(spreads.groupings[grouping]);
            (system.begins[grouping]..system.begins[grouping + 1]).for_each(|at| matrix[at * size + at] += precision);
        }
        for value in values {
            let unknown = value.levels.iter().zip(&spreads.groupings).filter(|(level, _)| level.is_none());
            let unknown: f64 = unknown.map(|(_, spread)| square(*spread)).sum();
            let weight = 1.0 / (square(spreads.noise) + value.variance + unknown);
            let places = system.places(&value.levels);
            for one in &places {
                right[*one] += weight * value.value;
                places.iter().for_each(|other| matrix[one * size + other] += weight);
            }
            if let Some(level) = value.levels.get(kept).copied().flatten() {
                let own = system.eliminated.entry(level).or_default();
                own.precision += weight;
                own.sum += weight * value.value;
                places.iter().for_each(|place| *own.ties.entry(*place).or_default() += weight);
            }
        }
        let last = spreads.groupings.last().copied().unwrap_or(1.0);
        for own in system.eliminated.values_mut() {
            own.precision += 1.0 / square(last);
            for (one, tie) in &own.ties {
                right[*one] -= tie * own.sum / own.precision;
                own.ties.iter().for_each(|(other, to)| matrix[one * size + other] -= tie * to / own.precision);
            }
        }
        system.covariance = inverse(matrix, size);
        system.effects = (0..size).map(|row| dot(&system.covariance[row * size..][..size], &right)).collect();
        let (effects, covariance) = (&system.effects, &system.covariance);
        for own in system.eliminated.values_mut() {
            let tied: f64 = own.ties.iter().map(|(at, tie)| tie * effects[*at]).sum();
            own.effect = (own.sum - tied) / own.precision;
            let row = |row: usize| own.ties.iter().map(|(at, tie)| tie * covariance[row * size + at]).sum::<f64>();
            own.with_others = (0..size).map(|at| -row(at) / own.precision).collect();
            let back: f64 = own.ties.iter().map(|(at, tie)| -tie * own.with_others[*at]).sum();
            own.variance = (1.0 + back) / own.precision;
        }
        system
    }

    /// The places of the mean and of the levels that are known, but for the last grouping.
    fn places(&self, levels: &[Option<usize>]) -> Vec<usize> {
        let own = levels.iter().zip(self.begins.windows(2)).filter_map(|(level, ends)| {
            let at = ends[0] + (*level)?;
            (at < ends[1]).then_some(at)
        });
        [0].into_iter().chain(own).collect()
    }

    /// The sum of mean and effects, its variance, and the groupings that have no part in it.
    pub(super) fn at(&self, levels: &[Option<usize>]) -> (f64, f64, impl Iterator<Item = usize>) {
        let (places, size, kept) = (self.places(levels), self.effects.len(), self.begins.len() - 1);
        let mut mean: f64 = places.iter().map(|at| self.effects[*at]).sum();
        let pairs = places.iter().flat_map(|one| places.iter().map(move |other| one * size + other));
        let mut variance: f64 = pairs.map(|at| self.covariance[at]).sum();
        let last = levels.get(kept).copied().flatten().and_then(|level| self.eliminated.get(&level));
        if let Some(own) = last {
            mean += own.effect;
            variance += own.variance + 2.0 * places.iter().map(|at| own.with_others[*at]).sum::<f64>();
        }
        let known = |grouping: usize| match levels[grouping] {
            Some(level) if grouping < kept => self.begins[grouping] + level < self.begins[grouping + 1],
            Some(_) => last.is_some(),
            None => false,
        };
        let missing: Vec<usize> = (0..levels.len()).filter(|grouping| !known(*grouping)).collect();
        (mean, variance, missing.into_iter())
    }

    /// The expected sum of squares of a grouping's effects, and how many there are.
    pub(super) fn second_moment(&self, grouping: usize) -> (f64, usize) {
        let (size, kept) = (self.effects.len(), self.begins.len() - 1);
        if grouping == kept {
            let sum = self.eliminated.values().map(|own| square(own.effect) + own.variance).sum();
            return (sum, self.eliminated.len());
        }
        let places = self.begins[grouping]..self.begins[grouping + 1];
        (places.clone().map(|at| square(self.effects[at]) + self.covariance[at * size + at]).sum(), places.len())
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// The inverse of a symmetric matrix that is positive definite, as precisions are: by Cholesky's factor, inverted.
fn inverse(mut matrix: Vec<f64>, size: usize) -> Vec<f64> {
    for column in 0..size {
        for row in column..size {
            let (one, other) = (&matrix[row * size..][..column], &matrix[column * size..][..column]);
            let left = matrix[row * size + column] - dot(one, other);
            let pivot = matrix[column * size + column];
            matrix[row * size + column] = if row == column { left.max(f64::MIN_POSITIVE).sqrt() } else { left / pivot };
        }
    }
    // The factor's inverse, transposed: row `column` has column `column` of it.
    let mut factor = vec![0.0; size * size];
    for column in 0..size {
        for row in column..size {
            let known =
                dot(&matrix[row * size + column..][..row - column], &factor[column * size + column..][..row - column]);
            let unit = if row == column { 1.0 } else { 0.0 };
            factor[column * size + row] = (unit - known) / matrix[row * size + row];
        }
    }
    let mut product = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..=row {
            let sum = dot(&factor[row * size + row..][..size - row], &factor[column * size + row..][..size - row]);
            product[row * size + column] = sum;
            product[column * size + row] = sum;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_times_its_matrix_is_one() {
        let matrix = vec![4.0, 1.0, 0.5, 1.0, 3.0, -0.25, 0.5, -0.25, 2.0];
        let inverse = inverse(matrix.clone(), 3);
        for (row, column) in (0..9).map(|at| (at / 3, at % 3)) {
            let sum: f64 = (0..3).map(|k| matrix[row * 3 + k] * inverse[k * 3 + column]).sum();
            assert!((sum - f64::from(u8::from(row == column))).abs() < 1e-12, "{row} {column}: {sum}");
        }
    }
}
