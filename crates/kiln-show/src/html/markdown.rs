//! Sections as Markdown, for a repository or a pull request. In: sections. Out: the text, and its figures as files beside it. Text of
//! kernels, tools and people is escaped: nothing in it becomes a heading, a link or HTML.

use super::block::{Block, Section};
use crate::words::visible::visible;

/// A text with its figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Article {
    /// The Markdown.
    pub text: String,
    /// Figures by name, as the text calls them within its folder.
    pub figures: Vec<(String, String)>,
}

/// Sections as Markdown whose figures lie in a folder beside it.
pub fn article(title: &str, sections: &[Section], folder: &str) -> Article {
    let mut article = Article { text: format!("# {}\n", escaped(title)), figures: Vec::new() };
    for section in sections {
        article.text += &format!("\n## {}\n", escaped(&section.title));
        article.add(&section.blocks, section.id, folder);
    }
    article
}

impl Article {
    fn add(&mut self, blocks: &[Block], section: &str, folder: &str) {
        for block in blocks {
            let text = match block {
                Block::Words(words) => format!("{}\n", escaped(words)),
                Block::Facts(facts) => {
                    let line =
                        |(name, value): &(String, super::Cell)| format!("- {}: {}\n", escaped(name), value.markdown());
                    facts.iter().map(line).collect()
                }
                Block::List(lines) => lines.iter().map(|line| format!("- {}\n", line.markdown())).collect(),
                Block::Table(table) => format!("{}\n\n{}", escaped(&table.caption), table.markdown()),
                Block::Figure(canvas) => {
                    let named =
                        |at: usize| if at == 1 { format!("{section}.svg") } else { format!("{section}-{at}.svg") };
                    let mut at = 1;
                    while self.figures.iter().any(|(name, _)| *name == named(at)) {
                        at += 1;
                    }
                    let name = named(at);
                    let shown = format!("![{}]({folder}/{name})\n", escaped(canvas.title()));
                    self.figures.push((name, canvas.standalone()));
                    shown
                }
                Block::Command(words) => fenced("sh", words),
                Block::Text(text) | Block::Lit(text) => fenced("text", text),
                Block::Fold(title, blocks) => {
                    self.text += &format!("\n<details>\n<summary>{}</summary>\n", super::markup::escaped(title));
                    self.add(blocks, section, folder);
                    "</details>\n".into()
                }
                Block::Control(_) => continue,
            };
            self.text += &format!("\n{text}");
        }
    }
}

/// A block of code, fenced so that nothing in it ends it.
fn fenced(kind: &str, text: &str) -> String {
    let text = visible(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{kind}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// Text that stays text. Line breaks become blanks.
pub(super) fn escaped(text: &str) -> String {
    let text = visible(text);
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '&' | '~' | '!' => safe.extend(['\\', c]),
            '\n' | '\t' => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markdown() {
        assert_eq!(escaped("[a](b) *c* <d>\n# e_f"), "\\[a\\](b) \\*c\\* \\<d\\> \\# e\\_f");
        assert_eq!(fenced("text", "a\n````\nb\n"), "`````text\na\n````\nb\n`````\n");
    }
}
