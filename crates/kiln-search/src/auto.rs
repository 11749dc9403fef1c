//! The default: several ways to search that take turns on one history, because on recorded kernels each of them alone gets
//! stuck where another does not. In: what was told, and all that is known beforehand. Out: first a spread-out start (the
//! kernel's default, what priors like, round values); then in turns what TPE proposes, what the forest expects most of, and
//! what it expects most of in a slice of the space that the best trial is not in.

use std::sync::Arc;

use kiln_space::{Point, Space};

use crate::design::Start;
use crate::draw::Draws;
use crate::forest::Ground;
use crate::history::History;
use crate::kind::Kind;
use crate::knowledge::Knowledge;
use crate::observation::Observation;
use crate::random;
use crate::settings::Settings;
use crate::slice::Slice;
use crate::strategy::Strategy;
use crate::tpe::{self, Likeness};

/// The strategy.
#[derive(Debug, Clone)]
pub struct Auto {
    history: History,
    start: Start,
    ground: Ground,
    parzen: tpe::Settings,
    likenesses: Vec<Likeness>,
}

/// Priors may lead until so many configurations were seen.
const LED: usize = 20;

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
        let start = Start::new(&space, seed, knowledge, &ground.transfer);
        let parzen = tpe::Settings { odd: ground.settings.odd, ..tpe::Settings::default() };
        let likenesses = space.dimensions().iter().map(|d| Likeness::new(&d.values, &parzen)).collect();
        Auto { history: History::new(space, seed), start, ground, parzen, likenesses }
    }

    fn turn(settings: &Settings, draws: &mut Draws) -> Turn {
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
            if let Some(first) = start.propose(history, &ground.transfer) {
                return Some(first);
            }
            let mut draws = Draws::new(history.seed, PURPOSE, &history.seen);
            // TPE knows nothing of priors, and is not needed while they lead.
            let led = history.seen.len() < LED && ground.leans(history);
            let proposal = match Auto::turn(&ground.settings, &mut draws) {
                Turn::Parzen if led => ground.propose(history, None, &mut draws),
                Turn::Parzen => tpe::propose(history, parzen, likenesses),
                Turn::Slice => {
                    let slice = Slice::draw(history, &ground.settings, &mut draws);
                    ground.propose(history, slice, &mut draws)
                }
                Turn::Forest => ground.propose(history, None, &mut draws),
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
