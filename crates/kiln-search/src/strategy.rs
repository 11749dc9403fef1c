//! What every strategy can do, and how to get one. In: a kind, a space and a seed, then outcomes. Out: configurations to try,
//! none once the space is used up. Refuses nothing: what is not in the space is passed over.

use std::sync::Arc;

use kiln_space::{Point, Space};

use crate::kind::Kind;
use crate::known::knowledge::Knowledge;
use crate::known::observation::Observation;
use crate::strategies::annealing;
use crate::strategies::auto::Auto;
use crate::strategies::forest::Forest;
use crate::strategies::genetic;
use crate::strategies::latin::Latin;
use crate::strategies::random::Random;
use crate::strategies::ruled::Ruled;
use crate::strategies::tabu;
use crate::tpe::Tpe;

/// Proposes configurations and learns from their outcomes.
///
/// A proposal is always valid and never one that was proposed, announced or told before. It depends on the space, the
/// seed, what was told and what is pending, and on nothing else: not on the order of the calls, nor on how many proposals
/// were asked for at a time. To resume a study, take a fresh strategy with the same seed, [`tell`](Strategy::tell) it the
/// recorded trials and announce those still running with [`pending`](Strategy::pending).
pub trait Strategy: Send {
    /// The stable identifier, as in [`Kind::name`].
    fn name(&self) -> &'static str;

    /// Up to `count` new configurations; fewer, and then none, when the space is used up. They are pending until told.
    fn ask(&mut self, count: usize) -> Vec<Point>;

    /// What became of a configuration, asked for or not. Told again, the last outcome counts; one that is not in the space
    /// is passed over.
    fn tell(&mut self, point: &Point, observation: Observation);

    /// Announces a configuration that is being tried though this strategy did not propose it: one that was under way
    /// when a study was interrupted, or that something else chose.
    fn pending(&mut self, point: &Point);

    /// The share of the best cost that the most promising configuration is expected to save: 0.01 is 1 %. None while
    /// there is too little to tell, and from strategies without a model. Below the noise of a measurement, going on pays
    /// only by luck.
    fn expected_improvement(&self) -> Option<f64> {
        None
    }
}

/// A strategy with its default settings that knows nothing but the space.
pub fn strategy(kind: Kind, space: Arc<Space>, seed: u64) -> Box<dyn Strategy> {
    strategy_with(kind, space, seed, &Knowledge::default())
}

/// A strategy that starts from what is known beforehand. The same knowledge is part of what a proposal depends on: a
/// resumed study needs it again.
pub fn strategy_with(kind: Kind, space: Arc<Space>, seed: u64, knowledge: &Knowledge) -> Box<dyn Strategy> {
    match kind {
        Kind::Random => Box::new(Random::new(space, seed)),
        Kind::Latin => Box::new(Latin::new(space, seed, Latin::SIZE)),
        Kind::Tpe => Box::new(Tpe::new(space, seed, Default::default())),
        Kind::Genetic => Box::new(Ruled::new(kind, space, seed, genetic::POPULATION, genetic::propose)),
        Kind::Tabu => Box::new(Ruled::new(kind, space, seed, tabu::START, tabu::propose)),
        Kind::Annealing => Box::new(Ruled::new(kind, space, seed, annealing::START, annealing::propose)),
        Kind::Forest => Box::new(Forest::new(space, seed, knowledge)),
        Kind::Auto => Box::new(Auto::new(space, seed, knowledge)),
    }
}
