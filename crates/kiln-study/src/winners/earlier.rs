//! The winner that is in `best.toml` already. In: its table, and what a new winner was measured on and with. Out: whether it
//! stays. Only times of the same code, device, workloads, caches and threads are compared. A winner of more workloads stays
//! whatever a study of fewer found, and gives way to one of still more.

use std::collections::BTreeSet;
use std::fmt;

use kiln_bench::CacheState;
use kiln_core::IMPLEMENTATION;
use toml_edit::{DocumentMut, Item, TableLike};

use crate::recording::summary::Confirmed;

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
    /// Tuned workloads and the winner's milliseconds.
    tuned: Vec<(String, f64)>,
}

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
            let ms = ms.as_float().or_else(|| ms.as_integer().map(|ms| ms as f64))?;
            (!holdout).then(|| (name.to_string(), ms))
        });
        let config = table.get("config")?.as_table_like()?;
        Some(Earlier {
            study: text("study").unwrap_or_default(),
            device: text("device")?,
            sources: text("sources")?,
            cache: text("cache"),
            threads: table.get("threads").and_then(Item::as_integer),
            tunables: tunables(config),
            tuned: tuned.collect(),
        })
    }

    /// Whether it stays beside a new one that was tuned for these workloads. `listed` are the workloads of the file and
    /// `tunables` its tunables: what is not in the file any more says nothing.
    pub(crate) fn against(
        &self,
        new: &Conditions<'_>,
        confirmed: &[&Confirmed],
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
        let old: Vec<&(String, f64)> = self.tuned.iter().filter(|(name, _)| listed.contains(&name.as_str())).collect();
        let found = |name: &str| confirmed.iter().find(|w| w.name == name);
        let missing: Vec<String> =
            old.iter().filter(|(name, _)| found(name).is_none()).map(|(name, _)| name.clone()).collect();
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
        let ratios: f64 = old.iter().filter_map(|(name, ms)| Some((found(name)?.best_ms / ms).ln())).sum();
        let slower = (ratios / old.len() as f64).exp();
        if slower > 1.0 { Contest::Stays(Stays::Faster(slower)) } else { Contest::Gives }
    }
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
        [cpu.config]\nX = 2\n[cpu.workloads.a]\nbest_ms = 1.0\n[cpu.workloads.b]\nbest_ms = 1\n\
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

    /// A new winner with such times on some workloads, of a file that lists a, b, c and h.
    fn contest(best: &str, new: Conditions<'_>, times: &[(&str, f64)]) -> Contest {
        let earlier = Earlier::read(&best.parse().unwrap(), "cpu", "").unwrap();
        let times: Vec<Confirmed> = times.iter().map(|(name, ms)| confirmed(name, *ms)).collect();
        earlier.against(&new, &times.iter().collect::<Vec<_>>(), &["a", "b", "c", "h"], &BTreeSet::from(["X"]))
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
