//! Samples in order: the sorted copy, where each sample stands in it, and quantiles read off it. Quantiles interpolate
//! linearly between neighbours, as NumPy does by default. Callers have checked that all samples are finite.

/// A sorted copy.
pub(crate) fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut copy = samples.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    copy
}

/// The quantile `q` in 0..=1 of sorted values.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let (at, share) = place(sorted.len(), q);
    mix(sorted[at], sorted[(at + 1).min(sorted.len() - 1)], share)
}

/// The median, without sorting all.
pub(crate) fn median(samples: &[f64]) -> f64 {
    let mut copy = samples.to_vec();
    let half = copy.len() / 2;
    let odd = copy.len() % 2 == 1;
    let (below, middle, _) = copy.select_nth_unstable_by(half, f64::total_cmp);
    let upper = *middle;
    if odd { upper } else { mix(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), upper, 0.5) }
}

/// The element a quantile of `n` values starts from, and how far it goes towards the next.
pub(crate) fn place(n: usize, q: f64) -> (usize, f64) {
    let exact = (n - 1) as f64 * q;
    (exact as usize, exact.fract())
}

/// From one value towards the next; from whichever end is nearer, so that both ends come out exactly.
pub(crate) fn mix(from: f64, to: f64, share: f64) -> f64 {
    if share < 0.5 { from + (to - from) * share } else { to - (to - from) * (1.0 - share) }
}

/// The rank of every sample, from 0; equal samples share the middle of theirs.
pub(crate) fn mid_ranks(samples: &[f64]) -> Vec<f64> {
    let sorted = sorted(samples);
    let rank = |v: &f64| (sorted.partition_point(|s| s < v) + sorted.partition_point(|s| s <= v) - 1) as f64 / 2.0;
    samples.iter().map(rank).collect()
}

/// Sorted values with the place of every sample in them: a resample is then a row of counts, and any quantile of it is
/// found by adding counts up, without sorting again. This is what makes 10,000 resamples take milliseconds.
pub(crate) struct Ranked {
    pub(crate) sorted: Vec<f64>,
    /// For each sample, in the order given, its place in `sorted`; equal samples take neighbouring places.
    pub(crate) place: Vec<u32>,
}

impl Ranked {
    pub(crate) fn new(samples: &[f64]) -> Ranked {
        let mut order: Vec<u32> = (0..samples.len() as u32).collect();
        order.sort_by(|a, b| samples[*a as usize].total_cmp(&samples[*b as usize]));
        let mut place = vec![0; samples.len()];
        for (rank, index) in order.iter().enumerate() {
            place[*index as usize] = rank as u32;
        }
        Ranked { sorted: order.iter().map(|i| samples[*i as usize]).collect(), place }
    }

    /// The quantile of the resample in which value number i occurs `counts[i]` times, `total` in all.
    pub(crate) fn quantile(&self, counts: &[u32], total: usize, q: f64) -> f64 {
        let (at, share) = place(total, q);
        let mut seen = 0;
        let mut index = 0;
        loop {
            seen += counts[index] as usize;
            if seen > at {
                break;
            }
            index += 1;
        }
        let from = self.sorted[index];
        if share == 0.0 || seen > at + 1 {
            return from;
        }
        let next = (index + 1..counts.len()).find(|i| counts[*i] > 0).unwrap_or(index);
        mix(from, self.sorted[next], share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_counts_stands_for_the_resample() {
        let ranked = Ranked::new(&[5.0, 1.0, 3.0, 3.0]);
        assert_eq!(ranked.sorted, [1.0, 3.0, 3.0, 5.0]);
        assert_eq!(ranked.place, [3, 0, 1, 2]);
        for (counts, values) in [([1, 1, 1, 1], vec![1.0, 3.0, 3.0, 5.0]), ([2, 0, 0, 2], vec![1.0, 1.0, 5.0, 5.0])] {
            for q in [0.0, 0.1, 0.5, 0.77, 0.95, 1.0] {
                assert_eq!(ranked.quantile(&counts, 4, q), quantile(&values, q), "{counts:?} {q}");
            }
        }
        assert_eq!(ranked.quantile(&[0, 0, 0, 4], 4, 0.5), 5.0);
    }
}
