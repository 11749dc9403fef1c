//! A genetic search without generations: the best trials are the population, and every proposal is a child of two of them.
//! In: what was told. Out: a mix of two parents, sometimes changed, valid and new; a change of one parent or a uniform draw
//! when mixing gives nothing new. Begins with a Latin hypercube.

use kiln_space::Point;

use crate::known::history::{History, Tried};
use crate::proposing::draw::Draws;
use crate::proposing::moves;
use crate::strategies::random;

/// Trials that may become parents, and as many are seen before there are children.
pub(crate) const POPULATION: usize = 20;
/// Candidates for each parent, of which the best becomes it.
const TOURNAMENT: usize = 2;
/// One child in so many has a tunable changed.
const MUTATION: usize = 2;
/// Children tried before the search moves on to plain changes.
const CHILDREN: usize = 32;

/// The next configuration, once the start is over.
pub(crate) fn propose(history: &History) -> Option<Point> {
    const PURPOSE: u64 = 3;
    let mut draws = Draws::new(history.seed, PURPOSE, &history.seen);
    let parents = &history.timed()[..history.timed().len().min(POPULATION)];
    if parents.is_empty() {
        return random::propose(history);
    }
    let (free, dimensions) = (moves::free(history), history.space.dimensions());
    let choose = |draws: &mut Draws| -> &Tried {
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
        history.space.settle(&mut child);
        if history.is_new(&child) {
            return Some(child);
        }
    }
    let parent = choose(&mut draws);
    moves::mutated(history, &parent.point, 2, CHILDREN, &mut draws).or_else(|| random::propose(history))
}
