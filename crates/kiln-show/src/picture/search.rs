//! A search as a picture: every measured configuration in the order tried, and the best so far. Times go up a logarithmic axis.

use super::canvas::{Anchor, Canvas};
use crate::words::number::duration;

/// One search.
pub(crate) struct SearchPicture<'a> {
    /// Above it.
    pub(crate) title: &'a str,
    /// Seconds, in the order measured.
    pub(crate) times: &'a [f64],
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 52.0;
/// Lines across.
const LINES: u32 = 4;

impl SearchPicture<'_> {
    /// The file; none where fewer than two were measured.
    pub(crate) fn svg(&self) -> Option<String> {
        let times: Vec<f64> = self.times.iter().copied().filter(|time| *time > 0.0 && time.is_finite()).collect();
        if times.len() < 2 {
            return None;
        }
        let (low, high) = times.iter().fold((f64::MAX, 0.0f64), |(low, high), time| (low.min(*time), high.max(*time)));
        let (bottom, top) = ((low / 1.05).ln(), (high * 1.05).ln());
        let x = |place: usize| LEFT + (WIDTH - LEFT - RIGHT) * place as f64 / (times.len() - 1) as f64;
        let y = |time: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (time.ln() - bottom) / (top - bottom);
        let mut canvas = Canvas::new(WIDTH, HEIGHT, self.title);
        for line in 0..=LINES {
            let time = (bottom + (top - bottom) * f64::from(line) / f64::from(LINES)).exp();
            canvas.line("grid", (LEFT, y(time)), (WIDTH - RIGHT, y(time)));
            canvas.text("small", (LEFT - 8.0, y(time) + 4.0), Anchor::End, &duration(time));
        }
        let mut best = f64::MAX;
        let mut path: Vec<(f64, f64)> = Vec::new();
        for (place, time) in times.iter().enumerate() {
            canvas.filled((x(place) - 2.0, y(*time) - 2.0), 4.0, 4.0, "#888888");
            if *time < best {
                if best < f64::MAX {
                    path.push((x(place), y(best)));
                }
                best = *time;
                path.push((x(place), y(best)));
            }
        }
        path.push((x(times.len() - 1), y(best)));
        canvas.path("roof", &path);
        canvas.text("small", (LEFT, HEIGHT - 16.0), Anchor::Start, "first measured");
        let words = format!("{} configurations measured; best {}", times.len(), duration(best));
        canvas.text("small", (WIDTH - RIGHT, HEIGHT - 16.0), Anchor::End, &words);
        canvas.line("axis", (LEFT, TOP), (LEFT, HEIGHT - BOTTOM));
        canvas.line("axis", (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM));
        Some(canvas.done())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_a_mark_and_the_best_so_far_a_line() {
        let svg = SearchPicture { title: "a <b>", times: &[3e-3, 2e-3, 4e-3, 1e-3] }.svg().unwrap();
        assert_eq!((svg.matches("fill=\"#888888\"").count(), svg.matches("<polyline").count()), (4, 1));
        assert!(svg.contains("4 configurations measured; best 1.00 ms") && svg.contains("a &lt;b&gt;"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(SearchPicture { title: "", times: &[1.0, f64::NAN] }.svg(), None);
        assert!(!SearchPicture { title: "", times: &[1.0, 1.0] }.svg().unwrap().contains("NaN"));
    }
}
