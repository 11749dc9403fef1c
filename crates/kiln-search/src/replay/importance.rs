//! What mattered in a study. In: the space and what was measured. Out: for each tunable the share of the variation that it
//! explains alone, for pairs of tunables what they explain only together, and values worth adding to a list. Says nothing
//! where fewer than [`LEAST_TIMED`] configurations have a time.
//!
//! How: a forest is grown on the logarithms of the times, and asked about many configurations of the space. The variance of
//! its answers is split as functional ANOVA does: a tunable's part is the variance of the mean answer for each of its
//! values, a pair's part what the mean answers for pairs of values vary beyond both. Shares are of the model's variance
//! over the valid space, so they are as good as the model and no better.

use std::sync::Arc;

use kiln_core::Value;
use kiln_space::{Point, Space};

use crate::known::history::History;
use crate::known::observation::Observation;
use crate::model::features::{Features, numbers};
use crate::model::forest::Forest;
use crate::model::tree::{Lesson, UNIT};

/// Fewer timed configurations than this explain nothing.
pub const LEAST_TIMED: usize = 20;
/// Configurations the forest is asked about.
const ASKED: usize = 4000;
/// Trees of the forest; more than a search has, since it is grown once.
const TREES: usize = 100;
/// A pair of values needs so many answers to have a mean.
const LEAST_ANSWERS: f64 = 3.0;

/// A tunable that explains less does not matter; of a pair half of it is told.
const LEAST_SHARE: f64 = 0.02;

/// What mattered.
#[derive(Debug, Clone, PartialEq)]
pub struct Importance {
    /// Every tunable with a choice, the most important first.
    pub tunables: Vec<Mattering>,
    /// Pairs that explain something beyond their tunables, the most important first.
    pub pairs: Vec<Interaction>,
    /// Values worth adding to the kernel file.
    pub edges: Vec<Edge>,
}

/// One tunable.
#[derive(Debug, Clone, PartialEq)]
pub struct Mattering {
    /// Its name.
    pub name: Arc<str>,
    /// The share of the variation it explains alone, in [0, 1].
    pub share: f64,
    /// The value of the best configuration.
    pub best: Value,
}

/// Two tunables.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// Their names, in the order of the kernel file.
    pub names: (Arc<str>, Arc<str>),
    /// The share of the variation they explain only together.
    pub share: f64,
}

/// The best configuration has the last value of a list: what lies beyond was never tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The tunable.
    pub name: Arc<str>,
    /// The value of the best configuration, the least or the greatest of its list.
    pub at: Value,
    /// The next value in the manner of the list: doubled or halved where its neighbours are, else a step further.
    pub try_next: Value,
}

/// What the observations say; none where there are too few. Points that are not in the space are passed over.
pub fn importance(space: &Arc<Space>, observations: &[(Point, Observation)]) -> Option<Importance> {
    let mut history = History::new(space.clone(), 0);
    observations.iter().for_each(|(point, observation)| history.tell(point, *observation));
    let timed = history.timed();
    let best = timed.first().filter(|_| timed.len() >= LEAST_TIMED)?;
    let least = best.cost?;
    let features = Features::new(space);
    if features.len() == 0 {
        return None;
    }
    let targets: Vec<i32> =
        timed.iter().map(|trial| ((trial.cost.unwrap_or(least) / least).ln() as f32 * UNIT) as i32).collect();
    let columns = features.columns(timed.iter().map(|trial| &*trial.point));
    let failed = vec![false; targets.len()];
    let lesson =
        Lesson { columns: &columns, features: features.len(), targets: &targets, failed: &failed, leaf: 2, tries: 8 };
    let forest = Forest::grow(&lesson, TREES, 1);
    let points = space.sample(ASKED, 1);
    let mut rows = Vec::new();
    points.iter().for_each(|point| features.encode(point, &mut rows));
    let answers: Vec<f64> = forest.forecast(&rows, features.len()).iter().map(|f| f64::from(f.mean)).collect();
    let mean = answers.iter().sum::<f64>() / answers.len().max(1) as f64;
    let total = answers.iter().map(|answer| (answer - mean).powi(2)).sum::<f64>();
    let share = |part: f64| if total > 0.0 { (part / total).clamp(0.0, 1.0) } else { 0.0 };

    let dimensions = space.dimensions();
    let free: Vec<usize> = (0..dimensions.len()).filter(|tunable| dimensions[*tunable].values.len() > 1).collect();
    let effects: Vec<Vec<f64>> = free
        .iter()
        .map(|tunable| effect(&points, &answers, mean, *tunable, dimensions[*tunable].values.len()))
        .collect();
    let mut tunables: Vec<Mattering> = free
        .iter()
        .zip(&effects)
        .map(|(tunable, effect)| {
            let part = points.iter().map(|point| effect[point[*tunable] as usize].powi(2)).sum();
            let dimension = &dimensions[*tunable];
            let best = dimension.values[best.point[*tunable] as usize].clone();
            Mattering { name: dimension.name.clone(), share: share(part), best }
        })
        .collect();
    let mut pairs = Vec::new();
    for (at, one) in free.iter().enumerate() {
        for (other_at, other) in free.iter().enumerate().skip(at + 1) {
            let alone = |point: &Point| effects[at][point[*one] as usize] + effects[other_at][point[*other] as usize];
            let rest: Vec<f64> =
                points.iter().zip(&answers).map(|(point, answer)| answer - mean - alone(point)).collect();
            let sizes = (dimensions[*one].values.len(), dimensions[*other].values.len());
            let part = together(&points, &rest, (*one, *other), sizes);
            let names = (dimensions[*one].name.clone(), dimensions[*other].name.clone());
            pairs.push(Interaction { names, share: share(part) });
        }
    }
    tunables.sort_by(|a, b| b.share.total_cmp(&a.share));
    pairs.retain(|pair| pair.share >= LEAST_SHARE / 2.0);
    pairs.sort_by(|a, b| b.share.total_cmp(&a.share));
    // More values of what does not matter would only make the space larger.
    let matters = |name: &Arc<str>| {
        let alone = tunables.iter().filter(|tunable| tunable.name == *name).map(|tunable| tunable.share);
        let paired = pairs.iter().filter(|pair| pair.names.0 == *name || pair.names.1 == *name).map(|pair| pair.share);
        alone.chain(paired).sum::<f64>() >= LEAST_SHARE
    };
    let edges = free
        .iter()
        .filter(|tunable| matters(&dimensions[**tunable].name))
        .filter_map(|tunable| edge(space, *tunable, best.point[*tunable]))
        .collect();
    Some(Importance { tunables, pairs, edges })
}

/// How far the mean answer for each value of a tunable is from the mean of all.
fn effect(points: &[Point], answers: &[f64], mean: f64, tunable: usize, values: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); values];
    for (point, answer) in points.iter().zip(answers) {
        let sum = &mut sums[point[tunable] as usize];
        *sum = (sum.0 + answer - mean, sum.1 + 1.0);
    }
    sums.into_iter().map(|(sum, count)| if count > 0.0 { sum / count } else { 0.0 }).collect()
}

/// The sum of squares that pairs of values explain of what is left, less what chance would explain.
fn together(points: &[Point], rest: &[f64], tunables: (usize, usize), values: (usize, usize)) -> f64 {
    let mut cells = vec![(0.0, 0.0); values.0 * values.1];
    for (point, rest) in points.iter().zip(rest) {
        let cell = &mut cells[point[tunables.0] as usize * values.1 + point[tunables.1] as usize];
        *cell = (cell.0 + rest, cell.1 + 1.0);
    }
    let variance = rest.iter().map(|rest| rest * rest).sum::<f64>() / rest.len().max(1) as f64;
    let known = cells.iter().filter(|(_, count)| *count >= LEAST_ANSWERS);
    known.map(|(sum, count)| sum * sum / count - variance).sum::<f64>().max(0.0)
}

/// Whether the best value is the least or the greatest number of a list of three or more, and what would come next.
fn edge(space: &Space, tunable: usize, best: u32) -> Option<Edge> {
    let dimension = &space.dimensions()[tunable];
    let list = numbers(dimension).filter(|list| list.len() > 2)?;
    let here = *list.get(best as usize)?;
    let mut sorted = list.clone();
    sorted.sort_by(f64::total_cmp);
    let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
    let neighbour = if here == last { sorted[sorted.len() - 2] } else { sorted[1] };
    let doubles = here == 2.0 * neighbour || neighbour == 2.0 * here;
    let next = if doubles { here * here / neighbour } else { 2.0 * here - neighbour };
    let at = dimension.values[best as usize].clone();
    let try_next = match at {
        Value::Int(_) if next.fract() == 0.0 => Value::Int(next as i64),
        Value::Int(_) => return None,
        _ => Value::Float(next),
    };
    // A number that has no like below 1, such as a count, is at no edge there.
    ((here == last || here == first) && (next >= 1.0 || first < 1.0) && (next > 0.0 || first <= 0.0)).then(|| Edge {
        name: dimension.name.clone(),
        at,
        try_next,
    })
}
