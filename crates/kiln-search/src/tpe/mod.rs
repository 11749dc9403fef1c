//! Multivariate TPE (tree-structured Parzen estimator) on a constrained set: try what resembles the good trials and not the
//! rest. In: trials, failures included. Out: proposals from the valid neighbours of good trials, wider changes of them, and
//! the whole space. Starts with a Latin hypercube; configurations told from elsewhere shorten it.
//!
//! What differs from the textbook, because plain TPE does no better than chance on recorded kernel spaces: candidates are
//! valid and new by construction rather than drawn and rejected; the split into good and rest is gradual; failures are
//! trials like any other, only worse; what is little known gets a bonus; and every other proposal works on one of several
//! separate peaks.

mod candidates;
mod likeness;
mod model;
mod peaks;
mod settings;

use std::sync::Arc;

use kiln_space::{Point, Space};

pub use settings::TpeSettings;

use crate::kind::Kind;
use crate::known::history::History;
use crate::known::observation::Observation;
use crate::proposing::draw::Draws;
use crate::strategies::latin::Design;
use crate::strategies::random;
use crate::strategy::Strategy;
use candidates::Candidates;
pub(crate) use likeness::{Likeness, rounded};
use model::Model;
use peaks::peaks;

/// The strategy.
#[derive(Debug, Clone)]
pub struct Tpe {
    history: History,
    design: Design,
    settings: TpeSettings,
    likenesses: Vec<Likeness>,
}

impl Tpe {
    /// A strategy that knows nothing yet.
    pub fn new(space: Arc<Space>, seed: u64, settings: TpeSettings) -> Tpe {
        let design = Design::new(&space, settings.startup, seed);
        let likenesses = space.dimensions().iter().map(|d| Likeness::new(&d.values, &settings)).collect();
        Tpe { history: History::new(space, seed), design, settings, likenesses }
    }
}

pub(crate) fn propose(history: &History, settings: &TpeSettings, likenesses: &[Likeness]) -> Option<Point> {
    const PURPOSE: u64 = 2;
    let mut draws = Draws::new(history.seed, PURPOSE, &history.seen);
    let mut candidates = Candidates::new(history, Model::new(settings, likenesses, history));
    if settings.peak_every > 0 && history.seen.len().is_multiple_of(settings.peak_every) {
        let choices = likenesses.iter().filter(|likeness| likeness.values() > 1).count();
        let apart = (settings.peak_apart * choices as f64) as usize;
        let peaks = peaks(history.timed(), settings.peaks, apart);
        peaks.get(draws.position(peaks.len())).into_iter().for_each(|peak| candidates.around(peak));
    }
    // The other turns, and those of a peak that has no neighbour left.
    if candidates.is_empty() {
        history.timed().iter().take(settings.centres).for_each(|trial| candidates.around(trial));
        candidates.jumps(settings.jumps, &mut draws);
        candidates.anywhere(settings.draws, &mut draws);
    }
    candidates.best().or_else(|| random::propose(history))
}

impl Strategy for Tpe {
    fn name(&self) -> &'static str {
        Kind::Tpe.name()
    }

    fn ask(&mut self, count: usize) -> Vec<Point> {
        let Tpe { history, design, settings, likenesses } = self;
        history.ask(count, |history| design.propose(history).or_else(|| propose(history, settings, likenesses)))
    }

    fn tell(&mut self, point: &Point, observation: Observation) {
        self.history.tell(point, observation);
    }

    fn pending(&mut self, point: &Point) {
        self.history.pend(point);
    }
}
