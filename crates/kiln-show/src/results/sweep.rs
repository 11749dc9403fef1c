//! A sweep in words: a map of speedups for each baseline, where the verdict turns, how many shapes were won and lost, and why the
//! rest was not measured. Readable without colour; [`crate::painted`] colours the cells of the map by their speedup.

mod json;
mod map;

use std::fmt;

use kiln_app::{Crossover, SweepCount, SweepExtreme, SweepStory};
use kiln_core::{Config, Refusal};
use kiln_store::{Run, SweepCell};

use crate::words::number::{counted, stretch};
use crate::words::table::{Align, lines};
pub(crate) use map::{Map, Mark, Shown, figure, maps};

/// The column of shapes that were not tried, which is there while some are left.
const NOT_TRIED: usize = 6;

/// Everything `kiln sweep` says.
pub struct SweepView<'a> {
    /// The run as it is recorded.
    pub run: &'a Run,
    /// What it says.
    pub story: &'a SweepStory,
    /// Why it ended before every shape was tried, in words; none where it did not, and where it is not known any more.
    pub ended: Option<&'a str>,
    /// How kiln is called so that it finds the same store.
    pub kiln: &'a str,
}

impl fmt::Display for SweepView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (run, story) = (self.run, self.story);
        let variant = if run.variant.is_empty() { String::new() } else { format!(" {}", run.variant) };
        writeln!(f, "{}, target {}{variant}, {} cache, {}", run.kernel, run.target, run.cache, run.device)?;
        let shapes = counted(story.measured() as u128, "shape");
        writeln!(f, "  run {}: {shapes} measured, took {}, seed {}", run.short_id(), stretch(run.seconds), run.seed)?;
        writeln!(f, "  {}", self.configuration())?;
        if let Some(fixed) = self.fixed() {
            writeln!(f, "  {fixed}")?;
        }
        for map in maps(&story.record) {
            write!(f, "\n{}", text(&map))?;
        }
        self.crossovers(f)?;
        self.summary(f)?;
        self.unmeasured(f)?;
        self.rest(f)
    }
}

impl SweepView<'_> {
    /// Which configuration was measured.
    fn configuration(&self) -> String {
        let plan = &self.story.record.sweep;
        if !plan.config.is_empty() {
            return format!("configuration {}", plan.config);
        }
        let mut distinct: Vec<&Config> = Vec::new();
        for config in self.story.record.cells.iter().filter_map(|cell| cell.config.as_ref()) {
            if !distinct.contains(&config) {
                distinct.push(config);
            }
        }
        let tuned = self.story.record.cells.iter().filter(|cell| cell.tuned.is_some()).count();
        match (&distinct[..], tuned) {
            ([only], 0) => format!("configuration {only}, the default"),
            ([only], _) => format!("configuration {only}, the nearest of the tuned table"),
            (several, tuned) => format!(
                "{} by shape: {} of {} from the nearest entry of the tuned table, the others the default",
                counted(several.len() as u128, "configuration"),
                tuned,
                self.story.record.cells.len()
            ),
        }
    }

    /// Dimensions that stay as they are, and those that equal others.
    fn fixed(&self) -> Option<String> {
        let plan = &self.story.record.sweep;
        let swept = |name: &str| plan.axes.iter().any(|axis| axis.name == name);
        let linked = |name: &str| plan.linked.iter().any(|link| link.name == name);
        let fixed = plan.base.iter().filter(|(name, _)| !swept(name) && !linked(name));
        let fixed = fixed.map(|(name, value)| format!("{name}={value}"));
        let links = plan.linked.iter().map(|link| format!("{}={}", link.name, link.like));
        let all: Vec<String> = fixed.chain(links).collect();
        (!all.is_empty()).then(|| format!("with {}", all.join(", ")))
    }

    fn crossovers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.story.crossovers.is_empty() {
            return Ok(());
        }
        writeln!(f, "\ncross-overs")?;
        self.story.crossovers.iter().try_for_each(|one| writeln!(f, "  {}", turn(one)))
    }

    fn summary(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Align::{Left, Right};
        let left = !self.story.left.is_empty();
        let titles =
            ["against", "faster", "slower", "same", "too_noisy", "not measured", "not tried", "mean", "best", "worst"];
        let mut rows = vec![titles.map(String::from).to_vec()];
        rows.extend(self.story.summary.iter().map(row));
        let mut aligns = vec![Left, Right, Right, Right, Right, Right, Right, Right, Left, Left];
        if !left {
            rows.iter_mut().for_each(|row| drop(row.remove(NOT_TRIED)));
            aligns.remove(NOT_TRIED);
        }
        write!(f, "\nshapes of the grid\n{}", lines(&rows, &aligns))
    }

    /// Why shapes have no figure, each reason once.
    fn unmeasured(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons: Vec<(String, Vec<&Config>)> = Vec::new();
        for cell in &self.story.record.cells {
            for reason in without(cell) {
                match reasons.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, shapes)) => shapes.push(&cell.dims),
                    None => reasons.push((reason, vec![&cell.dims])),
                }
            }
        }
        if reasons.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nnot measured")?;
        for (reason, shapes) in reasons {
            let more = match shapes.len() {
                1 => String::new(),
                many => format!(" and {} more", many - 1),
            };
            writeln!(f, "  {}{more}: {reason}", shapes[0])?;
        }
        Ok(())
    }

    /// What was left.
    fn rest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.story.left.len();
        if left == 0 && self.ended.is_none() {
            return Ok(());
        }
        let why = self.ended.unwrap_or("unfinished");
        let tried = self.story.record.cells.iter().filter(|cell| !cell.refined).count();
        writeln!(f, "\n{why}: {tried} of {} shapes were tried", tried + left)?;
        // A run is recorded with its first shape: before that there is nothing to go on with.
        if self.story.record.cells.is_empty() {
            return Ok(());
        }
        let resume = format!("{} sweep {} --resume {}", self.kiln, crate::quoted(&self.run.path), self.run.short_id());
        writeln!(f, "next\n  {resume}")
    }
}

/// A map as lines: the speedup with its mark, and the interval below it.
fn text(map: &Map<'_>) -> String {
    let mut rows = vec![std::iter::once(map.corner.clone()).chain(map.columns.clone()).collect::<Vec<_>>()];
    for (title, cells) in &map.rows {
        let first = cells.iter().map(|cell| match cell {
            Shown::Figure { speedup, mark, .. } => format!("{} {}", figure(*speedup), mark.sign()),
            Shown::Word(word) => (*word).to_string(),
            Shown::Nothing => ".".into(),
        });
        rows.push(std::iter::once(title.clone()).chain(first).collect());
        let second = cells.iter().map(|cell| match cell {
            Shown::Figure { interval, .. } => format!("[{}, {}]", number(interval.low), number(interval.high)),
            _ => String::new(),
        });
        if cells.iter().any(|cell| matches!(cell, Shown::Figure { .. })) {
            rows.push(std::iter::once(String::new()).chain(second).collect());
        }
    }
    let aligns = vec![Align::Left; rows[0].len()];
    let slice = if map.slice.is_empty() { String::new() } else { format!(", {}", map.slice) };
    format!("speedup over {}{slice} (+ faster, - slower, = same, ? too noisy)\n{}", map.baseline, lines(&rows, &aligns))
}

fn number(value: f64) -> String {
    figure(value).trim_end_matches('x').to_string()
}

/// A cross-over in words.
fn turn(one: &Crossover) -> String {
    let line = if one.line.is_empty() { String::new() } else { format!("{}: ", one.line) };
    let (side, low, high) = match one.wins_above {
        true => ("above", "slower", "faster"),
        false => ("below", "faster", "slower"),
    };
    let (from, to) = one.between;
    format!(
        "{line}faster than {} {side} {} = {}, {low} at {from}, {high} at {to}",
        one.baseline,
        one.axis,
        rounded(one.at)
    )
}

/// Three digits are more than two measured points tell.
fn rounded(size: f64) -> String {
    let unit = 10f64.powf((size.log10().floor() - 2.0).max(-3.0));
    let value = (size / unit).round() * unit;
    if size >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn row(one: &SweepCount) -> Vec<String> {
    let extreme = |of: &Option<SweepExtreme>| {
        of.as_ref().map_or("-".into(), |one| format!("{} at {}", figure(one.speedup), one.dims))
    };
    vec![
        one.baseline.clone(),
        one.faster.to_string(),
        one.slower.to_string(),
        one.same.to_string(),
        one.too_noisy.to_string(),
        (one.unmeasured + one.refused).to_string(),
        one.untried.to_string(),
        one.geomean.map_or("-".into(), figure),
        extreme(&one.best),
        extreme(&one.worst),
    ]
}

/// Why a cell has no figure, for the configuration or for a baseline.
fn without(cell: &SweepCell) -> Vec<String> {
    let words = |refusal: &Refusal| {
        let rule = if refusal.rule.is_empty() { String::new() } else { format!(" ({})", refusal.rule) };
        let limit = if refusal.limit.is_empty() { String::new() } else { format!(", expected {}", refusal.limit) };
        let measured = refusal.measured.lines().next().unwrap_or_default();
        format!("{}{rule}: {measured}{limit}", refusal.gate)
    };
    let own = cell.refusal.as_ref().map(|refusal| format!("refused by {}", words(refusal)));
    let why = cell.why.clone();
    let others = cell.unmeasured.iter().map(|one| format!("{}: {}", one.name, words(&one.refusal)));
    own.into_iter().chain(why).chain(others).collect()
}

#[cfg(test)]
mod tests;
