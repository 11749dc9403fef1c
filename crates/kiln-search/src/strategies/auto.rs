//! The default: several ways to search that take turns on one history, because on recorded kernels each of them alone gets
//! stuck where another does not. In: what was told, and all that is known beforehand. Out: first what priors lead to,
//! or a spread-out start (the kernel's default, round values); then in turns what TPE proposes, what the forest expects most of, and
//! what it expects most of in a slice of the space that the best trial is not in.

use std::sync::Arc;

use kiln_space::{Point, Space};

use crate::kind::Kind;
use crate::known::history::History;
use crate::known::knowledge::Knowledge;
use crate::known::observation::Observation;
use crate::proposing::design::Start;
use crate::proposing::draw::Draws;
use crate::proposing::slice::Slice;
use crate::settings::SearchSettings;
use crate::strategies::forest::Ground;
use crate::strategies::random;
use crate::strategy::Strategy;
use crate::tpe::{self, Likeness};

/// The strategy.
#[derive(Debug, Clone)]
pub struct Auto {
    history: History,
    start: Start,
    ground: Ground,
    parzen: tpe::TpeSettings,
    likenesses: Vec<Likeness>,
}

/// Whose turn it is.
enum Turn {
    Parzen,
    Slice,
    Forest,
}

impl Auto {
    /// A strategy that knows of the kernel what it is given.
    pub fn new(space: Arc<Space>, seed: u64, knowledge: &Knowledge) -> Auto {
        let ground = Ground::new(&space, knowledge);
        let start = Start::new(&space, seed, knowledge);
        let parzen = tpe::TpeSettings { odd: ground.settings.odd, ..tpe::TpeSettings::default() };
        let likenesses = space.dimensions().iter().map(|d| Likeness::new(&d.values, &parzen)).collect();
        Auto { history: History::new(space, seed), start, ground, parzen, likenesses }
    }

    /// What comes after the start.
    fn proceed(
        history: &History,
        ground: &Ground,
        parzen: &tpe::TpeSettings,
        likenesses: &[Likeness],
        draws: &mut Draws,
    ) -> Option<Point> {
        match Auto::turn(&ground.settings, draws) {
            Turn::Parzen => tpe::propose(history, parzen, likenesses),
            Turn::Slice => {
                let slice = Slice::draw(history, &ground.settings, draws);
                ground.propose(history, slice, draws)
            }
            Turn::Forest => ground.propose(history, None, draws),
        }
    }

    fn turn(settings: &SearchSettings, draws: &mut Draws) -> Turn {
        let drawn = draws.unit();
        if drawn < settings.parzen {
            Turn::Parzen
        } else if drawn < settings.parzen + settings.slices {
            Turn::Slice
        } else {
            Turn::Forest
        }
    }
}

impl Strategy for Auto {
    fn name(&self) -> &'static str {
        Kind::Auto.name()
    }

    fn ask(&mut self, count: usize) -> Vec<Point> {
        const PURPOSE: u64 = 7;
        let Auto { history, start, ground, parzen, likenesses } = self;
        history.ask(count, |history| {
            if let Some(first) = ground.begin(history, start) {
                return Some(first);
            }
            let mut draws = Draws::new(history.seed, PURPOSE, &history.seen);
            let proposal = match ground.aside(history) {
                Some(own) if own.known() < ground.settings.startup as usize => start.own(history),
                Some(own) => Auto::proceed(&own, ground, parzen, likenesses, &mut draws),
                None => Auto::proceed(history, ground, parzen, likenesses, &mut draws),
            };
            proposal.or_else(|| random::propose(history))
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
