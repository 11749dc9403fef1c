//! Shares as bars, one below the other, each with its name and its figure.

use super::canvas::{Anchor, Canvas};

/// A chart of bars.
pub(crate) struct Bars {
    /// Above the file's chart.
    pub(crate) title: String,
    /// Above the terminal's.
    pub(crate) heading: &'static str,
    /// Below the file's chart.
    pub(crate) axis: &'static str,
    /// Names with shares from 0 to 1.
    pub(crate) rows: Vec<(String, f64)>,
}

const ROW: f64 = 26.0;
const TOP: f64 = 48.0;
const PLOT: f64 = 420.0;
/// A letter of the labels is about this wide.
const LETTER: f64 = 7.2;

impl Bars {
    pub(crate) fn canvas(&self) -> Canvas {
        let longest = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let left = 28.0 + LETTER * longest as f64;
        let width = left + PLOT + 70.0;
        let bottom = TOP + ROW * self.rows.len() as f64;
        let said: Vec<String> = self.rows.iter().map(|(name, share)| format!("{name} {}", percent(*share))).collect();
        let mut canvas = Canvas::new(width, bottom + 46.0, &self.title).described(said.join(", "));
        for quarter in 0..=4 {
            let x = left + PLOT * f64::from(quarter) / 4.0;
            canvas.line("grid", (x, TOP), (x, bottom));
            canvas.text("small", (x, bottom + 16.0), Anchor::Middle, &format!("{} %", 25 * quarter));
        }
        for (index, (name, share)) in self.rows.iter().enumerate() {
            let (y, length) = (TOP + ROW * index as f64, PLOT * share.clamp(0.0, 1.0));
            canvas.text("name", (left - 8.0, y + 18.0), Anchor::End, name);
            canvas.bar((left, y + 5.0), length, ROW - 10.0);
            canvas.text("value", (left + length + 6.0, y + 18.0), Anchor::Start, &percent(*share));
        }
        canvas.line("axis", (left, TOP), (left, bottom));
        canvas.text("small", (left + PLOT / 2.0, bottom + 36.0), Anchor::Middle, self.axis);
        canvas
    }

    /// The largest, at most so many.
    pub(crate) fn text(&self, most: usize) -> String {
        let heading = if self.rows.is_empty() { String::new() } else { format!("{}\n", self.heading) };
        let row = |(name, share): &&(String, f64)| format!("  {name:20} {} {:>5}\n", bar(*share), percent(*share));
        let mut rows: Vec<&(String, f64)> = self.rows.iter().collect();
        rows.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        heading + &rows.iter().take(most).map(row).collect::<String>()
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A share as a bar of text.
pub(crate) fn bar(share: f64) -> String {
    let full = (20.0 * share.clamp(0.0, 1.0)).round() as usize;
    format!("{}{}", "#".repeat(full), ".".repeat(20 - full))
}
