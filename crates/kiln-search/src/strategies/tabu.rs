//! Local search that never goes back: what was tried is taboo. In: what was told. Out: an untried neighbour of the best trial
//! that has one, so a valley is worked through and then left from its next best place; now and then a uniform draw, from
//! which another valley may begin. Begins with a Latin hypercube.

use kiln_space::{Point, Step};

use crate::known::history::History;
use crate::proposing::draw::Draws;
use crate::proposing::moves;
use crate::strategies::random;

/// Configurations seen before local steps begin.
pub(crate) const START: usize = 10;
/// One proposal in so many is a uniform draw.
const RESTART: usize = 8;
/// Trials whose neighbours are looked for, best first, before a draw is made instead.
const CENTRES: usize = 12;

/// The next configuration, once the start is over.
pub(crate) fn propose(history: &History) -> Option<Point> {
    const PURPOSE: u64 = 4;
    let mut draws = Draws::new(history.seed, PURPOSE, &history.seen);
    if history.seen.len() % RESTART == RESTART - 1 {
        return random::propose(history);
    }
    let centres = history.timed().iter().take(CENTRES);
    // Near steps first: what lies beside a good value is more often good than what lies far.
    let steps = centres.flat_map(|trial| [(trial, Step::Adjacent), (trial, Step::Any)]);
    for (trial, step) in steps {
        let mut fresh = moves::fresh_neighbours(history, &trial.point, step);
        if !fresh.is_empty() {
            return Some(fresh.swap_remove(draws.position(fresh.len())));
        }
    }
    random::propose(history)
}
