//! A kernel under the roofs of memory and arithmetic, on logarithmic axes.

use kiln_app::{ProfileDiagnosis, RoofPosition};

use super::canvas::{Anchor, Canvas};

/// The picture.
pub(super) struct Roofs<'a> {
    title: String,
    at: &'a RoofPosition,
    /// Where it stood before, with the number of the version.
    earlier: Vec<(usize, &'a RoofPosition)>,
    /// Powers of ten that the axes run between.
    x: (i32, i32),
    y: (i32, i32),
}

const LEFT: f64 = 96.0;
const TOP: f64 = 52.0;
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 320.0;
/// The plot in a terminal.
const COLUMNS: usize = 58;
const ROWS: usize = 13;

impl<'a> Roofs<'a> {
    pub(super) fn of(diagnosis: &'a ProfileDiagnosis) -> Option<Self> {
        let at = diagnosis.position.as_ref()?;
        let least = at.intensity.min(at.ridge()) / 3.0;
        let most = at.intensity.max(at.ridge()) * 3.0;
        let x = (power(least).floor() as i32, power(most).ceil() as i32);
        let lowest = at.flops.min(at.roof(10f64.powi(x.0)));
        let y = ((power(lowest) - 0.2).floor() as i32, (power(at.peak_flops) + 0.12).ceil() as i32);
        let sound =
            [at.intensity, at.flops, at.peak_flops, at.peak_bytes].iter().all(|own| own.is_normal() && *own > 0.0);
        let title = format!("{} under the roofs ({})", diagnosis.name(), at.pipe);
        sound.then_some(Self { title, at, earlier: Vec::new(), x, y })
    }

    /// The same with where earlier versions stood, under the same roofs and axes wide enough for all.
    fn with(mut self, earlier: Vec<(usize, &'a RoofPosition)>) -> Self {
        let sound = |(_, at): &(usize, &RoofPosition)| {
            at.intensity.is_normal() && at.intensity > 0.0 && at.flops.is_normal() && at.flops > 0.0
        };
        for (number, at) in earlier.into_iter().filter(|(_, at)| at.pipe == self.at.pipe).filter(sound) {
            self.x =
                (self.x.0.min(power(at.intensity).floor() as i32), self.x.1.max(power(at.intensity).ceil() as i32));
            self.y.0 = self.y.0.min((power(at.flops) - 0.2).floor() as i32);
            self.earlier.push((number, at));
        }
        self
    }

    /// Where a point lies in the plot, from 0 to 1 in both directions.
    fn place(&self, intensity: f64, flops: f64) -> (f64, f64) {
        let along =
            |(from, to): (i32, i32), value: f64| (power(value) - f64::from(from)) / f64::from((to - from).max(1));
        (along(self.x, intensity).clamp(0.0, 1.0), along(self.y, flops).clamp(0.0, 1.0))
    }

    fn sentence(&self) -> String {
        let of_roof = 100.0 * self.at.flops / self.at.roof(self.at.intensity);
        format!(
            "{}FLOP/s at {} FLOP per byte of DRAM: {of_roof:.0} % of the roof above it",
            scaled(self.at.flops),
            three(self.at.intensity)
        )
    }

    /// The roofs with their figures.
    fn labels(&self) -> (String, String) {
        let flat = format!("{} peak {}FLOP/s", self.at.pipe, scaled(self.at.peak_flops));
        (format!("DRAM peak {}B/s", scaled(self.at.peak_bytes)), flat)
    }

    pub(super) fn svg(&self) -> String {
        self.canvas().standalone()
    }

    fn canvas(&self) -> Canvas {
        let mut canvas = Canvas::new(LEFT + WIDTH + 32.0, TOP + HEIGHT + 92.0, &self.title);
        let place = |intensity: f64, flops: f64| {
            let (x, y) = self.place(intensity, flops);
            (LEFT + x * WIDTH, TOP + (1.0 - y) * HEIGHT)
        };
        let (left, right) = (10f64.powi(self.x.0), 10f64.powi(self.x.1));
        let bottom = TOP + HEIGHT;
        for exponent in self.x.0..=self.x.1 {
            let x = place(10f64.powi(exponent), 1.0).0;
            canvas.line("grid", (x, TOP), (x, bottom));
            canvas.text("small", (x, bottom + 18.0), Anchor::Middle, &plain(exponent));
        }
        for exponent in self.y.0..=self.y.1 {
            let y = place(1.0, 10f64.powi(exponent)).1;
            canvas.line("grid", (LEFT, y), (LEFT + WIDTH, y));
            canvas.text(
                "small",
                (LEFT - 8.0, y + 4.0),
                Anchor::End,
                &format!("{}FLOP/s", scaled(10f64.powi(exponent))),
            );
        }
        let ridge = self.at.ridge();
        let corner = place(ridge, self.at.peak_flops);
        canvas.path("roof", &[place(left, self.at.roof(left)), corner, place(right, self.at.peak_flops)]);
        // Both labels above their roof: the flat one at its right end, the other along the slope.
        let (slope, flat) = self.labels();
        canvas.text("label", (LEFT + WIDTH - 6.0, corner.1 - 8.0), Anchor::End, &flat);
        let middle = place((left * ridge).sqrt(), self.at.roof((left * ridge).sqrt()));
        canvas.text("label", (middle.0 - 10.0, middle.1 - 8.0), Anchor::End, &slope);
        for (number, was) in &self.earlier {
            let at = place(was.intensity, was.flops);
            canvas.dot("stopped", at, 5.0);
            canvas.text("label", (at.0 + 8.0, at.1 + 4.0), Anchor::Start, &number.to_string());
        }
        let point = place(self.at.intensity, self.at.flops);
        canvas.line("lead", point, place(self.at.intensity, self.at.roof(self.at.intensity)));
        canvas.line("lead", point, (point.0, bottom));
        canvas.point(point);
        canvas.text("small", (LEFT + WIDTH / 2.0, bottom + 40.0), Anchor::Middle, "FLOP per byte of DRAM");
        canvas.text(
            "name",
            (LEFT + WIDTH / 2.0, bottom + 66.0),
            Anchor::Middle,
            &format!("the kernel: {}", self.sentence()),
        );
        canvas.described(self.sentence())
    }

    pub(super) fn text(&self) -> String {
        let mut plot = vec![vec![' '; COLUMNS]; ROWS];
        let mut put = |(x, y): (f64, f64), letter: char| {
            let (column, row) =
                ((x * (COLUMNS - 1) as f64).round() as usize, ((1.0 - y) * (ROWS - 1) as f64).round() as usize);
            if let Some(place) = plot.get_mut(row).and_then(|row| row.get_mut(column)) {
                *place = letter;
            }
        };
        for column in 0..COLUMNS {
            let share = column as f64 / (COLUMNS - 1) as f64;
            let intensity = 10f64.powf(f64::from(self.x.0) + share * f64::from(self.x.1 - self.x.0));
            let letter = if intensity < self.at.ridge() { '/' } else { '-' };
            put(self.place(intensity, self.at.roof(intensity)), letter);
        }
        put(self.place(self.at.intensity, self.at.flops), '@');
        let (top, bottom) = (10f64.powi(self.y.1), 10f64.powi(self.y.0));
        let label = |row: usize| match row {
            0 => format!("{}FLOP/s", scaled(top)),
            row if row == ROWS - 1 => format!("{}FLOP/s", scaled(bottom)),
            _ => String::new(),
        };
        let line = |(row, letters): (usize, &Vec<char>)| {
            let letters: String = letters.iter().collect();
            format!("  {:>12} |{}\n", label(row), letters.trim_end())
        };
        let (slope, flat) = self.labels();
        let lines: String = plot.iter().enumerate().map(line).collect();
        let (from, to) = (plain(self.x.0), plain(self.x.1));
        let gap = COLUMNS.saturating_sub(from.len() + to.len());
        format!(
            "under the roofs: / {slope}, - {flat}, @ the kernel\n{lines}  {:>12} +{}\n  {:>12}  {from}{}{to}\n  {}\n",
            "",
            "-".repeat(COLUMNS),
            "",
            center("FLOP per byte of DRAM", gap),
            self.sentence()
        )
    }
}

/// Versions of a kernel by their numbers, under the roofs of the newest; none where that computes nothing that counts.
pub(crate) fn versions_picture(kernel: &str, versions: &[(usize, &ProfileDiagnosis)]) -> Option<Canvas> {
    let ((_, newest), earlier) = versions.split_last()?;
    let earlier = earlier.iter().filter_map(|(number, one)| Some((*number, one.position.as_ref()?)));
    let own = Roofs::of(newest)?.with(earlier.collect());
    let title = match own.earlier.len() {
        0 => format!("{kernel} under the roofs ({})", own.at.pipe),
        count => format!("{kernel} under the roofs ({}): {} profiles", own.at.pipe, count + 1),
    };
    Some(Roofs { title, ..own }.canvas())
}

fn center(words: &str, width: usize) -> String {
    let before = width.saturating_sub(words.len()) / 2;
    format!("{}{words}{}", " ".repeat(before), " ".repeat(width.saturating_sub(words.len() + before)))
}

fn power(value: f64) -> f64 {
    value.max(1e-30).log10()
}

/// A power of ten as people write it.
fn plain(exponent: i32) -> String {
    match exponent {
        0..=4 => format!("{}", 10f64.powi(exponent)),
        -3..=-1 => format!("{:.*}", exponent.unsigned_abs() as usize, 10f64.powi(exponent)),
        _ => format!("1e{exponent}"),
    }
}

/// A number of three digits that count.
fn three(value: f64) -> f64 {
    let digits = 10f64.powi(2 - power(value.abs()).floor() as i32);
    (value * digits).round() / digits
}

/// A rate with its SI prefix and a space before the unit.
fn scaled(value: f64) -> String {
    let prefixes = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (scale, prefix) = prefixes.into_iter().find(|(scale, _)| value >= *scale * 0.9999).unwrap_or((1.0, ""));
    format!("{} {prefix}", three(value / scale))
}
