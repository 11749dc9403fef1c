//! Samples of several subjects on one workload, below each other: every sample a dot, the middle half a box, the median a line with its interval. In: samples by
//! name. Out: a picture; none where there are no samples.

use kiln_app::interval_of;

use super::axis::LogAxis;
use super::canvas::{Anchor, Canvas, width_of};
use super::threads::distinct;
use crate::html::kept::evenly;
use crate::words::number::duration;

const WIDTH: f64 = 760.0;
const ROW: f64 = 62.0;
const TOP: f64 = 52.0;
/// Room for names at least, and at most.
const LEFT: (f64, f64) = (190.0, 330.0);
const RIGHT: f64 = 90.0;
/// Dots of a row at most.
const MOST: usize = 300;

/// The picture.
pub(crate) fn samples_picture(title: &str, sides: &[(String, Vec<f64>)]) -> Option<Canvas> {
    let known =
        |samples: &[f64]| samples.iter().copied().filter(|time| time.is_finite() && *time > 0.0).collect::<Vec<f64>>();
    let sides: Vec<(&str, Vec<f64>)> = sides
        .iter()
        .map(|(name, samples)| (name.as_str(), known(samples)))
        .filter(|(_, samples)| samples.len() > 1)
        .collect();
    let widest = sides.iter().map(|(name, _)| width_of(name, 13.0) + 20.0).fold(0.0, f64::max);
    let left = widest.clamp(LEFT.0, LEFT.1);
    let names: Vec<String> = sides.iter().map(|(name, _)| name.to_string()).collect();
    let names = distinct(&names, left - 16.0);
    let x = LogAxis::over(sides.iter().flat_map(|(_, samples)| samples.iter().copied()), (left, WIDTH - RIGHT))?;
    let bottom = TOP + ROW * sides.len() as f64;
    let medians: Vec<String> = sides
        .iter()
        .filter_map(|(name, samples)| {
            Some(format!("{name}: median {}, {} samples", duration(kiln_stats::median(samples).ok()?), samples.len()))
        })
        .collect();
    let mut canvas = Canvas::new(WIDTH, bottom + 44.0, title).described(medians.join("; "));
    for time in x.lines(4) {
        canvas.line("grid", (x.place(time), TOP), (x.place(time), bottom));
        canvas.text("small", (x.place(time), bottom + 18.0), Anchor::Middle, &duration(time));
    }
    for (row, (_, samples)) in sides.iter().enumerate() {
        let (y, part) = (TOP + ROW * (row as f64 + 0.5), |p: f64| kiln_stats::percentile(samples, p).ok());
        canvas.text("name", (left - 10.0, y + 4.0), Anchor::End, &names[row]);
        if let (Some(low), Some(high)) = (part(25.0), part(75.0)) {
            canvas.area("band", (x.place(low), y - 18.0), (x.place(high) - x.place(low)).max(1.0), 36.0);
        }
        for (at, time) in evenly(samples, MOST).into_iter().enumerate() {
            // Spread so that equal times do not hide each other; the same each time it is drawn.
            let off = ((at * 7) % 13) as f64 / 12.0 - 0.5;
            canvas.dot("passed", (x.place(time), y + 26.0 * off), 1.8);
        }
        let Some(middle) = kiln_stats::median(samples).ok() else { continue };
        canvas.line("roof", (x.place(middle), y - 20.0), (x.place(middle), y + 20.0));
        if let Some(interval) = interval_of(samples) {
            canvas.line("whisker", (x.place(interval.low), y - 22.0), (x.place(interval.high), y - 22.0));
        }
        canvas.text("value", (WIDTH - RIGHT + 8.0, y + 4.0), Anchor::Start, &duration(middle));
    }
    canvas.text(
        "small",
        (16.0, bottom + 36.0),
        Anchor::Start,
        "dots: samples; box: the middle half; line: median, above it its 95 % interval",
    );
    Some(canvas)
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::is_clean;
    use super::*;

    #[test]
    fn rivals_that_differ_at_the_end_alone_are_told_apart() {
        let name =
            |stages: u32| format!("BLOCK_M=128,BLOCK_N=256,BLOCK_K=64,SCHEDULE=warp_specialised,STAGES={stages}");
        let sides = [2, 3].map(|stages| (name(stages), vec![1e-3, 1.1e-3, 1.2e-3]));
        let svg = samples_picture("x", &sides).unwrap().standalone();
        assert!(svg.contains("STAGES=2<") && svg.contains("STAGES=3<"), "{svg}");
    }

    #[test]
    fn every_sample_is_a_dot_and_every_side_a_row() {
        let samples: Vec<f64> = (0..40).map(|at| 1e-3 * (1.0 + f64::from(at % 5) / 50.0)).collect();
        let sides =
            [("winner".to_string(), samples.clone()), ("<script>".to_string(), samples), ("none".into(), vec![])];
        let svg = samples_picture("x", &sides).unwrap().standalone();
        is_clean(&svg);
        assert_eq!((svg.matches("<circle").count(), svg.matches("class=\"band\"").count()), (80, 2));
        assert!(samples_picture("x", &[("a".into(), vec![f64::NAN, 1.0])]).is_none());
    }
}
