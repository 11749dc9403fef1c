//! The winner, ready to be used: `best.toml` with a table for each target, and a header of defines. In: a summary. Out: the
//! files' paths. Other targets' tables in the file are kept.

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

/// Writes the winner into `folder`; none without a winner that was confirmed.
pub fn write_best(
    kernel: &Kernel<'_>,
    summary: &Summary,
    device: &str,
    folder: &Utf8Path,
) -> Result<Option<Written>, Fault> {
    let winners: Vec<(Option<&Confirmed>, &Config)> = match &summary.config {
        Some(config) => vec![(None, config)],
        None => summary.workloads.iter().filter_map(|w| Some((Some(w), w.config.as_ref()?))).collect(),
    };
    if winners.is_empty() || summary.workloads.is_empty() {
        return Ok(None);
    }
    let fault = |e: std::io::Error| Fault::new(format!("writing the winner into {folder}"), e);
    fs_err::create_dir_all(folder).map_err(fault)?;
    let written =
        Written { toml: folder.join("best.toml"), header: folder.join(format!("best_{}.h", kernel.target())) };
    let old = fs_err::read_to_string(&written.toml).unwrap_or_default();
    let mut text = others(&old, kernel.target());
    text.push_str(&table(kernel, summary, device, &winners));
    write_whole(&written.toml, text.as_bytes())?;
    write_whole(&written.header, header(kernel, summary, device, &winners).as_bytes())?;
    Ok(Some(written))
}

/// What the file says of other targets: every line that is not in one of this target's tables.
fn others(old: &str, target: &str) -> String {
    let mut kept = String::new();
    let mut ours = false;
    for line in old.lines() {
        if let Some(name) = line.trim().strip_prefix('[') {
            let name = name.trim_end_matches(']');
            ours = name == target || name.starts_with(&format!("{target}."));
        }
        if !ours && !line.starts_with("# Written by kiln") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    let kept = kept.trim();
    if kept.is_empty() { String::new() } else { format!("{kept}\n\n") }
}

fn table(kernel: &Kernel<'_>, summary: &Summary, device: &str, winners: &[(Option<&Confirmed>, &Config)]) -> String {
    let target = kernel.target();
    let mut text = format!(
        "[{target}]\nkernel = {:?}\ndevice = {device:?}\nverdict = {:?}\nstudy = {:?}\nkiln = {:?}\n",
        kernel.name(),
        summary.verdict.name(),
        summary.study,
        env!("CARGO_PKG_VERSION"),
    );
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
    let guard = format!("KILN_BEST_{}_{}", kernel.name(), kernel.target()).to_uppercase();
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
        assert_eq!(others(old, "cpu"), "[cuda]\nc = 3\n\n[cuda.config]\nd = 4\n\n");
        assert_eq!(others("", "cpu"), "");
    }
}
