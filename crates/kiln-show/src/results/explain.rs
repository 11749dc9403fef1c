//! Explanations of names, in words.

use kiln_app::Explained;

use crate::words::table::{Align, lines};

/// Columns of a line.
const WIDTH: usize = 100;

/// One name, in full.
pub fn explanation(one: &Explained) -> String {
    let mut text = String::new();
    let heading = format!("{} ({}): {}\n\n", one.name, one.kind, one.meaning);
    for paragraph in heading.lines().chain(one.text.lines()) {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if line.len() + 1 + word.len() > WIDTH {
                text.push_str(&line);
                text.push('\n');
                line.clear();
                line.push_str(if paragraph.starts_with("- ") { " " } else { "" });
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// All of them, a line each.
pub fn explanations(all: &[Explained]) -> String {
    let row = |one: &Explained| vec![one.name.to_string(), one.kind.to_string(), one.meaning.to_string()];
    let mut rows = vec![["name", "kind", "meaning"].map(String::from).to_vec()];
    rows.extend(all.iter().map(row));
    lines(&rows, &[Align::Left, Align::Left, Align::Left])
}
