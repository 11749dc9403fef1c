//! Tables. In: a caption, columns, rows of cells. Out: HTML in which a screen reader finds title, column and row of every cell, and figures
//! stand as they were computed beside how they are shown; or Markdown.

use std::fmt::Write;

use super::markup::escaped;
use crate::words::visible::visible;

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows. The first cell of a row is its title.
    pub rows: Vec<Row>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Column {
    /// Its title.
    pub title: String,
    /// Whether figures stand in it.
    pub is_number: bool,
    /// The address that sorts by it.
    pub link: Option<String>,
    /// `ascending` or `descending`, where rows are in its order.
    pub sorted: Option<&'static str>,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// Where links to it lead.
    pub id: Option<String>,
    /// What it is, for its colour: `refused`, `stopped`, `best`.
    pub class: &'static str,
    /// Its cells, one for each column.
    pub cells: Vec<Cell>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// What is shown.
    pub text: String,
    /// The figure behind it, as it was computed.
    pub value: Option<f64>,
    /// Where it leads.
    pub link: Option<String>,
    /// Whether it is something to type or something from a file.
    pub is_code: bool,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// A figure, as it is shown.
    pub fn figure(value: f64, shown: impl Into<String>) -> Cell {
        Cell { text: shown.into(), value: Some(value), ..Cell::default() }
    }

    /// Something to type, or from a file.
    pub fn code(text: impl Into<String>) -> Cell {
        Cell { is_code: true, ..Cell::text(text) }
    }

    /// The same, leading somewhere.
    pub fn to(self, link: Option<String>) -> Cell {
        Cell { link, ..self }
    }

    pub(crate) fn html(&self) -> String {
        let mut html = escaped(&self.text);
        if let Some(value) = self.value.filter(|value| value.is_finite()) {
            html = format!("<data value=\"{value}\">{html}</data>");
        }
        if self.is_code && !html.is_empty() {
            html = format!("<code>{html}</code>");
        }
        match &self.link {
            Some(link) => format!("<a href=\"{}\">{html}</a>", escaped(link)),
            None => html,
        }
    }

    pub(crate) fn markdown(&self) -> String {
        // A bar ends a cell even within code.
        let bars = |text: String| text.replace('|', "\\|");
        match self.is_code && !self.text.is_empty() {
            true => format!("`{}`", bars(visible(&self.text).replace('`', "'").replace('\n', " "))),
            false => bars(super::markdown::escaped(&self.text)),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::text(text)
    }
}

impl Table {
    /// A table with these columns; a title that ends with `#` has figures below it.
    pub fn new(caption: impl Into<String>, columns: &[&str]) -> Table {
        let column = |title: &&str| Column {
            title: title.trim_end_matches('#').trim_end().into(),
            is_number: title.ends_with('#'),
            ..Column::default()
        };
        Table { caption: caption.into(), columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    /// With one more row.
    pub fn row(&mut self, cells: Vec<Cell>) -> &mut Row {
        self.rows.push(Row { cells, ..Row::default() });
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    pub(crate) fn html(&self) -> String {
        // A region that scrolls is reached by keyboard, and has a name.
        let mut html = format!(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table>\n<caption>{0}</caption>\n<thead><tr>",
            escaped(&self.caption)
        );
        for Column { title, is_number, link, sorted } in &self.columns {
            let sorted = sorted.map_or(String::new(), |way| format!(" aria-sort=\"{way}\""));
            let class = if *is_number { " class=\"number\"" } else { "" };
            let title = match link {
                Some(link) => format!("<a href=\"{}\">{}</a>", escaped(link), escaped(title)),
                None => escaped(title),
            };
            // Writing to a string cannot fail.
            let _ = write!(html, "<th scope=\"col\"{class}{sorted}>{title}</th>");
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            let id = row.id.as_ref().map_or(String::new(), |id| format!(" id=\"{}\"", escaped(id)));
            let class = if row.class.is_empty() { String::new() } else { format!(" class=\"{}\"", row.class) };
            let _ = write!(html, "<tr{id}{class}>");
            for (place, cell) in row.cells.iter().enumerate() {
                let class = if self.columns.get(place).is_some_and(|column| column.is_number) {
                    " class=\"number\""
                } else {
                    ""
                };
                let _ = match place {
                    0 => write!(html, "<th scope=\"row\"{class}>{}</th>", cell.html()),
                    _ => write!(html, "<td{class}>{}</td>", cell.html()),
                };
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody>\n</table>\n</div>\n");
        html
    }

    pub(crate) fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let titles = line(self.columns.iter().map(|column| column.title.replace('|', "\\|")).collect());
        let rule =
            line(self.columns.iter().map(|column| if column.is_number { "---:" } else { "---" }.to_string()).collect());
        let rows: String = self.rows.iter().map(|row| line(row.cells.iter().map(Cell::markdown).collect())).collect();
        format!("{titles}{rule}{rows}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_its_titles_and_every_figure_its_value() {
        let mut table = Table::new("what <b> is", &["name", "time #"]);
        table.row(vec!["a|b<i>".into(), Cell::figure(1.0 / 3.0, "0.333 s")]).class = "best";
        let html = table.html();
        assert!(html.contains("<caption>what &lt;b&gt; is</caption>"), "{html}");
        assert!(html.contains("<th scope=\"col\" class=\"number\">time</th>"), "{html}");
        assert!(html.contains("<tr class=\"best\"><th scope=\"row\">a|b&lt;i&gt;</th>"), "{html}");
        assert!(html.contains("<data value=\"0.3333333333333333\">0.333 s</data>"), "{html}");
        assert_eq!(table.markdown(), "| name | time |\n| --- | ---: |\n| a\\|b\\<i\\> | 0.333 s |\n");
    }
}
