//! What a strategy knows: the observations told and the proposals pending. In: points with their outcomes. Out: trials from
//! the best to the worst with failures last, in an order that does not depend on when they were told. Points that are not
//! in the space are not kept: they can be neither proposed nor compared.

use std::sync::Arc;

use kiln_space::{Point, Space};
use rustc_hash::FxHashMap;

use crate::known::observation::Observation;
use crate::known::seen::Seen;
use crate::proposing::draw::Draws;

/// One configuration with its cost; none for a failure.
#[derive(Debug, Clone)]
pub(crate) struct Tried {
    pub(crate) index: u128,
    pub(crate) point: Point,
    pub(crate) cost: Option<f64>,
}

#[derive(Debug, Clone)]
pub(crate) struct History {
    pub(crate) space: Arc<Space>,
    pub(crate) seed: u64,
    pub(crate) seen: Seen,
    /// Best first, failures last, equals by index.
    trials: Vec<Tried>,
    /// The cost each told index has in `trials`.
    costs: FxHashMap<u128, Option<f64>>,
    /// By index, so that the order of asking is forgotten.
    pending: Vec<Tried>,
}

impl History {
    pub(crate) fn new(space: Arc<Space>, seed: u64) -> History {
        let (seen, costs) = (Seen::default(), FxHashMap::default());
        History { space, seed, seen, trials: Vec::new(), costs, pending: Vec::new() }
    }

    /// Takes an outcome in; of several for one point the last counts.
    pub(crate) fn tell(&mut self, point: &Point, observation: Observation) {
        let Some(index) = self.space.index(point) else { return };
        self.seen.insert(index);
        if let Ok(place) = self.pending.binary_search_by_key(&index, |trial| trial.index) {
            self.pending.remove(place);
        }
        let cost = observation.cost();
        if let Some(old) = self.costs.insert(index, cost)
            && let Ok(place) = self.place(index, old)
        {
            self.trials.remove(place);
        }
        let (Ok(place) | Err(place)) = self.place(index, cost);
        self.trials.insert(place, Tried { index, point: point.clone(), cost });
    }

    /// Notes that a point is being tried; nothing changes if it is known already.
    pub(crate) fn pend(&mut self, point: &Point) {
        let Some(index) = self.space.index(point) else { return };
        if self.seen.insert(index) {
            let (Ok(place) | Err(place)) = self.pending.binary_search_by_key(&index, |trial| trial.index);
            self.pending.insert(place, Tried { index, point: point.clone(), cost: None });
        }
    }

    /// Up to `count` proposals, each made with the ones before it pending, so that asking once for many is the same as
    /// asking many times for one.
    pub(crate) fn ask(&mut self, count: usize, mut propose: impl FnMut(&History) -> Option<Point>) -> Vec<Point> {
        let mut points = Vec::new();
        while points.len() < count {
            let Some(point) = propose(self) else { break };
            self.pend(&point);
            points.push(point);
        }
        points
    }

    /// The same without what is known of these points, though they stay seen: only for proposals, not to be told more.
    pub(crate) fn without(&self, left_out: impl Fn(&[u32]) -> bool) -> History {
        let kept = |trials: &[Tried]| trials.iter().filter(|trial| !left_out(&trial.point)).cloned().collect();
        let (trials, pending): (Vec<Tried>, Vec<Tried>) = (kept(&self.trials), kept(&self.pending));
        let costs = trials.iter().map(|trial| (trial.index, trial.cost)).collect();
        History { space: self.space.clone(), seed: self.seed, seen: self.seen.clone(), trials, costs, pending }
    }

    /// How many trials are told or pending.
    pub(crate) fn known(&self) -> usize {
        self.trials.len() + self.pending.len()
    }

    /// A uniform draw from all that was not seen; none when everything was.
    pub(crate) fn draw(&self, draws: &mut Draws) -> Option<Point> {
        let left = self.space.len().checked_sub(self.seen.len() as u128).filter(|left| *left > 0)?;
        self.space.point(self.seen.outside(draws.below(left)))
    }

    /// Whether a point is valid and new.
    pub(crate) fn is_new(&self, point: &[u32]) -> bool {
        self.space.index(point).is_some_and(|index| !self.seen.contains(index))
    }

    pub(crate) fn trials(&self) -> &[Tried] {
        &self.trials
    }

    /// The trials that have a cost.
    pub(crate) fn timed(&self) -> &[Tried] {
        &self.trials[..self.trials.partition_point(|trial| trial.cost.is_some())]
    }

    pub(crate) fn pending(&self) -> &[Tried] {
        &self.pending
    }

    fn place(&self, index: u128, cost: Option<f64>) -> Result<usize, usize> {
        let key = |cost: Option<f64>| cost.unwrap_or(f64::INFINITY);
        self.trials
            .binary_search_by(|trial| key(trial.cost).total_cmp(&key(cost)).then_with(|| trial.index.cmp(&index)))
    }
}

#[cfg(test)]
mod tests {
    use kiln_core::Value;
    use kiln_space::{Dimension, Problem};
    use kiln_spec::Constants;

    use super::*;

    fn history() -> History {
        let dimension = |name: &str| Dimension { name: name.into(), values: (0..4).map(Value::Int).collect() };
        let dimensions = vec![dimension("A"), dimension("B")];
        let problem = Problem {
            dimensions,
            constants: vec![Constants::default()],
            derived: vec![],
            rules: vec![],
            alternatives: vec![],
        };
        History::new(Arc::new(Space::build(&problem).unwrap()), 1)
    }

    /// What is told of three points, in this order.
    fn told(order: [usize; 3]) -> History {
        let news: [(Point, Observation); 3] = [
            (Box::new([3, 0]), Observation::Time(2.0)),
            (Box::new([0, 1]), Observation::Failed),
            (Box::new([1, 2]), Observation::Time(2.0)),
        ];
        let mut history = history();
        order.iter().for_each(|place| history.tell(&news[*place].0, news[*place].1));
        history
    }

    fn indices(trials: &[Tried]) -> Vec<u128> {
        trials.iter().map(|trial| trial.index).collect()
    }

    #[test]
    fn the_order_of_telling_is_forgotten() {
        let first = told([0, 1, 2]);
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let other = told(order);
            assert_eq!(indices(first.trials()), indices(other.trials()));
            assert_eq!(first.seen.digest(), other.seen.digest());
        }
        assert_eq!(first.timed().len(), 2);
        assert!(first.trials()[2].cost.is_none(), "failures are last");
    }

    #[test]
    fn of_several_outcomes_the_last_counts() {
        let mut history = told([0, 1, 2]);
        let (slow, failed): (Point, Point) = (Box::new([3, 0]), Box::new([0, 1]));
        history.tell(&slow, Observation::Failed);
        history.tell(&failed, Observation::Time(1.0));
        assert_eq!(history.trials().len(), 3);
        assert_eq!(history.timed()[0].point, failed);
        assert_eq!(history.trials()[2].point, slow);
    }

    #[test]
    fn a_point_is_pending_until_told_and_never_again() {
        let (point, other): (Point, Point) = (Box::new([2, 2]), Box::new([0, 0]));
        let mut history = history();
        history.pend(&point);
        history.pend(&other);
        history.pend(&point);
        assert_eq!((history.pending().len(), history.seen.len()), (2, 2));
        assert!(history.pending()[0].index < history.pending()[1].index);
        history.tell(&point, Observation::Failed);
        history.pend(&point);
        assert_eq!(indices(history.pending()), [history.space.index(&other).unwrap()]);
        assert!(!history.is_new(&point) && !history.is_new(&other) && history.is_new(&[1, 1]));
    }

    #[test]
    fn what_is_left_out_stays_seen() {
        let mut history = told([0, 1, 2]);
        let pending: Point = Box::new([2, 2]);
        history.pend(&pending);
        let without = history.without(|point| point[0] >= 2);
        assert_eq!((without.trials().len(), without.pending().len(), without.known()), (2, 0, 2));
        assert_eq!((history.trials().len(), history.pending().len()), (3, 1));
        assert!(!without.is_new(&pending) && !without.is_new(&[3, 0]));
        assert_eq!(without.seen.digest(), history.seen.digest());
    }
}
