//! The first configurations, before anything is known of the kernel on this machine. In: the space, a seed, what is known
//! beforehand. Out: the kernel's default, then valid configurations that lie apart, look well statically and have round
//! values: powers of two fill warps, vectors and cache lines, so where a list has other values too, a round one is the better
//! guess (among sizes; small numbers are counts). The order matters: a search may be stopped anywhere.

use kiln_space::{Point, Space};

use crate::known::history::History;
use crate::known::knowledge::Knowledge;
use crate::proposing::metric::{Metric, Place};
use crate::settings::SearchSettings;

/// Candidates drawn for each configuration that is taken.
const POOL: usize = 40;

/// The start of a search.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    default: Option<Point>,
    own: Vec<Point>,
    size: usize,
}

impl Start {
    pub(crate) fn new(space: &Space, seed: u64, knowledge: &Knowledge) -> Start {
        let settings = &knowledge.settings;
        let size = settings.startup as usize;
        let pools = space.samples(POOL * size, seed);
        let share = size.div_ceil(pools.len().max(1));
        let mut lists = Vec::with_capacity(pools.len());
        for pool in pools {
            let merits = match &knowledge.score {
                Some(score) => ranks(&pool, |point| score(point)),
                None => vec![0.0; pool.len()],
            };
            let merits: Vec<f64> = merits.iter().map(|merit| settings.merit * merit).collect();
            lists.push(spread(space, &pool, &merits, share, settings).into_iter());
        }
        Start { default: knowledge.default.clone().filter(|point| space.contains(point)), own: in_turns(lists), size }
    }

    /// The next of the start; none once as many were seen as it is long.
    pub(crate) fn propose(&self, history: &History) -> Option<Point> {
        if history.seen.len() >= self.size {
            return None;
        }
        self.default(history).or_else(|| self.own(history))
    }

    /// The kernel's default, unless it was seen.
    pub(crate) fn default(&self, history: &History) -> Option<Point> {
        self.default.as_ref().filter(|point| history.is_new(point)).cloned()
    }

    /// The next of those that lie apart.
    pub(crate) fn own(&self, history: &History) -> Option<Point> {
        self.own.iter().find(|point| history.is_new(point)).cloned()
    }
}

/// What several lists hold, one of each in turn: a search that is stopped early has seen every implementation.
fn in_turns(mut lists: Vec<std::vec::IntoIter<Point>>) -> Vec<Point> {
    let mut points = Vec::new();
    loop {
        let before = points.len();
        points.extend(lists.iter_mut().filter_map(Iterator::next));
        if points.len() == before {
            return points;
        }
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
fn spread(space: &Space, pool: &[Point], merits: &[f64], count: usize, settings: &SearchSettings) -> Vec<Point> {
    let metric = Metric::new(space);
    let rows: Vec<Vec<Place>> = pool.iter().map(|point| metric.places(point)).collect();
    let value: Vec<f64> = rows
        .iter()
        .zip(merits)
        .map(|(row, merit)| settings.round * row.iter().map(|place| place.round).sum::<f64>() + merit)
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
            let distance = metric.distance(&rows[at], &rows[*other]);
            nearest[*other] = nearest[*other].min(distance);
        }
        chosen.push(pool[at].clone());
    }
    chosen
}
