//! The history of a kernel's times: every run with its interval, and where the level changed. In: a series. Out: a picture; none of fewer than two runs.

use kiln_app::{Series, SeriesPoint};

use super::axis::{LogAxis, PlainAxis};
use super::canvas::{Anchor, Canvas};
use crate::html::kept::evenly;
use crate::words::number::duration;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 70.0;
const BOTTOM: f64 = 52.0;
/// Runs drawn at most.
const MOST: usize = 600;

/// The picture.
pub(crate) fn levels_picture(kernel: &str, series: &Series) -> Option<Canvas> {
    let points = &series.points;
    if points.len() < 2 {
        return None;
    }
    let ends = points.iter().filter_map(|point| point.median_ci95).flat_map(|interval| [interval.low, interval.high]);
    let y = LogAxis::over(points.iter().map(|point| point.median_s).chain(ends), (HEIGHT - BOTTOM, TOP))?;
    let x = PlainAxis::new((0.0, (points.len() - 1) as f64), (LEFT, WIDTH - RIGHT));
    let title = format!("{kernel}, {}: times over commits", series.key.workload);
    let words = format!("{} runs, {} changes of level, on {}", points.len(), series.changes.len(), series.key.device);
    let mut canvas = Canvas::new(WIDTH, HEIGHT, &title).described(words);
    for time in y.lines(4) {
        canvas.line("grid", (LEFT, y.place(time)), (WIDTH - RIGHT, y.place(time)));
        canvas.text("small", (LEFT - 8.0, y.place(time) + 4.0), Anchor::End, &duration(time));
    }
    let runs: Vec<(usize, &SeriesPoint)> = points.iter().enumerate().collect();
    for (at, point) in evenly(&runs, MOST) {
        let here = x.place(at as f64);
        if let Some(interval) = point.median_ci95 {
            canvas.line("whisker", (here, y.place(interval.low)), (here, y.place(interval.high)));
        }
        let commit = point.commit.as_ref().map_or("no commit", |commit| commit.get(..12).unwrap_or(commit));
        let told = format!("{}: {commit}; {}", duration(point.median_s), point.config);
        canvas.mark(&point.run, &told, |canvas| canvas.dot("passed", (here, y.place(point.median_s)), 3.0));
    }
    for (at, change) in series.changes.iter().enumerate() {
        let here = x.place(change.change.index as f64 - 0.5);
        canvas.line("lead", (here, TOP - 8.0), (here, HEIGHT - BOTTOM));
        let last = points.len() as f64;
        let from = x.place(change.change.index as f64);
        let to = x.place(series.changes.get(at + 1).map_or(last, |next| next.change.index as f64) - 1.0);
        canvas.line("roof", (from, y.place(change.change.after)), (to.max(from + 2.0), y.place(change.change.after)));
        let commit =
            change.to_commit.as_ref().map_or(String::new(), |commit| format!(" {}", commit.get(..8).unwrap_or(commit)));
        let height = TOP - 12.0 - 14.0 * (at % 2) as f64;
        canvas.text("small", (here, height), Anchor::Middle, &format!("{:.2}x{commit}", change.change.ratio));
    }
    canvas.line("axis", (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM));
    canvas.text(
        "small",
        (LEFT, HEIGHT - 16.0),
        Anchor::Start,
        "oldest commit first; dashed: the level changed, time after over before",
    );
    Some(canvas)
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::is_clean;
    use super::*;
    use kiln_app::SeriesKey;

    #[test]
    fn every_run_is_a_point() {
        let text = |text: &str| text.to_string();
        let key = SeriesKey {
            workload: text("<script>"),
            target: text("cpu"),
            variant: String::new(),
            device: text("d"),
            host: String::new(),
            cache: text("warm"),
            threads: 1,
            config: text("A=1"),
        };
        let point = |at: i64| SeriesPoint {
            run: format!("r{at}"),
            started_ms: at,
            commit: Some(text("é")),
            dirty: false,
            config: text("A=1"),
            median_s: 1e-3 * at as f64,
            median_ci95: None,
            environment: Default::default(),
        };
        let series =
            |count: i64| Series { key: key.clone(), points: (1..=count).map(point).collect(), changes: Vec::new() };
        let svg = levels_picture("k", &series(5)).unwrap().standalone();
        is_clean(&svg);
        assert_eq!(svg.matches("<circle").count(), 5);
        assert!(levels_picture("k", &series(1)).is_none());
    }
}
