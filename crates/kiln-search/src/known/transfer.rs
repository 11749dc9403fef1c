//! Other studies' outcomes, made to fit this space. In: priors and the space. Out: for any configuration how slow the
//! priors found it, as the logarithm of its time over their best; and what they like.
//!
//! A prior may come from another shape or version: tunables it does not have count as open, values it alone has are passed
//! over, and of several trials that look alike from here the best counts. What it did not try is asked of a forest grown on
//! what it did.

use kiln_space::{Point, Space};
use rustc_hash::FxHashMap;

use crate::known::prior::Prior;
use crate::model::features::Features;
use crate::model::forest::Forest;
use crate::model::tree::{Lesson, Stream, UNIT};
use crate::settings::SearchSettings;

/// Rows the forest of a prior grows on: the better half of them its best, the rest spread over the others.
const ROWS: usize = 512;
/// Trees of a prior's forest.
const TREES: usize = 20;
/// Ways to fill in tunables that a prior does not have.
const COMPLETIONS: usize = 4;
/// The least number of a prior's configurations that are taken for good ones.
const GOOD_LEAST: usize = 40;
/// Of a prior with few configurations, no more than one in so many are good.
const GOOD_MOST: usize = 8;

/// Logarithms that lie less far apart say nothing.
const LEAST_SPREAD: f64 = 1e-3;

/// One prior in terms of the space.
#[derive(Debug, Clone)]
struct Source {
    /// The tunables both have.
    shared: Vec<usize>,
    /// By the values of those.
    slowness: FxHashMap<Box<[u32]>, f32>,
    forest: Forest,
    /// The standard deviation of the slowness.
    spread: f64,
    /// Favourites are at most so slow, in units of the spread; and what a search of our own leaves aside.
    favourite: f64,
    aside: f64,
}

/// All priors together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transfer {
    sources: Vec<Source>,
    features: Option<Features>,
    good: Vec<Point>,
}

impl Transfer {
    pub(crate) fn new<'a>(
        space: &Space,
        features: &Features,
        settings: &SearchSettings,
        priors: impl Iterator<Item = &'a Prior>,
    ) -> Transfer {
        let mut transfer = Transfer { features: Some(features.clone()), ..Transfer::default() };
        let mut lists: Vec<Vec<Point>> = Vec::new();
        for prior in priors {
            let shared = shared(space, prior);
            let best = best_by_key(space, &shared, prior);
            if best.len() < 2 || best[1].1.is_infinite() {
                continue;
            }
            lists.push(likings(space, &shared, &best, settings.favourite));
            let known = slowness(&best);
            let forest = forest(space, features, &shared, &known);
            let spread = spread(&known);
            let bar = |share: f64| {
                let last = known[..good(known.len(), share).min(known.len())].last();
                last.map_or(0.0, |(_, slowness)| f64::from(*slowness)) / spread
            };
            let (favourite, aside) = (bar(settings.favourite), bar(settings.aside));
            transfer.sources.push(Source {
                forest,
                shared,
                spread,
                favourite,
                aside,
                slowness: known.into_iter().collect(),
            });
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

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.sources.len()
    }

    /// What the priors like, best first.
    pub(crate) fn good(&self) -> &[Point] {
        &self.good
    }

    /// How far apart a prior's logarithms lie, on average over the priors.
    pub(crate) fn spread(&self) -> f64 {
        self.sources.iter().map(|source| source.spread).sum::<f64>() / self.sources.len().max(1) as f64
    }

    /// Whether some prior would have a configuration among its favourites.
    pub(crate) fn favours(&self, point: &[u32]) -> bool {
        self.slowness(point).iter().zip(&self.sources).any(|(slowness, source)| *slowness <= source.favourite)
    }

    /// Whether some prior likes a configuration so well that a search of our own should do without it.
    pub(crate) fn likes(&self, point: &[u32]) -> bool {
        self.slowness(point).iter().zip(&self.sources).any(|(slowness, source)| *slowness <= source.aside)
    }

    /// How slow each prior found a configuration: a logarithm, 0 for its best, in units of how far its own lie apart.
    pub(crate) fn slowness(&self, point: &[u32]) -> Vec<f64> {
        let slowness = |source: &Source| {
            let key: Box<[u32]> = source.shared.iter().map(|tunable| point[*tunable]).collect();
            let found = source.slowness.get(&key).copied().unwrap_or_else(|| {
                let mut row = Vec::new();
                let Some(features) = &self.features else { return 0.0 };
                features.encode(point, &mut row);
                source.forest.forecast(&row, features.len()).first().map_or(0.0, |forecast| forecast.mean)
            });
            f64::from(found) / source.spread
        };
        self.sources.iter().map(slowness).collect()
    }
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
            match config.get(&dimensions[*tunable].name) {
                Some(value) => places.get(value).copied(),
                // What an implementation does not have stays at its first value.
                None => config.implementation().map(|_| 0),
            }
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
    space.settle(&mut point);
    point
}

/// How many of a prior's configurations are good ones, if this share of them is.
fn good(count: usize, share: f64) -> usize {
    ((count as f64 * share) as usize).max(GOOD_LEAST).min(count.div_ceil(GOOD_MOST))
}

/// The best of a prior as valid configurations of the space.
fn likings(space: &Space, shared: &[usize], best: &[(Box<[u32]>, f64)], share: f64) -> Vec<Point> {
    let mut stream = Stream(1);
    let timed = best.iter().take(good(best.len(), share)).filter(|(_, cost)| cost.is_finite());
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

/// Their standard deviation.
fn spread(known: &[(Box<[u32]>, f32)]) -> f64 {
    let count = known.len().max(1) as f64;
    let mean = known.iter().map(|(_, slowness)| f64::from(*slowness)).sum::<f64>() / count;
    let square = known.iter().map(|(_, slowness)| (f64::from(*slowness) - mean).powi(2)).sum::<f64>() / count;
    square.sqrt().max(LEAST_SPREAD)
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
