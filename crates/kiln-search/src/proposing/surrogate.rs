//! The forest as a model of the kernel. In: the history. Out: for candidates how long they take, in logarithms
//! of the time over the best, with doubt and the chance of failure; and how much improvement each promises.

use kiln_space::Point;

use crate::known::history::History;
use crate::model::features::Features;
use crate::model::forest::{Forecast, Forest};
use crate::model::tree::{Lesson, UNIT};
use crate::proposing::draw::Draws;
use crate::settings::SearchSettings;
use crate::tpe::rounded;

/// Trials a forest grows on. Of more, the best are taken and the rest thinned out, so that a late proposal costs what an
/// early one does.
const MOST_ROWS: usize = 256;
/// No forecast is so certain that nothing could be gained.
const LEAST_SPREAD: f32 = 0.01;
/// The least chance of success a configuration is given.
const LEAST_CHANCE: f32 = 0.01;
/// The logarithm of times may be in units no smaller than this.
const LEAST_SCALE: f64 = 1e-4;

pub(crate) struct Surrogate<'a> {
    features: &'a Features,
    settings: &'a SearchSettings,
    forest: Forest,
    best: f64,
    /// The logarithm of the median time over the best, which targets are in units of.
    scale: f64,
}

impl<'a> Surrogate<'a> {
    /// None while no trial has a time.
    pub(crate) fn new(
        history: &History,
        features: &'a Features,
        settings: &'a SearchSettings,
        draws: &mut Draws,
    ) -> Option<Surrogate<'a>> {
        let timed = history.timed();
        let cost = |place: f64| timed.get((timed.len().saturating_sub(1) as f64 * place) as usize).and_then(|t| t.cost);
        let (best, middle) = (cost(0.0)?, cost(0.5)?);
        let scale = (middle / best).ln().max(LEAST_SCALE);
        let mut surrogate = Surrogate { features, settings, forest: Forest::default(), best, scale };
        let trials = history.trials();
        let step = trials.len().saturating_sub(MOST_ROWS / 2).div_ceil(MOST_ROWS / 2).max(1);
        let told = trials.iter().take(MOST_ROWS / 2).chain(trials.iter().skip(MOST_ROWS / 2).step_by(step));
        // A failure is as bad as the slow. What is pending is taken for middling: that drives a batch apart.
        let (failure, pending) = (surrogate.target(cost(settings.failure)?), surrogate.target(middle));
        let targets: Vec<f32> = told
            .clone()
            .map(|trial| trial.cost.map_or(failure, |cost| surrogate.target(cost)))
            .chain(history.pending().iter().map(|_| pending))
            .collect();
        let failed: Vec<bool> =
            told.clone().map(|trial| trial.cost.is_none()).chain(history.pending().iter().map(|_| false)).collect();
        let targets: Vec<i32> = targets.iter().map(|target| (target * UNIT) as i32).collect();
        let rows = told.chain(history.pending());
        let columns = features.columns(rows.map(|trial| &*trial.point));
        let lesson = Lesson {
            columns: &columns,
            features: features.len(),
            targets: &targets,
            failed: &failed,
            leaf: settings.leaf as usize,
            tries: settings.tries as usize,
        };
        surrogate.forest = Forest::grow(&lesson, settings.trees as usize, draws.below(1 << 64) as u64);
        Some(surrogate)
    }

    /// A time as the forest knows it.
    pub(crate) fn target(&self, cost: f64) -> f32 {
        ((cost / self.best).ln() / self.scale) as f32
    }

    pub(crate) fn forecast(&self, points: &[Point]) -> Vec<Forecast> {
        let mut rows = Vec::new();
        points.iter().for_each(|point| self.features.encode(point, &mut rows));
        self.forest.forecast(&rows, self.features.len())
    }

    /// The improvement to expect below a target, in the forest's units. `curiosity` multiplies the doubt.
    fn improvement(&self, forecast: &Forecast, floor: f32, curiosity: f32) -> f32 {
        let spread = (forecast.spread + LEAST_SPREAD) * curiosity;
        let chance = (1.0 - forecast.failure).max(LEAST_CHANCE);
        rounded(improvement(f64::from((floor - forecast.mean) / spread), f64::from(spread))) as f32 * chance
    }

    /// The candidate that promises most below the time `best`; the first of equals.
    pub(crate) fn choose(&self, points: Vec<Point>, best: f64) -> Option<Point> {
        let floor = self.target(best) - self.settings.aim as f32;
        let mut chosen: Option<(f32, usize)> = None;
        for (at, forecast) in self.forecast(&points).iter().enumerate() {
            let score = self.improvement(forecast, floor, self.settings.curiosity as f32);
            if chosen.is_none_or(|(most, _)| score > most) {
                chosen = Some((score, at));
            }
        }
        chosen.and_then(|(_, at)| points.into_iter().nth(at))
    }

    /// The share of the best time that the most promising candidate is expected to save.
    pub(crate) fn promise(&self, points: &[Point]) -> f64 {
        let forecasts = self.forecast(points);
        let most = forecasts.iter().map(|forecast| self.improvement(forecast, 0.0, 1.0)).fold(0.0, f32::max);
        1.0 - (-f64::from(most) * self.scale).exp()
    }
}

/// The improvement to expect of something whose mean lies `below` spreads under the goal.
pub(crate) fn improvement(below: f64, spread: f64) -> f64 {
    let density = 0.398_942_28 * (-0.5 * below * below).exp();
    // A logistic curve is within a hundredth of the normal distribution's.
    let chance = 1.0 / (1.0 + (-1.702 * below).exp());
    spread * (below * chance + density).max(0.0)
}
