//! Parallel coordinates: one upright axis for each tunable in which trials differ, the time last, one line for each trial. The fastest lie on top; tunables
//! in which nothing differs are left out.

use kiln_store::TrialState;

use super::axis::LogAxis;
use super::canvas::{Anchor, Canvas, width_of};
use super::search::{SearchPicture, named, told};
use crate::html::kept::Drawn;
use crate::studies::columns::TunableColumn;
use crate::words::number::duration;

const TOP: f64 = 76.0;
const HEIGHT: f64 = 420.0;
const BOTTOM: f64 = 44.0;
const SIDE: f64 = 60.0;
/// Between two axes.
const APART: f64 = 96.0;
/// Trials drawn at most.
const MOST: usize = 500;
/// Axes drawn at most.
const MOST_AXES: usize = 14;
/// Values written beside an axis at most.
const MOST_VALUES: usize = 12;
/// The share of the fastest that stands out.
const FASTEST: f64 = 0.1;

impl SearchPicture<'_> {
    /// Lines through all tunables. `order` says which tunables come first.
    pub(crate) fn threads(&self, order: &[String]) -> Option<Canvas> {
        let mut axes: Vec<&TunableColumn> = self.columns.varying().collect();
        let rank = |name: &str| order.iter().position(|own| own == name).unwrap_or(order.len());
        axes.sort_by_key(|column| rank(&column.name));
        let hidden = axes.len().saturating_sub(MOST_AXES);
        axes.truncate(MOST_AXES);
        let shown: Vec<usize> = self
            .places
            .iter()
            .copied()
            .filter(|place| {
                self.time(*place).is_some() || (self.shows_refused && self.trials[*place].state == TrialState::Refused)
            })
            .collect();
        let bottom = HEIGHT - BOTTOM;
        let y = LogAxis::over(shown.iter().filter_map(|place| self.time(*place)), (bottom, TOP))?;
        if axes.is_empty() {
            return None;
        }
        let mut drawn = Drawn::of(self.trials, &shown, MOST);
        let said = drawn.said();
        // The fastest are drawn last, over the others.
        drawn.places.sort_by(|a, b| self.key(*b).total_cmp(&self.key(*a)));
        let width = (2.0 * SIDE + APART * axes.len() as f64).max(super::search::WIDTH);
        let apart = (width - 2.0 * SIDE) / axes.len() as f64;
        let x = |axis: usize| SIDE + apart * axis as f64;
        let places: Vec<Vec<f64>> = axes.iter().map(|column| column.places()).collect();
        let upright = |share: f64| bottom - (bottom - TOP) * share;
        let title = format!("{}: configurations and their times", self.name);
        let more = if hidden > 0 { format!("; {hidden} tunables more are not drawn") } else { String::new() };
        let words = format!(
            "One line for each configuration, {said}{more}; the time is the last axis, on a logarithmic scale."
        );
        let mut canvas = Canvas::new(width, HEIGHT, &title).described(&words);
        let passed = drawn.places.iter().filter(|place| self.time(**place).is_some()).count();
        let first_fast = drawn.places.len() - (FASTEST * passed as f64).ceil() as usize;
        for (rank, place) in drawn.places.iter().enumerate() {
            let trial = &self.trials[*place];
            let on =
                |(axis, column): (usize, &&TunableColumn)| Some((x(axis), upright(places[axis][column.of[*place]?])));
            let mut line: Vec<(f64, f64)> = axes.iter().enumerate().filter_map(on).collect();
            line.extend(self.time(*place).map(|time| (x(axes.len()), y.place(time))));
            let class = match self.time(*place) {
                None => "thread2 refused-line",
                Some(_) if self.is_winner(*place) => "thread3",
                Some(_) if rank >= first_fast => "thread fast",
                Some(_) => "thread",
            };
            canvas.mark(&named(trial), &told(trial), |canvas| canvas.path(class, &line));
        }
        for (axis, column) in axes.iter().enumerate() {
            canvas.line("axis", (x(axis), TOP), (x(axis), bottom));
            canvas.text("small", (x(axis), TOP - 12.0), Anchor::Middle, &clipped(&column.name, apart));
            let step = column.values.len().div_ceil(MOST_VALUES);
            for (at, value) in column.values.iter().enumerate().step_by(step.max(1)) {
                let words = clipped(&value.shown(), apart);
                canvas.text("label", (x(axis) + 5.0, upright(places[axis][at]) + 4.0), Anchor::Start, &words);
            }
        }
        canvas.line("axis", (x(axes.len()), TOP), (x(axes.len()), bottom));
        canvas.text("small", (x(axes.len()), TOP - 12.0), Anchor::Middle, "time");
        for time in y.lines(4) {
            canvas.text("label", (x(axes.len()) - 5.0, y.place(time) + 4.0), Anchor::End, &duration(time));
        }
        canvas.text("small", (16.0, HEIGHT - 14.0), Anchor::Start, &format!("drawn: {said}{more}"));
        Some(canvas)
    }

    /// Time, for an order in which what has none comes first.
    fn key(&self, place: usize) -> f64 {
        self.time(place).unwrap_or(f64::INFINITY)
    }
}

/// Text that fits between two axes, with two letters at least.
pub(super) fn clipped(text: &str, room: f64) -> String {
    const SIZE: f64 = 13.0;
    if width_of(text, SIZE) <= room || text.chars().count() <= 4 {
        return text.into();
    }
    let mut found = String::new();
    for (at, letter) in text.chars().enumerate() {
        let longer = format!("{found}{letter}");
        if at >= 2 && width_of(&longer, SIZE) + width_of("..", SIZE) > room {
            break;
        }
        found = longer;
    }
    found + ".."
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::{is_clean, tried, with};
    use super::*;

    #[test]
    fn text_that_is_too_long_is_cut_where_its_room_ends() {
        assert_eq!((clipped("recompute", 80.0), clipped("poly", 10.0)), ("recompute".into(), "poly".into()));
        let cut = clipped("VEC=16,CHAINS=2,GROUP=4,METHOD=store", 174.0);
        assert!(cut.ends_with("..") && width_of(&cut, 13.0) <= 174.0 && cut.len() > 12, "{cut}");
    }

    #[test]
    fn every_trial_is_a_line_and_what_does_not_differ_is_left_out() {
        let trials = tried();
        let svg = with(&trials, |picture| picture.threads(&["MODE".into()])).unwrap().standalone();
        is_clean(&svg);
        assert_eq!(svg.matches("<polyline").count(), 7);
        assert!(svg.contains(">LANES</text>") && !svg.contains(">X</text>"), "{svg}");
        assert!(svg.find(">MODE</text>") < svg.find(">LANES</text>"));
        assert_eq!(svg.matches("refused-line").count(), 1);
        assert!(with(&trials[..1], |picture| picture.threads(&[])).is_none());
    }
}
