//! Search by a surrogate alone: after a spread-out start the configuration is tried from which a forest of random trees
//! expects the largest improvement. In: what was told, priors. Out: the best of several hundred candidates by that measure;
//! a uniform draw when none of them is new.

use std::sync::Arc;

use kiln_space::{Point, Space};

use crate::kind::Kind;
use crate::known::history::History;
use crate::known::knowledge::Knowledge;
use crate::known::observation::Observation;
use crate::known::transfer::Transfer;
use crate::model::features::Features;
use crate::proposing::candidates::candidates;
use crate::proposing::design::Start;
use crate::proposing::draw::Draws;
use crate::proposing::metric::Metric;
use crate::proposing::slice::Slice;
use crate::proposing::surrogate::Surrogate;
use crate::settings::SearchSettings;
use crate::strategies::lead::Lead;
use crate::strategies::random;
use crate::strategy::Strategy;

/// What a surrogate needs beside the history.
#[derive(Debug, Clone)]
pub(crate) struct Ground {
    pub(crate) features: Features,
    pub(crate) transfer: Transfer,
    pub(crate) settings: SearchSettings,
    lead: Lead,
}

impl Ground {
    pub(crate) fn new(space: &Space, knowledge: &Knowledge) -> Ground {
        let features = Features::new(space);
        let transfer =
            Transfer::new(space, &features, &knowledge.settings, knowledge.priors.iter().map(|prior| &**prior));
        Ground { features, transfer, settings: knowledge.settings.clone(), lead: Lead::new(Metric::new(space)) }
    }

    /// What comes first: while priors lead, what they lead to.
    pub(crate) fn begin(&self, history: &History, start: &Start) -> Option<Point> {
        let led = || self.lead.propose(history, &self.transfer, &self.settings, start);
        start.default(history).or_else(led).or_else(|| start.propose(history))
    }

    /// The history without what the priors like, while a search of our own is to go on beside theirs. Their favourites are good
    /// enough to hold a search fast and may be far from the best: from such a start a search that knows of them finds less
    /// in fifty evaluations than one that knows nothing.
    pub(crate) fn aside(&self, history: &History) -> Option<History> {
        let while_alone = self.settings.led as usize..self.settings.alone as usize;
        let due = !self.transfer.is_empty() && while_alone.contains(&history.seen.len());
        due.then(|| history.without(|point| self.transfer.likes(point)))
    }

    /// The candidate that promises most; in a slice, most below the slice's own best.
    pub(crate) fn propose(&self, history: &History, slice: Option<Slice>, draws: &mut Draws) -> Option<Point> {
        let Ground { features, settings, .. } = self;
        let surrogate = Surrogate::new(history, features, settings, draws)?;
        let inside = |point: &[u32]| slice.is_none_or(|slice| slice.contains(point));
        let best = history.timed().iter().find(|trial| inside(&trial.point)).and_then(|trial| trial.cost)?;
        surrogate.choose(candidates(history, slice, settings, draws), best)
    }

    /// What the next proposals are expected to save; none while there is too little to tell.
    pub(crate) fn promise(&self, history: &History) -> Option<f64> {
        const PURPOSE: u64 = 8;
        let Ground { features, settings, .. } = self;
        if history.timed().len() < settings.startup as usize {
            return None;
        }
        let mut draws = Draws::new(history.seed, PURPOSE, &history.seen);
        let surrogate = Surrogate::new(history, features, settings, &mut draws)?;
        Some(surrogate.promise(&candidates(history, None, settings, &mut draws)))
    }
}

/// The strategy.
#[derive(Debug, Clone)]
pub struct Forest {
    history: History,
    start: Start,
    ground: Ground,
}

impl Forest {
    /// A strategy that knows of the kernel what it is given.
    pub fn new(space: Arc<Space>, seed: u64, knowledge: &Knowledge) -> Forest {
        let ground = Ground::new(&space, knowledge);
        let start = Start::new(&space, seed, knowledge);
        Forest { history: History::new(space, seed), start, ground }
    }
}

impl Strategy for Forest {
    fn name(&self) -> &'static str {
        Kind::Forest.name()
    }

    fn ask(&mut self, count: usize) -> Vec<Point> {
        const PURPOSE: u64 = 6;
        let Forest { history, start, ground } = self;
        history.ask(count, |history| {
            let mut draws = Draws::new(history.seed, PURPOSE, &history.seen);
            let first = ground.begin(history, start);
            first.or_else(|| ground.propose(history, None, &mut draws)).or_else(|| random::propose(history))
        })
    }

    fn tell(&mut self, point: &Point, observation: Observation) {
        self.history.tell(point, observation);
    }

    fn pending(&mut self, point: &Point) {
        self.history.pend(point);
    }

    fn expected_improvement(&self) -> Option<f64> {
        self.ground.promise(&self.history)
    }
}
