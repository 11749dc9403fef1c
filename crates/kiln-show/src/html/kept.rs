//! Which of many trials are drawn. In: trials of any number. Out: so few of them that a picture stays small, and how many are left out. The
//! fastest and some of those refused are always among them; the others are taken evenly.

use kiln_store::{Trial, TrialState};

/// Places of the trials that are drawn, in the order given, and in words how many there are.
pub(crate) struct Drawn {
    pub(crate) places: Vec<usize>,
    pub(crate) all: usize,
}

impl Drawn {
    /// At most `most` of some trials: a third of them the fastest, a third at most refused.
    pub(crate) fn of(trials: &[Trial], places: &[usize], most: usize) -> Drawn {
        if places.len() <= most {
            return Drawn { places: places.to_vec(), all: places.len() };
        }
        let third = most / 3;
        let refused: Vec<usize> = of_state(trials, places, |state| state == TrialState::Refused);
        let mut others: Vec<usize> = of_state(trials, places, |state| state != TrialState::Refused);
        let time = |place: &usize| match trials[*place].state {
            TrialState::Passed => trials[*place].cost.unwrap_or(f64::INFINITY),
            _ => f64::INFINITY,
        };
        others.sort_by(|a, b| time(a).total_cmp(&time(b)).then(a.cmp(b)));
        let rest = others.split_off(third.min(others.len()));
        let mut kept = others;
        kept.extend(evenly(&refused, third));
        let mut rest = rest;
        rest.sort_unstable();
        let left = most - kept.len();
        kept.extend(evenly(&rest, left));
        kept.sort_unstable();
        kept.dedup();
        Drawn { places: kept, all: places.len() }
    }

    /// `all 120 trials`, or how many of them.
    pub(crate) fn said(&self) -> String {
        let number = |count: usize| crate::words::number::grouped(count as u128);
        match self.places.len() {
            shown if shown == self.all => format!("all {}", number(shown)),
            shown => {
                format!("{} of {}: the fastest, and an even choice of the others", number(shown), number(self.all))
            }
        }
    }
}

fn of_state(trials: &[Trial], places: &[usize], is: impl Fn(TrialState) -> bool) -> Vec<usize> {
    places.iter().copied().filter(|place| is(trials[*place].state)).collect()
}

/// At most so many, as far apart as each other.
pub(crate) fn evenly<T: Copy>(all: &[T], most: usize) -> Vec<T> {
    match all.len() {
        count if count <= most => all.to_vec(),
        count => (0..most).map(|at| all[at * count / most]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{trial, wrong};

    #[test]
    fn the_fastest_and_some_refused_are_always_drawn() {
        let mut trials: Vec<Trial> =
            (0..5000).map(|at| trial("search", at, "A=1", 1.0 + (at * 7919 % 5000) as f64)).collect();
        trials.extend((5000..10_000).map(|at| wrong("search", at, "A=2")));
        let places: Vec<usize> = (0..trials.len()).collect();
        let drawn = Drawn::of(&trials, &places, 300);
        assert!(drawn.places.len() <= 300 && drawn.places.len() > 280, "{}", drawn.places.len());
        let times: Vec<f64> = drawn.places.iter().filter_map(|place| trials[*place].cost).collect();
        assert!((1..=100).all(|time| times.contains(&f64::from(time))), "{times:?}");
        assert_eq!(drawn.places.iter().filter(|place| **place >= 5000).count(), 100);
        assert_eq!(drawn.said(), "300 of 10,000: the fastest, and an even choice of the others");
        assert_eq!(Drawn::of(&trials, &places[..7], 300).said(), "all 7");
    }
}
