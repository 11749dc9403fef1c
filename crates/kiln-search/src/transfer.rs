//! Other studies' outcomes, made to fit this space. In: priors and the space. Out: for any configuration how slow the
//! priors found it, as the logarithm of its time over their best; a list of what they like; and how far our own measurements
//! agree.
//!
//! A prior may come from another shape or version: tunables it does not have count as open, values it alone has are passed
//! over, and of several trials that look alike from here the best counts. What it did not try is asked of a forest grown on
//! what it did.

use kiln_space::{Point, Space};
use rustc_hash::FxHashMap;

use crate::history::Trial;
use crate::model::features::Features;
use crate::model::forest::Forest;
use crate::model::tree::{Lesson, Stream, UNIT};
use crate::prior::Prior;

/// Rows the forest of a prior grows on: the better half of them its best, the rest spread over the others.
const ROWS: usize = 512;
/// Trees of a prior's forest.
const TREES: usize = 20;
/// Ways to fill in tunables that a prior does not have.
const COMPLETIONS: usize = 4;
/// The least share of a prior's configurations that are taken for good ones, and the least number.
const GOOD_SHARE: f64 = 0.025;
const GOOD_LEAST: usize = 40;
/// Of a prior with few configurations, no more than one in so many are good.
const GOOD_MOST: usize = 8;

/// Fewer trials than this have no better half.
const LEAST_HALF: usize = 3;
/// Logarithms that are less far apart in all say nothing.
const LEAST_APART: f64 = 0.1;

/// One prior in terms of the space.
#[derive(Debug, Clone)]
struct Source {
    /// The tunables both have.
    shared: Vec<usize>,
    /// By the values of those.
    slowness: FxHashMap<Box<[u32]>, f32>,
    forest: Forest,
}

/// All priors together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transfer {
    sources: Vec<Source>,
    features: Option<Features>,
    good: Vec<Point>,
}

impl Transfer {
    pub(crate) fn new<'a>(space: &Space, features: &Features, priors: impl Iterator<Item = &'a Prior>) -> Transfer {
        let mut transfer = Transfer { features: Some(features.clone()), ..Transfer::default() };
        let mut lists: Vec<Vec<Point>> = Vec::new();
        for prior in priors {
            let shared = shared(space, prior);
            let best = best_by_key(space, &shared, prior);
            if best.len() < 2 || best[1].1.is_infinite() {
                continue;
            }
            lists.push(likings(space, &shared, &best));
            let known = slowness(&best);
            let forest = forest(space, features, &shared, &known);
            transfer.sources.push(Source { forest, shared, slowness: known.into_iter().collect() });
        }
        // In turns, so that the first few come from every prior.
        let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..longest {
            for point in lists.iter().filter_map(|list| list.get(at)) {
                if !transfer.good.contains(point) {
                    transfer.good.push(point.clone());
                }
            }
        }
        transfer
    }

    /// Whether there is nothing to transfer.
    pub(crate) fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// What the priors like, best first.
    pub(crate) fn good(&self) -> &[Point] {
        &self.good
    }

    /// How slow the priors found a configuration, as a logarithm; the mean of all. 0 is their best.
    pub(crate) fn slowness(&self, point: &[u32]) -> f32 {
        let slowness = |source: &Source| {
            let key: Box<[u32]> = source.shared.iter().map(|tunable| point[*tunable]).collect();
            source.slowness.get(&key).copied().unwrap_or_else(|| {
                let mut row = Vec::new();
                let Some(features) = &self.features else { return 0.0 };
                features.encode(point, &mut row);
                source.forest.forecast(&row, features.len()).first().map_or(0.0, |forecast| forecast.mean)
            })
        };
        self.sources.iter().map(slowness).sum::<f32>() / self.sources.len().max(1) as f32
    }

    /// How far trials are ordered as the priors would have them, among all and among the better half: the smaller of both,
    /// since a prior may tell the good from the hopeless and still mislead among the good. 1 for alike, -1 for reversed, 0
    /// for no relation; none while there is nothing to compare.
    pub(crate) fn agreement(&self, trials: &[Trial]) -> Option<f64> {
        let ranked: Vec<(f64, bool)> =
            trials.iter().map(|trial| (f64::from(self.slowness(&trial.point)), trial.cost.is_none())).collect();
        let all = concordance(&ranked)?;
        let half = ranked.len() / 2;
        let better = if half < LEAST_HALF { None } else { concordance(&ranked[..half]) };
        Some(better.map_or(all, |better| all.min(better)))
    }
}

/// How far slowness rises along trials that go from the best to the worst. Pairs count the more, the further apart they are;
/// two failures are not compared.
fn concordance(ranked: &[(f64, bool)]) -> Option<f64> {
    let (mut agreed, mut all) = (0.0, 0.0);
    for (at, (later, failed)) in ranked.iter().enumerate() {
        for (earlier, _) in ranked[..at].iter().filter(|(_, other)| !(*other && *failed)) {
            agreed += later - earlier;
            all += (later - earlier).abs();
        }
    }
    (all > LEAST_APART).then(|| agreed / all)
}

/// The tunables of the space that a prior has too, with some value in common.
fn shared(space: &Space, prior: &Prior) -> Vec<usize> {
    let dimensions = space.dimensions();
    let known = |tunable: &usize| {
        let dimension = &dimensions[*tunable];
        prior.trials.iter().any(|(config, _)| config.get(&dimension.name).is_some_and(|v| dimension.values.contains(v)))
    };
    (0..dimensions.len()).filter(known).collect()
}

/// What the prior found of each assignment of the shared tunables, best first, failures last.
fn best_by_key(space: &Space, shared: &[usize], prior: &Prior) -> Vec<(Box<[u32]>, f64)> {
    let dimensions = space.dimensions();
    let places: Vec<FxHashMap<&kiln_core::Value, u32>> =
        shared.iter().map(|t| dimensions[*t].values.iter().zip(0..).collect()).collect();
    let mut best: FxHashMap<Box<[u32]>, f64> = FxHashMap::default();
    for (config, observation) in &prior.trials {
        let place = |(tunable, places): (&usize, &FxHashMap<&kiln_core::Value, u32>)| {
            places.get(config.get(&dimensions[*tunable].name)?).copied()
        };
        let Some(key) = shared.iter().zip(&places).map(place).collect::<Option<Box<[u32]>>>() else { continue };
        let cost = observation.cost().unwrap_or(f64::INFINITY);
        best.entry(key).and_modify(|least| *least = least.min(cost)).or_insert(cost);
    }
    let mut best: Vec<_> = best.into_iter().collect();
    best.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    best
}

/// A configuration with these values of the shared tunables; the others come from the stream.
fn complete(space: &Space, shared: &[usize], key: &[u32], stream: &mut Stream) -> Point {
    let mut point: Point = space.dimensions().iter().map(|d| stream.below(d.values.len()) as u32).collect();
    shared.iter().zip(key).for_each(|(tunable, value)| point[*tunable] = *value);
    point
}

/// The best of a prior as valid configurations of the space.
fn likings(space: &Space, shared: &[usize], best: &[(Box<[u32]>, f64)]) -> Vec<Point> {
    let mut stream = Stream(1);
    let count = ((best.len() as f64 * GOOD_SHARE) as usize).max(GOOD_LEAST).min(best.len().div_ceil(GOOD_MOST));
    let timed = best.iter().take(count).filter(|(_, cost)| cost.is_finite());
    let completed = timed.filter_map(|(key, _)| {
        (0..COMPLETIONS).map(|_| complete(space, shared, key, &mut stream)).find(|point| space.contains(point))
    });
    completed.collect()
}

/// Times as logarithms over the best. The slowest twentieth and the failures are all alike: how bad the hopeless are differs
/// most from one machine to another.
fn slowness(best: &[(Box<[u32]>, f64)]) -> Vec<(Box<[u32]>, f32)> {
    let timed = best.partition_point(|(_, cost)| cost.is_finite());
    let least = best.first().map_or(1.0, |(_, cost)| *cost);
    let most = timed.checked_sub(1).map_or(1.0, |last| best[last * 19 / 20].1);
    best.iter().map(|(key, cost)| (key.clone(), (cost.min(most) / least).ln() as f32)).collect()
}

/// A forest that knows them.
fn forest(space: &Space, features: &Features, shared: &[usize], best: &[(Box<[u32]>, f32)]) -> Forest {
    let (first, rest) = best.split_at(best.len().min(ROWS / 2));
    let step = rest.len().div_ceil(ROWS / 2).max(1);
    let mut stream = Stream(2);
    let (mut points, mut targets) = (Vec::new(), Vec::new());
    for (key, slowness) in first.iter().chain(rest.iter().step_by(step)) {
        points.push(complete(space, shared, key, &mut stream));
        targets.push((slowness * UNIT) as i32);
    }
    let columns = features.columns(points.iter().map(|point| &**point));
    let failed = vec![false; targets.len()];
    let lesson =
        Lesson { columns: &columns, features: features.len(), targets: &targets, failed: &failed, leaf: 2, tries: 8 };
    Forest::grow(&lesson, TREES, 3)
}
