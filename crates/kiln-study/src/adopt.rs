//! Winners into the table of tuned configurations that the kernel file names. In: a summary and the table as it is. Out: the
//! table with an entry for each tuned workload, in place of the one of the same architecture, variant and workload;
//! everything else in it stays as it was. The reasons beside a choice are what its values are worth against the default's.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_bench::Kernel;
use kiln_core::{Config, Fault, Value};
use kiln_stats::Verdict;

use crate::best::{toml_string, toml_value};
use crate::summary::{Ablated, Confirmed, Summary};
use crate::write::write_whole;

/// How every entry begins.
const HEADING: &str = "[[tuned]]";
/// Above the first entry of a new table.
const PREFACE: &str = "# Winners by architecture, variant and shape, written by `kiln tune --adopt`. kiln begins with the one for the nearest\n\
                       # shape instead of [default]. `why`: how much slower it is with one value set back to the default.\n";

/// Writes the winners of a study into the kernel's table; none without a winner that was confirmed. Refuses a kernel file
/// that names no table.
pub fn adopt(kernel: &Kernel<'_>, summary: &Summary, device: &str) -> Result<Option<Utf8PathBuf>, Fault> {
    let table = table(kernel)?;
    let tuned: Vec<(&Confirmed, &Config)> = summary
        .workloads
        .iter()
        // Against the default itself, what is not faster has won nothing.
        .filter(|w| !w.holdout && (summary.baseline.is_some() || w.verdict == Verdict::Faster))
        .filter_map(|w| Some((w, w.config.as_ref().or(summary.config.as_ref())?)))
        .collect();
    if tuned.is_empty() {
        return Ok(None);
    }
    let fault = |e: std::io::Error| Fault::new(format!("writing the winner into {table}"), e);
    let mut text = match fs_err::read_to_string(&table) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => PREFACE.to_string(),
        read => read.map_err(fault)?,
    };
    for (confirmed, config) in tuned {
        text = with(&text, &key(kernel, &confirmed.name), &rest(kernel, summary, confirmed, config, device));
    }
    // A table by another hand may be written in ways that lines do not show: it is not replaced by one that cannot be read.
    kiln_spec::read_tuned(table.as_str(), text.as_bytes(), kernel.selection.target).map_err(|reports| {
        let why = reports.first().map_or_else(String::new, |report| report.message.clone());
        Fault::new(format!("writing the winner into {table}"), why).hint("write its entries under [[tuned]] headings")
    })?;
    write_whole(&table, text.as_bytes())?;
    Ok(Some(table))
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
    Ok(table)
}

/// What tells entries apart: the lines an entry begins with.
fn key(kernel: &Kernel<'_>, workload: &str) -> String {
    let mut text = String::new();
    if let Some(arch) = kernel.selection.arch {
        text.push_str(&format!("arch = \"{arch}\"\n"));
    }
    let variant: Vec<String> =
        kernel.selection.variant.iter().map(|(name, dtype)| format!("{name} = \"{}\"", dtype.name())).collect();
    if !variant.is_empty() {
        text.push_str(&format!("variant = {{ {} }}\n", variant.join(", ")));
    }
    if !workload.is_empty() {
        text.push_str(&format!("workload = \"{workload}\"\n"));
    }
    text
}

/// The rest of an entry.
fn rest(kernel: &Kernel<'_>, summary: &Summary, confirmed: &Confirmed, config: &Config, device: &str) -> String {
    let pairs = |pairs: &mut dyn Iterator<Item = (&str, &Value)>| {
        pairs.map(|(name, value)| format!("{name} = {}", toml_value(value))).collect::<Vec<_>>().join(", ")
    };
    let mut text = String::new();
    let workload = kernel.selection.workloads.iter().find(|w| *w.name == *confirmed.name);
    if let Some(workload) = workload {
        text.push_str(&format!("dims = {{ {} }}\n", pairs(&mut workload.dims.iter().map(|(n, v)| (&**n, v)))));
    }
    text.push_str(&format!("config = {{ {} }}\n", pairs(&mut config.iter().map(|(n, v)| (&**n, v)))));
    let apart = confirmed.config.is_some();
    let ours = |entry: &&Ablated| !apart || entry.workload.as_deref() == Some(&*confirmed.name);
    let why: Vec<String> = summary.ablation.iter().filter(ours).filter_map(reason).collect();
    if !why.is_empty() {
        text.push_str(&format!(
            "why = [\n{}]\n",
            why.iter().map(|w| format!("  {},\n", toml_string(w))).collect::<String>()
        ));
    }
    let baseline = summary.baseline.as_deref().unwrap_or("the default configuration");
    text.push_str(&format!("device = {}\nbaseline = {}\n", toml_string(device), toml_string(baseline)));
    let Confirmed { best_ms, baseline_ms, speedup, speedup_ci95: ci, .. } = confirmed;
    text.push_str(&format!(
        "best_ms = {best_ms:.6}\nbaseline_ms = {baseline_ms:.6}\nspeedup = {speedup:.4}\nspeedup_ci95 = [{:.4}, {:.4}]\n\
         study = {}\nkiln = {:?}\n",
        ci.low,
        ci.high,
        toml_string(&summary.study),
        env!("CARGO_PKG_VERSION")
    ));
    text
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

/// The table with this entry in place of the one with the same key, or behind all others.
fn with(text: &str, key: &str, rest: &str) -> String {
    let entry = format!("{HEADING}\n{key}{rest}");
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == HEADING {
            starts.push(at);
        }
        at += line.len();
    }
    let end_of = |place: usize| starts.get(place + 1).copied().unwrap_or(text.len());
    let same = |place: &usize| {
        let body = text[starts[*place]..end_of(*place)].trim_start().strip_prefix(HEADING).unwrap_or("");
        let lines = |text: &str, names: &[&str]| -> Vec<String> {
            let named =
                |line: &&str| names.iter().any(|name| line.split('=').next().is_some_and(|n| n.trim() == *name));
            text.lines().filter(named).map(|line| line.split_whitespace().collect()).collect()
        };
        let names = ["arch", "variant", "workload"];
        lines(body, &names) == lines(key, &names)
    };
    match (0..starts.len()).find(same) {
        None if text.trim().is_empty() => entry,
        None => format!("{}\n\n{entry}", text.trim_end()),
        Some(place) => {
            let (before, old, after) =
                (&text[..starts[place]], &text[starts[place]..end_of(place)], &text[end_of(place)..]);
            // Remarks at the end of the old entry belong to the next one.
            let kept = old.lines().rev().take_while(|l| l.trim().is_empty() || l.trim().starts_with('#')).count();
            let kept: Vec<&str> = old.lines().skip(old.lines().count() - kept).collect();
            let remarks = if kept.is_empty() { String::new() } else { format!("{}\n", kept.join("\n")) };
            format!("{before}{entry}{remarks}{after}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_takes_the_place_of_its_like_and_nothing_else_changes() {
        let (a, b) = ("arch = \"sm_80\"\nworkload = \"a\"\n", "arch = \"sm_80\"\nworkload = \"b\"\n");
        let first = with("# about it\n", a, "config = { X = 1 }\n");
        assert_eq!(first, format!("# about it\n\n[[tuned]]\n{a}config = {{ X = 1 }}\n"));
        let both = with(&first, b, "config = { X = 2 }\n");
        assert_eq!(both, format!("{first}\n[[tuned]]\n{b}config = {{ X = 2 }}\n"));
        let remarked = both.replace(
            "\n[[tuned]]\narch = \"sm_80\"\nworkload = \"b\"",
            "\n# by hand\n[[tuned]]\narch= \"sm_80\"\nworkload = \"b\"",
        );
        let again = with(&remarked, a, "config = { X = 3 }\n");
        assert_eq!(again, remarked.replace("X = 1", "X = 3"));
        let again = with(&again, b, "config = { X = 4 }\n");
        assert_eq!(
            again,
            both.replace("X = 1", "X = 3").replace("X = 2", "X = 4").replace(
                "\n[[tuned]]\narch = \"sm_80\"\nworkload = \"b\"",
                "\n# by hand\n[[tuned]]\narch = \"sm_80\"\nworkload = \"b\""
            )
        );
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
