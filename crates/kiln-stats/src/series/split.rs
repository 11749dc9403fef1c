//! Is one split of a series more than chance? In: values and where they are split. Out: the probability of as good a split
//! anywhere, were the values in random order. Callers have checked the values.
//!
//! Ranks make single bad runs harmless, shuffling needs no shape of the noise. As the place was chosen, so it is in every
//! shuffle: the best place counts.

use crate::distributions::draw::Draws;
use crate::series::order;

/// The p-value of the split at `at`, both sides at least `shortest` long.
pub(crate) fn p_value(values: &[f64], at: usize, shortest: usize, shuffles: usize, draws: &mut Draws) -> f64 {
    let mut ranks = centred_ranks(values);
    let sum: f64 = ranks[..at].iter().sum();
    let strength = strength(sum, at, ranks.len());
    let as_good = (0..shuffles).filter(|_| {
        draws.shuffle(&mut ranks);
        best(&ranks, shortest) >= strength * (1.0 - 1e-12)
    });
    (1 + as_good.count()) as f64 / (1 + shuffles) as f64
}

/// Ranks, equal values sharing the middle one, minus their mean.
fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let middle = (values.len() - 1) as f64 / 2.0;
    order::mid_ranks(values).iter().map(|rank| rank - middle).collect()
}

/// Squared difference of the ranks before and after, in units of its scatter.
fn strength(sum: f64, at: usize, n: usize) -> f64 {
    sum * sum / (at * (n - at)) as f64
}

/// That of the best split.
fn best(ranks: &[f64], shortest: usize) -> f64 {
    let n = ranks.len();
    let (mut sum, mut best) = (0.0, 0.0f64);
    for (at, rank) in ranks.iter().enumerate().take(n - shortest + 1) {
        if at >= shortest {
            best = best.max(strength(sum, at, n));
        }
        sum += rank;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_split_is_as_unlikely_as_can_be_and_none_is_certain() {
        let step = [1.0, 1.1, 1.2, 1.3, 1.4, 2.0, 2.1, 2.2, 2.3, 2.4];
        let p = |at: usize| p_value(&step, at, 2, 999, &mut Draws::new(1));
        // 2 in 252 orders split as well in the middle, fewer than that elsewhere.
        assert!(p(5) < 0.02, "{}", p(5));
        assert!(p(2) > p(5));
        assert_eq!(p_value(&[3.0; 8], 4, 2, 99, &mut Draws::new(1)), 1.0);
    }
}
