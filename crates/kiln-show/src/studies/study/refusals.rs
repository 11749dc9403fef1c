//! What was refused and why: gates in the order of the ladder, an example of each; or every refusal.

use kiln_core::{Gate, Refusal};
use kiln_store::Trial;

use crate::words::refusal::{meaning, measured, refusal};

/// Lines of a compiler's message shown of an example.
const EXCERPT: usize = 12;

/// Trials that were refused, with why.
fn refused(trials: &[Trial]) -> impl Iterator<Item = (&Trial, &Refusal)> {
    trials.iter().filter_map(|t| Some((t, t.refusal.as_ref()?)))
}

/// How many each gate refused, with the first as an example.
pub(crate) fn by_gate(trials: &[Trial]) -> String {
    let mut text = String::new();
    for gate in Gate::ALL {
        let mut of_gate = refused(trials).filter(|(_, r)| r.gate == *gate);
        let Some((trial, example)) = of_gate.next() else { continue };
        let more = of_gate.count();
        text.push_str(&format!("  {gate} {}: {}\n", more + 1, meaning(example)));
        let on = trial.workload.as_deref().filter(|w| !w.is_empty()).map_or(String::new(), |w| format!(" on {w}"));
        text.push_str(&format!("    e.g. {}{on}\n", trial.config));
        let words = if *gate == Gate::BuildFailed { example.words() } else { "" };
        for line in measured(example).lines().chain(words.lines().take(EXCERPT)) {
            text.push_str(&format!("      {line}\n"));
        }
        if let Some(hint) = &example.hint {
            text.push_str(&format!("      hint: {hint}\n"));
        }
    }
    if text.is_empty() { text } else { format!("\nrefused, by gate (--refusals lists them all)\n{text}") }
}

/// Every refusal with everything it rests on.
pub(crate) fn all(trials: &[Trial], verbose: bool) -> String {
    let mut text = String::new();
    for (trial, why) in refused(trials) {
        let on = trial.workload.as_deref().filter(|w| !w.is_empty()).map_or(String::new(), |w| format!(" on {w}"));
        text.push_str(&format!("{} {}{on}: {}\n{}\n", trial.phase, trial.number, trial.config, refusal(why, verbose)));
    }
    if text.is_empty() { "nothing was refused\n".into() } else { text }
}
