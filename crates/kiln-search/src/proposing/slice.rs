//! Which part of the space deserves a search of its own. In: the history. Out: one value of one tunable that the best trial
//! does not have. A search that only asks for more than the best stays in the valley it found; in a slice it asks for more
//! than the best of the slice, and may find a valley that ends lower.

use crate::known::history::History;
use crate::proposing::draw::Draws;
use crate::proposing::moves;
use crate::settings::SearchSettings;
use crate::tpe::rounded;

/// A tunable held at a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) tunable: usize,
    pub(crate) value: u32,
}

/// However often a value was tried, its share counts as at least this.
const LEAST_SHARE: f64 = 0.02;

impl Slice {
    pub(crate) fn contains(self, point: &[u32]) -> bool {
        point[self.tunable] == self.value
    }

    /// Draws a slice, the likelier the closer its best is to the best, and the less it was tried.
    pub(crate) fn draw(history: &History, settings: &SearchSettings, draws: &mut Draws) -> Option<Slice> {
        let incumbent = history.timed().first()?;
        let best = incumbent.cost?;
        let trials = history.trials();
        let (mut slices, mut weights) = (Vec::new(), Vec::new());
        for tunable in moves::free(history) {
            let values = history.space.dimensions()[tunable].values.len();
            // How often each value was tried, and its best.
            let mut found = vec![(0usize, f64::INFINITY); values];
            for trial in trials {
                let (count, least) = &mut found[trial.point[tunable] as usize];
                *count += 1;
                *least = least.min(trial.cost.unwrap_or(f64::INFINITY));
            }
            for (value, (count, least)) in (0..).zip(found) {
                if value == incumbent.point[tunable] || least.is_infinite() {
                    continue;
                }
                let share = (count as f64 / trials.len() as f64 * values as f64).max(LEAST_SHARE);
                slices.push(Slice { tunable, value });
                weights.push(rounded((-(least / best).ln() / settings.gap).exp() / share.sqrt()));
            }
        }
        if slices.is_empty() {
            return None;
        }
        Some(slices[draws.weighted(weights.iter().copied())])
    }
}
