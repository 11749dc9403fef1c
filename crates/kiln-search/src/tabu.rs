//! Local search that never goes back: what was tried is taboo. In: what was told. Out: an untried neighbour of the best trial
//! that has one, so a valley is worked through and then left from its next best place; now and then a uniform draw, from
//! which another valley may begin. Begins with a Latin hypercube.

use std::sync::Arc;

use kiln_space::{Point, Space, Step};

use crate::draw::Draws;
use crate::history::History;
use crate::kind::Kind;
use crate::latin::Design;
use crate::moves;
use crate::observation::Observation;
use crate::random;
use crate::strategy::Strategy;

/// Configurations seen before local steps begin.
const START: usize = 10;
/// One proposal in so many is a uniform draw.
const RESTART: usize = 8;
/// Trials whose neighbours are looked for, best first, before a draw is made instead.
const CENTRES: usize = 12;

/// The strategy.
#[derive(Debug, Clone)]
pub struct Tabu {
    history: History,
    design: Design,
}

impl Tabu {
    /// A strategy that knows nothing yet.
    pub fn new(space: Arc<Space>, seed: u64) -> Tabu {
        let design = Design::new(&space, START, seed);
        Tabu { history: History::new(space, seed), design }
    }
}

fn propose(history: &History) -> Option<Point> {
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

impl Strategy for Tabu {
    fn name(&self) -> &'static str {
        Kind::Tabu.name()
    }

    fn ask(&mut self, count: usize) -> Vec<Point> {
        let design = &self.design;
        self.history.ask(count, |history| design.propose(history).or_else(|| propose(history)))
    }

    fn tell(&mut self, point: &Point, observation: Observation) {
        self.history.tell(point, observation);
    }

    fn pending(&mut self, point: &Point) {
        self.history.pend(point);
    }
}
