//! The best time by the values of two tunables, as a map: the fastest cells are strong, those where everything was refused say so. Figures stand in the
//! cells, so that nothing depends on colour.

use kiln_store::TrialState;

use super::canvas::{Anchor, Canvas};
use super::search::{LINE, SearchPicture, named};
use super::threads::{clipped, distinct};
use crate::studies::columns::TunableColumn;
use crate::words::number::duration;

const CELL: (f64, f64) = (74.0, 34.0);
const TOP: f64 = 84.0;
/// Values of each tunable drawn at most.
const MOST: usize = 16;
/// Times as long as the best from which cells get no weaker.
const WEAKEST: f64 = 3.0;

/// What is known of two values together.
#[derive(Clone, Copy, Default)]
struct Met {
    best: Option<f64>,
    refused: usize,
    stopped: usize,
}

impl SearchPicture<'_> {
    /// The map of two tunables.
    pub(crate) fn pair(&self, across: &str, down: &str) -> Option<Canvas> {
        let (across, down) = (self.columns.get(across)?, self.columns.get(down)?);
        let (wide, high) = (across.values.len().min(MOST), down.values.len().min(MOST));
        let mut cells = vec![vec![Met::default(); wide]; high];
        for place in self.places {
            let (Some(column), Some(row)) = (across.of[*place], down.of[*place]) else { continue };
            let Some(met) = cells.get_mut(row).and_then(|cells| cells.get_mut(column)) else { continue };
            met.refused += usize::from(self.trials[*place].state == TrialState::Refused);
            met.stopped += usize::from(self.trials[*place].state == TrialState::Stopped);
            let time = self.time(*place);
            met.best = [met.best, time].into_iter().flatten().min_by(f64::total_cmp);
        }
        // The winner's cell has its time also where the search did not try it.
        let later = self.later.and_then(|later| {
            let at = (across.of[later.place]?, down.of[later.place]?);
            let met = cells.get_mut(at.1)?.get_mut(at.0)?;
            met.best = Some(met.best.map_or(later.time, |best| best.min(later.time)));
            Some((later, at))
        });
        let best = cells.iter().flatten().filter_map(|met| met.best).min_by(f64::total_cmp)?;
        let longest = down.values.iter().take(high).map(|value| value.shown().chars().count()).max().unwrap_or(0);
        let left = 40.0 + 7.6 * (longest.min(24) as f64).max(down.name.chars().count().min(24) as f64);
        let title = format!("{}: the best time by {} and {}", self.name, across.name, down.name);
        let width = left + CELL.0 * wide as f64 + 24.0;
        let more = |column: &TunableColumn| column.values.len() > MOST;
        let cut = if more(across) || more(down) {
            format!(" Only the first {MOST} values of each are drawn.")
        } else {
            String::new()
        };
        let mut words = format!(
            "The best is {}. Empty cells were not tried; `refused`: nothing in it passed; `stopped`: what passed was too slow to be measured to its end.{cut}",
            duration(best)
        );
        let found = self.later.map(|later| later.words());
        words.extend(found.iter().flat_map(|found| [" The ", found, "."]));
        let foot = TOP + CELL.1 * high as f64 + 24.0;
        let height = foot + if found.is_some() { 16.0 + LINE } else { 16.0 };
        let mut canvas = Canvas::new(width, height, &title).described(&words);
        canvas.text("small", (left + CELL.0 * wide as f64 / 2.0, TOP - 28.0), Anchor::Middle, &across.name);
        canvas.text("small", (left - 8.0, TOP - 8.0), Anchor::End, &clipped(&down.name, left - 16.0));
        let shown = |column: &TunableColumn, most: usize, room: f64| {
            distinct(&column.values.iter().take(most).map(|value| value.shown()).collect::<Vec<_>>(), room)
        };
        for (column, value) in shown(across, wide, CELL.0 - 4.0).iter().enumerate() {
            let x = left + CELL.0 * (column as f64 + 0.5);
            canvas.text("small", (x, TOP - 8.0), Anchor::Middle, value);
        }
        let values = shown(down, high, left - 16.0);
        for (row, (met, value)) in cells.iter().zip(&values).enumerate() {
            let y = TOP + CELL.1 * row as f64;
            canvas.text("small", (left - 8.0, y + 22.0), Anchor::End, value);
            for (column, met) in met.iter().enumerate() {
                let x = left + CELL.0 * column as f64;
                let (fill, words) = match met {
                    Met { best: Some(time), .. } => (shade(time / best), duration(*time)),
                    Met { stopped: 1.., .. } => ("#e6e6e6".into(), "stopped".into()),
                    Met { refused: 1.., .. } => ("#cfcfcf".into(), "refused".into()),
                    _ => ("none".into(), String::new()),
                };
                if !words.is_empty() {
                    canvas.filled((x + 1.0, y + 1.0), CELL.0 - 2.0, CELL.1 - 2.0, &fill);
                    canvas.text("on", (x + CELL.0 / 2.0, y + 22.0), Anchor::Middle, &words);
                }
            }
        }
        if let Some((later, (column, row))) = later {
            let at = (left + CELL.0 * (column as f64 + 1.0) - 9.0, TOP + CELL.1 * row as f64 + 9.0);
            let name = named(&self.trials[later.place]);
            canvas.mark(&name, &later.told(self.trials), |canvas| canvas.dot("best", at, 4.0));
        }
        canvas.text(
            "small",
            (16.0, foot),
            Anchor::Start,
            &format!("stronger is faster; the best is {}", duration(best)),
        );
        found.iter().for_each(|found| canvas.text("small", (16.0, foot + LINE), Anchor::Start, found));
        Some(canvas)
    }
}

/// From strong at the best to near white.
fn shade(ratio: f64) -> String {
    let share = (ratio.max(1.0).ln() / WEAKEST.ln()).clamp(0.0, 1.0);
    let (strong, weak) = ([86.0, 160.0, 220.0], [238.0, 244.0, 250.0]);
    let part = |at: usize| format!("{:02x}", (strong[at] + share * (weak[at] - strong[at])) as u8);
    format!("#{}{}{}", part(0), part(1), part(2))
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::{is_clean, tried, with};
    use super::super::search::{FoundLater, SearchPicture};
    use crate::sample::trial;

    #[test]
    fn every_pair_that_was_tried_has_its_best() {
        let trials = tried();
        let svg = with(&trials, |picture| picture.pair("LANES", "MODE")).unwrap().standalone();
        is_clean(&svg);
        assert_eq!((svg.matches("class=\"on\"").count(), svg.matches(">refused</text>").count()), (7, 1));
        assert!(svg.contains(">2.00 ms</text>"), "{svg}");
        assert!(with(&trials, |picture| picture.pair("LANES", "NONE")).is_none());
    }

    #[test]
    fn a_winner_that_the_ablation_found_is_the_best_of_its_cell() {
        let mut trials = tried();
        trials.push(trial("confirm", 1, "LANES=1,MODE=b,X=2", 0.0));
        let (later, winner) = (Some(FoundLater { place: 7, time: 1.5e-3 }), Some("LANES=1,MODE=b,X=2"));
        let places = &[0, 1, 2, 3, 4, 5, 6][..];
        let draw = |picture: &SearchPicture<'_>| {
            SearchPicture { later, winner, places, ..*picture }.pair("LANES", "MODE").unwrap().standalone()
        };
        let svg = with(&trials, draw);
        is_clean(&svg);
        assert!(svg.contains("the best is 1.50 ms") && !svg.contains(">2.00 ms</text>"), "{svg}");
        assert_eq!((svg.matches("data-trial=\"confirm/1\"").count(), svg.matches("class=\"best\"").count()), (1, 1));
        assert!(svg.contains(">winner: found by the ablation, not tried here; 1.50 ms when confirmed<"), "{svg}");
    }
}
