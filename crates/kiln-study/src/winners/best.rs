//! The winner, ready to be used: `best.toml` with a table for each target and variant, and a header of defines. In: a summary.
//! Out: the files' paths, or the better winner that is there already. Other targets' and variants' tables are kept.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_bench::Kernel;
use kiln_core::{Config, Fault, Value};
use kiln_stats::Interval;
use toml_edit::{Array, DocumentMut, Item, Table};

use crate::recording::summary::{Confirmed, Summary};
use crate::winners::document::{below, parse, rounded, value};
use crate::winners::write::write_whole;

/// Where the winner was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The table.
    pub toml: Utf8PathBuf,
    /// The header.
    pub header: Utf8PathBuf,
}

/// What became of a winner.
#[derive(Debug, Clone, PartialEq)]
pub enum Best {
    /// It was written.
    Written(Written),
    /// An earlier one of the same code on the same device is faster, and was kept.
    Kept {
        /// The table it is in.
        toml: Utf8PathBuf,
        /// The study it came from.
        study: String,
        /// How many times as long this one takes, over all workloads.
        slower: f64,
    },
}

/// Where and how a winner is written.
#[derive(Debug, Clone, Copy)]
pub struct Destination<'a> {
    /// The folder for both files.
    pub folder: &'a Utf8Path,
    /// The kernel's path, as it was typed.
    pub path: &'a str,
    /// What it ran on.
    pub device: &'a str,
    /// Whether a faster one that is there stays.
    pub keeps_best: bool,
}

/// Writes the winner; none without a winner that was confirmed.
pub fn write_best(kernel: &Kernel<'_>, summary: &Summary, place: Destination<'_>) -> Result<Option<Best>, Fault> {
    let winners: Vec<(Option<&Confirmed>, &Config)> = match &summary.config {
        Some(config) => vec![(None, config)],
        None => summary.workloads.iter().filter_map(|w| Some((Some(w), w.config.as_ref()?))).collect(),
    };
    if winners.is_empty() || summary.workloads.is_empty() {
        return Ok(None);
    }
    let Destination { folder, path, device, keeps_best } = place;
    let fault = |e: std::io::Error| Fault::new(format!("writing the winner into {folder}"), e);
    fs_err::create_dir_all(folder).map_err(fault)?;
    let variant = kernel.variant();
    let written =
        Written { toml: folder.join("best.toml"), header: folder.join(header_name(kernel.target(), &variant)) };
    let old = fs_err::read_to_string(&written.toml).unwrap_or_default();
    let sources = kernel.fingerprint()?;
    if keeps_best && let Some((study, slower)) = better(&old, (kernel.target(), &variant), (device, &sources), summary)
    {
        return Ok(Some(Best::Kept { toml: written.toml, study, slower }));
    }
    let mut document = parse(written.toml.as_str(), &old)?;
    place_for(&mut document, (kernel.target(), &variant), written.toml.as_str(), |table| {
        *table = entry(kernel, summary, (device, path, &sources), &winners);
    })?;
    write_whole(&written.toml, document.to_string().trim_start().as_bytes())?;
    write_whole(&written.header, header(kernel, summary, device, &winners).as_bytes())?;
    Ok(Some(Best::Written(written)))
}

/// Whether the winners in a folder are of the kernel at this path, or there are none. `resolved` tells which folder a path
/// means.
pub fn is_of(folder: &Utf8Path, path: &Utf8Path, resolved: &dyn Fn(&Utf8Path) -> Option<Utf8PathBuf>) -> bool {
    let Ok(text) = fs_err::read_to_string(folder.join("best.toml")) else { return true };
    let Ok(file) = text.parse::<toml::Table>() else { return true };
    // Tables of targets, or of variants below them.
    let tables = file.values().filter_map(toml::Value::as_table);
    let paths = tables.flat_map(|table| std::iter::once(table).chain(table.values().filter_map(toml::Value::as_table)));
    let mut paths = paths.filter_map(|table| table.get("path")?.as_str()).map(Utf8Path::new);
    let ours = resolved(path);
    // One that is not there any more was moved, here perhaps.
    paths.all(|theirs| resolved(theirs).is_none_or(|theirs| Some(theirs) == ours))
}

/// The header of a target and a variant.
fn header_name(target: &str, variant: &str) -> String {
    match variant {
        "" => format!("best_{target}.h"),
        variant => format!("best_{target}_{}.h", variant.replace(|c: char| !c.is_ascii_alphanumeric(), "_")),
    }
}

/// The study of a winner in the file that is faster than this one, and by how much: of the same sources, on the same device,
/// for the same workloads.
fn better(
    old: &str,
    (target, variant): (&str, &str),
    (device, sources): (&str, &str),
    summary: &Summary,
) -> Option<(String, f64)> {
    let file: toml::Table = old.parse().ok()?;
    let table = file.get(target)?;
    let table = if variant.is_empty() { table } else { table.get(variant)? };
    let text = |name: &str| table.get(name)?.as_str();
    if text("device") != Some(device) || text("sources") != Some(sources) {
        return None;
    }
    let workloads = table.get("workloads")?.as_table()?;
    let tuned = || summary.workloads.iter().filter(|w| !w.holdout);
    if tuned().any(|w| !workloads.contains_key(&w.name)) || workloads.len() != summary.workloads.len() {
        return None;
    }
    let ratios = tuned().map(|w| Some((w.best_ms / workloads.get(&w.name)?.get("best_ms")?.as_float()?).ln()));
    let ratios: Option<Vec<f64>> = ratios.collect();
    let ratios = ratios.filter(|ratios| !ratios.is_empty())?;
    let slower = (ratios.iter().sum::<f64>() / ratios.len() as f64).exp();
    (slower > 1.0).then(|| (text("study").unwrap_or_default().to_string(), slower))
}

/// Has the table of a target and a variant written anew, behind all others, which stay as they are.
fn place_for(
    document: &mut DocumentMut,
    (target, variant): (&str, &str),
    file: &str,
    write: impl FnOnce(&mut Table),
) -> Result<(), Fault> {
    let mut new = Table::new();
    write(&mut new);
    if variant.is_empty() {
        document.remove(target);
        document.insert(target, Item::Table(new));
    } else {
        let target = below(document, target, file)?;
        // Older kilns wrote no variants: whose the target's own values were is not known.
        target.retain(|name, item| item.is_table() && !UNNAMED.contains(&name));
        target.set_implicit(true);
        target.insert(variant, Item::Table(new));
    }
    Ok(())
}

/// What a target's own table holds besides those of variants.
const UNNAMED: [&str; 2] = ["config", "workloads"];

/// The table of a winner.
fn entry(
    kernel: &Kernel<'_>,
    summary: &Summary,
    (device, path, sources): (&str, &str, &str),
    winners: &[(Option<&Confirmed>, &Config)],
) -> Table {
    let variant = kernel.variant();
    let mut table = Table::new();
    let mut say = |name: &str, text: &str| table[name] = text.into();
    say("kernel", kernel.name());
    say("path", path);
    if !variant.is_empty() {
        say("variant", &variant);
    }
    say("device", device);
    say("verdict", summary.verdict.name());
    say("study", &summary.study);
    say("sources", sources);
    say("kiln", env!("CARGO_PKG_VERSION"));
    if let (Some(speedup), Some(interval), Some(baseline)) = (summary.speedup, summary.speedup_ci95, &summary.baseline)
    {
        say("baseline", baseline);
        compared(&mut table, speedup, interval);
    }
    let of = |config: &Config| {
        let mut chosen = Table::new();
        config.iter().for_each(|(name, chose)| chosen[name] = Item::Value(value(chose)));
        chosen
    };
    let (mut apart, mut workloads) = (Table::new(), Table::new());
    apart.set_implicit(true);
    workloads.set_implicit(true);
    for (workload, config) in winners {
        match workload {
            None => apart = of(config),
            Some(workload) => apart[&workload.name] = Item::Table(of(config)),
        }
    }
    for w in &summary.workloads {
        let mut confirmed = Table::new();
        confirmed["best_ms"] = rounded(w.best_ms, 6).into();
        confirmed["baseline_ms"] = rounded(w.baseline_ms, 6).into();
        compared(&mut confirmed, w.speedup, w.speedup_ci95);
        confirmed["samples"] = i64::try_from(w.samples).unwrap_or(i64::MAX).into();
        workloads[&w.name] = Item::Table(confirmed);
    }
    table["config"] = Item::Table(apart);
    table["workloads"] = Item::Table(workloads);
    table
}

/// A speedup and its interval.
pub(crate) fn compared(table: &mut Table, speedup: f64, interval: Interval) {
    table["speedup"] = rounded(speedup, 4).into();
    table["speedup_ci95"] = Array::from_iter([rounded(interval.low, 4), rounded(interval.high, 4)]).into();
}

/// Defines as the kernel was built with, and the evidence beside them.
fn header(kernel: &Kernel<'_>, summary: &Summary, device: &str, winners: &[(Option<&Confirmed>, &Config)]) -> String {
    let guard = format!("KILN_BEST_{}_{}_{}", kernel.name(), kernel.target(), kernel.variant()).to_uppercase();
    let guard = guard.trim_end_matches('_');
    let guard: String = guard.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut text = format!("/* {} on {device}, chosen by kiln in study {}.\n", kernel.name(), summary.study);
    for w in &summary.workloads {
        text.push_str(&format!(
            " * {}: {:.4} ms against {:.4} ms of {}, {:.2}x [{:.2}, {:.2}]\n",
            w.name,
            w.best_ms,
            w.baseline_ms,
            summary.baseline.as_deref().unwrap_or("the default"),
            w.speedup,
            w.speedup_ci95.low,
            w.speedup_ci95.high
        ));
    }
    text.push_str(&format!(" */\n#ifndef {guard}\n#define {guard}\n"));
    for (workload, config) in winners {
        // One winner for each workload: the caller says which one it wants.
        if let Some(w) = workload {
            let name: String = w.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            text.push_str(&format!("\n#ifdef KILN_WORKLOAD_{name}"));
        }
        text.push('\n');
        for (name, value) in config.iter() {
            match value {
                Value::Bool(v) => text.push_str(&format!("#define {name} {}\n", u8::from(*v))),
                Value::Str(v) => text.push_str(&format!("#define {name} {v}\n#define {name}_{v} 1\n")),
                number => text.push_str(&format!("#define {name} {number}\n")),
            }
        }
        if workload.is_some() {
            text.push_str("#endif\n");
        }
    }
    text.push_str("\n#endif\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file after a table was written into it.
    fn with(old: &str, target: &str, variant: &str) -> String {
        let mut document = parse("best.toml", old).unwrap();
        place_for(&mut document, (target, variant), "best.toml", |table| table["new"] = 1.into()).unwrap();
        document.to_string().trim_start().to_string()
    }

    #[test]
    fn tables_of_other_targets_are_kept() {
        let old = "[cpu]\na = 1\n\n[cpu.config]\nb = 2\n\n# by hand\n[cuda]\nc = 3\n\n[cuda.config]\nd = 4\n";
        assert_eq!(with(old, "cpu", ""), "# by hand\n[cuda]\nc = 3\n\n[cuda.config]\nd = 4\n\n[cpu]\nnew = 1\n");
        assert_eq!(with("", "cpu", ""), "[cpu]\nnew = 1\n");
    }

    #[test]
    fn tables_of_other_variants_are_kept() {
        let of = |variant: &str| format!("[cpu.\"{variant}\"]\na = 1\n\n[cpu.\"{variant}\".config]\nb = 2\n");
        let old = format!("[cpu]\nx = 0\n\n[cpu.config]\ny = 1\n\n{}\n{}", of("T=f16"), of("T=f32"));
        let new = with(&old, "cpu", "T=f32");
        assert!(new.contains(&of("T=f16")) && new.ends_with("[cpu.\"T=f32\"]\nnew = 1\n"), "{new}");
        assert!(!new.contains("x = 0") && !new.contains("y = 1") && new.matches("T=f32").count() == 1, "{new}");
        assert_eq!(header_name("cpu", "T=f16"), "best_cpu_T_f16.h");
        assert_eq!(header_name("cpu", ""), "best_cpu.h");
    }

    /// A study of two workloads, of which one is held out.
    fn summary(best_ms: f64) -> Summary {
        let interval = serde_json::json!([1.0, 2.0]);
        let workload = |name: &str, holdout: bool| {
            serde_json::json!({
                "name": name, "best_ms": best_ms, "best_ci95_ms": interval, "baseline_ms": 2.0, "baseline_ci95_ms": interval,
                "speedup": 1.5, "speedup_ci95": interval, "cliffs_delta": 1.0, "p_value": 0.0, "verdict": "faster",
                "samples": 25, "warnings": [], "holdout": holdout,
            })
        };
        serde_json::from_value(serde_json::json!({
            "verdict": "reached", "reason": "", "workloads": [workload("a", false), workload("b", true)],
            "config": { "X": 1 }, "speedup": 1.5, "speedup_ci95": interval, "target_speedup": 1.1, "baseline": "n",
            "trials": 3, "refused": {}, "ablation": [], "seed": 1, "seconds": 1.0, "study": "new",
        }))
        .unwrap()
    }

    #[test]
    fn the_best_stays_and_not_the_latest() {
        let table = |name: &str| {
            format!(
                "[{name}]\ndevice = \"d\"\nsources = \"s\"\nstudy = \"old\"\n[{name}.workloads.\"a\"]\nbest_ms = 1.0\n\
                 [{name}.workloads.\"b\"]\nbest_ms = 1.0\n"
            )
        };
        let asked = |old: &str, variant: &str, on: (&str, &str), best_ms: f64| {
            better(old, ("cpu", variant), on, &summary(best_ms)).map(|(study, _)| study)
        };
        let (plain, same) = (table("cpu"), ("d", "s"));
        assert_eq!(asked(&plain, "", same, 1.5).as_deref(), Some("old"));
        assert_eq!(asked(&plain, "", same, 0.5), None);
        // Other code, another device or another variant are no measure.
        assert_eq!(asked(&plain, "", ("d", "changed"), 1.5), None);
        assert_eq!(asked(&plain, "", ("other", "s"), 1.5), None);
        assert_eq!(asked(&plain, "T=f16", same, 1.5), None);
        assert_eq!(asked(&table("cpu.\"T=f16\""), "T=f16", same, 1.5).as_deref(), Some("old"));
        assert_eq!(asked(&plain.replace("\"b\"", "\"c\""), "", same, 1.5).as_deref(), Some("old"), "a holdout's name");
        assert_eq!(asked(&plain.replace("\"a\"", "\"c\""), "", same, 1.5), None);
        assert_eq!(asked("not toml [", "", same, 1.5), None);
    }
}
