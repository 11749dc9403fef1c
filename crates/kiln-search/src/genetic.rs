//! A genetic search without generations: the best trials are the population, and every proposal is a child of two of them.
//! In: what was told. Out: a mix of two parents, sometimes changed, valid and new; a change of one parent or a uniform draw
//! when mixing gives nothing new. Begins with a Latin hypercube.

use std::sync::Arc;

use kiln_space::{Point, Space};

use crate::draw::Draws;
use crate::history::{History, Trial};
use crate::kind::Kind;
use crate::latin::Design;
use crate::moves;
use crate::observation::Observation;
use crate::random;
use crate::strategy::Strategy;

/// Trials that may become parents, and as many are seen before there are children.
const POPULATION: usize = 20;
/// Candidates for each parent, of which the best becomes it.
const TOURNAMENT: usize = 2;
/// One child in so many has a tunable changed.
const MUTATION: usize = 2;
/// Children tried before the search moves on to plain changes.
const CHILDREN: usize = 32;

/// The strategy.
#[derive(Debug, Clone)]
pub struct Genetic {
    history: History,
    design: Design,
}

impl Genetic {
    /// A strategy that knows nothing yet.
    pub fn new(space: Arc<Space>, seed: u64) -> Genetic {
        let design = Design::new(&space, POPULATION, seed);
        Genetic { history: History::new(space, seed), design }
    }
}

fn propose(history: &History) -> Option<Point> {
    const PURPOSE: u64 = 3;
    let mut draws = Draws::new(history.seed, PURPOSE, &history.seen);
    let parents = &history.timed()[..history.timed().len().min(POPULATION)];
    if parents.is_empty() {
        return random::propose(history);
    }
    let (free, dimensions) = (moves::free(history), history.space.dimensions());
    let choose = |draws: &mut Draws| -> &Trial {
        // Best first, so the smallest of several places wins the tournament.
        let place = (0..TOURNAMENT).map(|_| draws.position(parents.len())).min().unwrap_or(0);
        &parents[place]
    };
    for _ in 0..CHILDREN {
        let (mother, father) = (choose(&mut draws), choose(&mut draws));
        let mut child = mother.point.clone();
        for tunable in &free {
            if draws.position(2) == 0 {
                child[*tunable] = father.point[*tunable];
            }
        }
        if draws.position(MUTATION) == 0 && !free.is_empty() {
            let tunable = free[draws.position(free.len())];
            child[tunable] = draws.position(dimensions[tunable].values.len()) as u32;
        }
        if history.is_new(&child) {
            return Some(child);
        }
    }
    let parent = choose(&mut draws);
    moves::mutated(history, &parent.point, 2, CHILDREN, &mut draws).or_else(|| random::propose(history))
}

impl Strategy for Genetic {
    fn name(&self) -> &'static str {
        Kind::Genetic.name()
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
