//! The winner, ready to be used: `best.toml` with a table for each target and variant, and a header of defines. In: a summary.
//! Out: the files' paths, or the winner that is there already and stays. Other targets' and variants' tables are kept.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_bench::Kernel;
use kiln_core::{Config, Fault, IMPLEMENTATION, Use, Workload};
use kiln_spec::TargetKind;
use kiln_stats::Interval;
use toml_edit::{Array, DocumentMut, Item, Table};

use crate::recording::summary::Summary;
use crate::winners::document::{MOVE, below, parse, rounded, value};
use crate::winners::earlier::{Conditions, Contest, Earlier, MS_DIGITS, SPEEDUP_DIGITS, Stays, Unlike};
use crate::winners::header::{self, Winners};
use crate::winners::write::write_whole;

/// The table's file.
const TABLE: &str = "best.toml";

/// Where the winner was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The table.
    pub toml: Utf8PathBuf,
    /// The header; none for Python, which has no use for one.
    pub header: Option<Utf8PathBuf>,
    /// The study whose winner it replaced, and why that one was no match for it; none where it was one.
    pub replaced: Option<(String, Unlike)>,
}

/// What became of a winner.
#[derive(Debug, Clone, PartialEq)]
pub enum Best {
    /// It was written.
    Written(Written),
    /// An earlier one stays.
    Kept {
        /// The table it is in.
        toml: Utf8PathBuf,
        /// The study it came from.
        study: String,
        /// Why it stays.
        why: Stays,
    },
}

/// Where and how a winner is written.
#[derive(Debug, Clone, Copy)]
pub struct Destination<'a> {
    /// The folder for both files.
    pub folder: &'a Utf8Path,
    /// The kernel's path, as it was typed.
    pub path: &'a str,
    /// What its times are of.
    pub conditions: Conditions<'a>,
    /// Whether a better one that is there stays.
    pub keeps_best: bool,
}

/// Writes the winner; none without a winner that was confirmed.
pub fn write_best(kernel: &Kernel<'_>, summary: &Summary, place: Destination<'_>) -> Result<Option<Best>, Fault> {
    let winners: Winners<'_> = match &summary.config {
        Some(config) => vec![(None, config)],
        None => summary.workloads.iter().filter_map(|w| Some((Some(w), w.config.as_ref()?))).collect(),
    };
    if winners.is_empty() || summary.workloads.is_empty() {
        return Ok(None);
    }
    let Destination { folder, path, conditions, keeps_best } = place;
    let fault = |e: std::io::Error| Fault::new(format!("writing the winner into {folder}"), e);
    fs_err::create_dir_all(folder).map_err(fault)?;
    let (toml, variant) = (folder.join(TABLE), kernel.variant());
    let mut document = read(folder)?;
    let mut replaced = None;
    if let Some(earlier) = Earlier::read(&document, kernel.target(), &variant) {
        match earlier.against(&conditions, summary, &listed(kernel), &tunables(kernel)) {
            Contest::Stays(why) if keeps_best => return Ok(Some(Best::Kept { toml, study: earlier.study, why })),
            Contest::Unlike(unlike) => replaced = Some((earlier.study, unlike)),
            Contest::Stays(_) | Contest::Gives => {}
        }
    }
    let invalid_on = invalid_on(kernel, summary);
    place_for(&mut document, (kernel.target(), &variant), toml.as_str(), |table| {
        *table = entry(kernel, summary, (path, &conditions), &winners, &invalid_on);
    })?;
    write_whole(&toml, document.to_string().trim_start().as_bytes())?;
    let mut header = None;
    if kernel.selection.target.kind != TargetKind::Python {
        let file = folder.join(header::name(kernel.target(), &variant));
        let text = header::text(kernel, summary, conditions.device, &winners, &invalid_on);
        write_whole(&file, text.as_bytes())?;
        header = Some(file);
    }
    Ok(Some(Best::Written(Written { toml, header, replaced })))
}

/// Refuses a table that cannot be read or is no TOML: before a study begins, not after it.
pub fn check_best(folder: &Utf8Path) -> Result<(), Fault> {
    read(folder).map(|_| ())
}

/// The table as it is; empty where there is none.
pub(crate) fn read(folder: &Utf8Path) -> Result<DocumentMut, Fault> {
    let file = folder.join(TABLE);
    match std::fs::read_to_string(&file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(DocumentMut::new()),
        Err(e) => Err(Fault::new(format!("reading {file}"), e).hint(MOVE)),
        Ok(text) => parse(file.as_str(), &text),
    }
}

/// The names of the workloads that the file lists for the target; one without a name where it lists none.
fn listed<'a>(kernel: &Kernel<'a>) -> Vec<&'a str> {
    let workloads: Vec<&str> = here(kernel).map(|w| &*w.name).collect();
    if workloads.is_empty() { vec![""] } else { workloads }
}

/// The workloads that the file lists for the target.
fn here<'a>(kernel: &Kernel<'a>) -> impl Iterator<Item = &'a Workload> {
    let target = kernel.target();
    kernel.selection.spec.workloads.iter().filter(move |w| w.is_for(target))
}

fn tunables<'a>(kernel: &Kernel<'a>) -> BTreeSet<&'a str> {
    let all = &kernel.selection.target.implementations;
    let named = all.iter().filter(|one| one.name.is_some()).map(|_| IMPLEMENTATION);
    named.chain(all.iter().flat_map(|one| &one.tunables).map(|t| &*t.name)).collect()
}

/// The listed workloads on which the one winner must not be used: only where a study was of some of them can there be any.
fn invalid_on<'a>(kernel: &Kernel<'a>, summary: &Summary) -> Vec<&'a str> {
    let Some(config) = &summary.config else { return Vec::new() };
    let tuned = &kernel.selection.workloads;
    if here(kernel).all(|w| w.use_for != Use::Tune || tuned.contains(&w)) {
        return Vec::new();
    }
    here(kernel).filter(|w| kernel.unfit(config, Some(w)).is_some()).map(|w| &*w.name).collect()
}

/// Whether the winners in a folder are of the kernel at this path, or there are none. `resolved` tells which folder a path
/// means.
pub fn is_of(folder: &Utf8Path, path: &Utf8Path, resolved: &dyn Fn(&Utf8Path) -> Option<Utf8PathBuf>) -> bool {
    let Ok(text) = fs_err::read_to_string(folder.join(TABLE)) else { return true };
    let Ok(file) = text.parse::<toml::Table>() else { return true };
    // Tables of targets, or of variants below them.
    let tables = file.values().filter_map(toml::Value::as_table);
    let paths = tables.flat_map(|table| std::iter::once(table).chain(table.values().filter_map(toml::Value::as_table)));
    let mut paths = paths.filter_map(|table| table.get("path")?.as_str()).map(Utf8Path::new);
    let ours = resolved(path);
    // One that is not there any more was moved, here perhaps.
    paths.all(|theirs| resolved(theirs).is_none_or(|theirs| Some(theirs) == ours))
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
    (path, conditions): (&str, &Conditions<'_>),
    winners: &Winners<'_>,
    invalid_on: &[&str],
) -> Table {
    let variant = kernel.variant();
    let mut table = Table::new();
    let mut say = |name: &str, text: &str| table[name] = text.into();
    say("kernel", kernel.name());
    say("path", path);
    if !variant.is_empty() {
        say("variant", &variant);
    }
    say("device", conditions.device);
    say("cache", conditions.cache.name());
    table["threads"] = i64::try_from(conditions.threads).unwrap_or(i64::MAX).into();
    let mut say = |name: &str, text: &str| table[name] = text.into();
    say("verdict", summary.verdict.name());
    say("study", &summary.study);
    say("sources", conditions.sources);
    say("kiln", env!("CARGO_PKG_VERSION"));
    if let (Some(speedup), Some(interval), Some(baseline)) = (summary.speedup, summary.speedup_ci95, &summary.baseline)
    {
        say("baseline", baseline);
        compared(&mut table, speedup, interval);
    }
    if !invalid_on.is_empty() {
        table["invalid_on"] = Array::from_iter(invalid_on.iter().copied()).into();
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
        confirmed["best_ms"] = rounded(w.best_ms, MS_DIGITS).into();
        confirmed["baseline_ms"] = rounded(w.baseline_ms, MS_DIGITS).into();
        compared(&mut confirmed, w.speedup, w.speedup_ci95);
        confirmed["samples"] = i64::try_from(w.samples).unwrap_or(i64::MAX).into();
        if w.holdout {
            confirmed["holdout"] = true.into();
        }
        workloads[&w.name] = Item::Table(confirmed);
    }
    table["config"] = Item::Table(apart);
    table["workloads"] = Item::Table(workloads);
    table
}

/// A speedup and its interval.
pub(crate) fn compared(table: &mut Table, speedup: f64, interval: Interval) {
    let digits = |number: f64| rounded(number, SPEEDUP_DIGITS);
    table["speedup"] = digits(speedup).into();
    table["speedup_ci95"] = Array::from_iter([digits(interval.low), digits(interval.high)]).into();
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
    }
    #[test]
    fn only_a_file_that_is_not_there_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        assert!(read(folder).unwrap().is_empty());
        for (text, why) in [(&b"[cpu]\nx = \"\xff\"\n"[..], "UTF-8"), (&b"not toml ["[..], "")] {
            fs_err::write(folder.join(TABLE), text).unwrap();
            let fault = check_best(folder).unwrap_err();
            assert!(fault.what.ends_with(TABLE) && fault.why.contains(why) && fault.hint.is_some(), "{fault}");
        }
    }
}
