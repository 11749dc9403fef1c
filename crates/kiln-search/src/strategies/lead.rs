//! Search led by priors: the first evaluations, where other devices' measurements are worth more than the few of our own. In:
//! the history, what priors say of any configuration. Out: the one of their favourites that promises most; none once the priors
//! have led for long enough, or were refuted.
//!
//! The logarithm of a time here is taken for a multiple of a prior's, plus a difference that is alike for configurations that
//! are alike: a Gaussian process. How large the multiple is (0 is a prior that says nothing) and how large the difference is
//! not known: each of several guesses counts as much as our measurements are likely under it. So the process learns in which
//! values the devices differ, and a prior that misleads is found out after a few evaluations.
//!
//! Only favourites are led to, so that afterwards a search of our own can leave them aside: see [`crate::auto`].

use kiln_space::{Point, Step};

use crate::known::history::History;
use crate::known::transfer::Transfer;
use crate::model::process::Process;
use crate::proposing::design::Start;
use crate::proposing::draw::Draws;
use crate::proposing::metric::{Metric, Place};
use crate::proposing::moves;
use crate::proposing::surrogate::improvement;
use crate::settings::SearchSettings;
use crate::tpe::rounded;

/// Candidates from the priors' favourites, and from the whole space.
const CANDIDATES: usize = 200;
/// Good trials whose neighbours are candidates.
const CENTRES: usize = 3;
/// Multiples of a prior's logarithms and how likely each is, if the prior says something. Ours and theirs are in units of how
/// far each lie apart.
const SLOPES: [(f64, f64); 2] = [(0.5, 0.4), (1.0, 0.6)];
/// Guesses of how far the devices differ, in those units.
const AMPLITUDES: [f64; 4] = [0.25, 0.5, 1.0, 2.0];
/// How uncertain it is what a middling configuration takes, in those units.
const LEVEL: f64 = 2.0;
/// So many measurements the prior's spread counts for, where ours is asked for.
const FIRST_SPREAD: f64 = 2.0;
/// The least spread, and the least logarithm by which a failure is worse than the best.
const LEAST_SPREAD: f64 = 1e-3;
const LEAST_FAILURE: f64 = 0.3;
/// A guess that counts for less than this is not asked.
const LEAST_WEIGHT: f64 = 0.01;
/// No forecast is more certain than this.
const LEAST_VARIANCE: f64 = 1e-6;

/// What leads.
#[derive(Debug, Clone)]
pub(crate) struct Lead {
    metric: Metric,
}

/// The measurements as the process knows them.
struct Told {
    places: Vec<Vec<Place>>,
    /// Logarithms of the times over the best, in units of how far they lie apart.
    logs: Vec<f64>,
    /// What each prior says of them.
    said: Vec<Vec<f64>>,
}

/// Guesses that agree in how far the devices differ.
struct Group {
    square: f64,
    process: Process,
    guesses: Vec<Guess>,
}

/// One prior's multiple, what of our measurements it leaves to the process, and how much it counts.
struct Guess {
    prior: usize,
    slope: f64,
    parted: Vec<f64>,
    weight: f64,
}

impl Lead {
    pub(crate) fn new(metric: Metric) -> Lead {
        Lead { metric }
    }

    pub(crate) fn propose(
        &self,
        history: &History,
        transfer: &Transfer,
        settings: &SearchSettings,
        start: &Start,
    ) -> Option<Point> {
        const PURPOSE: u64 = 10;
        let seen = history.seen.len();
        if transfer.is_empty() || seen >= settings.led as usize {
            return None;
        }
        // Something that lies elsewhere, to hold the favourites against.
        if seen % 2 == 1
            && seen / 2 < settings.apart as usize
            && let Some(own) = start.own(history)
        {
            return Some(own);
        }
        let mut draws = Draws::new(history.seed, PURPOSE, &history.seen);
        let candidates = candidates(history, transfer, &mut draws);
        let said: Vec<Vec<f64>> = candidates.iter().map(|point| transfer.slowness(point)).collect();
        let promises: Vec<f64> = match self.told(history, transfer, settings) {
            Some(told) => {
                let groups = self.weigh(&told, transfer.len(), settings)?;
                let promise = |(point, said): (&Point, &Vec<f64>)| self.promise(point, said, &told, &groups, settings);
                candidates.iter().zip(&said).map(promise).collect()
            }
            // Nothing runs yet: what the priors like most.
            None => said.iter().map(|said| -said.iter().sum::<f64>()).collect(),
        };
        let mut best: Option<(f64, usize)> = None;
        for (at, promise) in promises.into_iter().map(rounded).enumerate() {
            if best.is_none_or(|(most, _)| promise > most) {
                best = Some((promise, at));
            }
        }
        best.and_then(|(_, at)| candidates.into_iter().nth(at))
    }

    /// None while no trial has a time.
    fn told(&self, history: &History, transfer: &Transfer, settings: &SearchSettings) -> Option<Told> {
        let timed = history.timed();
        let cost = |place: f64| timed.get((timed.len().saturating_sub(1) as f64 * place) as usize).and_then(|t| t.cost);
        let best = cost(0.0)?;
        let log = |cost: f64| (cost / best).ln();
        // A failure is as bad as the slow. What is pending is taken for middling: that drives a batch apart.
        let failure = log(cost(settings.failure)?).max(LEAST_FAILURE);
        let pending = log(cost(0.5)?);
        let mut told = Told { places: vec![], logs: vec![], said: vec![] };
        let trials = history.trials().iter().map(|trial| (trial, failure));
        for (trial, otherwise) in trials.chain(history.pending().iter().map(|trial| (trial, pending))) {
            told.places.push(self.metric.places(&trial.point));
            told.logs.push(trial.cost.map_or(otherwise, log));
            told.said.push(transfer.slowness(&trial.point));
        }
        let count = told.logs.len() as f64;
        let mean = told.logs.iter().sum::<f64>() / count;
        let squares = told.logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
        let theirs = FIRST_SPREAD * transfer.spread().powi(2);
        let spread = ((squares + theirs) / (count - 1.0 + FIRST_SPREAD)).sqrt().max(LEAST_SPREAD);
        told.logs.iter_mut().for_each(|log| *log /= spread);
        Some(told)
    }

    /// How alike the differences of two configurations are, from 0 to 1.
    fn like(&self, one: &[Place], other: &[Place], settings: &SearchSettings) -> f64 {
        (-self.metric.distance(one, other) / settings.reach).exp()
    }

    /// The guesses that are likely enough; none where priors are refuted.
    fn weigh(&self, told: &Told, priors: usize, settings: &SearchSettings) -> Option<Vec<Group>> {
        let count = told.logs.len();
        let row =
            |at: usize| (0..=at).map(|other| self.like(&told.places[at], &told.places[other], settings)).collect();
        let alike: Vec<Vec<f64>> = (0..count).map(row).collect();
        let noise = settings.blur * settings.blur;
        let mut groups = Vec::new();
        for square in AMPLITUDES.map(|amplitude| amplitude * amplitude) {
            let covariance =
                |a: usize, b: usize| square * alike[a][b] + LEVEL * LEVEL + if a == b { noise } else { 0.0 };
            let process = Process::new(count, covariance)?;
            let guess = |prior: usize, slope: f64, chance: f64| {
                let mut parted: Vec<f64> =
                    told.logs.iter().zip(&told.said).map(|(log, said)| log - slope * said[prior]).collect();
                process.part(&mut parted);
                let weight = chance.ln() + process.likelihood(&parted);
                Guess { prior, slope, parted, weight }
            };
            let mut guesses = vec![guess(0, 0.0, settings.doubt)];
            for prior in 0..priors {
                let share = (1.0 - settings.doubt) / priors as f64;
                guesses.extend(SLOPES.map(|(slope, chance)| guess(prior, slope, chance * share)));
            }
            groups.push(Group { square, process, guesses });
        }
        let most = groups.iter().flat_map(|g| &g.guesses).map(|guess| guess.weight).fold(f64::NEG_INFINITY, f64::max);
        let (mut all, mut nothing) = (0.0, 0.0);
        for guess in groups.iter_mut().flat_map(|group| &mut group.guesses) {
            guess.weight = (guess.weight - most).exp();
            all += guess.weight;
            nothing += if guess.slope == 0.0 { guess.weight } else { 0.0 };
        }
        let bearable = if count < settings.trial as usize { settings.refuted } else { settings.unproven };
        if rounded(nothing / all) > bearable {
            return None;
        }
        for group in &mut groups {
            group.guesses.retain(|guess| guess.weight >= LEAST_WEIGHT);
        }
        groups.retain(|group| !group.guesses.is_empty());
        Some(groups)
    }

    /// How much a candidate is expected to improve on the best.
    fn promise(&self, point: &[u32], said: &[f64], told: &Told, groups: &[Group], settings: &SearchSettings) -> f64 {
        let places = self.metric.places(point);
        let likes: Vec<f64> = told.places.iter().map(|other| self.like(&places, other, settings)).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut sum = 0.0;
        for Group { square, process, guesses } in groups {
            let mut with: Vec<f64> = likes.iter().map(|like| square * like + LEVEL * LEVEL).collect();
            process.part(&mut with);
            let spread = (square + LEVEL * LEVEL - dot(&with, &with)).max(LEAST_VARIANCE).sqrt();
            for guess in guesses {
                let mean = guess.slope * said[guess.prior] + dot(&with, &guess.parted);
                sum += guess.weight * improvement((-settings.beyond - mean) / spread, spread);
            }
        }
        sum
    }
}

/// Some of the priors' favourites, others each time, so that no single one stands for a prior; and what they would like of
/// the neighbours of good trials and of uniform draws, for a prior that tried little.
fn candidates(history: &History, transfer: &Transfer, draws: &mut Draws) -> Vec<Point> {
    let good = transfer.good();
    let mut points: Vec<Point> =
        (0..CANDIDATES.min(good.len())).map(|_| good[draws.position(good.len())].clone()).collect();
    points.retain(|point| history.is_new(point));
    let near = history.timed().iter().take(CENTRES);
    let others = near.flat_map(|trial| moves::fresh_neighbours(history, &trial.point, Step::Any));
    let mut others: Vec<Point> = others.collect();
    others.extend((0..CANDIDATES).filter_map(|_| history.draw(draws)));
    points.extend(others.into_iter().filter(|point| transfer.favours(point)));
    points
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kiln_core::Value;
    use kiln_space::{Dimension, Problem, Space};
    use kiln_spec::Constants;

    use super::*;
    use crate::known::knowledge::Knowledge;
    use crate::known::observation::Observation;
    use crate::known::prior::Prior;
    use crate::model::features::Features;

    fn space() -> Arc<Space> {
        let dimension = |name: &str| Dimension { name: name.into(), values: (1..=12).map(Value::Int).collect() };
        let dimensions = vec![dimension("A"), dimension("B"), dimension("C")];
        let problem = Problem {
            dimensions,
            constants: vec![Constants::default()],
            derived: vec![],
            rules: vec![],
            alternatives: vec![],
        };
        Arc::new(Space::build(&problem).unwrap())
    }

    /// A bowl around the middle of each list.
    fn time(point: &[u32]) -> f64 {
        (0.3 * point.iter().map(|place| (f64::from(*place) - 5.0).abs()).sum::<f64>()).exp()
    }

    /// What is proposed while a prior of that bowl leads and our device answers so, and how many of them it likes.
    fn led(answer: impl Fn(&[u32]) -> Observation) -> (Vec<Point>, usize) {
        let space = space();
        let trials = space.iter().map(|point| (space.config(&point), Observation::Time(time(&point)))).collect();
        let prior = Prior { label: "a bowl".into(), trials };
        let settings = SearchSettings::default();
        let transfer = Transfer::new(&space, &Features::new(&space), &settings, [&prior].into_iter());
        let start = Start::new(&space, 1, &Knowledge::default());
        let lead = Lead::new(Metric::new(&space));
        let mut history = History::new(space, 1);
        let mut points = Vec::new();
        while let Some(point) = lead.propose(&history, &transfer, &settings, &start) {
            assert!(history.is_new(&point));
            history.tell(&point, answer(&point));
            points.push(point);
        }
        let liked = points.iter().filter(|point| transfer.likes(point)).count();
        (points, liked)
    }

    #[test]
    fn a_prior_that_is_right_leads_to_its_favourites_as_long_as_it_may() {
        let settings = SearchSettings::default();
        let (points, liked) = led(|point| Observation::Time(7.0 * time(point)));
        assert_eq!(points.len(), settings.led as usize);
        assert!(points.len() - liked <= settings.apart as usize, "{liked} of {points:?}");
    }

    #[test]
    fn a_prior_that_is_wrong_is_refuted() {
        let (points, _) = led(|point| Observation::Time(1.0 / time(point)));
        assert!(points.len() < SearchSettings::default().trial as usize, "{points:?}");
    }

    #[test]
    fn the_first_is_a_favourite_of_a_prior_where_nothing_runs() {
        let (points, liked) = led(|_| Observation::Failed);
        assert_eq!(points.len(), SearchSettings::default().led as usize);
        assert!(liked >= points.len() - SearchSettings::default().apart as usize, "{liked}");
    }
}
