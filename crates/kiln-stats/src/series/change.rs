//! Change points of a history. In: one figure per run, oldest first, each with its interval where one is known. Out: where the
//! level changed for good, by how much and how surely. Refuses an empty history, figures that are not positive, settings
//! without sense.
//!
//! Two steps. `segment` divides the history, on the log scale, into the levels that fit best at a low price for each, so that
//! it rather finds too many. Then the change between each two neighbours is tested by `split`, the weakest is dropped and its
//! levels are joined, with the changes beside it set anew where their levels fit best, until every one left stands. A bump between two equal levels is found, which a search that splits in
//! two first would miss. Runs beside each other are taken to be independent: a machine whose state lasts over many runs has
//! changes of its own, and they are found too.

use serde::Serialize;

use crate::distributions::draw::Draws;
use crate::error::{StatsError, open_unit, positive, some};
use crate::interval::Interval;
use crate::ranks::hodges_lehmann;
use crate::series::{order, segment, split};

/// One run of a history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Its figure, such as a median time.
    pub value: f64,
    /// The 95 % interval of it.
    pub interval: Option<Interval>,
}

impl From<f64> for Point {
    fn from(value: f64) -> Point {
        Point { value, interval: None }
    }
}

/// What counts as a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeRule {
    /// Runs of a level, at least; 1 or more.
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
        ChangeRule { min_runs: 4, alpha: 0.01, min_change: 0.02, shuffles: 999 }
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
    /// The second over the first.
    pub ratio: f64,
    /// Its 95 % interval, by ranks.
    pub ratio_ci95: Interval,
    /// Probability of as good a split were there no change.
    pub p_value: f64,
}

/// What a level more must save, in units of the scatter of single runs, times the logarithm of their number.
const PRICE: f64 = 1.0;
/// From the median distance of neighbours to a standard deviation, of normal noise.
const TO_SD: f64 = 1.4826 * std::f64::consts::FRAC_1_SQRT_2;
/// Half the width of a 95 % interval in standard deviations.
const HALF_95: f64 = 1.96;

/// All changes of level, oldest first.
pub fn changes(history: &[Point], rule: &ChangeRule, seed: u64) -> Result<Vec<ChangePoint>, StatsError> {
    let values: Vec<f64> = history.iter().map(|point| point.value).collect();
    positive(&values)?;
    open_unit("alpha", rule.alpha)?;
    some("min_runs", rule.min_runs)?;
    some("shuffles", rule.shuffles)?;
    // In units of its own: where two divisions are as good, rounding of the unit would choose.
    let unit = order::median(&values);
    let logs: Vec<f64> = values.iter().map(|value| (value / unit).ln()).collect();
    let scatter = scatter(&logs, history);
    if scatter <= 0.0 {
        return Ok(Vec::new());
    }
    let price = PRICE * (values.len() as f64).ln() * scatter;
    let proposed = segment::starts(&logs, price, rule.min_runs);
    let standing = standing(&values, &logs, proposed, rule, &mut Draws::new(seed));
    let point = |at: usize, p_value: f64| {
        let (before, after) = levels(&values, &standing, at);
        let ratio = order::median(after) / order::median(before);
        let ratio_ci95 = hodges_lehmann::ratio(after, before, 0.95)?.interval.holding(ratio);
        let (before, after) = (order::median(before), order::median(after));
        Ok(ChangePoint { index: standing[at].0, before, after, ratio, ratio_ci95, p_value })
    };
    standing.iter().enumerate().map(|(at, (_, p_value))| point(at, *p_value)).collect()
}

/// How much single runs scatter on the log scale: what neighbours differ by, and no less than their intervals say.
fn scatter(logs: &[f64], history: &[Point]) -> f64 {
    let steps: Vec<f64> = logs.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    if steps.is_empty() {
        return 0.0;
    }
    // Timers with ticks: most neighbours are equal.
    let typical = Some(order::median(&steps) * TO_SD).filter(|typical| *typical > 0.0);
    let typical = typical.unwrap_or_else(|| steps.iter().sum::<f64>() / steps.len() as f64);
    let known = |point: &Point| point.interval.filter(|i| i.low > 0.0 && i.high.is_finite() && i.high >= i.low);
    let widths: Vec<f64> = history.iter().filter_map(known).map(|i| i.relative_half_width() / HALF_95).collect();
    if widths.is_empty() { typical } else { typical.max(order::median(&widths)) }
}

/// The proposed changes that stand against both neighbours, with their p-values.
fn standing(
    values: &[f64],
    logs: &[f64],
    proposed: Vec<usize>,
    rule: &ChangeRule,
    draws: &mut Draws,
) -> Vec<(usize, f64)> {
    let least = rule.min_change.ln_1p();
    // None: not tested since a neighbour was dropped.
    let mut left: Vec<(usize, Option<(f64, f64)>)> = proposed.into_iter().map(|at| (at, None)).collect();
    loop {
        for place in 0..left.len() {
            if left[place].1.is_some() {
                continue;
            }
            let (before, after) = levels(values, &left, place);
            let size = (order::median(after) / order::median(before)).ln().abs();
            // What is too small needs no shuffling.
            let p_value = if size < least {
                1.0
            } else {
                let both = &values[left[place].0 - before.len()..left[place].0 + after.len()];
                split::p_value(both, before.len(), rule.min_runs, rule.shuffles, draws)
            };
            left[place].1 = Some((p_value, size));
        }
        let tested = left.iter().enumerate().filter_map(|(place, (_, test))| test.map(|(p, size)| (place, p, size)));
        let weakest = tested.max_by(|a, b| a.1.total_cmp(&b.1).then(b.2.total_cmp(&a.2)));
        match weakest {
            Some((place, p_value, _)) if p_value > rule.alpha => {
                left.remove(place);
                for neighbour in [place.checked_sub(1), Some(place)].into_iter().flatten() {
                    if neighbour < left.len() {
                        set_anew(logs, &mut left, neighbour, rule.min_runs);
                    }
                }
            }
            _ => return left.into_iter().filter_map(|(at, test)| test.map(|(p, _)| (at, p))).collect(),
        }
    }
}

/// Moves a change to where its levels fit best, one of which has grown: a short one beside it may have hidden that. It is to be tested
/// again, and so are those whose levels it moves.
fn set_anew<T>(logs: &[f64], changes: &mut [(usize, Option<T>)], place: usize, shortest: usize) {
    let (before, after) = levels(logs, changes, place);
    let from = changes[place].0 - before.len();
    let whole = &logs[from..changes[place].0 + after.len()];
    let at = segment::cut(whole, shortest).map_or(changes[place].0, |cut| from + cut);
    let moved = at != changes[place].0;
    changes[place] = (at, None);
    for beside in [place.checked_sub(1), Some(place + 1)].into_iter().flatten().filter(|_| moved) {
        if let Some(beside) = changes.get_mut(beside) {
            beside.1 = None;
        }
    }
}

/// The levels on both sides of a change.
fn levels<'v, T>(values: &'v [f64], changes: &[(usize, T)], place: usize) -> (&'v [f64], &'v [f64]) {
    let from = place.checked_sub(1).map_or(0, |before| changes[before].0);
    let to = changes.get(place + 1).map_or(values.len(), |after| after.0);
    let at = changes[place].0;
    (&values[from..at], &values[at..to])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(levels: &[(usize, f64)]) -> Vec<Point> {
        let each = levels.iter().flat_map(|(runs, level)| std::iter::repeat_n(*level, *runs));
        let noise = |i: usize| f64::from((i as u32).wrapping_mul(2_654_435_761) >> 16) / 65536.0 - 0.5;
        each.enumerate().map(|(i, level)| Point::from(level * (1.0 + 0.02 * noise(i)))).collect()
    }

    fn places(history: &[Point]) -> Vec<usize> {
        changes(history, &ChangeRule::default(), 1).unwrap().iter().map(|change| change.index).collect()
    }

    #[test]
    fn levels_are_found_where_they_change() {
        let history = noisy(&[(20, 10.0), (15, 11.0), (25, 9.0)]);
        let found = changes(&history, &ChangeRule::default(), 1).unwrap();
        assert_eq!(found.iter().map(|c| c.index).collect::<Vec<_>>(), [20, 35]);
        assert!((found[0].after - 11.0).abs() < 0.1 && (found[1].after - 9.0).abs() < 0.1);
        assert!(found[0].ratio_ci95.contains(1.1) && found[1].ratio_ci95.contains(9.0 / 11.0), "{found:?}");
        assert!(found.iter().all(|c| c.p_value <= 0.01));
    }

    #[test]
    fn a_bump_between_equal_levels_is_two_changes() {
        assert_eq!(places(&noisy(&[(40, 10.0), (8, 10.5), (40, 10.0)])), [40, 48]);
    }

    #[test]
    fn one_bad_run_or_a_small_step_is_no_change() {
        let mut history = noisy(&[(40, 10.0)]);
        history[17].value = 50.0;
        assert!(places(&history).is_empty());
        assert!(places(&noisy(&[(20, 10.0), (20, 10.1)])).is_empty());
        assert!(places(&[1.0.into()]).is_empty());
        assert!(places(&[2.5.into(); 50]).is_empty());
        assert!(changes(&[], &ChangeRule::default(), 1).is_err());
    }

    #[test]
    fn wide_intervals_make_a_short_step_unsure() {
        let step = noisy(&[(10, 10.0), (6, 10.6), (10, 10.0)]);
        assert_eq!(places(&step), [10, 16]);
        let wide = |point: &Point| Point {
            interval: Some(Interval { low: point.value / 1.3, high: point.value * 1.3 }),
            ..*point
        };
        assert!(places(&step.iter().map(wide).collect::<Vec<_>>()).is_empty());
    }
}
