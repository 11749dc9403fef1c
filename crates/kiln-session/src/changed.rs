//! What was changed between two measurements. In: attempts in order. Out: changes made blind (after a slow result, with no profile
//! in between), and several things changed at once, so that nobody can say which of them mattered.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::Attempted;

/// A result under this many times the baseline's speed is slow.
const SLOW: f64 = 1.0;

/// What differs between two attempts of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Changed {
    /// Tunables with the value before and after, as `A: 1 -> 2`.
    pub config: Vec<String>,
    /// Whether the kernel file or its sources differ.
    pub sources: bool,
    /// What differs in the environment, as `NAME: before -> after`.
    pub environment: Vec<String>,
}

impl Changed {
    /// Whether nothing does.
    pub fn is_empty(&self) -> bool {
        self.config.is_empty() && !self.sources && self.environment.is_empty()
    }

    /// How many things do; an edit of sources counts as one.
    pub fn count(&self) -> usize {
        self.config.len() + usize::from(self.sources) + self.environment.len()
    }

    /// All of it in words.
    pub fn words(&self) -> String {
        let sources = self.sources.then(|| "the sources".to_string());
        let all: Vec<String> = sources.into_iter().chain(self.config.clone()).chain(self.environment.clone()).collect();
        all.join(", ")
    }
}

/// What differs between two attempts.
pub fn difference(before: &Attempted, after: &Attempted) -> Changed {
    let config = match (&before.config, &after.config) {
        (Some(one), Some(other)) => pairs(one, ',', other),
        _ => Vec::new(),
    };
    let sources = matches!((&before.sources, &after.sources), (Some(one), Some(other)) if one != other);
    Changed { config, sources, environment: settings(&before.environment, &after.environment) }
}

fn read(text: &str, separator: char) -> BTreeMap<String, String> {
    let split = text.split(separator).filter_map(|pair| pair.split_once('='));
    split.map(|(name, value)| (name.trim().to_string(), value.trim().to_string())).collect()
}

/// Environments held against each other; what only one has is unset in the other.
fn settings(before: &str, after: &str) -> Vec<String> {
    let (before, after) = (read(before, '\n'), read(after, '\n'));
    // Nothing is known of an environment that nobody recorded.
    if before.is_empty() || after.is_empty() {
        return Vec::new();
    }
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let value = |of: &BTreeMap<String, String>, name: &str| of.get(name).map_or("unset".into(), String::clone);
    let changed = names.into_iter().map(|name| (name, value(&before, name), value(&after, name)));
    changed.filter(|(_, then, now)| then != now).map(|(name, then, now)| format!("{name}: {then} -> {now}")).collect()
}

/// Configurations held against each other; a name that only one has is not compared.
fn pairs(before: &str, separator: char, after: &str) -> Vec<String> {
    let (before, after) = (read(before, separator), read(after, separator));
    let differs = |(name, value): (&String, &String)| {
        let now = after.get(name).filter(|now| *now != value)?;
        Some(format!("{name}: {value} -> {now}"))
    };
    before.iter().filter_map(differs).collect()
}

/// A change that was measured without knowing what limits the kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlindChange {
    /// The attempt that measured it.
    pub attempt: String,
    /// When.
    pub at_ms: i64,
    /// The kernel.
    pub kernel: String,
    /// The speedup before.
    pub before: f64,
    /// The speedup after.
    pub after: f64,
    /// What was changed.
    pub changed: Changed,
}

/// Changes measured after a slow result with no profile in between. What a search chose is no guess: after `tune`, its
/// configurations count as known.
pub fn blind(attempts: &[Attempted]) -> Vec<BlindChange> {
    (1..=attempts.len()).filter_map(|count| blind_last(&attempts[..count])).collect()
}

/// Such a change, where the last attempt measured one.
pub fn blind_last(attempts: &[Attempted]) -> Option<BlindChange> {
    let (after, now, at) = measured_again(attempts)?;
    let before = &attempts[at];
    let then = before.speedup.filter(|then| *then < SLOW)?;
    let between = &attempts[at..attempts.len() - 1];
    let known = between.iter().any(|one| one.diagnosed() && one.same_kernel(after));
    // What was refused as it was measured is repaired, not optimised; and to go back to what was measured is no guess.
    let repaired = between.iter().any(|one| one.failed() && is_same_code(one, before));
    if repaired || is_known(attempts, after) {
        return None;
    }
    let mut changed = difference(before, after);
    // Another machine is no optimisation.
    changed.environment.clear();
    if after.verb == "tune" || before.verb == "tune" {
        changed.config.clear();
    }
    (!known && !changed.is_empty()).then(|| BlindChange {
        attempt: after.id.clone(),
        at_ms: after.at_ms,
        kernel: after.kernel.clone(),
        before: then,
        after: now,
        changed,
    })
}

/// Whether two attempts are of the same kernel, sources and configuration.
pub(crate) fn is_same_code(one: &Attempted, other: &Attempted) -> bool {
    one.sources.is_some() && one.same_kernel(other) && (&one.sources, &one.config) == (&other.sources, &other.config)
}

/// Whether what the last attempt measured was measured before.
fn is_known(attempts: &[Attempted], after: &Attempted) -> bool {
    let earlier = attempts.split_last().map_or(&[][..], |(_, earlier)| earlier);
    earlier.iter().any(|one| one.speedup.is_some() && is_same_code(one, after))
}

/// The last attempt with its speedup, and where the measurement of its kernel before that is.
fn measured_again(attempts: &[Attempted]) -> Option<(&Attempted, f64, usize)> {
    let (after, earlier) = attempts.split_last()?;
    let at = earlier.iter().rposition(|one| one.speedup.is_some() && one.same_kernel(after))?;
    Some((after, after.speedup?, at))
}

/// Several things that changed between two measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Crowded {
    /// The attempt that measured them.
    pub attempt: String,
    /// When.
    pub at_ms: i64,
    /// The kernel.
    pub kernel: String,
    /// What was changed.
    pub changed: Changed,
}

/// Measurements before which more than one thing was changed, but for what a search chose.
pub fn crowded(attempts: &[Attempted]) -> Vec<Crowded> {
    (1..=attempts.len()).filter_map(|count| crowded_last(&attempts[..count])).collect()
}

/// Such a measurement, where the last attempt is one.
pub fn crowded_last(attempts: &[Attempted]) -> Option<Crowded> {
    let (after, _, at) = measured_again(attempts)?;
    let before = Some(&attempts[at]).filter(|before| before.verb != "tune" && after.verb != "tune")?;
    let changed = difference(before, after);
    (changed.count() > 1 && !is_known(attempts, after)).then(|| Crowded {
        attempt: after.id.clone(),
        at_ms: after.at_ms,
        kernel: after.kernel.clone(),
        changed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::sample::{bench, profile, refused};

    fn edited(minute: f64, speedup: f64, sources: &str) -> Attempted {
        Attempted { sources: Some(sources.into()), ..bench(minute, speedup) }
    }

    #[test]
    fn a_change_after_a_slow_result_is_blind_without_a_profile() {
        let story = [bench(1.0, 0.12), edited(2.0, 0.09, "two")];
        let found = blind(&story);
        assert_eq!((found.len(), found[0].before, found[0].after), (1, 0.12, 0.09));
        assert!(found[0].changed.sources);
        assert!(blind(&[story[0].clone(), profile(1.5, "x", 2.0), story[1].clone()]).is_empty(), "it was profiled");
        assert!(blind(&[bench(1.0, 1.3), edited(2.0, 1.2, "two")]).is_empty(), "it was not slow");
        assert!(blind(&[bench(1.0, 0.12), bench(2.0, 0.12)]).is_empty(), "nothing was changed");
        let tune = |minute, speedup| Attempted {
            verb: "tune".into(),
            config: Some("A=4,B=2".into()),
            ..bench(minute, speedup)
        };
        assert!(blind(&[bench(1.0, 0.8), tune(2.0, 0.9)]).is_empty(), "a search guesses nothing");
        let other = Attempted { kernel: "other".into(), ..edited(2.0, 0.09, "two") };
        assert!(blind(&[bench(1.0, 0.12), other]).is_empty(), "another kernel");
        let wrong = refused(1.5, "fuzz", crate::SessionPhase::Check, "numerics");
        assert!(blind(&[bench(1.0, 0.12), wrong, edited(2.0, 0.1, "two")]).is_empty(), "a repair");
        let back = [bench(1.0, 0.9), edited(2.0, 0.5, "two"), bench(3.0, 0.9)];
        assert_eq!(blind(&back).len(), 1, "to go back is no guess");
    }

    #[test]
    fn several_things_at_once_are_named() {
        let mut both = edited(2.0, 1.1, "two");
        both.config = Some("A=1,B=4".into());
        both.environment = "host=other".into();
        let found = crowded(&[bench(1.0, 1.0), both.clone()]);
        assert_eq!(found[0].changed.words(), "the sources, B: 2 -> 4, host: h -> other");
        assert!(crowded(&[bench(1.0, 1.0), edited(2.0, 1.1, "two")]).is_empty());
        let set = difference(&bench(1.0, 1.0), &Attempted { environment: "host=h\nCC=gcc".into(), ..bench(2.0, 1.0) });
        assert_eq!(set.words(), "CC: unset -> gcc");
        let changed = difference(&bench(1.0, 1.0), &Attempted { config: None, ..both });
        assert!(changed.config.is_empty() && changed.sources);
    }
}
