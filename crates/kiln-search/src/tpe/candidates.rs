//! Where the model is asked. In: the history, the model, draws. Out: the valid configuration not seen before that the model
//! likes best among the neighbours of good trials, wider changes of them, and uniform draws. None when none of those is new.

use kiln_space::Point;

use crate::known::history::{History, Tried};
use crate::proposing::draw::Draws;
use crate::tpe::model::Model;

/// Trials that wider changes start from. The first of them are taken most of the time.
const STARTS: usize = 20;

/// The best candidate so far.
pub(crate) struct Candidates<'a> {
    history: &'a History,
    model: Model<'a>,
    best: Option<(f64, Point)>,
}

impl<'a> Candidates<'a> {
    pub(crate) fn new(history: &'a History, model: Model<'a>) -> Candidates<'a> {
        Candidates { history, model, best: None }
    }

    /// Every neighbour of a trial.
    pub(crate) fn around(&mut self, trial: &Tried) {
        let mut point = trial.point.clone();
        for (tunable, scores) in self.model.around(&trial.point) {
            for (value, score) in scores.into_iter().enumerate() {
                // The trial itself is known, so it need not be left out here.
                point[tunable] = value as u32;
                self.offer(score, &point);
            }
            point[tunable] = trial.point[tunable];
        }
    }

    /// Good trials with two or three tunables changed, the better the trial the more often. Such a move leaves a
    /// configuration that every single change makes worse or invalid.
    pub(crate) fn jumps(&mut self, count: usize, draws: &mut Draws) {
        let good = &self.history.timed()[..self.history.timed().len().min(STARTS)];
        let dimensions = self.history.space.dimensions();
        if good.is_empty() {
            return;
        }
        for _ in 0..count {
            let weights = (0..good.len()).map(|rank| 1.0 / (rank + 1) as f64);
            let mut point = good[draws.weighted(weights)].point.clone();
            let free = self.history.space.free(&point);
            if free.is_empty() {
                continue;
            }
            for _ in 0..2 + draws.position(2) {
                let tunable = free[draws.position(free.len())];
                point[tunable] = draws.position(dimensions[tunable].values.len()) as u32;
            }
            if self.history.is_new(&point) {
                let score = self.model.score(&point);
                self.offer(score, &point);
            }
        }
    }

    /// Uniform draws.
    pub(crate) fn anywhere(&mut self, count: usize, draws: &mut Draws) {
        for _ in 0..count {
            if let Some(point) = self.history.draw(draws) {
                let score = self.model.score(&point);
                self.offer(score, &point);
            }
        }
    }

    /// Whether nothing was found so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.best.is_none()
    }

    /// What the model likes best.
    pub(crate) fn best(self) -> Option<Point> {
        self.best.map(|(_, point)| point)
    }

    /// Takes a candidate if it is better than the best so far, valid and new. The score goes first: it is at hand.
    fn offer(&mut self, score: f64, point: &Point) {
        if self.best.as_ref().is_none_or(|(best, _)| score > *best) && self.history.is_new(point) {
            self.best = Some((score, point.clone()));
        }
    }
}
