//! Which shape is measured next. In: the grid and what was found so far. Out: a cell of the grid, coarse ones first and then those
//! between a win and a loss; once the grid is measured and time is left, shapes between its own where the verdict turns. The
//! order depends on nothing but what was found.

use kiln_core::{Config, Value};
use kiln_store::{SweepAxis, SweepCell, SweepRecord};

use super::crossing::{brackets, decided};
use super::grid::cells;

/// Cells up to this level are measured before any that a verdict points at: ends and middles.
const COARSE: usize = 1;
/// Shapes beyond the grid at most.
const MOST_REFINED: usize = 64;
/// Two lengths this near need no shape between them.
const NEAR: f64 = 1.1;

/// The next cell of the grid; none once all are measured.
pub(super) fn next_of_grid(record: &SweepRecord) -> Option<Config> {
    let axes = &record.sweep.axes;
    let levels: Vec<Vec<usize>> = axes.iter().map(levels).collect();
    let level = |cell: &Config| {
        let of = |(axis, levels): (&SweepAxis, &Vec<usize>)| {
            let place = axis.values.iter().position(|value| Some(value) == cell.get(&axis.name));
            place.map_or(0, |place| levels[place])
        };
        axes.iter().zip(&levels).map(of).max().unwrap_or(0)
    };
    let open = cells(axes).into_iter().filter(|cell| !record.cells.iter().any(|done| done.dims == *cell));
    let mut open: Vec<(bool, usize, Config)> = open
        .map(|cell| {
            let level = level(&cell);
            (level > COARSE && !turns_around(record, &cell), level, cell)
        })
        .collect();
    // Stable: what is equal stays in the order of the grid.
    open.sort_by_key(|(far, level, _)| (*level > COARSE, *far, *level));
    open.into_iter().next().map(|(_, _, cell)| cell)
}

/// A shape between a win and a loss, to find where the verdict turns; none where that is known well enough.
pub(super) fn next_refined(record: &SweepRecord) -> Option<Config> {
    let refined = record.cells.iter().filter(|cell| cell.refined).count();
    if refined >= MOST_REFINED {
        return None;
    }
    let mut wanted: Vec<(f64, Config)> = Vec::new();
    for bracket in brackets(record) {
        let (Some(Value::Int(low)), Some(Value::Int(high))) =
            (bracket.low.dims.get(bracket.axis), bracket.high.dims.get(bracket.axis))
        else {
            continue;
        };
        let apart = *high as f64 / *low as f64;
        let Some(middle) = between(*low, *high).filter(|_| apart > NEAR) else { continue };
        let set = |(name, value): (&std::sync::Arc<str>, &Value)| {
            let value = if **name == *bracket.axis { Value::Int(middle) } else { value.clone() };
            (name.clone(), value)
        };
        let cell = Config::new(bracket.low.dims.iter().map(set).collect());
        if !record.cells.iter().any(|done| done.dims == cell) {
            wanted.push((apart, cell));
        }
    }
    wanted.sort_by(|a, b| b.0.total_cmp(&a.0));
    wanted.into_iter().next().map(|(_, cell)| cell)
}

/// How early each value of an axis is measured: both ends first, then middles, then middles of those. Words come all at once.
fn levels(axis: &SweepAxis) -> Vec<usize> {
    let mut levels = vec![0; axis.values.len()];
    if !axis.values.iter().all(|value| matches!(value, Value::Int(_) | Value::Float(_))) {
        return levels;
    }
    let mut open = vec![(0, axis.values.len().saturating_sub(1), 1)];
    while let Some((low, high, level)) = open.pop() {
        if high - low < 2 {
            continue;
        }
        let middle = low + (high - low) / 2;
        levels[middle] = level;
        open.extend([(low, middle, level + 1), (middle, high, level + 1)]);
    }
    levels
}

/// Whether the nearest cells on both sides, along some axis, won and lost against one baseline.
fn turns_around(record: &SweepRecord, cell: &Config) -> bool {
    let along = |axis: &SweepAxis| {
        let here = cell.get(&axis.name)?;
        let elsewhere = |other: &&SweepCell| {
            record.sweep.axes.iter().all(|a| a.name == axis.name || other.dims.get(&a.name) == cell.get(&a.name))
        };
        let line: Vec<&SweepCell> = record.cells.iter().filter(elsewhere).collect();
        let value = |cell: &SweepCell| cell.dims.get(&axis.name).cloned();
        let turns = |baseline: &String| {
            let known = || line.iter().filter(|cell| decided(cell, baseline).is_some());
            let below = known().filter(|cell| value(cell).as_ref() < Some(here)).max_by_key(|cell| value(cell));
            let above = known().filter(|cell| value(cell).as_ref() > Some(here)).min_by_key(|cell| value(cell));
            let pair = below.zip(above);
            pair.is_some_and(|(below, above)| decided(below, baseline) != decided(above, baseline))
        };
        Some(record.sweep.baselines.iter().any(turns))
    };
    record.sweep.axes.iter().any(|axis| along(axis).unwrap_or(false))
}

/// A number between two, near their geometric mean and as round as they are: between 512 and 1024 it is 768, not 724.
fn between(low: i64, high: i64) -> Option<i64> {
    if low < 1 || high - low < 2 {
        return None;
    }
    let middle = (low as f64 * high as f64).sqrt();
    let mut unit = gcd(low, high);
    while unit >= 1 {
        let nearest = (middle / unit as f64).round() as i64 * unit;
        if low < nearest && nearest < high {
            return Some(nearest);
        }
        unit /= 2;
    }
    None
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::crossing::samples::{cell, record};
    use super::*;

    #[test]
    fn ends_and_middles_come_first() {
        let axis =
            |values: &[i64]| SweepAxis { name: "S".into(), values: values.iter().map(|v| (*v).into()).collect() };
        assert_eq!(levels(&axis(&[1, 2, 4, 8, 16])), [0, 2, 1, 2, 0]);
        assert_eq!((levels(&axis(&[1])), levels(&axis(&[1, 2]))), (vec![0], vec![0, 0]));
    }

    #[test]
    fn the_grid_is_measured_coarse_first_and_then_where_the_verdict_turns() {
        let sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256];
        let mut record = record(&[("S", &sizes)]);
        let mut order = Vec::new();
        // It wins from 40 on.
        while let Some(next) = next_of_grid(&record) {
            let Some(Value::Int(s)) = next.get("S").cloned() else { panic!("{next}") };
            order.push(s);
            record.cells.push(cell(&[("S", s)], if s > 40 { 4.0 } else { 0.25 }));
        }
        assert_eq!(order[..3], [1, 256, 16]);
        // The turn is between 32 and 64: what lies around it comes before all else.
        assert_eq!(order[3..5], [64, 32], "{order:?}");
        assert_eq!(order.len(), sizes.len());
        let mut refined = Vec::new();
        while let Some(next) = next_refined(&record) {
            let Some(Value::Int(s)) = next.get("S").cloned() else { panic!("{next}") };
            refined.push(s);
            record.cells.push(SweepCell { refined: true, ..cell(&[("S", s)], if s > 40 { 4.0 } else { 0.25 }) });
        }
        assert_eq!(refined[0], 48);
        assert!(refined.len() < 8 && refined.iter().all(|s| (32..64).contains(s)), "{refined:?}");
    }

    #[test]
    fn numbers_between_are_as_round_as_their_neighbours() {
        assert_eq!(between(512, 1024), Some(768));
        assert_eq!(between(128, 8192), Some(1024));
        assert_eq!(between(100, 1000), Some(300));
        assert_eq!((between(7, 8), between(7, 9), between(0, 9)), (None, Some(8), None));
    }

    proptest! {
        #[test]
        fn a_number_between_lies_between(low in 1..i64::MAX / 2, high in 1..i64::MAX / 2) {
            if let Some(middle) = between(low, high) {
                prop_assert!(low < middle && middle < high);
            }
        }

        #[test]
        fn every_order_ends_with_every_cell_once(speeds in prop::collection::vec(0.1f64..10.0, 24)) {
            let mut record = record(&[("S", &[1, 2, 4, 8, 16, 32]), ("H", &[1, 2, 3, 4])]);
            let mut speeds = speeds.into_iter();
            while let Some(next) = next_of_grid(&record) {
                let of = |name: &str| if let Some(Value::Int(v)) = next.get(name) { *v } else { 0 };
                prop_assert!(!record.cells.iter().any(|done| done.dims == next));
                record.cells.push(cell(&[("S", of("S")), ("H", of("H"))], speeds.next().unwrap()));
            }
            prop_assert_eq!(record.cells.len(), 24);
            while let Some(next) = next_refined(&record) {
                let of = |name: &str| if let Some(Value::Int(v)) = next.get(name) { *v } else { 0 };
                record.cells.push(SweepCell { refined: true, ..cell(&[("S", of("S")), ("H", of("H"))], 2.0) });
            }
            prop_assert!(record.cells.len() <= 24 + MOST_REFINED);
        }
    }
}
