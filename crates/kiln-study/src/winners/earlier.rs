//! The winner that is in `best.toml` already. In: its table, and what a new winner was measured on and with. Out: whether it
//! stays. Only figures of the same code, device, workloads, caches and threads are compared: speedups over the same baseline,
//! which hold on a slower day too, and times where there are none. A winner of more workloads stays whatever a study of fewer
//! found, and gives way to one of still more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use kiln_bench::CacheState;
use kiln_core::{Config, IMPLEMENTATION};
use toml_edit::{DocumentMut, Item, TableLike};

use crate::recording::summary::{Confirmed, Summary};
use crate::winners::document::{rounded, value};

/// Digits behind the point of a speedup in the table.
pub(crate) const SPEEDUP_DIGITS: i32 = 4;
/// The same of milliseconds.
pub(crate) const MS_DIGITS: i32 = 6;

/// What a winner's times are of.
#[derive(Debug, Clone, Copy)]
pub struct Conditions<'a> {
    /// What it ran on.
    pub device: &'a str,
    /// The hash of the sources.
    pub sources: &'a str,
    /// Whether caches were warm or cold.
    pub cache: CacheState,
    /// Threads it might use.
    pub threads: usize,
}

/// Why an earlier winner stays.
#[derive(Debug, Clone, PartialEq)]
pub enum Stays {
    /// The new one is the same configuration, and no better this time.
    Same,
    /// It has the greater speedup over the same baseline, over all workloads.
    Ahead {
        /// The baseline of both.
        baseline: String,
        /// Its speedup.
        old: f64,
        /// The new one's.
        new: f64,
    },
    /// The new one takes so many times as long, over all workloads.
    Faster(f64),
    /// These of its workloads were not tuned now.
    Covers(Vec<String>),
    /// It was measured with the first, the new one with the second: caches or threads.
    Otherwise(String, String),
}

impl fmt::Display for Stays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stays::Same => f.write_str("this one is the same configuration"),
            Stays::Ahead { baseline, old, new } => {
                write!(f, "that one was confirmed {old:.3}x over {baseline}, this one {new:.3}x")
            }
            Stays::Faster(slower) => write!(f, "this one takes {slower:.3}x as long"),
            Stays::Covers(missing) => write!(f, "that one also covers {}", missing.join(", ")),
            Stays::Otherwise(old, new) => write!(f, "that one was measured with {old}, this one with {new}"),
        }
    }
}

/// Why an earlier winner is no match for any new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unlike {
    /// The sources or the tunables have changed.
    Code,
    /// It ran on this one.
    Device(String),
}

impl fmt::Display for Unlike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unlike::Code => f.write_str("the sources or tunables have changed since"),
            Unlike::Device(device) => write!(f, "that one ran on {device}"),
        }
    }
}

/// How the two stand.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Contest {
    /// The earlier one stays.
    Stays(Stays),
    /// It gives way, and its times say nothing about the new one.
    Unlike(Unlike),
    /// It gives way.
    Gives,
}

/// An earlier winner.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Earlier {
    /// The study it came from.
    pub(crate) study: String,
    device: String,
    sources: String,
    /// None where an older kiln did not write it.
    cache: Option<String>,
    threads: Option<i64>,
    tunables: BTreeSet<String>,
    /// What its speedups are over; none where the default configuration took its place.
    baseline: Option<String>,
    /// Its values, or those of each workload.
    chosen: Chosen,
    /// Tuned workloads.
    tuned: Vec<Tuned>,
}

/// A workload that an earlier winner was tuned for.
#[derive(Debug, Clone, PartialEq)]
struct Tuned {
    name: String,
    best_ms: f64,
    speedup: Option<f64>,
}

/// Values of tunables as a table has them: of all workloads below the empty name, else of each below its own.
type Chosen = BTreeMap<String, BTreeMap<String, String>>;

impl Earlier {
    /// The one of a target and a variant.
    pub(crate) fn read(document: &DocumentMut, target: &str, variant: &str) -> Option<Earlier> {
        let table = document.get(target)?;
        let table = if variant.is_empty() { table } else { table.get(variant)? }.as_table_like()?;
        let text = |name: &str| table.get(name).and_then(Item::as_str).map(String::from);
        let workloads = table.get("workloads")?.as_table_like()?;
        let tuned = workloads.iter().filter_map(|(name, item)| {
            let item = item.as_table_like()?;
            let holdout = item.get("holdout").and_then(Item::as_bool).unwrap_or(false);
            let ms = item.get("best_ms")?.as_value()?;
            let number =
                |value: &toml_edit::Value| value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
            let speedup = item.get("speedup").and_then(Item::as_value).and_then(number);
            let tuned = Tuned { name: name.to_string(), best_ms: number(ms)?, speedup };
            (!holdout).then_some(tuned)
        });
        let config = table.get("config")?.as_table_like()?;
        Some(Earlier {
            study: text("study").unwrap_or_default(),
            device: text("device")?,
            sources: text("sources")?,
            cache: text("cache"),
            threads: table.get("threads").and_then(Item::as_integer),
            tunables: tunables(config),
            baseline: text("baseline"),
            chosen: chosen(config),
            tuned: tuned.collect(),
        })
    }

    /// Whether it stays beside the winner of a study. `listed` are the workloads of the file and `tunables` its tunables:
    /// what is not in the file any more says nothing.
    pub(crate) fn against(
        &self,
        new: &Conditions<'_>,
        summary: &Summary,
        listed: &[&str],
        tunables: &BTreeSet<&str>,
    ) -> Contest {
        // A winner has the tunables of one implementation, where several compete.
        let same = match tunables.contains(IMPLEMENTATION) {
            true => {
                self.tunables.contains(IMPLEMENTATION) && self.tunables.iter().all(|t| tunables.contains(t.as_str()))
            }
            false => self.tunables.iter().map(String::as_str).eq(tunables.iter().copied()),
        };
        if !same {
            return Contest::Unlike(Unlike::Code);
        }
        let confirmed: Vec<&Confirmed> = summary.workloads.iter().filter(|w| !w.holdout).collect();
        let old: Vec<&Tuned> = self.tuned.iter().filter(|own| listed.contains(&own.name.as_str())).collect();
        let found = |own: &Tuned| confirmed.iter().copied().find(|w| w.name == own.name);
        let missing: Vec<String> = old.iter().filter(|own| found(own).is_none()).map(|own| own.name.clone()).collect();
        if !missing.is_empty() {
            return Contest::Stays(Stays::Covers(missing));
        }
        if self.sources != new.sources {
            return Contest::Unlike(Unlike::Code);
        }
        if self.device != new.device {
            return Contest::Unlike(Unlike::Device(self.device.clone()));
        }
        if old.is_empty() || old.len() < confirmed.len() {
            return Contest::Gives;
        }
        if let Some(cache) = self.cache.as_deref().filter(|cache| *cache != new.cache.name()) {
            let words = |cache: &str| format!("{cache} caches");
            return Contest::Stays(Stays::Otherwise(words(cache), words(new.cache.name())));
        }
        if let Some(threads) = self.threads.filter(|threads| usize::try_from(*threads) != Ok(new.threads)) {
            let words = |count: String| format!("{count} thread{}", if count == "1" { "" } else { "s" });
            return Contest::Stays(Stays::Otherwise(words(threads.to_string()), words(new.threads.to_string())));
        }
        let both: Vec<(&Tuned, &Confirmed)> = old.iter().filter_map(|own| Some((*own, found(own)?))).collect();
        let stays = self.ahead(&both, summary);
        let same =
            || both.iter().all(|(own, new)| self.is_same(&own.name, new.config.as_ref().or(summary.config.as_ref())));
        match stays {
            Some(_) if same() => Contest::Stays(Stays::Same),
            Some(stays) => Contest::Stays(stays),
            None => Contest::Gives,
        }
    }

    /// By how much it is the better one on these workloads, if it is. The new one's figures have the digits of a table: written
    /// again, a study is no worse than itself.
    fn ahead(&self, both: &[(&Tuned, &Confirmed)], summary: &Summary) -> Option<Stays> {
        let mean = |ratios: &[f64]| (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let shared = self.baseline.as_ref().filter(|own| summary.baseline.as_ref() == Some(own));
        let speedups: Option<Vec<f64>> = both.iter().map(|(own, _)| own.speedup.filter(|own| *own > 0.0)).collect();
        if let (Some(baseline), Some(speedups)) = (shared, speedups) {
            let new: Vec<f64> = both.iter().map(|(_, new)| rounded(new.speedup, SPEEDUP_DIGITS)).collect();
            let (old, new) = (mean(&speedups), mean(&new));
            return (old > new).then(|| Stays::Ahead { baseline: baseline.clone(), old, new });
        }
        let slower =
            mean(&both.iter().map(|(own, new)| rounded(new.best_ms, MS_DIGITS) / own.best_ms).collect::<Vec<_>>());
        (slower > 1.0).then_some(Stays::Faster(slower))
    }

    /// Whether it has these values on a workload.
    fn is_same(&self, workload: &str, config: Option<&Config>) -> bool {
        let Some(config) = config else { return false };
        let new = config.iter().map(|(name, chose)| (name.to_string(), bare(&value(chose)))).collect();
        self.chosen.get(workload).or_else(|| self.chosen.get("")) == Some(&new)
    }
}

/// The values of a configuration: one for all workloads, or one below each.
fn chosen(config: &dyn TableLike) -> Chosen {
    let mut all = Chosen::new();
    for (name, item) in config.iter() {
        if let Some(value) = item.as_value().filter(|value| !value.is_inline_table()) {
            all.entry(String::new()).or_default().insert(name.to_string(), bare(value));
        } else if let Some(own) = item.as_table_like() {
            let values = own.iter().filter_map(|(name, item)| Some((name.to_string(), bare(item.as_value()?))));
            all.insert(name.to_string(), values.collect());
        }
    }
    all
}

/// A value without the space and the comments around it.
fn bare(value: &toml_edit::Value) -> String {
    value.clone().decorated("", "").to_string()
}

/// The names a configuration has values for: one for all workloads, or one below each.
fn tunables(config: &dyn TableLike) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (name, item) in config.iter() {
        match item.as_table_like() {
            Some(one) => names.extend(one.iter().map(|(name, _)| name.to_string())),
            None => _ = names.insert(name.to_string()),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEST: &str = "[cpu]\ndevice = \"d\"\ncache = \"warm\"\nthreads = 1\nsources = \"s\"\nstudy = \"old\"\n\
        [cpu.config]\nX = 2 # by hand\n[cpu.workloads.a]\nbest_ms = 1.0\n[cpu.workloads.b]\nbest_ms = 1\n\
        [cpu.workloads.h]\nbest_ms = 1.0\nholdout = true\n";
    const SAME: Conditions<'_> = Conditions { device: "d", sources: "s", cache: CacheState::Warm, threads: 1 };

    fn confirmed(name: &str, best_ms: f64) -> Confirmed {
        let interval = serde_json::json!([1.0, 2.0]);
        serde_json::from_value(serde_json::json!({
            "name": name, "best_ms": best_ms, "best_ci95_ms": interval, "baseline_ms": 2.0, "baseline_ci95_ms": interval,
            "speedup": 1.5, "speedup_ci95": interval, "cliffs_delta": 1.0, "p_value": 0.0, "verdict": "faster",
            "samples": 25, "warnings": [], "holdout": false,
        }))
        .unwrap()
    }

    /// The end of a study with such times on some workloads, each 1.5 times as fast as the baseline.
    fn summary(times: &[(&str, f64)]) -> Summary {
        let mut summary: Summary = serde_json::from_value(serde_json::json!({
            "verdict": "reached", "reason": "", "workloads": [], "config": { "X": 3 }, "speedup": 1.5,
            "speedup_ci95": [1.4, 1.6], "target_speedup": 1.1, "baseline": "naive", "trials": 12, "refused": {},
            "ablation": [], "seed": 1, "seconds": 1.0, "study": "new",
        }))
        .unwrap();
        summary.workloads = times.iter().map(|(name, ms)| confirmed(name, *ms)).collect();
        summary
    }

    /// A new winner beside an earlier one, in a file that lists a, b, c and h.
    fn meet(best: &str, new: Conditions<'_>, summary: &Summary) -> Contest {
        let earlier = Earlier::read(&best.parse().unwrap(), "cpu", "").unwrap();
        earlier.against(&new, summary, &["a", "b", "c", "h"], &BTreeSet::from(["X"]))
    }

    /// A new winner with such times on some workloads.
    fn contest(best: &str, new: Conditions<'_>, times: &[(&str, f64)]) -> Contest {
        meet(best, new, &summary(times))
    }

    #[test]
    fn the_faster_one_of_the_same_workloads_stays() {
        assert_eq!(contest(BEST, SAME, &[("a", 1.5), ("b", 1.5)]), Contest::Stays(Stays::Faster(1.5)));
        assert_eq!(contest(BEST, SAME, &[("a", 0.5), ("b", 1.5)]), Contest::Gives);
        // A workload that the file does not list any more is no reason.
        let gone = BEST.replace(".b]", ".gone]");
        assert_eq!(contest(&gone, SAME, &[("a", 0.5)]), Contest::Gives);
        assert!(matches!(contest(&gone, SAME, &[("a", 1.5)]), Contest::Stays(Stays::Faster(_))));
        // Older kilns wrote neither caches nor threads.
        let older = BEST.replace("cache = \"warm\"\nthreads = 1\n", "");
        assert!(matches!(contest(&older, SAME, &[("a", 1.5), ("b", 1.5)]), Contest::Stays(Stays::Faster(_))));
    }

    #[test]
    fn on_a_slower_day_speedups_over_the_same_baseline_decide() {
        let with = |speedup: f64, baseline: &str| {
            let best = BEST.replace("best_ms = 1", &format!("speedup = {speedup:?}\nbest_ms = 1"));
            best.replace("study = \"old\"", &format!("study = \"old\"\nbaseline = \"{baseline}\""))
        };
        let slow = summary(&[("a", 2.0), ("b", 2.0)]);
        assert_eq!(meet(&with(1.4, "naive"), SAME, &slow), Contest::Gives);
        let Contest::Stays(why) = meet(&with(1.8, "naive"), SAME, &slow) else { panic!("it gave way") };
        assert_eq!(why.to_string(), "that one was confirmed 1.800x over naive, this one 1.500x");
        // A speedup over another baseline says nothing.
        assert_eq!(meet(&with(1.4, "blas"), SAME, &slow), Contest::Stays(Stays::Faster(2.0)));
    }

    #[test]
    fn a_study_that_is_written_again_is_no_worse_than_itself() {
        let best = BEST.replace("best_ms = 1.0", "best_ms = 1.000001").replace("best_ms = 1\n", "best_ms = 1.000001\n");
        assert_eq!(contest(&best, SAME, &[("a", 1.0000014), ("b", 1.0000014)]), Contest::Gives);
        assert!(matches!(contest(&best, SAME, &[("a", 1.0000016), ("b", 1.0000016)]), Contest::Stays(_)));
    }

    #[test]
    fn the_same_configuration_is_called_so() {
        let mut slow = summary(&[("a", 2.0), ("b", 2.0)]);
        slow.config = Some(serde_json::from_value(serde_json::json!({ "X": 2 })).unwrap());
        let Contest::Stays(why) = meet(BEST, SAME, &slow) else { panic!("it gave way") };
        assert_eq!(why.to_string(), "this one is the same configuration");
        // Of workloads with their own, all have to be.
        let apart = BEST.replace("[cpu.config]\nX = 2 # by hand", "[cpu.config.a]\nX = 2\n[cpu.config.b]\nX = 4");
        for workload in &mut slow.workloads {
            workload.config = slow.config.clone();
        }
        slow.config = None;
        assert_eq!(meet(&apart, SAME, &slow), Contest::Stays(Stays::Faster(2.0)));
        assert_eq!(meet(&apart.replace("X = 4", "X = 2"), SAME, &slow), Contest::Stays(Stays::Same));
    }

    #[test]
    fn a_study_of_fewer_workloads_replaces_nothing_and_one_of_more_does() {
        let covers = |names: &[&str]| Contest::Stays(Stays::Covers(names.iter().map(|n| n.to_string()).collect()));
        assert_eq!(contest(BEST, SAME, &[("a", 0.1)]), covers(&["b"]));
        assert_eq!(contest(BEST, SAME, &[("c", 0.1)]), covers(&["a", "b"]));
        assert_eq!(contest(BEST, Conditions { sources: "new", ..SAME }, &[("a", 0.1)]), covers(&["b"]));
        assert_eq!(contest(BEST, SAME, &[("a", 9.0), ("b", 9.0), ("c", 9.0)]), Contest::Gives);
    }

    #[test]
    fn other_caches_or_threads_replace_nothing() {
        let both = [("a", 0.1), ("b", 0.1)];
        let Contest::Stays(why) = contest(BEST, Conditions { cache: CacheState::Cold, ..SAME }, &both) else {
            panic!("it gave way")
        };
        assert_eq!(why.to_string(), "that one was measured with warm caches, this one with cold caches");
        let Contest::Stays(why) = contest(BEST, Conditions { threads: 2, ..SAME }, &both) else {
            panic!("it gave way")
        };
        assert_eq!(why.to_string(), "that one was measured with 1 thread, this one with 2 threads");
    }

    #[test]
    fn other_code_or_another_device_is_no_match() {
        let both = [("a", 9.0), ("b", 9.0)];
        let new = Conditions { sources: "new", ..SAME };
        assert_eq!(contest(BEST, new, &both), Contest::Unlike(Unlike::Code));
        let new = Conditions { device: "other", ..SAME };
        assert_eq!(contest(BEST, new, &both), Contest::Unlike(Unlike::Device("d".into())));
        // A configuration of other tunables is of no use to anyone.
        assert_eq!(contest(&BEST.replace("X = 2", "Y = 2"), SAME, &[("a", 9.0)]), Contest::Unlike(Unlike::Code));
    }

    #[test]
    fn a_variant_has_its_own() {
        let best = BEST.replace("[cpu", "[cpu.\"T=f16\"").parse().unwrap();
        assert!(Earlier::read(&best, "cpu", "T=f16").is_some());
        assert!(Earlier::read(&best, "cpu", "T=f32").is_none() && Earlier::read(&best, "cpu", "").is_none());
    }
}
