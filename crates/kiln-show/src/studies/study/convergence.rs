//! How the best improved: each trial that beat all before it, with what it changed; and the winner that the ablation found
//! after them.

use kiln_app::{CHALLENGER, winners};
use kiln_core::Config;
use kiln_store::{Note, Study, Trial};

use crate::picture::FoundLater;
use crate::studies::study::campaign::Campaign;
use crate::words::number::duration;
use crate::words::table::{Align, lines};

/// Lines shown at most, the one that says how many are left out included.
const SHOWN: usize = 10;

/// The trials that were the best so far when they came, in order.
fn improvements<'a>(measured: &[(&'a Trial, f64)]) -> Vec<(&'a Trial, f64)> {
    let mut best = f64::INFINITY;
    let mut better = measured.to_vec();
    better.retain(|(_, cost)| {
        let improves = *cost < best;
        best = best.min(*cost);
        improves
    });
    better
}

/// One line for each improvement; of many, the first and the last.
pub(crate) fn text(campaign: &Campaign<'_>) -> String {
    let mut steps = improvements(&campaign.measured);
    let Some((_, first)) = steps.first().copied() else { return String::new() };
    let skipped = if steps.len() > SHOWN { steps.len() - (SHOWN - 1) } else { 0 };
    steps.drain(1..1 + skipped);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (i, (trial, cost)) in steps.iter().enumerate() {
        // Differences are to the line above, so that the list reads on where lines are left out.
        let change = match i.checked_sub(1) {
            Some(before) => difference(&steps[before].0.config, &trial.config),
            None => trial.config.clone(),
        };
        let phase = trial.phase_id().name;
        rows.push(vec![format!("{phase} {}", trial.number), duration(*cost), format!("{:.2}x", first / cost), change]);
        if i == 0 && skipped > 0 {
            rows.push(vec!["...".into(), String::new(), String::new(), format!("{skipped} improvements left out")]);
        }
    }
    let table = lines(&rows, &[Align::Left, Align::Right, Align::Right, Align::Left]);
    format!("\nhow the best improved{}\n{table}", campaign.place())
}

/// The line below it where the ablation found another winner.
pub(crate) fn then(campaign: &Campaign<'_>, study: &Study, trials: &[Trial], notes: &[Note]) -> String {
    let workload = Some(campaign.workload).filter(|workload| !workload.is_empty());
    let own = |(of, _): &(Option<String>, Config)| of.is_none() || of.as_deref() == workload;
    let Some((_, winner)) = winners(study).into_iter().find(own) else { return String::new() };
    if let Some(later) = FoundLater::of(study, trials, workload) {
        let time = duration(later.time);
        return format!(
            "  the ablation then found the winner, which the search had not tried: {winner} ({time} when confirmed)\n"
        );
    }
    let about = format!("measured {winner} as faster than the winner");
    let on = workload.map_or(String::new(), |workload| format!(" on {workload}"));
    let took = |note: &Note| {
        let rest = note.text.split_once(&about).map(|(_, rest)| rest);
        // Older studies did not say on which workload.
        let own = rest.is_some_and(|rest| rest.starts_with(&format!("{on}: ")) || rest.starts_with(": "));
        note.kind == CHALLENGER && own && note.text.ends_with("it takes its place")
    };
    match notes.iter().any(took) {
        true => format!("  the ablation then found the winner: {winner}\n"),
        false => String::new(),
    }
}

/// The values of `to` that differ from those of `from`; all of it when they cannot be compared.
fn difference(from: &str, to: &str) -> String {
    let (Ok(before), Ok(after)) = (Config::parse(from), Config::parse(to)) else { return to.into() };
    let changed: Vec<String> = after
        .iter()
        .filter(|(name, value)| before.get(name) != Some(value))
        .map(|(name, value)| match before.get(name) {
            Some(old) => format!("{name} {old} -> {value}"),
            None => format!("{name} {value}"),
        })
        .collect();
    if changed.is_empty() { "the same configuration again".into() } else { changed.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_told() {
        assert_eq!(difference("A=1,B=2,C=x", "A=1,B=4,C=y"), "B 2 -> 4, C x -> y");
        assert_eq!(difference("A=1", "A=1"), "the same configuration again");
        assert_eq!(difference("A=1", "A=1,B=2"), "B 2");
        assert_eq!(difference("not one", "A=1"), "A=1");
    }
}
