//! Parallel coordinates: one upright axis for each tunable in which trials differ, the time last, one line for each trial. The fastest lie on top; tunables
//! in which nothing differs are left out.

use std::collections::BTreeSet;

use kiln_store::TrialState;

use super::axis::LogAxis;
use super::canvas::{Anchor, Canvas, width_of};
use super::search::{LINE, SearchPicture, named, told};
use crate::html::kept::Drawn;
use crate::studies::columns::TunableColumn;
use crate::words::number::duration;

const TOP: f64 = 76.0;
const HEIGHT: f64 = 420.0;
const BOTTOM: f64 = 44.0;
const SIDE: f64 = 60.0;
/// Right of the last axis, where its times stand.
const TIMES: f64 = 76.0;
/// Between two axes at least, and at most.
const APART: (f64, f64) = (96.0, 132.0);
/// From a label to the next axis.
const GAP: f64 = 12.0;
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
        let times = shown.iter().filter_map(|place| self.time(*place)).chain(self.later.map(|later| later.time));
        let y = LogAxis::over(times, (bottom, TOP))?;
        if axes.is_empty() {
            return None;
        }
        let mut drawn = Drawn::of(self.trials, &shown, MOST);
        let said = drawn.said();
        // The fastest are drawn last, over the others.
        drawn.places.sort_by(|a, b| self.key(*b).total_cmp(&self.key(*a)));
        let labels =
            axes.iter().flat_map(|axis| axis.values.iter().map(|value| value.shown()).chain([axis.name.clone()]));
        let widest = labels.map(|text| width_of(&text, SIZE) + GAP).fold(0.0, f64::max);
        let width = SIDE + TIMES + widest.clamp(APART.0, APART.1) * axes.len() as f64;
        let width = width.max(super::search::WIDTH);
        let apart = (width - SIDE - TIMES) / axes.len() as f64;
        let x = |axis: usize| SIDE + apart * axis as f64;
        let places: Vec<Vec<f64>> = axes.iter().map(|column| column.places()).collect();
        let upright = |share: f64| bottom - (bottom - TOP) * share;
        let title = format!("{}: configurations and their times", self.name);
        let more = if hidden > 0 { format!("; {hidden} tunables more are not drawn") } else { String::new() };
        let mut words = format!(
            "One line for each configuration, {said}{more}; the time is the last axis, on a logarithmic scale."
        );
        let later = self.later.map(|later| later.words());
        words.extend(later.iter().flat_map(|later| [" The ", later, "."]));
        let height = if later.is_some() { HEIGHT + LINE } else { HEIGHT };
        let mut canvas = Canvas::new(width, height, &title).described(&words);
        let passed = drawn.places.iter().filter(|place| self.time(**place).is_some()).count();
        let first_fast = drawn.places.len() - (FASTEST * passed as f64).ceil() as usize;
        let line_of = |place: usize, time: Option<f64>| {
            let on =
                |(axis, column): (usize, &&TunableColumn)| Some((x(axis), upright(places[axis][column.of[place]?])));
            let line = axes.iter().enumerate().filter_map(on);
            line.chain(time.map(|time| (x(axes.len()), y.place(time)))).collect::<Vec<(f64, f64)>>()
        };
        for (rank, place) in drawn.places.iter().enumerate() {
            let trial = &self.trials[*place];
            let line = line_of(*place, self.time(*place));
            let class = match self.time(*place) {
                None => "thread2 refused-line",
                Some(_) if self.is_winner(*place) => "thread3",
                Some(_) if rank >= first_fast => "thread fast",
                Some(_) => "thread",
            };
            canvas.mark(&named(trial), &told(trial), |canvas| canvas.path(class, &line));
        }
        if let Some(later) = self.later {
            let (name, line) = (named(&self.trials[later.place]), line_of(later.place, Some(later.time)));
            canvas.mark(&name, &later.told(self.trials), |canvas| canvas.path("thread3", &line));
        }
        let names: Vec<String> = axes.iter().map(|column| column.name.clone()).collect();
        let names = distinct(&names, apart - GAP);
        for (axis, column) in axes.iter().enumerate() {
            canvas.line("axis", (x(axis), TOP), (x(axis), bottom));
            canvas.text("small", (x(axis), TOP - 12.0), Anchor::Middle, &names[axis]);
            let step = column.values.len().div_ceil(MOST_VALUES);
            let values: Vec<String> = column.values.iter().map(|value| value.shown()).collect();
            for (at, words) in distinct(&values, apart - GAP).iter().enumerate().step_by(step.max(1)) {
                canvas.text("label", (x(axis) + 5.0, upright(places[axis][at]) + 4.0), Anchor::Start, words);
            }
        }
        canvas.line("axis", (x(axes.len()), TOP), (x(axes.len()), bottom));
        canvas.text("small", (x(axes.len()), TOP - 12.0), Anchor::Middle, "time");
        for time in y.lines(4) {
            // On the right, where no value of another axis stands.
            canvas.text("label", (x(axes.len()) + 5.0, y.place(time) + 4.0), Anchor::Start, &duration(time));
        }
        canvas.text("small", (16.0, HEIGHT - 14.0), Anchor::Start, &format!("drawn: {said}{more}"));
        later.iter().for_each(|later| canvas.text("small", (16.0, HEIGHT - 14.0 + LINE), Anchor::Start, later));
        Some(canvas)
    }

    /// Time, for an order in which what has none comes first.
    fn key(&self, place: usize) -> f64 {
        self.time(place).unwrap_or(f64::INFINITY)
    }
}

/// The size of labels.
const SIZE: f64 = 13.0;

/// Texts that stand beside each other, as long as there is room for each, and each still told from the others: cut at the end, else in the middle, else at
/// the front; numbered where nothing else helps.
pub(super) fn distinct(texts: &[String], room: f64) -> Vec<String> {
    let different = |all: &[String]| all.iter().collect::<BTreeSet<_>>().len();
    let backwards = |text: &str| text.chars().rev().collect::<String>();
    let at_the_front = |text: &String| backwards(&clipped(&backwards(text), room));
    let within = |text: &String| {
        let fits = width_of(text, SIZE) <= room || text.chars().count() <= 4;
        let half = (room - width_of("..", SIZE)) / 2.0;
        let part = |text: &str| clipped(text, half + width_of("..", SIZE)).trim_end_matches("..").to_string();
        if fits { text.clone() } else { format!("{}..{}", part(text), backwards(&part(&backwards(text)))) }
    };
    let ways: [&dyn Fn(&String) -> String; 3] = [&|text| clipped(text, room), &within, &at_the_front];
    let cut = ways.iter().map(|way| texts.iter().map(way).collect::<Vec<String>>());
    let told_apart = cut.into_iter().find(|all| different(all) == different(texts));
    let numbered = |(at, text): (usize, &String)| {
        let number = format!("{}. ", at + 1);
        format!("{number}{}", clipped(text, room - width_of(&number, SIZE)))
    };
    told_apart.unwrap_or_else(|| texts.iter().enumerate().map(numbered).collect())
}

/// Text that fits between two axes, with two letters at least.
pub(super) fn clipped(text: &str, room: f64) -> String {
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
    fn labels_that_are_cut_are_still_told_apart() {
        let of = |all: &[&str], room: f64| distinct(&all.iter().map(|text| text.to_string()).collect::<Vec<_>>(), room);
        assert_eq!(of(&["LANES", "MODE"], 80.0), ["LANES", "MODE"]);
        let names = of(&["SHARED_MEMORY_STAGES_A", "SHARED_MEMORY_STAGES_B"], 96.0);
        assert!(names[0].ends_with("_A") && names[1].ends_with("_B") && names[0].starts_with("SH"), "{names:?}");
        assert!(names.iter().all(|name| width_of(name, SIZE) <= 96.0), "{names:?}");
        let values = of(&["aaaaaaaaaaaaaaaaaa1bbbbbbbbbbbbbbbbbb", "aaaaaaaaaaaaaaaaaa2bbbbbbbbbbbbbbbbbb"], 60.0);
        assert!(values[0].starts_with("1. ") && values[1].starts_with("2. "), "{values:?}");
        // The same text is the same label.
        assert_eq!(of(&["a_long_name_of_all", "a_long_name_of_all"], 60.0)[0], clipped("a_long_name_of_all", 60.0));
    }

    #[test]
    fn values_of_the_last_axis_stand_clear_of_the_times() {
        let config = |at: u64| format!("A={at},SCHEDULE=warp_specialised_{at}");
        let trials: Vec<_> =
            (0..4).map(|at| crate::sample::trial("search", at, &config(at), 1e-3 * (1 + at) as f64)).collect();
        let svg = with(&trials, |picture| picture.threads(&["A".into()])).unwrap().standalone();
        is_clean(&svg);
        let places = |anchor: &str, wanted: &dyn Fn(&str) -> bool| -> Vec<f64> {
            let found = svg.lines().filter(|line| line.starts_with("<text class=\"label\"") && line.contains(anchor));
            let found = found.filter(|line| wanted(line));
            found.filter_map(|line| line.split("x=\"").nth(1)?.split('"').next()?.parse().ok()).collect()
        };
        let times = places("start", &|line| [" ms<", " us<"].iter().any(|unit| line.contains(unit)));
        let values = places("start", &|line| line.contains("warp"));
        assert_eq!((times.len(), values.len()), (5, 4), "{svg}");
        let axis = times[0] - 5.0;
        let longest = svg.lines().filter(|line| line.contains("label") && line.contains("warp"));
        let text = |line: &str| line.rsplit_once("</text>").unwrap().0.rsplit_once('>').unwrap().1.to_string();
        let longest = longest.map(|line| width_of(&text(line), SIZE)).fold(0.0, f64::max);
        assert!(values[0] + longest <= axis, "{svg}");
        assert!(places("end", &|_| true).is_empty(), "{svg}");
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
