//! Where a verdict turns. In: cells. Out: along each axis, between which two measured shapes the configuration goes from losing to
//! winning or back, and the size in between where the speedup is 1, by a line through both on logarithmic scales. Only
//! decided cells count (faster, slower), and only where their intervals are apart: noise makes no cross-over.

use kiln_core::{Config, Value};
use kiln_stats::Verdict;
use kiln_store::{SweepAgainst, SweepCell, SweepRecord};
use serde::Serialize;

/// A place where the verdict turns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Crossover {
    /// Against which baseline.
    pub baseline: String,
    /// Along which dimension.
    pub axis: String,
    /// The other axes' values.
    pub line: Config,
    /// The size at which the speedup is 1, between the two.
    pub at: f64,
    /// The measured sizes around it.
    pub between: (f64, f64),
    /// Whether the configuration wins above it; else it wins below.
    pub wins_above: bool,
}

/// Two neighbours of which one won and one lost.
pub(super) struct Bracket<'r> {
    pub(super) baseline: &'r str,
    pub(super) axis: &'r str,
    pub(super) low: &'r SweepCell,
    pub(super) high: &'r SweepCell,
}

/// Whether the configuration won; none where nothing is decided.
pub(super) fn decided(cell: &SweepCell, baseline: &str) -> Option<bool> {
    let verdict = &cell.against(baseline)?.verdict;
    let is = |one: Verdict| *verdict == one.name();
    (is(Verdict::Faster) || is(Verdict::Slower)).then(|| is(Verdict::Faster))
}

/// Every pair of decided neighbours along an axis of numbers whose verdicts differ and whose intervals are apart.
pub(super) fn brackets(record: &SweepRecord) -> Vec<Bracket<'_>> {
    let mut found = Vec::new();
    for baseline in &record.sweep.baselines {
        for axis in &record.sweep.axes {
            let mut known: Vec<(Config, f64, &SweepCell)> = record
                .cells
                .iter()
                .filter(|cell| decided(cell, baseline).is_some())
                .filter_map(|cell| Some((line(&cell.dims, &axis.name), number(cell.dims.get(&axis.name)?)?, cell)))
                .collect();
            while let Some((line, _, _)) = known.first().cloned() {
                let (mut here, rest): (Vec<_>, Vec<_>) = known.into_iter().partition(|(other, _, _)| *other == line);
                known = rest;
                here.sort_by(|a, b| a.1.total_cmp(&b.1));
                found.extend(here.windows(2).filter_map(|pair| {
                    let ((_, below, low), (_, above, high)) = (&pair[0], &pair[1]);
                    let (one, other) = (low.against(baseline)?, high.against(baseline)?);
                    let turns = decided(low, baseline) != decided(high, baseline);
                    let apart = !one.speedup_ci95.overlaps(other.speedup_ci95);
                    (turns && apart && below < above).then_some(Bracket { baseline, axis: &axis.name, low, high })
                }));
            }
        }
    }
    found
}

/// Every cross-over.
pub(super) fn crossovers(record: &SweepRecord) -> Vec<Crossover> {
    brackets(record).iter().filter_map(crossover).collect()
}

fn crossover(bracket: &Bracket<'_>) -> Option<Crossover> {
    let Bracket { baseline, axis, low, high } = bracket;
    let size = |cell: &SweepCell| number(cell.dims.get(axis)?);
    let (below, above) = (size(low)?, size(high)?);
    let (one, other) = (low.against(baseline)?, high.against(baseline)?);
    let log = |against: &SweepAgainst| against.speedup.ln();
    let share = log(one) / (log(one) - log(other));
    // A verdict may go by more than the speedup's side of 1.
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 };
    let at = (below.ln() + share * (above.ln() - below.ln())).exp();
    Some(Crossover {
        baseline: baseline.to_string(),
        axis: axis.to_string(),
        line: line(&low.dims, axis),
        at: at.clamp(below, above),
        between: (below, above),
        wins_above: decided(high, baseline)?,
    })
}

/// The other dimensions of a cell.
fn line(dims: &Config, axis: &str) -> Config {
    Config::new(dims.iter().filter(|(name, _)| ***name != *axis).map(|(n, v)| (n.clone(), v.clone())).collect())
}

/// A size that has a logarithm.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(v) if *v > 0 => Some(*v as f64),
        Value::Float(v) if *v > 0.0 && v.is_finite() => Some(*v),
        _ => None,
    }
}

/// Cells with a known speedup, for tests.
#[cfg(test)]
pub(super) mod samples {
    use kiln_stats::Interval;
    use kiln_store::{SweepAxis, SweepPlan};

    use super::*;

    pub(crate) fn dims(pairs: &[(&str, i64)]) -> Config {
        Config::new(pairs.iter().map(|(name, value)| ((*name).into(), Value::Int(*value))).collect())
    }

    pub(crate) fn record(axes: &[(&str, &[i64])]) -> SweepRecord {
        let axis = |(name, values): &(&str, &[i64])| SweepAxis {
            name: name.to_string(),
            values: values.iter().map(|v| Value::Int(*v)).collect(),
        };
        let base: Vec<(&str, i64)> = axes.iter().map(|(name, values)| (*name, values[0])).collect();
        let sweep = SweepPlan {
            axes: axes.iter().map(axis).collect(),
            linked: Vec::new(),
            base: dims(&base),
            baselines: vec!["b".into()],
            config: String::new(),
            implementation: None,
            sources: String::new(),
            samples: (25, 25),
            width: 1.0,
            dead_zone: 0.0,
            early: false,
        };
        SweepRecord { sweep, cells: Vec::new() }
    }

    /// Two per cent around the speedup; between 0.97 and 1.03 nothing is decided.
    pub(crate) fn cell(pairs: &[(&str, i64)], speedup: f64) -> SweepCell {
        let verdict = match speedup {
            s if s > 1.03 => "faster",
            s if s < 0.97 => "slower",
            _ => "too_noisy",
        };
        let against = SweepAgainst {
            name: "b".into(),
            median: 1e-3 * speedup,
            speedup,
            speedup_ci95: Interval { low: speedup * 0.98, high: speedup * 1.02 },
            verdict: verdict.into(),
        };
        SweepCell {
            dims: dims(pairs),
            refined: false,
            seconds: 1.0,
            config: None,
            tuned: None,
            median: Some(1e-3),
            median_ci95: None,
            baselines: vec![against],
            unmeasured: Vec::new(),
            refusal: None,
            why: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::samples::{cell, dims, record};
    use super::*;

    fn along(speedups: &[(i64, f64)]) -> Vec<Crossover> {
        let sizes: Vec<i64> = speedups.iter().map(|(size, _)| *size).collect();
        let mut record = record(&[("S", &sizes)]);
        record.cells = speedups.iter().map(|(size, speedup)| cell(&[("S", *size)], *speedup)).collect();
        crossovers(&record)
    }

    #[test]
    fn it_lies_where_the_line_meets_one() {
        // Equally far on both sides: the geometric mean.
        let [only] = &along(&[(64, 0.5), (256, 2.0)])[..] else { panic!() };
        assert!((only.at - 128.0).abs() < 1e-9 && only.wins_above && only.between == (64.0, 256.0), "{only:?}");
        let [only] = &along(&[(64, 4.0), (256, 0.5)])[..] else { panic!() };
        assert!(!only.wins_above && only.at > 128.0, "{only:?}");
        assert_eq!(along(&[(64, 0.5), (128, 2.0), (256, 0.5)]).len(), 2);
    }

    #[test]
    fn what_is_not_decided_makes_none_and_hides_none() {
        assert!(along(&[(64, 0.5), (128, 1.0), (256, 0.9)]).is_empty());
        assert!(along(&[(64, 1.0), (128, 1.01)]).is_empty());
        let [only] = &along(&[(64, 0.5), (128, 1.0), (256, 2.0)])[..] else { panic!() };
        assert_eq!(only.between, (64.0, 256.0));
        // Decided, but their intervals overlap.
        let mut record = record(&[("S", &[1, 2])]);
        record.cells = vec![cell(&[("S", 1)], 0.5), cell(&[("S", 2)], 2.0)];
        record.cells[0].baselines[0].speedup_ci95.high = 2.5;
        assert!(crossovers(&record).is_empty());
    }

    #[test]
    fn each_line_of_a_grid_has_its_own() {
        let mut record = record(&[("S", &[1, 16]), ("H", &[1, 2])]);
        record.cells = vec![
            cell(&[("S", 1), ("H", 1)], 0.5),
            cell(&[("S", 16), ("H", 1)], 2.0),
            cell(&[("S", 1), ("H", 2)], 2.0),
            cell(&[("S", 16), ("H", 2)], 3.0),
        ];
        let found = crossovers(&record);
        let about: Vec<(&str, String)> = found.iter().map(|c| (c.axis.as_str(), c.line.to_string())).collect();
        assert_eq!(about, [("S", "H=1".to_string()), ("H", "S=1".into())]);
        assert_eq!(found[0].line, dims(&[("H", 1)]));
    }

    proptest! {
        #[test]
        fn it_lies_between_its_neighbours_and_only_where_verdicts_differ(
            speedups in prop::collection::vec((1i64..1 << 40, 0.01f64..100.0), 1..12)
        ) {
            for one in along(&speedups) {
                prop_assert!(one.between.0 < one.between.1);
                prop_assert!(one.between.0 <= one.at && one.at <= one.between.1, "{:?}", one);
                let at = |size: f64| speedups.iter().filter(move |(s, _)| *s as f64 == size);
                let decisive = |size: f64| {
                    let wins = one.wins_above == (size == one.between.1);
                    at(size).any(|(_, v)| if wins { *v > 1.03 } else { *v < 0.97 })
                };
                prop_assert!(decisive(one.between.0) && decisive(one.between.1), "{:?} of {:?}", one, speedups);
            }
        }
    }
}
