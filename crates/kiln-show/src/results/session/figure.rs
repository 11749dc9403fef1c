//! Sessions beside each other: attempts up to the best result, as bars of text and as an SVG.

use kiln_app::SessionRow;

use super::words::{factor, graded, short};
use crate::picture::canvas::{Anchor, Canvas};
use crate::words::number::counted;

const ROW: f64 = 28.0;
const TOP: f64 = 52.0;
const LEFT: f64 = 120.0;
const PLOT: f64 = 360.0;
/// Letters of the longest bar in a terminal.
const WIDTH: f64 = 32.0;

/// What a bar says behind it.
fn said(row: &SessionRow) -> String {
    let (minutes, grade) = (row.elapsed_s / 60.0, graded(&row.grade));
    match row.attempts_to_best {
        Some(count) => {
            let (attempts, best) =
                (counted(count as u128, "attempt"), row.speedup.map_or("nothing measured".into(), factor));
            format!("{attempts}, {minutes:.0} min, {best}, {grade}")
        }
        None => {
            let attempts = counted(row.attempts as u128, "attempt");
            format!("nothing measured in {attempts}, {minutes:.0} min, {grade}")
        }
    }
}

/// The share of the longest bar that a session's has; none where there is no result to count up to.
fn share(row: &SessionRow, most: f64) -> Option<f64> {
    Some(row.attempts_to_best? as f64 / most)
}

fn most(rows: &[SessionRow]) -> f64 {
    rows.iter().filter_map(|row| row.attempts_to_best).max().unwrap_or(0).max(1) as f64
}

/// Bars of text; nothing for one session alone.
pub(super) fn text(rows: &[SessionRow]) -> String {
    if rows.len() < 2 {
        return String::new();
    }
    let most = most(rows);
    let line = |row: &SessionRow| {
        let full = share(row, most).map_or(0, |share| ((WIDTH * share).round() as usize).max(1));
        format!("  {}  {:<width$}  {}\n", short(&row.session), "#".repeat(full), said(row), width = WIDTH as usize)
    };
    let lines: String = rows.iter().map(line).collect();
    format!("\nattempts up to the best result\n{lines}")
}

/// The same as a picture.
pub(crate) fn picture(rows: &[SessionRow]) -> Canvas {
    let (most, bottom) = (most(rows), TOP + ROW * rows.len() as f64);
    let mut canvas = Canvas::new(LEFT + PLOT + 330.0, bottom + 40.0, "Sessions: attempts up to the best result");
    for (at, row) in rows.iter().enumerate() {
        let (y, long) = (TOP + ROW * at as f64, share(row, most).map(|share| PLOT * share));
        canvas.text("name", (LEFT - 8.0, y + 18.0), Anchor::End, short(&row.session));
        long.iter().for_each(|long| canvas.bar((LEFT, y + 4.0), *long, ROW - 10.0));
        canvas.text("small", (LEFT + long.unwrap_or(0.0) + 6.0, y + 18.0), Anchor::Start, &said(row));
    }
    canvas.line("axis", (LEFT, TOP), (LEFT, bottom));
    canvas.text("small", (LEFT, bottom + 20.0), Anchor::Start, "oldest first; shorter is better");
    canvas
}
