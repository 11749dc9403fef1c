//! The frame that all pictures share: size, fonts, and colours for light and dark backgrounds.

use std::fmt::Write;

/// An SVG in the making.
pub(crate) struct Canvas {
    svg: String,
}

/// Text, lines and fills by class. Dark backgrounds have their own values.
const STYLE: &str = "text{font-family:Helvetica,Arial,sans-serif;font-size:13px;fill:#222}\
    .title{font-size:16px;font-weight:bold}.small{font-size:12px;fill:#555}.label{font-size:12px;fill:#222;stroke:#fff;stroke-width:4px;paint-order:stroke}.back{fill:#fff}.grid{stroke:#ddd}\
    .axis{stroke:#777;fill:none}.on{fill:#111}.bar{fill:#0072b2}.roof{stroke:#222;stroke-width:2.5;fill:none}\
    .lead{stroke:#777;stroke-dasharray:3 3}.point{fill:#d55e00;stroke:#222;stroke-width:1.5}\
    @media (prefers-color-scheme:dark){text{fill:#eee}text.on{fill:#111}.small{fill:#bbb}.label{fill:#eee;stroke:#161616}.back{fill:#161616}.grid{stroke:#3a3a3a}\
    .axis{stroke:#999}.bar{fill:#56b4e9}.roof{stroke:#eee}.lead{stroke:#999}.point{fill:#e69f00;stroke:#eee}}";

/// Where text stands by its place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        let title = escaped(title);
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
             <rect class=\"back\" width=\"{width:.0}\" height=\"{height:.0}\"/>\n\
             <text class=\"title\" x=\"16\" y=\"28\">{title}</text>\n"
        );
        Self { svg }
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
            self.svg,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"
        );
    }

    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ =
            writeln!(self.svg, "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
    }

    pub(crate) fn bar(&mut self, (x, y): (f64, f64), width: f64, height: f64) {
        let _ = writeln!(
            self.svg,
            "<rect class=\"bar\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        );
    }

    /// A rectangle of a colour that means something; text of class `on` is readable on it.
    pub(crate) fn filled(&mut self, (x, y): (f64, f64), width: f64, height: f64, fill: &str) {
        let _ = writeln!(
            self.svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>"
        );
    }

    pub(crate) fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(self.svg, "<polyline class=\"{class}\" points=\"{}\"/>", points.join(" "));
    }

    pub(crate) fn point(&mut self, (x, y): (f64, f64)) {
        let _ = writeln!(self.svg, "<circle class=\"point\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"/>");
    }

    pub(crate) fn done(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

/// Text that XML takes. Control characters have no place in it.
fn escaped(text: &str) -> String {
    let plain: String = text.chars().filter(|letter| !letter.is_control()).collect();
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
