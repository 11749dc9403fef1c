//! The winner, ready to be used: `best.toml` with a table for each target and variant, and a header of defines. In: a summary.
//! Out: the files' paths, or the better winner that is there already. Other targets' and variants' tables are kept.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_bench::Kernel;
use kiln_core::{Config, Fault, Value};

use crate::summary::{Confirmed, Summary};
use crate::write::write_whole;

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
pub struct Place<'a> {
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
pub fn write_best(kernel: &Kernel<'_>, summary: &Summary, place: Place<'_>) -> Result<Option<Best>, Fault> {
    let winners: Vec<(Option<&Confirmed>, &Config)> = match &summary.config {
        Some(config) => vec![(None, config)],
        None => summary.workloads.iter().filter_map(|w| Some((Some(w), w.config.as_ref()?))).collect(),
    };
    if winners.is_empty() || summary.workloads.is_empty() {
        return Ok(None);
    }
    let Place { folder, path, device, keeps_best } = place;
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
    let mut text = others(&old, kernel.target(), &variant);
    text.push_str(&table(kernel, summary, (device, path, &sources), &winners));
    write_whole(&written.toml, text.as_bytes())?;
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

/// The name of a target's and variant's table.
fn table_name(target: &str, variant: &str) -> String {
    match variant {
        "" => target.to_string(),
        variant => format!("{target}.{}", toml_string(variant)),
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

/// What the file says of other targets and variants: every line that is not in one of this one's tables.
fn others(old: &str, target: &str, variant: &str) -> String {
    let name = table_name(target, variant);
    // Older kilns wrote no variants: whose the target's own tables were is not known.
    let unnamed = [target.to_string(), format!("{target}.config"), format!("{target}.workloads")];
    let below = |table: &str, name: &str| table == name || table.strip_prefix(name).is_some_and(|t| t.starts_with('.'));
    let replaced = |table: &str| match variant {
        "" => below(table, &name),
        _ => below(table, &name) || table == unnamed[0] || unnamed[1..].iter().any(|n| below(table, n)),
    };
    let mut kept = String::new();
    let mut ours = false;
    for line in old.lines() {
        if let Some(table) = line.trim().strip_prefix('[') {
            ours = replaced(table.trim_end_matches(']'));
        }
        if !ours && !line.starts_with("# Written by kiln") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    let kept = kept.trim();
    if kept.is_empty() { String::new() } else { format!("{kept}\n\n") }
}

fn table(
    kernel: &Kernel<'_>,
    summary: &Summary,
    (device, path, sources): (&str, &str, &str),
    winners: &[(Option<&Confirmed>, &Config)],
) -> String {
    let variant = kernel.variant();
    let target = table_name(kernel.target(), &variant);
    let mut text = format!("[{target}]\nkernel = {}\npath = {}\n", toml_string(kernel.name()), toml_string(path));
    if !variant.is_empty() {
        text.push_str(&format!("variant = {}\n", toml_string(&variant)));
    }
    text.push_str(&format!(
        "device = {}\nverdict = {:?}\nstudy = {:?}\nsources = {sources:?}\nkiln = {:?}\n",
        toml_string(device),
        summary.verdict.name(),
        summary.study,
        env!("CARGO_PKG_VERSION"),
    ));
    if let (Some(speedup), Some(interval), Some(baseline)) = (summary.speedup, summary.speedup_ci95, &summary.baseline)
    {
        text.push_str(&format!(
            "baseline = {baseline:?}\nspeedup = {speedup:.4}\nspeedup_ci95 = [{:.4}, {:.4}]\n",
            interval.low, interval.high
        ));
    }
    for (workload, config) in winners {
        let name = workload.map_or(format!("{target}.config"), |w| format!("{target}.config.{:?}", w.name));
        text.push_str(&format!("\n[{name}]\n"));
        for (name, value) in config.iter() {
            text.push_str(&format!("{name} = {}\n", toml_value(value)));
        }
    }
    for w in &summary.workloads {
        text.push_str(&format!(
            "\n[{target}.workloads.{:?}]\nbest_ms = {:.6}\nbaseline_ms = {:.6}\nspeedup = {:.4}\nspeedup_ci95 = [{:.4}, {:.4}]\nsamples = {}\n",
            w.name, w.best_ms, w.baseline_ms, w.speedup, w.speedup_ci95.low, w.speedup_ci95.high, w.samples
        ));
    }
    text
}

/// Text as TOML has it.
pub(crate) fn toml_string(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

pub(crate) fn toml_value(value: &Value) -> String {
    match value {
        Value::Str(text) => toml_string(text),
        Value::Float(v) if v.fract() == 0.0 && v.is_finite() => format!("{v:.1}"),
        other => other.to_string(),
    }
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

    #[test]
    fn odd_texts_are_read_back_as_they_were() {
        for text in ["plain", "a \"b\" \\c", "tab\tbell\u{7}", "z\u{200B}w", "del\u{7f}", "\u{85}"] {
            let file = format!("[kernel]\nname = \"k\"\n[target.cpu]\n[tunables]\nX = [{}]\n", toml_string(text));
            let (spec, _) = kiln_spec::parse("k", file.as_bytes()).unwrap();
            assert_eq!(spec.targets[0].tunables[0].values, [Value::Str(text.into())]);
        }
    }

    #[test]
    fn tables_of_other_targets_are_kept() {
        let old = "[cpu]\na = 1\n\n[cpu.config]\nb = 2\n\n[cuda]\nc = 3\n\n[cuda.config]\nd = 4\n";
        assert_eq!(others(old, "cpu", ""), "[cuda]\nc = 3\n\n[cuda.config]\nd = 4\n\n");
        assert_eq!(others("", "cpu", ""), "");
    }

    #[test]
    fn tables_of_other_variants_are_kept() {
        let of = |variant: &str| format!("[cpu.\"{variant}\"]\na = 1\n\n[cpu.\"{variant}\".config]\nb = 2\n");
        let old = format!("[cpu]\nx = 0\n\n[cpu.config]\ny = 1\n\n{}\n{}", of("T=f16"), of("T=f32"));
        assert_eq!(others(&old, "cpu", "T=f32"), format!("{}\n", of("T=f16")));
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
