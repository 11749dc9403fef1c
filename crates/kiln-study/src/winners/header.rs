//! The header of a winner: its tunables as defines, and the evidence beside them. In: a summary. Out: the file's name and text.
//! A configuration that is invalid on a listed workload is defined only for whoever states that another one is meant.

use kiln_bench::Kernel;
use kiln_core::{Config, IMPLEMENTATION, Value};

use crate::recording::summary::{Confirmed, Summary};

/// The one winner, or one for each workload.
pub(crate) type Winners<'a> = Vec<(Option<&'a Confirmed>, &'a Config)>;

/// The header of a target and a variant.
pub(crate) fn name(target: &str, variant: &str) -> String {
    match variant {
        "" => format!("best_{target}.h"),
        variant => format!("best_{target}_{}.h", identifier(variant)),
    }
}

/// Defines as the kernel was built with, and the evidence beside them.
pub(crate) fn text(
    kernel: &Kernel<'_>,
    summary: &Summary,
    device: &str,
    winners: &Winners<'_>,
    invalid_on: &[&str],
) -> String {
    let guard = format!("KILN_BEST_{}_{}_{}", kernel.name(), kernel.target(), kernel.variant()).to_uppercase();
    let guard = identifier(guard.trim_end_matches('_'));
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
    if !invalid_on.is_empty() {
        let tuned: Vec<&str> = summary.workloads.iter().map(|w| w.name.as_str()).collect();
        text.push_str(&only(&tuned, invalid_on));
    }
    for (workload, config) in winners {
        // One winner for each workload: the caller says which one it wants.
        if let Some(w) = workload {
            text.push_str(&format!("\n#ifdef KILN_WORKLOAD_{}", identifier(&w.name)));
        }
        text.push('\n');
        for (name, value) in config.iter() {
            // A macro of that name would be in the way of any other use of the word.
            let name = if &**name == IMPLEMENTATION { "KILN_IMPLEMENTATION" } else { name };
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

/// Ends a build that does not state that it is for a workload that was tuned.
fn only(tuned: &[&str], invalid_on: &[&str]) -> String {
    let names: Vec<String> = tuned.iter().map(|name| format!("KILN_WORKLOAD_{}", identifier(name))).collect();
    let asked: Vec<String> = names.iter().map(|name| format!("!defined({name})")).collect();
    format!(
        "\n#if {}\n#error \"this configuration is for {} and invalid on {}: for one of the former, define {}\"\n#endif\n",
        asked.join(" && "),
        tuned.join(", "),
        invalid_on.join(", "),
        names.join(" or ")
    )
}

/// A name as C takes it.
fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_and_what_is_for_some_workloads_says_so() {
        assert_eq!(name("cpu", "T=f16"), "best_cpu_T_f16.h");
        assert_eq!(name("cpu", ""), "best_cpu.h");
        let text = only(&["s-1", "s2"], &["large"]);
        assert!(text.contains("#if !defined(KILN_WORKLOAD_s_1) && !defined(KILN_WORKLOAD_s2)\n#error"), "{text}");
        assert!(text.contains("for s-1, s2 and invalid on large"), "{text}");
    }
}
