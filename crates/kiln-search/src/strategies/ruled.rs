//! A Latin hypercube, then a rule: what genetic, tabu and annealing have in common. In: the length of the start and a rule
//! that proposes from what was told. Out: a strategy.

use std::sync::Arc;

use kiln_space::{Point, Space};

use crate::kind::Kind;
use crate::known::history::History;
use crate::known::observation::Observation;
use crate::strategies::latin::Design;
use crate::strategy::Strategy;

/// Proposes from what was told.
pub(crate) type Rule = fn(&History) -> Option<Point>;

#[derive(Debug, Clone)]
pub(crate) struct Ruled {
    kind: Kind,
    history: History,
    design: Design,
    rule: Rule,
}

impl Ruled {
    pub(crate) fn new(kind: Kind, space: Arc<Space>, seed: u64, start: usize, rule: Rule) -> Ruled {
        let design = Design::new(&space, start, seed);
        Ruled { kind, history: History::new(space, seed), design, rule }
    }
}

impl Strategy for Ruled {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn ask(&mut self, count: usize) -> Vec<Point> {
        let (design, rule) = (&self.design, self.rule);
        self.history.ask(count, |history| design.propose(history).or_else(|| rule(history)))
    }

    fn tell(&mut self, point: &Point, observation: Observation) {
        self.history.tell(point, observation);
    }

    fn pending(&mut self, point: &Point) {
        self.history.pend(point);
    }
}
