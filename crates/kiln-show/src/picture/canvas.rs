//! The frame that all pictures share: size, fonts, and colours for light and dark backgrounds. Out: a file of its own, or a part of an
//! HTML page, whose style sheet has the same colours.

use std::fmt::Write;

use crate::html::escaped;

/// An SVG in the making.
#[derive(Debug, Clone, PartialEq)]
pub struct Canvas {
    width: f64,
    height: f64,
    title: String,
    description: String,
    body: String,
}

/// Text, lines and fills by class, all within `.plot`. Dark backgrounds have their own values.
pub(crate) const STYLE: &str = include_str!("figure.css");

/// So much wider bold text is.
const BOLD: f64 = 1.12;

/// How wide text is at a size, in a wide font: which one a reader has is not known.
pub(crate) fn width_of(text: &str, size: f64) -> f64 {
    let letter = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.33,
        'f' | 'r' | 't' | ' ' | '-' | '/' | '(' | ')' | '[' | ']' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 1.0,
        '=' | '+' | '<' | '>' | '~' => 0.84,
        c if c.is_ascii_uppercase() => 0.75,
        c if c.is_ascii() => 0.64,
        _ => 1.0,
    };
    size * text.chars().map(letter).sum::<f64>()
}

/// Where text stands by its place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    /// At least as wide as its title.
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        let width = width.max(32.0 + BOLD * width_of(title, 16.0));
        Canvas { width, height, title: title.into(), description: String::new(), body: String::new() }
    }

    /// With what can be read from it, for whoever does not see it.
    pub(crate) fn described(self, description: impl Into<String>) -> Self {
        Canvas { description: description.into(), ..self }
    }

    /// What it shows.
    pub fn title(&self) -> &str {
        &self.title
    }

    pub(crate) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, words: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let words = escaped(words);
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"
        );
    }

    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = writeln!(
            self.body,
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        );
    }

    pub(crate) fn bar(&mut self, at: (f64, f64), width: f64, height: f64) {
        self.area("bar", at, width, height);
    }

    /// A rectangle of a class.
    pub(crate) fn area(&mut self, class: &str, (x, y): (f64, f64), width: f64, height: f64) {
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        );
    }

    /// A rectangle of a colour that means something; text of class `on` is readable on it.
    pub(crate) fn filled(&mut self, (x, y): (f64, f64), width: f64, height: f64, fill: &str) {
        let _ = writeln!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>"
        );
    }

    /// A line through points, and no area unless the class fills it.
    pub(crate) fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(self.body, "<polyline class=\"{class}\" fill=\"none\" points=\"{}\"/>", points.join(" "));
    }

    pub(crate) fn point(&mut self, at: (f64, f64)) {
        self.dot("point", at, 6.0);
    }

    /// A round mark of a class.
    pub(crate) fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let _ = writeln!(self.body, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>");
    }

    /// What is drawn by `draw` stands for one thing: a trial by its phase and number. Whoever points at it is told `words`.
    pub(crate) fn mark(&mut self, trial: &str, words: &str, draw: impl FnOnce(&mut Canvas)) {
        let _ = write!(self.body, "<g data-trial=\"{}\"><title>{}</title>", escaped(trial), escaped(words));
        draw(self);
        self.body.push_str("</g>\n");
    }

    /// A file that needs nothing else.
    pub fn standalone(&self) -> String {
        self.svg(" xmlns=\"http://www.w3.org/2000/svg\"", &format!("<style>{STYLE}</style>\n"))
    }

    /// A part of a page, which has the style.
    pub fn inline(&self) -> String {
        self.svg("", "")
    }

    fn svg(&self, name: &str, style: &str) -> String {
        let Canvas { width, height, body, .. } = self;
        let (title, description) = (escaped(&self.title), escaped(&self.description));
        let told = if description.is_empty() { String::new() } else { format!("<desc>{description}</desc>\n") };
        format!(
            "<svg{name} class=\"plot\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             role=\"img\">\n<title>{title}</title>\n{told}{style}\
             <rect class=\"back\" width=\"{width:.0}\" height=\"{height:.0}\"/>\n\
             <text class=\"title\" x=\"16\" y=\"28\">{title}</text>\n{body}</svg>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_as_wide_as_its_title() {
        let canvas = Canvas::new(10.0, 10.0, "softmax: the best time by EXP and METHOD");
        assert!(canvas.width > 410.0, "{}", canvas.width);
        assert_eq!(Canvas::new(760.0, 10.0, "short").width, 760.0);
    }
}
