//! A Latin hypercube first, then uniform draws: every tunable's values are tried evenly before chance takes over. In: what
//! was seen; configurations told or announced from elsewhere count as part of the first phase. Out: the next of the design
//! or a uniform draw, nothing once all were seen.

use std::sync::Arc;

use kiln_space::{Point, Space};

use crate::kind::Kind;
use crate::known::history::History;
use crate::known::observation::Observation;
use crate::strategies::random;
use crate::strategy::Strategy;

/// The points of a seed phase, fixed by the seed alone: what was seen of them is skipped, so there is no place to lose.
#[derive(Debug, Clone)]
pub(crate) struct Design {
    points: Vec<Point>,
    size: usize,
}

impl Design {
    pub(crate) fn new(space: &Space, size: usize, seed: u64) -> Design {
        Design { points: space.latin(size, seed), size }
    }

    /// The next point of the design; none once as many were seen as the phase is long.
    pub(crate) fn propose(&self, history: &History) -> Option<Point> {
        if history.seen.len() >= self.size {
            return None;
        }
        self.points.iter().find(|point| history.is_new(point)).cloned()
    }
}

/// A Latin hypercube, then uniform draws without replacement.
#[derive(Debug, Clone)]
pub struct Latin {
    history: History,
    design: Design,
}

impl Latin {
    /// The size of the hypercube unless another is asked for.
    pub const SIZE: usize = 20;

    /// A strategy that knows nothing yet, with a hypercube of this size.
    pub fn new(space: Arc<Space>, seed: u64, size: usize) -> Latin {
        let design = Design::new(&space, size, seed);
        Latin { history: History::new(space, seed), design }
    }
}

impl Strategy for Latin {
    fn name(&self) -> &'static str {
        Kind::Latin.name()
    }

    fn ask(&mut self, count: usize) -> Vec<Point> {
        let design = &self.design;
        self.history.ask(count, |history| design.propose(history).or_else(|| random::propose(history)))
    }

    fn tell(&mut self, point: &Point, observation: Observation) {
        self.history.tell(point, observation);
    }

    fn pending(&mut self, point: &Point) {
        self.history.pend(point);
    }
}
