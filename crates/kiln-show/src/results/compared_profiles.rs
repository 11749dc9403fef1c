//! Two profiles side by side, in words: the times, what changed and how much of the difference it explains, how the difference divides into
//! work and waiting, and which other metrics differ.

use std::fmt;

use kiln_app::{ChangedCause, ComparedProfiles, MetricDifference, ProfileComparison};
use serde_json::{Value, json};

use super::diagnosed_profile::{figure, times};

/// Everything `kiln diagnose --ncu --against` says.
pub struct ComparedProfilesView<'a> {
    /// The comparison.
    pub compared: &'a ComparedProfiles,
}

/// Kernels that are shown in full; the others in a line each.
const IN_FULL: usize = 3;

impl ComparedProfilesView<'_> {
    /// The same for machines.
    pub fn json(&self) -> Value {
        let ComparedProfiles { kernels, only_here, only_against, notes } = self.compared;
        let mut all = json!({ "kernels": kernels });
        for (key, list) in [("only_here", only_here), ("only_against", only_against), ("notes", notes)] {
            if !list.is_empty() {
                all[key] = json!(list);
            }
        }
        all
    }
}

impl fmt::Display for ComparedProfilesView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ComparedProfiles { kernels, only_here, only_against, notes } = self.compared;
        for (number, kernel) in kernels.iter().enumerate() {
            writeln!(f, "{}", head(kernel))?;
            if number < IN_FULL {
                body(f, kernel)?;
            }
        }
        for (list, place) in [(only_here, "here"), (only_against, "there")] {
            list.iter().take(IN_FULL).try_for_each(|name| writeln!(f, "only {place}: {name}"))?;
            if list.len() > IN_FULL {
                writeln!(f, "only {place}: {} more", list.len() - IN_FULL)?;
            }
        }
        notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))
    }
}

fn head(own: &ProfileComparison) -> String {
    let other = match own.name() == own.against_name() {
        true => String::new(),
        false => format!(" of {}", own.against_name()),
    };
    let verdict = match (own.explained, own.speedup) {
        (None, _) => "no difference in time".into(),
        (_, speedup) if speedup >= 1.0 => format!("{} faster", times(speedup)),
        (_, speedup) => format!("{} slower", times(1.0 / speedup)),
    };
    format!("{}: {} us against {} us{other}: {verdict}", own.name(), own.time_us, own.against_us)
}

fn body(f: &mut fmt::Formatter<'_>, own: &ProfileComparison) -> fmt::Result {
    for change in &own.changed {
        writeln!(f, "  {}", sentence(change))?;
        change.metrics.iter().try_for_each(|metric| line(f, metric))?;
    }
    if let Some(explained) = own.explained
        && explained < 0.9
    {
        writeln!(f, "  {:.0} % of the difference has no known cause", 100.0 * (1.0 - explained))?;
    }
    if let Some(split) = &own.split {
        let share = 100.0 * split.work_share;
        writeln!(
            f,
            "  work: {} is busy for {} us, there {} for {} us: {share:.0} % of the difference",
            split.unit, split.work_us, split.against_unit, split.against_work_us
        )?;
        let (waiting, against) = (split.waiting_us, split.against_waiting_us);
        writeln!(f, "  waiting: {waiting} us, there {against} us: {:.0} % of the difference", 100.0 - share)?;
    }
    if !own.metrics.is_empty() {
        writeln!(f, "  also different:")?;
    }
    own.metrics.iter().try_for_each(|metric| line(f, metric))
}

/// One cause: where it applies, and what it explains.
fn sentence(change: &ChangedCause) -> String {
    let cause = change.cause;
    let place = match (change.expected_speedup, change.against_expected_speedup) {
        (Some(here), Some(there)) => format!("costs {} here, {} there", times(here), times(there)),
        (Some(here), None) => format!("only here: {} without it", times(here)),
        (None, there) => format!("only there: {} without it", times(there.unwrap_or(1.0))),
    };
    match change.explains {
        Some(share) if share >= 0.005 => format!("{cause} {place}; explains {:.0} % of the difference", 100.0 * share),
        Some(_) => format!("{cause} {place}; explains nothing beyond the causes above"),
        None => format!("{cause} {place}"),
    }
}

fn line(f: &mut fmt::Formatter<'_>, own: &MetricDifference) -> fmt::Result {
    let value = |value: Option<f64>| value.map_or("not collected".to_owned(), figure);
    writeln!(f, "    {} = {}, there {}", own.metric, value(own.value), value(own.against))
}
