//! Aligned columns.

/// How a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Text in at most so many letters: what is cut ends with an ellipsis.
pub(crate) fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.into();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Rows of cells as lines, two blanks between columns, each line indented by two and without trailing blanks.
pub(crate) fn lines(rows: &[Vec<String>], aligns: &[Align]) -> String {
    let width = |i: usize| rows.iter().filter_map(|r| r.get(i)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..aligns.len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::from("  ");
        for ((cell, width), align) in row.iter().zip(&widths).zip(aligns) {
            let blanks = " ".repeat(width - cell.chars().count());
            match align {
                Align::Left => line.extend([cell, blanks.as_str(), "  "]),
                Align::Right => line.extend([blanks.as_str(), cell, "  "]),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
