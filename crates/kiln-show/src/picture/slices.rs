//! Slices: for each tunable the times by its value, the best of each value joined by a line. Values lie on a logarithmic axis where their range is wide;
//! times always do. What was refused stands below, by its value.

use kiln_store::TrialState;

use super::axis::LogAxis;
use super::canvas::{Anchor, Canvas, width_of};
use super::search::{LINE, SearchPicture, named, told};
use super::threads::distinct;
use crate::html::kept::{Drawn, evenly};
use crate::studies::columns::TunableColumn;
use crate::words::number::duration;

const PANEL: (f64, f64) = (250.0, 220.0);
const TOP: f64 = 44.0;
/// Within a panel: left, right, top, bottom.
const INNER: (f64, f64, f64, f64) = (62.0, 12.0, 26.0, 44.0);
const COLUMNS: usize = 3;
const MOST_PANELS: usize = 9;
/// Trials drawn in each at most.
const MOST: usize = 240;
/// Values written below a panel at most.
const MOST_VALUES: usize = 6;
/// Behind the name of one whose values lie on a logarithmic axis.
const LOG: &str = " (log)";
/// Room for one of them at most: the outer ones reach beyond the panel.
const WIDEST: f64 = 78.0;

impl SearchPicture<'_> {
    /// One panel for each tunable; `order` says which come first.
    pub(crate) fn slices(&self, order: &[String]) -> Option<Canvas> {
        let mut columns: Vec<&TunableColumn> = self.columns.varying().collect();
        let rank = |name: &str| order.iter().position(|own| own == name).unwrap_or(order.len());
        columns.sort_by_key(|column| rank(&column.name));
        let hidden = columns.len().saturating_sub(MOST_PANELS);
        columns.truncate(MOST_PANELS);
        let timed: Vec<usize> = self.places.iter().copied().filter(|place| self.time(*place).is_some()).collect();
        let times = timed.iter().filter_map(|place| self.time(*place)).chain(self.later.map(|later| later.time));
        let y = LogAxis::over(times, (PANEL.1 - INNER.3, INNER.2))?;
        if columns.is_empty() {
            return None;
        }
        let rows = columns.len().div_ceil(COLUMNS);
        let drawn = Drawn::of(self.trials, &timed, MOST);
        let refused = |place: &usize| self.shows_refused && self.trials[*place].state == TrialState::Refused;
        let refused: Vec<usize> = evenly(&self.places.iter().copied().filter(refused).collect::<Vec<_>>(), MOST / 3);
        let more = if hidden > 0 { format!("; {hidden} tunables more are not drawn") } else { String::new() };
        let mut words = format!(
            "Times by the values of each tunable, {}{more}; the line joins the best of each value.",
            drawn.said()
        );
        let later = self.later.map(|later| later.words());
        words.extend(later.iter().flat_map(|later| [" The ", later, "."]));
        let title = format!("{}: times by each tunable", self.name);
        let foot = TOP + rows as f64 * PANEL.1 + 16.0;
        let height = foot + if later.is_some() { 12.0 + LINE } else { 12.0 };
        let mut canvas = Canvas::new(COLUMNS as f64 * PANEL.0 + 16.0, height, &title).described(&words);
        let scale = |column: &TunableColumn| if column.is_logarithmic() { LOG } else { "" };
        let room = PANEL.0 - INNER.0 - INNER.1 - 16.0 - width_of(LOG, 13.0);
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let names = distinct(&names, room);
        for (at, column) in columns.iter().enumerate() {
            let name = format!("{}{}", names[at], scale(column));
            let corner = ((at % COLUMNS) as f64 * PANEL.0, TOP + (at / COLUMNS) as f64 * PANEL.1);
            self.panel(&mut canvas, corner, (column, &name), &y, (&timed, &drawn.places, &refused));
        }
        canvas.text("small", (16.0, foot), Anchor::Start, &format!("drawn: {}{more}", drawn.said()));
        later.iter().for_each(|later| canvas.text("small", (16.0, foot + LINE), Anchor::Start, later));
        Some(canvas)
    }

    fn panel(
        &self,
        canvas: &mut Canvas,
        (left, top): (f64, f64),
        (column, name): (&TunableColumn, &str),
        y: &LogAxis,
        (timed, drawn, refused): (&[usize], &[usize], &[usize]),
    ) {
        let room = PANEL.0 - INNER.0 - INNER.1 - 16.0;
        let (places, bottom) = (column.places(), PANEL.1 - INNER.3);
        let x = |value: usize| left + INNER.0 + 8.0 + room * places[value];
        canvas.text("small", (left + INNER.0 + room / 2.0, top + 14.0), Anchor::Middle, name);
        for time in y.lines(3) {
            canvas.line("grid", (left + INNER.0, top + y.place(time)), (left + PANEL.0 - INNER.1, top + y.place(time)));
            canvas.text("small", (left + INNER.0 - 5.0, top + y.place(time) + 4.0), Anchor::End, &duration(time));
        }
        for (place, value) in refused.iter().filter_map(|place| Some((*place, column.of[*place]?))) {
            let trial = &self.trials[place];
            canvas.mark(&named(trial), &told(trial), |canvas| {
                canvas.area("refused", (x(value) - 1.0, top + bottom + 3.0), 2.0, 7.0);
            });
        }
        for (place, value, time) in
            drawn.iter().filter_map(|place| Some((*place, column.of[*place]?, self.time(*place)?)))
        {
            let (trial, at) = (&self.trials[place], (x(value), top + y.place(time)));
            let (class, radius) = if self.is_winner(place) { ("best", 4.5) } else { ("passed", 2.2) };
            canvas.mark(&named(trial), &told(trial), |canvas| canvas.dot(class, at, radius));
        }
        if let Some((later, value)) = self.later.and_then(|later| Some((later, column.of[later.place]?))) {
            let at = (x(value), top + y.place(later.time));
            let name = named(&self.trials[later.place]);
            canvas.mark(&name, &later.told(self.trials), |canvas| canvas.dot("best", at, 4.5));
        }
        let best = |value: usize| {
            let times =
                timed.iter().filter(|place| column.of[**place] == Some(value)).filter_map(|place| self.time(*place));
            times.min_by(f64::total_cmp)
        };
        let line: Vec<(f64, f64)> =
            (0..column.values.len()).filter_map(|value| Some((x(value), top + y.place(best(value)?)))).collect();
        if line.len() > 1 {
            canvas.path("lead", &line);
        }
        canvas.line("axis", (left + INNER.0, top + bottom), (left + PANEL.0 - INNER.1, top + bottom));
        let step = column.values.len().div_ceil(MOST_VALUES).max(1);
        let written: Vec<usize> = (0..column.values.len()).step_by(step).collect();
        let apart = written.windows(2).map(|two| (x(two[1]) - x(two[0])).abs()).fold(WIDEST, f64::min);
        let values: Vec<String> = column.values.iter().map(|value| value.shown()).collect();
        let words = distinct(&values, apart.max(room / MOST_VALUES as f64));
        for value in written {
            canvas.text("small", (x(value), top + bottom + 26.0), Anchor::Middle, &words[value]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::{is_clean, tried, with};

    #[test]
    fn each_tunable_that_differs_has_a_panel_with_every_trial() {
        let trials = tried();
        let svg = with(&trials, |picture| picture.slices(&[])).unwrap().standalone();
        is_clean(&svg);
        // Six that passed, in two panels; one of each panel is the winner's.
        assert_eq!(svg.matches("<polyline").count(), svg.matches("fill=\"none\" points").count(), "lines are no areas");
        assert_eq!((svg.matches("class=\"passed\"").count(), svg.matches("class=\"best\"").count()), (10, 2));
        assert!(svg.contains("LANES (log)") && !svg.contains(">X<"), "{svg}");
        assert!(with(&trials[6..], |picture| picture.slices(&[])).is_none());
    }
}
