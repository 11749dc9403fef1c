//! Simulated annealing without a walker: where the walk would stand is drawn anew for every proposal, among the trials, by
//! their costs and the temperature. In: what was told. Out: a new neighbour of that place. The temperature falls with the
//! number of configurations seen, so that early steps start from anything not hopeless and late ones from the best.

use kiln_space::{Point, Step};

use crate::known::history::History;
use crate::proposing::draw::Draws;
use crate::proposing::moves;
use crate::strategies::random;

/// Configurations seen before the first step.
pub(crate) const START: usize = 10;
/// The temperature at first, as a logarithm of times: half as slow again is accepted one time in e.
const HOT: f64 = 0.4;
/// The temperature halves over so many configurations.
const HALVING: f64 = 40.0;
/// It never falls below this.
const COLD: f64 = 0.01;
/// Places drawn before the search falls back to a uniform draw.
const PLACES: usize = 8;

/// The next configuration, once the start is over.
pub(crate) fn propose(history: &History) -> Option<Point> {
    const PURPOSE: u64 = 5;
    let mut draws = Draws::new(history.seed, PURPOSE, &history.seen);
    let timed = history.timed();
    let best = timed.first().and_then(|trial| trial.cost).unwrap_or(1.0);
    let heat = (HOT * 0.5f64.powf(history.seen.len() as f64 / HALVING)).max(COLD);
    let weights: Vec<f64> = timed
        .iter()
        .map(|trial| f64::from((-(trial.cost.unwrap_or(f64::INFINITY) / best).ln() / heat).exp() as f32))
        .collect();
    for _ in 0..PLACES.min(timed.len()) {
        let place = &timed[draws.weighted(weights.iter().copied())].point;
        let step = if draws.position(2) == 0 { Step::Adjacent } else { Step::Any };
        let mut fresh = moves::fresh_neighbours(history, place, step);
        if !fresh.is_empty() {
            return Some(fresh.swap_remove(draws.position(fresh.len())));
        }
    }
    random::propose(history)
}
