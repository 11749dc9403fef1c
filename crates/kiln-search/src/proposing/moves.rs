//! Steps from one configuration to another. In: the history, a configuration, draws. Out: valid configurations that were not
//! seen. None where none is left.

use kiln_space::{Point, Step};

use crate::known::history::History;
use crate::proposing::draw::Draws;

/// The valid neighbours of a configuration that were not seen.
pub(crate) fn fresh_neighbours(history: &History, point: &[u32], step: Step) -> Vec<Point> {
    let mut found = history.space.neighbours(point, step);
    found.retain(|neighbour| history.is_new(neighbour));
    found
}

/// The tunables that have a choice.
pub(crate) fn free(history: &History) -> Vec<usize> {
    let dimensions = history.space.dimensions();
    (0..dimensions.len()).filter(|tunable| dimensions[*tunable].values.len() > 1).collect()
}

/// A valid new configuration with up to `changes` tunables drawn anew; none after `tries`.
pub(crate) fn mutated(
    history: &History,
    point: &[u32],
    changes: usize,
    tries: usize,
    draws: &mut Draws,
) -> Option<Point> {
    let (free, dimensions) = (history.space.free(point), history.space.dimensions());
    if free.is_empty() {
        return None;
    }
    (0..tries).find_map(|_| {
        let mut other: Point = point.into();
        for _ in 0..changes {
            let tunable = free[draws.position(free.len())];
            other[tunable] = draws.position(dimensions[tunable].values.len()) as u32;
        }
        history.is_new(&other).then_some(other)
    })
}
