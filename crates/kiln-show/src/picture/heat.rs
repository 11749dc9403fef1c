//! A map of speedups as a picture: one for each baseline, the maps of other axes below each other. Wins are blue, losses orange,
//! what is not decided grey; the figure, its interval and its mark stand in every cell, so that nothing depends on colour.

use kiln_app::SweepStory;

use super::canvas::{Anchor, Canvas};
use crate::results::sweep::{Map, Mark, Shown, figure, maps};

const WIDTH: f64 = 96.0;
const HEIGHT: f64 = 44.0;
const TOP: f64 = 48.0;
/// Between two maps, with the title of the second.
const GAP: f64 = 64.0;
/// A letter of the labels is about this wide.
const LETTER: f64 = 7.6;
/// The speedup, or slowdown, from which colours get no stronger.
const STRONGEST: f64 = 4.0;

/// The pictures of a sweep.
pub struct SweepPictures<'a> {
    /// What it says.
    pub story: &'a SweepStory,
    /// The kernel's name.
    pub kernel: &'a str,
}

impl SweepPictures<'_> {
    /// A file for each baseline, by name.
    pub fn files(&self) -> Vec<(String, String)> {
        self.canvases().into_iter().map(|(name, canvas)| (name, canvas.standalone())).collect()
    }

    /// A picture for each baseline, by the name of its file.
    pub(crate) fn canvases(&self) -> Vec<(String, Canvas)> {
        let maps = maps(&self.story.record);
        let of = |baseline: &String| {
            let own: Vec<&Map<'_>> = maps.iter().filter(|map| map.baseline == baseline).collect();
            (format!("sweep-{}.svg", safe(baseline)), self.picture(baseline, &own))
        };
        self.story.record.sweep.baselines.iter().map(of).collect()
    }

    fn picture(&self, baseline: &str, maps: &[&Map<'_>]) -> Canvas {
        let title = format!("{}: speedup over {baseline}", self.kernel);
        let longest = maps.iter().flat_map(|map| map.rows.iter().map(|(row, _)| row)).map(|row| row.chars().count());
        let corner = maps.iter().map(|map| map.corner.chars().count());
        let left = 24.0 + LETTER * longest.chain(corner).max().unwrap_or(0) as f64;
        let columns = maps.iter().map(|map| map.columns.len()).max().unwrap_or(0) as f64;
        let height = |map: &Map<'_>| GAP + HEIGHT * map.rows.len() as f64;
        let width = left + WIDTH * columns + 24.0;
        let bottom = TOP + maps.iter().map(|map| height(map)).sum::<f64>();
        let mut canvas = Canvas::new(width, bottom + 30.0, &title);
        let mut top = TOP;
        for map in maps {
            draw(&mut canvas, map, (left, top));
            top += height(map);
        }
        let words = "+ faster   - slower   = same   ? too noisy   (95 % intervals in brackets)";
        canvas.text("small", (16.0, bottom + 14.0), Anchor::Start, words);
        canvas
    }
}

fn draw(canvas: &mut Canvas, map: &Map<'_>, (left, top): (f64, f64)) {
    canvas.text("name", (16.0, top + 14.0), Anchor::Start, &map.slice);
    let titles = top + 40.0;
    canvas.text("small", (left - 8.0, titles), Anchor::End, &map.corner);
    for (place, column) in map.columns.iter().enumerate() {
        canvas.text("small", (left + WIDTH * (place as f64 + 0.5), titles), Anchor::Middle, column);
    }
    for (row, (title, cells)) in map.rows.iter().enumerate() {
        let y = titles + 8.0 + HEIGHT * row as f64;
        canvas.text("name", (left - 8.0, y + HEIGHT / 2.0 + 4.0), Anchor::End, title);
        for (column, cell) in cells.iter().enumerate() {
            let x = left + WIDTH * column as f64;
            let middle = x + WIDTH / 2.0;
            canvas.filled((x + 1.0, y + 1.0), WIDTH - 2.0, HEIGHT - 2.0, &fill(cell));
            match cell {
                Shown::Figure { speedup, interval, mark } => {
                    let words = format!("{} {}", figure(*speedup), mark.sign());
                    canvas.text("on", (middle, y + 19.0), Anchor::Middle, &words);
                    let number = |value: f64| figure(value).trim_end_matches('x').to_string();
                    let words = format!("[{}, {}]", number(interval.low), number(interval.high));
                    canvas.text("on", (middle, y + 35.0), Anchor::Middle, &words);
                }
                Shown::Word(word) => canvas.text("on", (middle, y + 27.0), Anchor::Middle, word),
                Shown::Nothing => {}
            }
        }
    }
}

/// The colour of a cell: from near white to strong by how far the speedup is from 1.
fn fill(cell: &Shown) -> String {
    let mixed = |from: [f64; 3], to: [f64; 3], share: f64| {
        let parts: Vec<String> =
            from.iter().zip(to).map(|(a, b)| format!("{:02x}", (a + share * (b - a)).round() as u8)).collect();
        format!("#{}", parts.concat())
    };
    match cell {
        Shown::Figure { speedup, mark, .. } => {
            let share = (speedup.ln().abs() / STRONGEST.ln()).clamp(0.0, 1.0);
            match mark {
                Mark::Faster => mixed([222.0, 235.0, 247.0], [86.0, 160.0, 220.0], share),
                Mark::Slower => mixed([253.0, 230.0, 206.0], [240.0, 130.0, 50.0], share),
                Mark::Same | Mark::TooNoisy => "#e6e6e6".into(),
            }
        }
        Shown::Word(_) => "#cfcfcf".into(),
        Shown::Nothing => "none".into(),
    }
}

/// A name that any file system takes.
fn safe(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}
