//! What a section is made of. In: words, facts, tables, figures, commands. Out: HTML.

use std::fmt::Write;

use super::markup::escaped;
use super::table::{Cell, Table};
use crate::picture::canvas::Canvas;

/// A part of a view, with an id that stays the same: links lead to it, and a live page replaces it.
#[derive(Debug, Clone)]
pub struct Section {
    /// Its id within the page.
    pub id: &'static str,
    /// Its title.
    pub title: String,
    /// What it shows.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug, Clone)]
pub enum Block {
    /// A paragraph.
    Words(String),
    /// Names with values.
    Facts(Vec<(String, Cell)>),
    /// Lines below each other.
    List(Vec<Cell>),
    /// A table.
    Table(Table),
    /// A figure; its title says what it shows, its description what can be read from it.
    Figure(Canvas),
    /// Something to type.
    Command(String),
    /// Text as it was written: a compiler's words, a tree.
    Text(String),
    /// The same, where lines that begin with `*` lie on a way, and the one that begins with `>` is its end.
    Lit(String),
    /// What is folded away until it is asked for.
    Fold(String, Vec<Block>),
    /// What only a page has: forms and switches. It is HTML already.
    Control(String),
}

impl Section {
    /// A section.
    pub fn new(id: &'static str, title: impl Into<String>, blocks: Vec<Block>) -> Section {
        Section { id, title: title.into(), blocks }
    }

    /// The section as HTML: one element, which bears the id.
    pub fn html(&self) -> String {
        format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{}</h2>\n{}</section>\n",
            escaped(&self.title),
            joined(&self.blocks),
            id = self.id,
        )
    }
}

fn joined(blocks: &[Block]) -> String {
    blocks.iter().map(Block::html).collect()
}

impl Block {
    /// Words.
    pub(crate) fn words(words: impl Into<String>) -> Block {
        Block::Words(words.into())
    }

    fn html(&self) -> String {
        match self {
            Block::Words(words) => format!("<p>{}</p>\n", escaped(words)),
            Block::Facts(facts) => {
                let mut html = String::from("<dl>\n");
                for (name, value) in facts {
                    // Writing to a string cannot fail.
                    let _ = writeln!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), value.html());
                }
                html + "</dl>\n"
            }
            Block::List(lines) => {
                let lines: String = lines.iter().map(|line| format!("<li>{}</li>\n", line.html())).collect();
                format!("<ul>\n{lines}</ul>\n")
            }
            Block::Table(table) => table.html(),
            Block::Figure(canvas) => {
                let name = escaped(canvas.title());
                format!(
                    "<div class=\"scroll figure\" role=\"region\" tabindex=\"0\" aria-label=\"{name}\">\n{}</div>\n",
                    canvas.inline()
                )
            }
            Block::Command(words) => {
                format!("<pre class=\"command\" tabindex=\"0\"><code>{}</code></pre>\n", escaped(words))
            }
            Block::Text(text) => format!("<pre tabindex=\"0\">{}</pre>\n", escaped(text)),
            Block::Lit(text) => {
                let line = |line: &str| match line.chars().next() {
                    Some('>') => format!("<mark aria-current=\"step\">{}</mark>\n", escaped(line)),
                    Some('*') => format!("<span class=\"on-way\">{}</span>\n", escaped(line)),
                    _ => format!("{}\n", escaped(line)),
                };
                format!("<pre tabindex=\"0\">{}</pre>\n", text.lines().map(line).collect::<String>())
            }
            Block::Fold(title, blocks) => {
                format!("<details>\n<summary>{}</summary>\n{}</details>\n", escaped(title), joined(blocks))
            }
            Block::Control(html) => html.clone(),
        }
    }
}
