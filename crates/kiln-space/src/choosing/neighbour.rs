//! Neighbours of a configuration: valid ones that differ in one tunable.

use crate::space::{Point, Space};

/// How far a neighbour may be in the tunable that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Any other value.
    Any,
    /// The nearest value up and the nearest value down, in list order, that are valid.
    Adjacent,
}

impl Space {
    /// The valid configurations that differ from `point` in exactly one tunable, by tunable and then by value; where
    /// implementations compete, those of the same one.
    pub fn neighbours(&self, point: &[u32], step: Step) -> Vec<Point> {
        if point.len() != self.dimensions().len() {
            return vec![];
        }
        // A change of implementation leaves no other tunable as it is.
        if let Some(part) = self.part(point) {
            let Some(own) = part.lowered(point) else { return vec![] };
            let near = part.space.neighbours(&own, step);
            return near.iter().map(|own| part.lifted(own, self.dimensions().len())).collect();
        }
        let mut found = Vec::new();
        let mut other: Point = point.into();
        for factor in self.factors() {
            // Only the factor that holds the tunable can refuse a change of it.
            for tunable in factor.levels().iter().map(|l| l.tunable) {
                let here = point[tunable];
                let mut valid = |value: u32, found: &mut Vec<(usize, Point)>| {
                    other[tunable] = value;
                    let keeps = factor.find(&other).is_some();
                    if keeps {
                        found.push((tunable, other.clone()));
                    }
                    other[tunable] = here;
                    keeps
                };
                let last = self.dimensions()[tunable].values.len() as u32;
                match step {
                    Step::Any => (0..last).filter(|v| *v != here).for_each(|v| {
                        valid(v, &mut found);
                    }),
                    Step::Adjacent => {
                        let _ = (0..here).rev().find(|v| valid(*v, &mut found));
                        let _ = (here + 1..last).find(|v| valid(*v, &mut found));
                    }
                }
            }
        }
        found.sort_by_key(|(tunable, _)| *tunable);
        found.into_iter().map(|(_, point)| point).collect()
    }
}
