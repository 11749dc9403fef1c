//! Change points of a history. In: one figure per run, oldest first. Out: where its level changed for good, by how much and
//! how surely. Refuses an empty history, figures that are not positive, settings without sense.
//!
//! Binary segmentation: the place that splits the ranks best is tested by shuffling; if it stands, both parts are searched
//! again. Ranks make single bad runs harmless, shuffling needs no shape of the noise. A short bump between two equal levels
//! can hide from the first split; `min_runs` bounds how short a level may be.

use serde::Serialize;

use crate::distributions::draw::Draws;
use crate::error::{StatsError, open_unit, positive, some};
use crate::series::order;

/// What counts as a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeRule {
    /// Runs on either side of a change, at least; 1 or more.
    pub min_runs: usize,
    /// Largest p-value.
    pub alpha: f64,
    /// Least relative change of the median, either way.
    pub min_change: f64,
    /// Shuffles for the p-value.
    pub shuffles: usize,
}

impl Default for ChangeRule {
    fn default() -> ChangeRule {
        ChangeRule { min_runs: 4, alpha: 0.01, min_change: 0.03, shuffles: 999 }
    }
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChangePoint {
    /// First run of the new level, from 0.
    pub index: usize,
    /// Median of the level before.
    pub before: f64,
    /// Median of the level from here to the next change.
    pub after: f64,
    /// Probability of as good a split were there no change.
    pub p_value: f64,
}

/// All changes of level, oldest first.
pub fn changes(history: &[f64], rule: &ChangeRule, seed: u64) -> Result<Vec<ChangePoint>, StatsError> {
    positive(history)?;
    open_unit("alpha", rule.alpha)?;
    some("min_runs", rule.min_runs)?;
    some("shuffles", rule.shuffles)?;
    let mut splits = Vec::new();
    search(history, 0, rule, &mut Draws::new(seed), &mut splits);
    splits.sort_unstable_by_key(|(index, _)| *index);
    // Levels are those between the changes found, not those of the search that found them.
    let starts: Vec<usize> = std::iter::once(0).chain(splits.iter().map(|s| s.0)).collect();
    let ends = starts.iter().skip(1).copied().chain([history.len()]);
    let levels: Vec<f64> = starts.iter().zip(ends).map(|(from, to)| order::median(&history[*from..to])).collect();
    let point = |(i, (index, p_value)): (usize, &(usize, f64))| ChangePoint {
        index: *index,
        before: levels[i],
        after: levels[i + 1],
        p_value: *p_value,
    };
    Ok(splits.iter().enumerate().map(point).collect())
}

fn search(part: &[f64], offset: usize, rule: &ChangeRule, draws: &mut Draws, found: &mut Vec<(usize, f64)>) {
    if part.len() < 2 * rule.min_runs {
        return;
    }
    let mut ranks = centred_ranks(part);
    let (at, best) = best_split(&ranks, rule.min_runs);
    let relative = order::median(&part[at..]) / order::median(&part[..at]);
    if relative.ln().abs() < rule.min_change.ln_1p() {
        return;
    }
    let as_good = (0..rule.shuffles).filter(|_| {
        draws.shuffle(&mut ranks);
        best_split(&ranks, rule.min_runs).1 >= best * (1.0 - 1e-12)
    });
    let p_value = (1 + as_good.count()) as f64 / (1 + rule.shuffles) as f64;
    if p_value > rule.alpha {
        return;
    }
    found.push((offset + at, p_value));
    search(&part[..at], offset, rule, draws, found);
    search(&part[at..], offset + at, rule, draws, found);
}

/// Ranks, equal values sharing the middle one, minus their mean.
fn centred_ranks(part: &[f64]) -> Vec<f64> {
    let middle = (part.len() - 1) as f64 / 2.0;
    order::mid_ranks(part).iter().map(|rank| rank - middle).collect()
}

/// Where the ranks before and after differ most, and the squared difference in units of its scatter.
fn best_split(ranks: &[f64], min_runs: usize) -> (usize, f64) {
    let n = ranks.len();
    let (mut sum, mut best) = (0.0, (min_runs, -1.0));
    for (at, rank) in ranks.iter().enumerate().take(n - min_runs + 1) {
        let strength = if at == 0 { 0.0 } else { sum * sum / (at * (n - at)) as f64 };
        if at >= min_runs && strength > best.1 {
            best = (at, strength);
        }
        sum += rank;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(levels: &[(usize, f64)]) -> Vec<f64> {
        let each = levels.iter().flat_map(|(runs, level)| std::iter::repeat_n(*level, *runs));
        let noise = |i: usize| f64::from((i as u32).wrapping_mul(2_654_435_761) >> 16) / 65536.0 - 0.5;
        each.enumerate().map(|(i, level)| level * (1.0 + 0.02 * noise(i))).collect()
    }

    #[test]
    fn levels_are_found_where_they_change() {
        let history = noisy(&[(20, 10.0), (15, 11.0), (25, 9.0)]);
        let found = changes(&history, &ChangeRule::default(), 1).unwrap();
        assert_eq!(found.iter().map(|c| c.index).collect::<Vec<_>>(), [20, 35]);
        assert!((found[0].after - 11.0).abs() < 0.1 && (found[1].after - 9.0).abs() < 0.1);
    }

    #[test]
    fn one_bad_run_or_a_small_step_is_no_change() {
        let mut history = noisy(&[(40, 10.0)]);
        history[17] = 50.0;
        assert_eq!(changes(&history, &ChangeRule::default(), 1), Ok(vec![]));
        let step = noisy(&[(20, 10.0), (20, 10.2)]);
        assert_eq!(changes(&step, &ChangeRule::default(), 1), Ok(vec![]));
        assert_eq!(changes(&[1.0], &ChangeRule::default(), 1), Ok(vec![]));
        assert!(changes(&[], &ChangeRule::default(), 1).is_err());
    }
}
