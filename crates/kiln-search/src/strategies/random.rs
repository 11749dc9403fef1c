//! Uniform search. In: what was seen. Out: any other configuration, each equally likely and none listed to find it; nothing
//! once all were seen. The costs are not looked at, so one seed gives one sequence on every machine.

use std::sync::Arc;

use kiln_space::{Point, Space};

use crate::kind::Kind;
use crate::known::history::History;
use crate::known::observation::Observation;
use crate::proposing::draw::Draws;
use crate::strategy::Strategy;

/// Uniform draws without replacement.
#[derive(Debug, Clone)]
pub struct Random {
    history: History,
}

impl Random {
    /// A strategy that knows nothing yet.
    pub fn new(space: Arc<Space>, seed: u64) -> Random {
        Random { history: History::new(space, seed) }
    }
}

/// The next uniform draw.
pub(crate) fn propose(history: &History) -> Option<Point> {
    const PURPOSE: u64 = 1;
    history.draw(&mut Draws::new(history.seed, PURPOSE, &history.seen))
}

impl Strategy for Random {
    fn name(&self) -> &'static str {
        Kind::Random.name()
    }

    fn ask(&mut self, count: usize) -> Vec<Point> {
        self.history.ask(count, propose)
    }

    fn tell(&mut self, point: &Point, observation: Observation) {
        self.history.tell(point, observation);
    }

    fn pending(&mut self, point: &Point) {
        self.history.pend(point);
    }
}
