//! The first configurations, before anything is known of the kernel on this machine. In: the space, a seed, what is known
//! beforehand. Out: the kernel's default, then valid configurations that lie apart, look well statically and have round
//! values: powers of two fill warps, vectors and cache lines, so where a list has other values too, a round one is the better
//! guess (among sizes; small numbers are counts). With priors, what they like is tried in turns with the rest, for as long as measurements agree with them. The order
//! matters: a search may be stopped anywhere.

use kiln_space::{Point, Space};

use crate::history::History;
use crate::knowledge::Knowledge;
use crate::model::features::{is_round, numbers};
use crate::settings::Settings;
use crate::transfer::Transfer;

/// Candidates drawn for each configuration that is taken.
const POOL: usize = 40;
/// A list with a number this large is one of sizes.
pub(crate) const SIZE: f64 = 32.0;
/// The distance of two values that differ at all; that of the ends of a list is 1.
const JUMP: f64 = 0.3;

/// The start of a search.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    default: Option<Point>,
    own: Vec<Point>,
    liked: Vec<Point>,
    size: usize,
    trust: f64,
}

impl Start {
    pub(crate) fn new(space: &Space, seed: u64, knowledge: &Knowledge, transfer: &Transfer) -> Start {
        let settings = &knowledge.settings;
        let size = if transfer.is_empty() { settings.startup } else { settings.short } as usize;
        let pool = space.sample(POOL * size, seed);
        let merits = match &knowledge.score {
            Some(score) => ranks(&pool, |point| score(point)),
            None => vec![0.0; pool.len()],
        };
        let merits: Vec<f64> = merits.iter().map(|merit| settings.merit * merit).collect();
        let likings: Vec<f64> = (0..transfer.good().len())
            .map(|place| -settings.liking * place as f64 / transfer.good().len() as f64)
            .collect();
        Start {
            default: knowledge.default.clone().filter(|point| space.contains(point)),
            own: spread(space, &pool, &merits, size, settings),
            liked: spread(space, transfer.good(), &likings, size, settings),
            size,
            trust: settings.trust,
        }
    }

    /// The next of the start; none once as many were seen as it is long.
    pub(crate) fn propose(&self, history: &History, transfer: &Transfer) -> Option<Point> {
        let seen = history.seen.len();
        if seen >= self.size {
            return None;
        }
        let next = |points: &[Point]| points.iter().find(|point| history.is_new(point)).cloned();
        if let Some(default) = self.default.as_ref().filter(|point| history.is_new(point)) {
            return Some(default.clone());
        }
        // One in three is our own, so that there is something to hold the priors' against.
        if seen % 3 != 1
            && !self.liked.is_empty()
            && transfer.agreement(history.trials()).is_none_or(|agreement| agreement > self.trust)
        {
            return next(&self.liked).or_else(|| next(&self.own));
        }
        next(&self.own)
    }
}

/// Each point's place by a score, 1 for the highest; half for those that have none.
fn ranks(points: &[Point], score: impl Fn(&Point) -> Option<f64>) -> Vec<f64> {
    let scores: Vec<Option<f64>> = points.iter().map(score).collect();
    let mut sorted: Vec<f64> = scores.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1).max(1) as f64;
    let place = |score: f64| sorted.partition_point(|other| other.total_cmp(&score).is_lt()) as f64 / last;
    scores.into_iter().map(|score| score.map_or(0.5, place)).collect()
}

/// `count` of these points: each time the one that is furthest from those taken, with its merit and its roundness added.
fn spread(space: &Space, pool: &[Point], merits: &[f64], count: usize, settings: &Settings) -> Vec<Point> {
    let places = places(space);
    let rows: Vec<Vec<(f64, f64)>> =
        pool.iter().map(|point| places.iter().map(|(t, of)| of[point[*t] as usize]).collect()).collect();
    let value: Vec<f64> = rows
        .iter()
        .zip(merits)
        .map(|(row, merit)| settings.round * row.iter().map(|(_, round)| round).sum::<f64>() + merit)
        .collect();
    let mut nearest = vec![1.0f64; pool.len()];
    let mut left: Vec<usize> = (0..pool.len()).collect();
    let mut chosen = Vec::new();
    while chosen.len() < count {
        let worth = |at: usize| value[at] + nearest[at];
        let Some(place) = (0..left.len()).max_by(|a, b| worth(left[*a]).total_cmp(&worth(left[*b])).then(b.cmp(a)))
        else {
            break;
        };
        let at = left.remove(place);
        for other in &left {
            let between = |(a, b): (&(f64, f64), &(f64, f64))| {
                if a.0 == b.0 { 0.0 } else { JUMP + (1.0 - JUMP) * (a.0 - b.0).abs() }
            };
            let distance = rows[at].iter().zip(&rows[*other]).map(between).sum::<f64>() / places.len().max(1) as f64;
            nearest[*other] = nearest[*other].min(distance);
        }
        chosen.push(pool[at].clone());
    }
    chosen
}

/// For each tunable with a choice, where its values lie in [0, 1] and whether they are round; a list in which all or none
/// are says nothing.
fn places(space: &Space) -> Vec<(usize, Vec<(f64, f64)>)> {
    let free = space.dimensions().iter().enumerate().filter(|(_, dimension)| dimension.values.len() > 1);
    free.map(|(tunable, dimension)| {
        let last = (dimension.values.len() - 1) as f64;
        let round: Vec<bool> = numbers(dimension).map_or(vec![], |list| list.iter().map(|n| is_round(*n)).collect());
        // Small numbers are counts, and a count of three is as good as any.
        let sizes = numbers(dimension).is_some_and(|list| list.iter().any(|number| *number >= SIZE));
        let mixed = sizes && round.contains(&true) && round.contains(&false);
        let place = |at: usize| (at as f64 / last, if mixed && round[at] { 1.0 } else { 0.0 });
        (tunable, (0..dimension.values.len()).map(place).collect())
    })
    .collect()
}
