//! What the trials say of places not tried. In: the trials, each with its membership in the good. Out: a score for any
//! configuration, the higher the more it should be tried.
//!
//! The parzen estimate `l` is the sum of the good trials' likenesses to a configuration, `g` that of the rest, and a
//! configuration's likeness is the product over its tunables. TPE ranks by `l / g`, which ranks as `l / (l + g)` does: the
//! share of the good among what was seen around. That share is taken against some doubt, so that a single trial proves
//! nothing, and what is little known gets a bonus, so that the search leaves a valley it has worked through.

use crate::known::history::{History, Tried};
use crate::tpe::likeness::{Likeness, rounded};
use crate::tpe::settings::TpeSettings;

pub(crate) struct Model<'a> {
    settings: &'a TpeSettings,
    likenesses: &'a [Likeness],
    /// The tunables that have a choice, each with every trial's value of it.
    columns: Vec<(usize, Vec<u32>)>,
    /// Each trial's part in `l`, and in `l + g`.
    good: Vec<f64>,
    mass: Vec<f64>,
    /// The share of the good overall, which is what is expected where nothing is known.
    expected: f64,
    /// The trials' likenesses to the configuration at hand; kept, so that it is not allocated for each.
    alike: Vec<f64>,
}

impl<'a> Model<'a> {
    pub(crate) fn new(settings: &'a TpeSettings, likenesses: &'a [Likeness], history: &History) -> Model<'a> {
        let known = history.trials().len();
        let reach = (settings.good * known as f64).max(settings.good_least);
        // Best first, so a trial's position is its rank. A pending one is taken for bad until it is told: that drives
        // the proposals of one batch apart.
        let membership = |(rank, trial): (usize, &Tried)| match trial.cost {
            Some(_) => rounded((-(rank as f64) / reach).exp()),
            None => 0.0,
        };
        let mut good: Vec<f64> = history.trials().iter().enumerate().map(membership).collect();
        let weight = |trial: &Tried| if trial.cost.is_some() { 1.0 } else { settings.failure };
        let mut mass: Vec<f64> = history.trials().iter().map(weight).collect();
        let expected = good.iter().sum::<f64>() / mass.iter().sum::<f64>().max(1.0);
        good.resize(known + history.pending().len(), 0.0);
        mass.resize(good.len(), 1.0);
        let trials = || history.trials().iter().chain(history.pending());
        let columns = (0..likenesses.len())
            .filter(|tunable| likenesses[*tunable].values() > 1)
            .map(|tunable| (tunable, trials().map(|trial| trial.point[tunable]).collect()))
            .collect();
        Model { settings, likenesses, columns, alike: vec![0.0; good.len()], good, mass, expected }
    }

    /// The score of one configuration.
    pub(crate) fn score(&mut self, point: &[u32]) -> f64 {
        self.compare(point);
        let (mut good, mut all) = (0.0, 0.0);
        for ((alike, part), mass) in self.alike.iter().zip(&self.good).zip(&self.mass) {
            good += alike * part;
            all += alike * mass;
        }
        self.judge(good, all)
    }

    /// The scores of a configuration with one tunable changed, by tunable and value. All of them together cost little
    /// more than a single one: but for the one that changes, every tunable contributes what it did before.
    pub(crate) fn around(&mut self, point: &[u32]) -> Vec<(usize, Vec<f64>)> {
        self.compare(point);
        let mut scores = Vec::with_capacity(self.columns.len());
        for (tunable, column) in &self.columns {
            let likeness = &self.likenesses[*tunable];
            let mut sums = vec![(0.0, 0.0); likeness.values()];
            for (i, value) in column.iter().enumerate() {
                let sum = &mut sums[*value as usize];
                sum.0 += self.alike[i] * self.good[i];
                sum.1 += self.alike[i] * self.mass[i];
            }
            // Taken out of the product here, put back with another value below.
            for (sum, before) in sums.iter_mut().zip(likeness.row(point[*tunable])) {
                *sum = (sum.0 / before, sum.1 / before);
            }
            let changed = |value: u32| {
                let parts = likeness.row(value).iter().zip(&sums);
                let (good, all) = parts.fold((0.0, 0.0), |(g, a), (like, sum)| (g + like * sum.0, a + like * sum.1));
                self.judge(good, all)
            };
            scores.push((*tunable, (0..likeness.values() as u32).map(changed).collect()));
        }
        scores
    }

    /// Sets `alike` to the trials' likenesses to a configuration.
    fn compare(&mut self, point: &[u32]) {
        self.alike.fill(1.0);
        for (tunable, column) in &self.columns {
            let row = self.likenesses[*tunable].row(point[*tunable]);
            for (alike, value) in self.alike.iter_mut().zip(column) {
                *alike *= row[*value as usize];
            }
        }
    }

    fn judge(&self, good: f64, all: f64) -> f64 {
        let TpeSettings { doubt, curiosity, .. } = self.settings;
        let known = all + doubt;
        // Half of what is expected, since the first trials are spread wider than the good lie.
        (good + 0.5 * doubt * self.expected) / known + curiosity / known.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kiln_core::Value;
    use kiln_space::{Dimension, Point, Problem, Space};
    use kiln_spec::Constants;

    use super::*;
    use crate::known::observation::Observation;

    /// Two tunables of nine numbers and one that has no choice.
    fn history(told: &[([u32; 2], Observation)], pending: &[[u32; 2]]) -> History {
        let dimension =
            |name: &str, count| Dimension { name: name.into(), values: (0..count).map(Value::Int).collect() };
        let dimensions = vec![dimension("A", 9), dimension("B", 9), dimension("C", 1)];
        let problem = Problem {
            dimensions,
            constants: vec![Constants::default()],
            derived: vec![],
            rules: vec![],
            alternatives: vec![],
        };
        let mut history = History::new(Arc::new(Space::build(&problem).unwrap()), 1);
        let point = |[a, b]: [u32; 2]| -> Point { Box::new([a, b, 0]) };
        told.iter().for_each(|(place, observation)| history.tell(&point(*place), *observation));
        pending.iter().for_each(|place| history.pend(&point(*place)));
        history
    }

    fn with_model<T>(history: &History, look: impl FnOnce(&mut Model<'_>) -> T) -> T {
        // What is little known is worth nothing here, so that scores tell good from bad alone.
        let settings = TpeSettings { curiosity: 0.0, good_least: 1.0, ..TpeSettings::default() };
        let likenesses: Vec<Likeness> =
            history.space.dimensions().iter().map(|d| Likeness::new(&d.values, &settings)).collect();
        look(&mut Model::new(&settings, &likenesses, history))
    }

    const TOLD: [([u32; 2], Observation); 3] =
        [([1, 1], Observation::Time(1.0)), ([7, 1], Observation::Time(9.0)), ([1, 7], Observation::Failed)];

    #[test]
    fn what_is_like_the_good_scores_best_and_like_the_failed_worst() {
        with_model(&history(&TOLD, &[]), |model| {
            let (good, slow, failed) = (model.score(&[2, 1, 0]), model.score(&[6, 1, 0]), model.score(&[1, 6, 0]));
            assert!(good > slow && slow > failed, "{good} {slow} {failed}");
        });
    }

    #[test]
    fn what_is_pending_keeps_others_away() {
        let alone = with_model(&history(&TOLD, &[]), |model| model.score(&[2, 1, 0]));
        let beside = with_model(&history(&TOLD, &[[3, 1]]), |model| model.score(&[2, 1, 0]));
        assert!(beside < alone, "{beside} {alone}");
    }

    #[test]
    fn scores_around_a_point_are_those_of_its_neighbours() {
        with_model(&history(&TOLD, &[[4, 4]]), |model| {
            for (tunable, scores) in model.around(&[1, 1, 0]) {
                assert!(tunable < 2 && scores.len() == 9);
                for (value, score) in scores.into_iter().enumerate() {
                    let mut point = [1, 1, 0];
                    point[tunable] = value as u32;
                    let single = model.score(&point);
                    assert!((score - single).abs() < 1e-9, "{point:?}: {score} {single}");
                }
            }
        });
    }

    #[test]
    fn without_trials_every_place_scores_the_same() {
        with_model(&history(&[], &[]), |model| assert_eq!(model.score(&[0, 0, 0]), model.score(&[8, 3, 0])));
    }
}
