//! How far apart configurations lie. In: the tunables with their values. Out: for any point its places in the lists that have
//! a choice, and for two of them a distance from 0, for the same, to 1, for opposite ends of every list.

use kiln_space::Space;

use crate::model::features::{is_round, numbers};

/// A list with a number this large is one of sizes.
pub(crate) const SIZE: f64 = 32.0;
/// The distance of two values that differ at all; that of the ends of a list is 1.
const JUMP: f64 = 0.3;

/// Where one value lies in its list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// From 0 to 1.
    at: f64,
    /// 1 for a power of two among sizes of which some are and some are not; else 0.
    pub(crate) round: f64,
}

/// The places of every value.
#[derive(Debug, Clone)]
pub(crate) struct Metric {
    lists: Vec<(usize, Vec<Place>)>,
}

impl Metric {
    pub(crate) fn new(space: &Space) -> Metric {
        let free = space.dimensions().iter().enumerate().filter(|(_, dimension)| dimension.values.len() > 1);
        let lists = free.map(|(tunable, dimension)| {
            let last = (dimension.values.len() - 1) as f64;
            let numbers = numbers(dimension).unwrap_or_default();
            let round: Vec<bool> = numbers.iter().map(|number| is_round(*number)).collect();
            // Small numbers are counts, and a count of three is as good as any.
            let sizes = numbers.iter().any(|number| *number >= SIZE);
            let mixed = sizes && round.contains(&true) && round.contains(&false);
            let place = |at: usize| Place { at: at as f64 / last, round: if mixed && round[at] { 1.0 } else { 0.0 } };
            (tunable, (0..dimension.values.len()).map(place).collect())
        });
        Metric { lists: lists.collect() }
    }

    /// A point's places, for [`distance`](Metric::distance).
    pub(crate) fn places(&self, point: &[u32]) -> Vec<Place> {
        self.lists.iter().map(|(tunable, places)| places[point[*tunable] as usize]).collect()
    }

    pub(crate) fn distance(&self, one: &[Place], other: &[Place]) -> f64 {
        let between = |(a, b): (&Place, &Place)| {
            if a.at == b.at { 0.0 } else { JUMP + (1.0 - JUMP) * (a.at - b.at).abs() }
        };
        one.iter().zip(other).map(between).sum::<f64>() / self.lists.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use kiln_core::Value;
    use kiln_space::{Dimension, Problem};
    use kiln_spec::Constants;

    use super::*;

    #[test]
    fn distances_go_from_the_same_to_the_other_end() {
        let dimension = |name: &str, values: &[i64]| Dimension {
            name: name.into(),
            values: values.iter().map(|value| Value::Int(*value)).collect(),
        };
        let dimensions = vec![dimension("SIZE", &[16, 24, 32]), dimension("COUNT", &[1, 2, 3]), dimension("ONE", &[7])];
        let problem = Problem {
            dimensions,
            constants: vec![Constants::default()],
            derived: vec![],
            rules: vec![],
            alternatives: vec![],
        };
        let metric = Metric::new(&Space::build(&problem).unwrap());
        let between = |a: [u32; 3], b: [u32; 3]| metric.distance(&metric.places(&a), &metric.places(&b));
        assert_eq!(between([1, 1, 0], [1, 1, 0]), 0.0);
        assert_eq!(between([0, 0, 0], [2, 2, 0]), 1.0);
        assert_eq!(between([0, 0, 0], [2, 0, 0]), 0.5);
        let near = between([0, 0, 0], [1, 0, 0]);
        assert!(near > 0.25 && near < 0.5, "{near}");
        assert_eq!(near, between([1, 0, 0], [0, 0, 0]));
        // Powers of two count among sizes and not among counts.
        let round = |point: [u32; 3]| metric.places(&point).iter().map(|place| place.round).sum::<f64>();
        assert_eq!((round([0, 0, 0]), round([1, 0, 0]), round([2, 2, 0])), (1.0, 0.0, 1.0));
    }
}
