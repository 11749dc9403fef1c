//! A search as pictures. In: the trials of one search, which of them are shown, their columns. Out: how the best improved (here), lines through
//! all tunables (`threads`), times by one tunable each (`slices`), the best by two of them (`pairs`).

use kiln_app::Improvement;
use kiln_store::{Study, Trial, TrialState};

use super::axis::{LogAxis, PlainAxis};
use super::canvas::{Anchor, Canvas};
use crate::html::kept::Drawn;
use crate::studies::columns::Columns;
use crate::words::number::{counted, duration, mean_of};

/// One search.
pub(crate) struct SearchPicture<'a> {
    /// What is searched: the kernel, and the workload where each has its own.
    pub(crate) name: &'a str,
    /// Every trial of the study.
    pub(crate) trials: &'a [Trial],
    /// Those shown: of this search, in the order recorded.
    pub(crate) places: &'a [usize],
    /// Their tunables.
    pub(crate) columns: &'a Columns,
    /// The configuration that won.
    pub(crate) winner: Option<&'a str>,
    /// The winner, where it was found after the search.
    pub(crate) later: Option<FoundLater>,
    /// Those that were the best when they came.
    pub(crate) improvements: &'a [Improvement],
    /// Over how many workloads its times are means.
    pub(crate) over: usize,
    /// Whether what was refused is drawn.
    pub(crate) shows_refused: bool,
}

/// A winner that the search did not try: the ablation found it.
#[derive(Clone, Copy)]
pub(crate) struct FoundLater {
    /// The place of the trial that confirmed it.
    pub(crate) place: usize,
    /// Its confirmed time in seconds.
    pub(crate) time: f64,
}

impl FoundLater {
    /// The winner of a study's search, where that did not try it.
    pub(crate) fn of(study: &Study, trials: &[Trial], workload: Option<&str>) -> Option<FoundLater> {
        let apart = || study.winners().into_iter().find(|(own, _)| workload.is_none_or(|workload| own == workload));
        let winner = study.winner().or_else(|| Some(apart()?.1))?.to_string();
        let own = |trial: &&Trial| trial.phase_id().workload == workload && trial.config == winner;
        if trials.iter().filter(own).any(|trial| trial.phase_id().is_searching()) {
            return None;
        }
        let place = trials.iter().rposition(|trial| own(&trial) && trial.phase_id().name == "confirm")?;
        let rows = study.summary.as_ref()?.read().ok()?.workloads.iter().filter(|row| !row.holdout);
        let own = rows.filter(|row| workload.is_none_or(|workload| row.name == workload));
        let logs: Vec<f64> = own.map(|row| (row.best_ms / 1e3).ln()).collect();
        let time = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        (time.is_finite() && time > 0.0).then_some(FoundLater { place, time })
    }

    /// What its mark says.
    pub(super) fn told(&self, trials: &[Trial]) -> String {
        let (Trial { phase, number, config, .. }, time) = (&trials[self.place], duration(self.time));
        format!("{phase} {number}: the winner, {time} when confirmed; {config}")
    }

    /// Why no trial of the search is marked as the winner.
    pub(super) fn words(&self) -> String {
        format!("winner: found by the ablation, not tried here; {} when confirmed", duration(self.time))
    }
}

pub(super) const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 96.0;
/// From a line of text to the next.
pub(super) const LINE: f64 = 22.0;
/// Lines across.
const LINES: u32 = 4;
/// Trials drawn at most.
const MOST: usize = 1200;

/// A trial in words: which, its time or why it has none, its configuration.
pub(crate) fn told(trial: &Trial) -> String {
    let what = match (&trial.refusal, trial.cost) {
        (Some(refusal), _) => format!("refused by {}", refusal.gate),
        (None, Some(cost)) if trial.state == TrialState::Stopped => format!("{}, stopped early", duration(cost)),
        (None, Some(cost)) => duration(cost),
        (None, None) => trial.state.name().into(),
    };
    format!("{} {}: {what}; {}", trial.phase, trial.number, trial.config)
}

/// A trial as links name it.
pub(crate) fn named(trial: &Trial) -> String {
    format!("{}/{}", trial.phase, trial.number)
}

impl SearchPicture<'_> {
    /// The time of a trial that passed.
    pub(super) fn time(&self, place: usize) -> Option<f64> {
        let trial = &self.trials[place];
        let known = trial.cost.filter(|cost| cost.is_finite() && *cost > 0.0);
        known.filter(|_| trial.state == TrialState::Passed)
    }

    /// Whether a trial is of the configuration that won.
    pub(super) fn is_winner(&self, place: usize) -> bool {
        self.winner.is_some_and(|winner| winner == self.trials[place].config)
    }

    /// How the best improved: every trial in the order tried, the best so far as a line, with the intervals of those that were it.
    pub(crate) fn convergence(&self) -> Option<Canvas> {
        let passed: Vec<usize> = self.places.iter().copied().filter(|place| self.time(*place).is_some()).collect();
        if passed.is_empty() || self.places.len() < 2 {
            return None;
        }
        let own = |one: &&Improvement| self.places.binary_search(&one.place).is_ok();
        let improvements: Vec<&Improvement> = self.improvements.iter().filter(own).collect();
        let ends = improvements.iter().filter_map(|one| one.ci95).flat_map(|interval| [interval.low, interval.high]);
        let times = passed.iter().filter_map(|place| self.time(*place)).chain(ends);
        let times = times.chain(self.later.map(|later| later.time));
        let y = LogAxis::over(times, (HEIGHT - BOTTOM, TOP))?;
        // By what came before among those shown, so that a filter leaves no gaps.
        let order = |place: usize| self.places.binary_search(&place).unwrap_or(0) as f64;
        let x = PlainAxis::new((0.0, (self.places.len() - 1) as f64), (LEFT, WIDTH - RIGHT));
        let best = passed.iter().filter_map(|place| self.time(*place)).fold(f64::INFINITY, f64::min);
        let shown: Vec<usize> = match self.shows_refused {
            true => self.places.to_vec(),
            false => self.places.iter().copied().filter(|place| self.trials[*place].refusal.is_none()).collect(),
        };
        let drawn = Drawn::of(self.trials, &shown, MOST);
        let title = format!("{}: every configuration measured, and the best so far", self.name);
        let mean = mean_of(self.over).map_or(String::new(), |words| format!(", a {words}"));
        let measured = counted(passed.len() as u128, "configuration");
        let words = format!("{measured} measured; best {}{mean}", duration(best));
        let later = self.later.map(|later| format!("{}, at the right end", later.words()));
        let mut told_in_all =
            format!("{words}. Drawn: {} trials. Bars through the line are 95 % intervals.", drawn.said());
        told_in_all.extend(later.iter().flat_map(|later| [" The ", later, "."]));
        let height = if later.is_some() { HEIGHT + LINE } else { HEIGHT };
        let mut canvas = Canvas::new(WIDTH, height, &title).described(&told_in_all);
        for time in y.lines(LINES) {
            canvas.line("grid", (LEFT, y.place(time)), (WIDTH - RIGHT, y.place(time)));
            canvas.text("small", (LEFT - 8.0, y.place(time) + 4.0), Anchor::End, &duration(time));
        }
        for place in &drawn.places {
            let trial = &self.trials[*place];
            let at = x.place(order(*place));
            canvas.mark(&named(trial), &told(trial), |canvas| match (self.time(*place), trial.state) {
                (Some(time), _) if self.is_winner(*place) => canvas.dot("best", (at, y.place(time)), 5.0),
                (Some(time), _) => canvas.dot("passed", (at, y.place(time)), 2.5),
                (None, TrialState::Refused) => canvas.area("refused", (at - 1.0, HEIGHT - BOTTOM + 4.0), 2.0, 8.0),
                (None, _) => canvas.area("stopped", (at - 1.0, TOP - 10.0), 2.0, 6.0),
            });
        }
        let (mut best, mut path): (f64, Vec<(f64, f64)>) = (f64::MAX, Vec::new());
        for (place, time) in passed.iter().filter_map(|place| Some((*place, self.time(*place)?))) {
            if time < best {
                path.extend((best < f64::MAX).then(|| (x.place(order(place)), y.place(best))));
                best = time;
                path.push((x.place(order(place)), y.place(best)));
            }
        }
        path.push((WIDTH - RIGHT, y.place(best)));
        canvas.path("roof", &path);
        if let Some(later) = self.later {
            let at = (WIDTH - RIGHT, y.place(later.time));
            let trial = &self.trials[later.place];
            canvas.mark(&named(trial), &later.told(self.trials), |canvas| canvas.dot("best", at, 5.0));
        }
        for (place, interval) in improvements.iter().filter_map(|one| Some((one.place, one.ci95?))) {
            let at = x.place(order(place));
            canvas.line("whisker", (at, y.place(interval.low)), (at, y.place(interval.high)));
        }
        canvas.text(
            "small",
            (LEFT, HEIGHT - 60.0),
            Anchor::Start,
            "first tried; below the axis: refused; above: stopped early",
        );
        canvas.text("small", (LEFT, HEIGHT - 38.0), Anchor::Start, &words);
        canvas.text("small", (LEFT, HEIGHT - 16.0), Anchor::Start, &format!("drawn: {}", drawn.said()));
        later.iter().for_each(|later| canvas.text("small", (LEFT, HEIGHT - 16.0 + LINE), Anchor::Start, later));
        canvas.line("axis", (LEFT, TOP), (LEFT, HEIGHT - BOTTOM));
        canvas.line("axis", (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM));
        Some(canvas)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::sample::{trial, wrong};

    /// A search over two tunables, with what was refused.
    pub(in crate::picture) fn tried() -> Vec<Trial> {
        let mut trials = Vec::new();
        for (at, (lanes, mode)) in
            [(1, "a"), (8, "a"), (64, "a"), (1, "b"), (8, "b"), (64, "b")].into_iter().enumerate()
        {
            let time = 1e-3 * (4.0 + (lanes as f64).ln() - if mode == "b" { 2.0 } else { 0.0 });
            trials.push(trial("search", at as u64, &format!("LANES={lanes},MODE={mode},X=1"), time));
        }
        trials.push(wrong("search", 6, "LANES=2,MODE=<script>alert(1)</script>,X=1"));
        trials
    }

    pub(in crate::picture) fn with<T>(trials: &[Trial], draw: impl FnOnce(&SearchPicture<'_>) -> T) -> T {
        let (columns, places) = (Columns::of(trials), (0..trials.len()).collect::<Vec<_>>());
        let improvements = [Improvement { place: 0, ci95: Some(kiln_stats::Interval { low: 3.9e-3, high: 4.2e-3 }) }];
        draw(&SearchPicture {
            name: "a <b>",
            trials,
            places: &places,
            columns: &columns,
            winner: Some("LANES=1,MODE=b,X=1"),
            later: None,
            improvements: &improvements,
            over: 1,
            shows_refused: true,
        })
    }

    /// What every picture keeps to: no number that is none, no markup from a name.
    pub(in crate::picture) fn is_clean(svg: &str) {
        assert!(!svg.contains("NaN") && !svg.contains("\"inf") && !svg.contains("<script"), "{svg}");
    }

    #[test]
    fn every_trial_is_a_mark_and_the_best_so_far_a_line() {
        let trials = tried();
        let svg = with(&trials, |picture| picture.convergence()).unwrap().standalone();
        is_clean(&svg);
        assert_eq!((svg.matches("data-trial=").count(), svg.matches("<polyline").count()), (7, 1));
        assert!(svg.contains("<polyline class=\"roof\" fill=\"none\""), "{svg}");
        assert_eq!((svg.matches("class=\"passed\"").count(), svg.matches("class=\"best\"").count()), (5, 1));
        assert_eq!((svg.matches("class=\"refused\"").count(), svg.matches("class=\"whisker\"").count()), (1, 1));
        assert!(svg.contains("6 configurations measured; best 2.00 ms") && svg.contains("a &lt;b&gt;"), "{svg}");
        assert!(with(&trials[..1], |picture| picture.convergence()).is_none());
        let mean = with(&trials, |picture| SearchPicture { over: 2, ..*picture }.convergence()).unwrap().standalone();
        assert!(mean.contains("best 2.00 ms, a geometric mean over 2 workloads"), "{mean}");
        let same = [trial("search", 0, "A=1", 1.0), trial("search", 1, "A=1", 1.0)];
        is_clean(&with(&same, |picture| picture.convergence()).unwrap().standalone());
    }

    #[test]
    fn a_winner_that_was_not_tried_stands_at_the_end() {
        let mut trials = tried();
        trials.push(trial("confirm", 1, "LANES=4,MODE=b,X=1", 0.0));
        let later = Some(FoundLater { place: 7, time: 1.5e-3 });
        let (winner, places) = (Some("LANES=4,MODE=b,X=1"), &[0, 1, 2, 3, 4, 5, 6][..]);
        let drawn = |draw: fn(&SearchPicture<'_>) -> Option<Canvas>| {
            with(&trials, |picture| draw(&SearchPicture { later, winner, places, ..*picture })).unwrap().standalone()
        };
        for (svg, marks) in [(drawn(|own| own.slices(&[])), 2), (drawn(|own| own.threads(&[])), 1)] {
            is_clean(&svg);
            assert_eq!(svg.matches("data-trial=\"confirm/1\"").count(), marks, "{svg}");
            assert_eq!(
                svg.matches("class=\"best\"").count() + svg.matches("class=\"thread3\"").count(),
                marks,
                "{svg}"
            );
            assert!(svg.contains(">winner: found by the ablation, not tried here; 1.50 ms when confirmed<"), "{svg}");
        }
        let svg = drawn(|own| own.convergence());
        is_clean(&svg);
        assert!(svg.contains("data-trial=\"confirm/1\"") && svg.matches("class=\"best\"").count() == 1, "{svg}");
        assert!(svg.contains(">winner: found by the ablation, not tried here; 1.50 ms when confirmed"), "{svg}");
        assert!(svg.contains("height=\"442\""), "{svg}");
        let one = with(&trials, |picture| SearchPicture { places: &[0, 6], ..*picture }.convergence());
        assert!(one.unwrap().standalone().contains(">1 configuration measured;"));
    }

    #[test]
    fn many_trials_make_a_small_picture() {
        let trials: Vec<Trial> = (0..20_000).map(|at| trial("search", at, "A=1", 1.0 + (at % 97) as f64)).collect();
        let svg = with(&trials, |picture| picture.convergence()).unwrap().standalone();
        assert!(svg.len() < 300_000 && svg.contains("1,200 of 20,000"), "{}", svg.len());
    }
}
