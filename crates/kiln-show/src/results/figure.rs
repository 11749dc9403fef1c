//! How the best improved, as a figure: one panel for each recorded space, one line for each strategy, a band down to its 10th
//! percentile. In: shares of the optimum by evaluation. Out: an SVG that needs nothing else, on a light background.

use std::fmt::Write;

use kiln_app::Convergence;

/// The figure.
pub struct ConvergenceFigure {
    /// What it shows, above everything.
    title: String,
    /// One for each space.
    panels: Vec<ConvergencePanel>,
}

/// One space.
struct ConvergencePanel {
    /// The space's name.
    title: String,
    /// One for each strategy, the same in every panel.
    lines: Vec<ConvergenceLine>,
}

/// One strategy on one space.
struct ConvergenceLine {
    /// The strategy.
    label: String,
    /// The mean share of the optimum after 1, 2, 3 ... evaluations.
    mean: Vec<f64>,
    /// The share that nine of ten repeats reach.
    p10: Vec<f64>,
}

/// Told apart also by those who do not see red and green (after Okabe and Ito).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"];
const COLUMNS: usize = 3;
/// A panel, the room it has within, and the part of that room taken by labels.
const PANEL: (f64, f64) = (400.0, 290.0);
const MARGIN: (f64, f64, f64, f64) = (30.0, 16.0, 46.0, 56.0);
const HEAD: f64 = 70.0;

impl ConvergenceFigure {
    /// The figure of spaces by their names, with the curves of searches repeated so often.
    pub fn new(repeats: usize, spaces: &[(String, Vec<Convergence>)]) -> ConvergenceFigure {
        let title = format!("How close to the optimum: mean of {repeats} repeats, band down to the 10th percentile");
        let line =
            |c: &Convergence| ConvergenceLine { label: c.strategy.clone(), mean: c.mean.clone(), p10: c.p10.clone() };
        let panel = |(name, curves): &(String, Vec<Convergence>)| ConvergencePanel {
            title: name.clone(),
            lines: curves.iter().map(line).collect(),
        };
        ConvergenceFigure { title, panels: spaces.iter().map(panel).collect() }
    }

    /// The figure as SVG.
    pub fn svg(&self) -> String {
        let columns = self.panels.len().clamp(1, COLUMNS);
        let rows = self.panels.len().div_ceil(columns).max(1);
        // Wide enough for the legend, however many panels there are.
        let labels: Vec<&str> = self.panels.first().map_or(vec![], |p| p.lines.iter().map(|l| &*l.label).collect());
        let legend: f64 = labels.iter().map(|label| legend_width(label)).sum();
        let width = (columns as f64 * PANEL.0).max(legend + 40.0);
        let height = HEAD + rows as f64 * PANEL.1;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222222\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
             <text x=\"16\" y=\"26\" font-size=\"16\" font-weight=\"bold\">{}</text>\n",
            escaped(&self.title)
        );
        let mut x = 16.0;
        for (i, label) in labels.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            // Writing to a string cannot fail.
            let _ = writeln!(
                svg,
                "<line x1=\"{x}\" y1=\"49\" x2=\"{:.0}\" y2=\"49\" stroke=\"{colour}\" stroke-width=\"3\"/>\
                 <text x=\"{:.0}\" y=\"53\">{}</text>",
                x + 22.0,
                x + 28.0,
                escaped(label)
            );
            x += legend_width(label);
        }
        for (i, panel) in self.panels.iter().enumerate() {
            let (left, top) = ((i % columns) as f64 * PANEL.0, HEAD + (i / columns) as f64 * PANEL.1);
            let _ = writeln!(svg, "<g transform=\"translate({left} {top})\">{}</g>", panel.svg());
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// Room for a line, a gap and a label in the legend.
fn legend_width(label: &str) -> f64 {
    46.0 + 7.0 * label.chars().count() as f64
}

impl ConvergencePanel {
    fn svg(&self) -> String {
        let (top, right, bottom, left) = MARGIN;
        let (width, height) = (PANEL.0 - left - right, PANEL.1 - top - bottom);
        let evaluations = self.lines.iter().map(|line| line.mean.len()).max().unwrap_or(0).max(2);
        let lowest = self.lowest();
        let x = |evaluation: f64| left + (evaluation - 1.0) / (evaluations - 1) as f64 * width;
        let y = |share: f64| top + (1.0 - share.clamp(lowest, 1.0)) / (1.0 - lowest) * height;
        let mut svg = format!("<text x=\"{left}\" y=\"18\" font-weight=\"bold\">{}</text>\n", escaped(&self.title));
        for tick in ticks(lowest) {
            let _ = writeln!(
                svg,
                "<line x1=\"{left}\" y1=\"{0:.1}\" x2=\"{1:.1}\" y2=\"{0:.1}\" stroke=\"#e2e2e2\"/>\
                 <text x=\"{2:.1}\" y=\"{3:.1}\" text-anchor=\"end\">{tick:.1}</text>",
                y(tick),
                left + width,
                left - 6.0,
                y(tick) + 4.0
            );
        }
        let step = spacing(evaluations);
        for at in std::iter::once(1).chain((step..=evaluations).step_by(step).filter(|at| *at > 1)) {
            let _ = writeln!(
                svg,
                "<line x1=\"{0:.1}\" y1=\"{1:.1}\" x2=\"{0:.1}\" y2=\"{2:.1}\" stroke=\"#888888\"/>\
                 <text x=\"{0:.1}\" y=\"{3:.1}\" text-anchor=\"middle\">{at}</text>",
                x(at as f64),
                top + height,
                top + height + 4.0,
                top + height + 17.0
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">evaluations</text>\
             <text transform=\"translate(16 {:.1}) rotate(-90)\" text-anchor=\"middle\">optimum / best</text>",
            left + width / 2.0,
            top + height + 34.0,
            top + height / 2.0
        );
        let place = |(i, share): (usize, &f64)| format!("{:.1},{:.1}", x(i as f64 + 1.0), y(*share));
        for (i, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let mean: Vec<String> = line.mean.iter().enumerate().map(place).collect();
            let below: Vec<String> = line.p10.iter().enumerate().rev().map(place).collect();
            let _ = writeln!(
                svg,
                "<polygon points=\"{0} {1}\" fill=\"{colour}\" fill-opacity=\"0.12\"/>\
                 <polyline points=\"{0}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                mean.join(" "),
                below.join(" ")
            );
        }
        let _ = writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"#888888\"/>"
        );
        svg
    }

    /// Where the share's axis begins: a tenth below which no mean lies after the first few evaluations.
    fn lowest(&self) -> f64 {
        const FIRST: usize = 4;
        let means = self.lines.iter().filter_map(|line| line.mean.get(FIRST).or(line.mean.last()));
        let lowest = means.copied().fold(0.9, f64::min);
        (lowest * 10.0 - 1.0).floor().clamp(0.0, 8.0) / 10.0
    }
}

/// Tenths from a share up to 1; every second one where there would be too many.
fn ticks(lowest: f64) -> Vec<f64> {
    let first = (lowest * 10.0).round() as usize;
    let step = if first < 4 { 2 } else { 1 };
    (first..=10).rev().step_by(step).map(|tenth| tenth as f64 / 10.0).collect()
}

/// A round distance between evaluations that gives about five of them.
fn spacing(evaluations: usize) -> usize {
    let steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
    steps.into_iter().find(|step| evaluations / step <= 6).unwrap_or(evaluations.div_ceil(5).max(1))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(evaluations: usize, panels: usize) -> ConvergenceFigure {
        let share = |i: usize, floor: f64| 1.0 - (1.0 - floor) / (i + 1) as f64;
        let line = |label: &str, floor: f64| ConvergenceLine {
            label: label.into(),
            mean: (0..evaluations).map(|i| share(i, floor)).collect(),
            p10: (0..evaluations).map(|i| share(i, floor) - 0.1).collect(),
        };
        let panel = |i: usize| ConvergencePanel {
            title: format!("space <{i}> & more"),
            lines: vec![line("auto", 0.5), line("random", 0.2)],
        };
        ConvergenceFigure { title: "best".into(), panels: (0..panels).map(panel).collect() }
    }

    /// Every tag that opens is closed, in order.
    fn is_well_formed(svg: &str) -> bool {
        let mut open: Vec<&str> = Vec::new();
        for piece in svg.split('<').skip(1) {
            let tag = piece.split('>').next().unwrap_or_default();
            let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
            match (tag.starts_with('/'), tag.ends_with('/')) {
                (true, _) if open.pop() != Some(name) => return false,
                (false, false) => open.push(name),
                _ => {}
            }
        }
        open.is_empty()
    }

    #[test]
    fn every_line_has_a_band_a_label_and_finite_places() {
        for (evaluations, panels) in [(220, 5), (1, 1), (20, 2)] {
            let svg = figure(evaluations, panels).svg();
            assert!(is_well_formed(&svg), "{svg}");
            assert_eq!(svg.matches("<polyline").count(), 2 * panels);
            assert_eq!(svg.matches("<polygon").count(), 2 * panels);
            assert_eq!(svg.matches("optimum / best").count(), panels);
            assert_eq!(svg.matches(">auto</text>").count(), 1);
            assert!(svg.contains("space &lt;0&gt; &amp; more"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn a_better_share_is_drawn_higher() {
        let svg = figure(220, 1).svg();
        let places: Vec<f64> = svg
            .split("<polyline points=\"")
            .skip(1)
            .filter_map(|piece| piece.split('"').next()?.split(' ').nth(9)?.split_once(',')?.1.parse().ok())
            .collect();
        assert!(places[0] < places[1], "{places:?}");
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(0.7), [1.0, 0.9, 0.8, 0.7]);
        assert_eq!(ticks(0.0), [1.0, 0.8, 0.6, 0.4, 0.2, 0.0]);
        assert_eq!([2, 20, 100, 220].map(spacing), [1, 5, 20, 50]);
    }
}
