//! Winners into the table of tuned configurations that the kernel file names. In: a summary and the table as it is. Out: the
//! table with an entry for each tuned workload, in place of the one of the same architecture, variant and workload;
//! everything else in it stays as it was. The reasons beside a choice are what its values are worth against the default's.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_bench::Kernel;
use kiln_core::{Config, Fault};
use kiln_spec::TargetKind;
use kiln_stats::Verdict;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table};

use crate::recording::summary::{Ablated, Confirmed, Late, Summary};
use crate::winners::best::compared;
use crate::winners::document::{inline, parse, rounded, value};
use crate::winners::python::{self, Ran};
use crate::winners::write::write_whole;

/// Above the first entry of a new table.
const PREFACE: &str = "# Winners by architecture, variant and shape, written by `kiln tune --adopt`. kiln begins with the one for the nearest\n\
                       # shape instead of [default]. `why`: how much slower it is with one value set back to the default. `ruled_out`: what gates refused.\n";

/// Writes the winners of a study into the kernel's table, and for a Python target into `tuned.json` beside it, which programs
/// read at run time; nothing without a winner that was confirmed. Refuses a kernel file that names no table.
pub fn adopt(kernel: &Kernel<'_>, summary: &Summary, ran: &Ran<'_>) -> Result<Vec<Utf8PathBuf>, Fault> {
    let table = table(kernel)?;
    let tuned: Vec<(&Confirmed, &Config)> = summary
        .workloads
        .iter()
        // Against the default itself, what is not faster has won nothing.
        .filter(|w| !w.holdout && (summary.baseline.is_some() || w.verdict == Verdict::Faster))
        .filter_map(|w| Some((w, w.config.as_ref().or(summary.config.as_ref())?)))
        .collect();
    if tuned.is_empty() {
        return Ok(Vec::new());
    }
    let fault = |e: std::io::Error| Fault::new(format!("writing the winner into {table}"), e);
    let mut text = match fs_err::read_to_string(&table) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => PREFACE.to_string(),
        read => read.map_err(fault)?,
    };
    let mut document = parse(table.as_str(), &text)?;
    for (confirmed, config) in &tuned {
        let new = entry(kernel, summary, (confirmed, config), ran);
        put(&mut document, new).map_err(|why| {
            Fault::new(format!("writing the winner into {table}"), why)
                .hint("write its entries under [[tuned]] headings")
        })?;
    }
    text = document.to_string();
    // A table by another hand may be written in ways that lines do not show: it is not replaced by one that cannot be read.
    kiln_spec::read_tuned(table.as_str(), text.as_bytes(), kernel.selection.target).map_err(|reports| {
        let why = reports.first().map_or_else(String::new, |report| report.message.clone());
        Fault::new(format!("writing the winner into {table}"), why).hint("write its entries under [[tuned]] headings")
    })?;
    write_whole(&table, text.as_bytes())?;
    let mut files = vec![table];
    if kernel.selection.target.kind == TargetKind::Python {
        files.push(python::write(kernel, summary, &tuned, ran, &files[0])?);
    }
    Ok(files)
}

/// Where the kernel's winners are kept. Refuses a place that cannot be written to.
pub fn table(kernel: &Kernel<'_>) -> Result<Utf8PathBuf, Fault> {
    let target = kernel.selection.target;
    let file = target.tuned.file.as_ref().ok_or_else(|| {
        let why = format!("[target.{}] names no table", target.kind.name());
        Fault::new("adopting the winner", why).hint("add tuned = \"tuned.toml\" there: kiln writes the file")
    })?;
    let table = kernel.folder.join(file);
    let trial = table.with_extension("trial");
    let folder = table.parent().unwrap_or(Utf8Path::new("."));
    let written = fs_err::create_dir_all(folder)
        .and_then(|()| fs_err::write(&trial, ""))
        .and_then(|()| fs_err::remove_file(&trial));
    written.map_err(|e| Fault::new(format!("making sure that winners can be written into {table}"), e))?;
    if target.kind == TargetKind::Python {
        python::check(&table)?;
    }
    Ok(table)
}

/// Refused finalists that are named.
const FINALISTS: usize = 2;
/// What tells entries apart.
const KEY: [&str; 3] = ["arch", "variant", "workload"];

/// The entry of a workload's winner.
fn entry(kernel: &Kernel<'_>, summary: &Summary, (confirmed, config): (&Confirmed, &Config), ran: &Ran<'_>) -> Table {
    let mut entry = Table::new();
    if let Some(arch) = kernel.selection.arch {
        entry["arch"] = arch.to_string().into();
    }
    let variant = kernel.selection.variant.iter();
    let variant: Vec<(&str, toml_edit::Value)> = variant.map(|(name, dtype)| (&**name, dtype.name().into())).collect();
    if !variant.is_empty() {
        entry["variant"] = inline(variant);
    }
    if !confirmed.name.is_empty() {
        entry["workload"] = confirmed.name.as_str().into();
    }
    if let Some(workload) = kernel.selection.workloads.iter().find(|w| *w.name == *confirmed.name) {
        entry["dims"] = inline(workload.dims.iter().map(|(name, size)| (&**name, value(size))));
    }
    entry["config"] = inline(config.iter().map(|(name, chosen)| (&**name, value(chosen))));
    let apart = confirmed.config.is_some();
    let ours = |entry: &&Ablated| !apart || entry.workload.as_deref() == Some(&*confirmed.name);
    let mut why: Array = summary.ablation.iter().filter(ours).filter_map(reason).collect();
    if !why.is_empty() {
        why.iter_mut().for_each(|line| line.decor_mut().set_prefix("\n  "));
        why.set_trailing_comma(true);
        why.set_trailing("\n");
        entry["why"] = why.into();
    }
    entry["ruled_out"] = ruled_out(summary).into();
    entry["date"] = ran.date.into();
    entry["device"] = ran.device.into();
    entry["baseline"] = summary.baseline.as_deref().unwrap_or("the default configuration").into();
    entry["best_ms"] = rounded(confirmed.best_ms, 6).into();
    entry["baseline_ms"] = rounded(confirmed.baseline_ms, 6).into();
    compared(&mut entry, confirmed.speedup, confirmed.speedup_ci95);
    entry["study"] = summary.study.as_str().into();
    entry["kiln"] = env!("CARGO_PKG_VERSION").into();
    entry
}

/// What was not chosen because a gate refused it, in words: how many trials, by which gates, and finalists among them.
fn ruled_out(summary: &Summary) -> String {
    let refused: usize = summary.refused.values().sum();
    let trials = summary.trials;
    let mut gates: Vec<(usize, &str)> = summary.refused.iter().map(|(gate, count)| (*count, gate.name())).collect();
    gates.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let gates: Vec<String> = gates.iter().map(|(count, gate)| format!("{gate} {count}")).collect();
    let mut parts = vec![match refused {
        0 => format!("none of {trials} trials refused"),
        _ => format!("{refused} of {trials} trials refused: {}", gates.join(", ")),
    }];
    let late = |late: &Late| format!("finalist {} refused by {}", late.config, late.refusal.gate);
    parts.extend(summary.late.iter().take(FINALISTS).map(late));
    if summary.late.len() > FINALISTS {
        parts.push(format!("{} more finalists refused", summary.late.len() - FINALISTS));
    }
    parts.join("; ")
}

/// What a value is worth, in words; none when nothing is known.
fn reason(entry: &Ablated) -> Option<String> {
    let Ablated { tunable, from, to, worth, why, .. } = entry;
    match (worth, why) {
        (Some(worth), _) => Some(format!("{tunable} {from}: {worth:.2}x as long with {to}")),
        (None, Some(why)) => Some(format!("{tunable} {from}: with {to} alone, {why}")),
        (None, None) => None,
    }
}

/// Puts an entry in place of the one with the same key, with the remarks above that, or behind all others.
fn put(document: &mut DocumentMut, mut new: Table) -> Result<(), &'static str> {
    // Remarks at the end of a table without entries belong above the first one.
    let preface = document.trailing().as_str().unwrap_or("").trim().to_string();
    let entries = document.entry("tuned").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let entries = entries.as_array_of_tables_mut().ok_or("its entries are written otherwise")?;
    let key = |entry: &Table| KEY.map(|name| entry.get(name).map(read));
    let wanted = key(&new);
    if let Some(old) = entries.iter_mut().find(|entry| key(entry) == wanted) {
        *new.decor_mut() = old.decor().clone();
        new.set_position(old.position());
        *old = new;
        return Ok(());
    }
    let first = entries.is_empty() && !preface.is_empty();
    if first {
        new.decor_mut().set_prefix(format!("{preface}\n\n"));
    }
    entries.push(new);
    if first {
        document.set_trailing("");
    }
    Ok(())
}

/// What a key's value says, however it is written.
fn read(item: &Item) -> Vec<(String, String)> {
    let text = |item: &toml_edit::Value| item.as_str().map_or_else(|| item.to_string(), String::from);
    let mut pairs: Vec<(String, String)> = match (item.as_value(), item.as_table_like()) {
        (_, Some(table)) => {
            table.iter().filter_map(|(name, item)| Some((name.into(), text(item.as_value()?)))).collect()
        }
        (Some(value), None) => vec![(String::new(), text(value))],
        (None, None) => Vec::new(),
    };
    pairs.sort();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with an entry put in.
    fn with(text: &str, workload: &str, x: i64) -> String {
        let mut document = parse("tuned.toml", text).unwrap();
        let mut entry = Table::new();
        entry["arch"] = "sm_80".into();
        entry["workload"] = workload.into();
        entry["config"] = inline([("X", x.into())]);
        put(&mut document, entry).unwrap();
        document.to_string()
    }

    #[test]
    fn an_entry_takes_the_place_of_its_like_and_nothing_else_changes() {
        let of = |workload: &str, x: i64| {
            format!("[[tuned]]\narch = \"sm_80\"\nworkload = \"{workload}\"\nconfig = {{ X = {x} }}\n")
        };
        let first = with("# about it\n", "a", 1);
        assert_eq!(first, format!("# about it\n\n{}", of("a", 1)));
        let both = with(&first, "b", 2);
        assert_eq!(both, format!("{first}\n{}", of("b", 2)));
        // By hand: a remark, and spaces.
        let remarked = format!("{first}\n# by hand\n{}", of("b", 2).replace("arch = \"sm_80\"", "arch  ='sm_80'"));
        assert_eq!(with(&remarked, "a", 3), remarked.replace("X = 1", "X = 3"));
        assert_eq!(with(&remarked, "b", 4), format!("{first}\n# by hand\n{}", of("b", 4)));
        let mut document = parse("tuned.toml", "tuned = [{ workload = \"a\" }]\n").unwrap();
        assert!(put(&mut document, Table::new()).is_err());
    }

    const KERNEL: &str = "[kernel]\nname = \"k\"\n[target.cpu]\nsource = \"k.c\"\ntuned = \"results/tuned.toml\"\n\
        [tunables]\nX = [1, 2, 4]\n[default]\nX = 1\n[objective]\nper_workload = true\n\
        [[workloads]]\nname = \"small\"\ndims = { N = 8 }\n[[workloads]]\nname = \"large\"\ndims = { N = 4096 }\n\
        [[workloads]]\nname = \"other\"\nuse = \"holdout\"\ndims = { N = 64 }\n";

    fn confirmed(workload: &str, x: Option<i64>, speedup: f64) -> serde_json::Value {
        let mut row = serde_json::json!({
            "name": workload, "best_ms": 1.0, "best_ci95_ms": [1.0, 2.0], "baseline_ms": 2.0,
            "baseline_ci95_ms": [1.0, 2.0], "speedup": speedup, "speedup_ci95": [1.25, 2.0], "cliffs_delta": 1.0,
            "p_value": 0.0, "verdict": "faster", "samples": 25, "warnings": [], "holdout": x.is_none(),
        });
        if let Some(x) = x {
            row["config"] = serde_json::json!({ "X": x });
        }
        row
    }

    #[test]
    fn workloads_tuned_apart_have_a_row_each_with_its_reason() {
        let held = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(held.path().into()).unwrap();
        let (mut spec, _) = kiln_spec::parse("k.toml", KERNEL.as_bytes()).unwrap();
        let refusal = serde_json::json!({ "gate": "numerics", "rule": "", "measured": "", "limit": "", "evidence": "", "hint": null });
        let ablated = |workload: &str, from: &str, worth: f64| serde_json::json!({ "workload": workload, "tunable": "X", "from": from, "to": "1", "worth": worth });
        let summary: Summary = serde_json::from_value(serde_json::json!({
            "verdict": "reached", "reason": "", "config": null, "speedup": null, "speedup_ci95": null,
            "workloads": [confirmed("small", Some(2), 1.5), confirmed("large", Some(4), 1.75), confirmed("other", None, 1.1)],
            "target_speedup": 1.1, "baseline": "naive", "trials": 12, "refused": { "numerics": 3, "build_failed": 1 },
            "late": [{ "phase": "finals", "config": { "X": 1 }, "refusal": refusal }],
            "ablation": [ablated("small", "2", 1.2), ablated("large", "4", 1.3)],
            "seed": 1, "seconds": 1.0, "study": "s-1",
        }))
        .unwrap();
        let ran = Ran { device: "A Processor", capability: None, triton: None, date: "2026-11-18" };
        let kernel = Kernel::new(spec.select(Default::default()).unwrap(), &folder).unwrap();
        let [file] = &adopt(&kernel, &summary, &ran).unwrap()[..] else { panic!() };
        let text = std::fs::read_to_string(file).unwrap();
        drop(kernel);
        let (entries, warnings) = kiln_spec::read_tuned("t", text.as_bytes(), &spec.targets[0]).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let rows: Vec<(&str, String)> =
            entries.iter().map(|e| (e.workload.as_str(), Config::new(e.config.clone()).to_string())).collect();
        assert_eq!(rows, [("small", "X=2".to_string()), ("large", "X=4".into())]);
        for line in [
            "ruled_out = \"4 of 12 trials refused: numerics 3, build_failed 1; finalist X=1 refused by numerics\"",
            "date = \"2026-11-18\"",
            "device = \"A Processor\"",
            "baseline = \"naive\"",
            "study = \"s-1\"",
        ] {
            assert_eq!(text.matches(line).count(), 2, "{line} in {text}");
        }
        for line in
            ["\"X 2: 1.20x as long with 1\"", "\"X 4: 1.30x as long with 1\"", "speedup = 1.5\n", "speedup = 1.75\n"]
        {
            assert_eq!(text.matches(line).count(), 1, "{line} in {text}");
        }
        // Each shape begins with its own, and one that nobody tuned with the nearest.
        spec.targets[0].tuned.entries = entries;
        let begins = |n: i64| {
            let mut one = spec.clone();
            one.workloads.truncate(1);
            one.workloads[0].dims[0].1 = kiln_core::Value::Int(n);
            one.select(Default::default()).unwrap().default_config(&|_| true).unwrap().to_string()
        };
        assert_eq!([8, 64, 1024, 4096].map(begins), ["X=2", "X=2", "X=4", "X=4"]);
    }

    #[test]
    fn a_value_that_could_not_be_set_back_alone_says_why() {
        let entry = |worth, why: Option<&str>| Ablated {
            workload: None,
            tunable: "X".into(),
            from: "4".into(),
            to: "1".into(),
            worth,
            why: why.map(String::from),
        };
        assert_eq!(reason(&entry(Some(1.25), None)).unwrap(), "X 4: 1.25x as long with 1");
        assert_eq!(reason(&entry(None, Some("a rule refuses it"))).unwrap(), "X 4: with 1 alone, a rule refuses it");
        assert_eq!(reason(&entry(None, None)), None);
    }
}
